#pragma once

#include "benchmarks/support/headers.hpp"

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

/// HEDDLE_LOADED(library, name...) stands in namespace heddle::bench. From there on, these plain names of the library's functions
/// are those of the loaded functions. The library is not linked, so that a forgotten name is an error of the linker.
#define HEDDLE_LOADED(library, ...) HEDDLE_EXPANDED(HEDDLE_LOADED_FIRST(library, __VA_ARGS__))
#define HEDDLE_LOADED_FIRST(library, name, ...)                         \
    inline const loaded_function<decltype(::name)> name(library, #name) \
        __VA_OPT__(; HEDDLE_LOADED_OTHERS HEDDLE_NO_ARGUMENTS(library, __VA_ARGS__))
#define HEDDLE_LOADED_OTHERS() HEDDLE_LOADED_FIRST
#define HEDDLE_NO_ARGUMENTS ()
/// Scans the result of a macro again, so that it may name itself: for up to 64 functions.
#define HEDDLE_EXPANDED(...) \
    HEDDLE_SCANNED_16(HEDDLE_SCANNED_16(HEDDLE_SCANNED_16(HEDDLE_SCANNED_16(__VA_ARGS__))))
#define HEDDLE_SCANNED_16(...) \
    HEDDLE_SCANNED_4(HEDDLE_SCANNED_4(HEDDLE_SCANNED_4(HEDDLE_SCANNED_4(__VA_ARGS__))))
#define HEDDLE_SCANNED_4(...) HEDDLE_SCANNED(HEDDLE_SCANNED(HEDDLE_SCANNED(HEDDLE_SCANNED(__VA_ARGS__))))
#define HEDDLE_SCANNED(...) __VA_ARGS__

/// The text of a number that is a macro.
#define HEDDLE_STRING(macro) HEDDLE_STRING_EXPANDED(macro)
#define HEDDLE_STRING_EXPANDED(text) #text
