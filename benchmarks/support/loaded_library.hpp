#pragma once

#include <string>

namespace heddle::bench {

/// A shared library that is loaded when the program runs, and may be missing.
class loaded_library {
  public:
    /// `title` is what people call it, `file` what the dynamic linker looks for.
    loaded_library(const char* title, const char* file);

    [[nodiscard]] bool is_present() const noexcept { return handle_ != nullptr; }
    /// "cuDNN is missing: ..."; empty where it is present.
    [[nodiscard]] const std::string& why_missing() const noexcept { return why_missing_; }
    /// What dlopen() gave; null where it is missing.
    [[nodiscard]] void* handle() const noexcept { return handle_; }
    /// The address of one of its functions.
    /// @throws std::runtime_error  the library is missing, or has no such function
    [[nodiscard]] void* find(const char* function) const;

  private:
    const char* title_;
    void* handle_;
    std::string why_missing_;
};

/// A function of such a library, looked up when it is first called. It converts to the function's address, and is called
/// as the function is.
template <class Function>
class loaded_function {
  public:
    constexpr loaded_function(const loaded_library& (*library)(), const char* name)
        : library_(library), name_(name) {}

    operator Function*() const {
        if (address_ == nullptr) address_ = reinterpret_cast<Function*>(library_().find(name_));
        return address_;
    }

  private:
    const loaded_library& (*library_)();
    const char* name_;
    mutable Function* address_ = nullptr;
};

}  // namespace heddle::bench

/// In namespace heddle::bench: from here on, the plain name of a library's function there is that of the function as it was
/// loaded. The library is not linked: a name that was forgotten is an error of the linker.
#define HEDDLE_LOADED(library, name) HEDDLE_LOADED_EXPANDED(library, name)
#define HEDDLE_LOADED_EXPANDED(library, name) \
    inline const loaded_function<decltype(::name)> name(library, #name)

/// The text of a number that is a macro.
#define HEDDLE_STRING(macro) HEDDLE_STRING_EXPANDED(macro)
#define HEDDLE_STRING_EXPANDED(text) #text
