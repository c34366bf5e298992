#pragma once

#include "src/format.hpp"
#include <heddle/error.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace heddle::detail {

/// The name of an argument or of its member: {"a", "rows"} is a.rows.
class argument_name {
  public:
    argument_name(const char* argument, const char* member = nullptr)
        : argument_(argument), member_(member) {}

    std::string text() const { return member_ ? detail::format("{}.{}", argument_, member_) : argument_; }

  private:
    const char* argument_;
    const char* member_;
};

/// Makes errors print every address in one form: 0x and hexadecimal digits.
inline const void* address_of(const void* data) {
    return data;
}

inline bool is_aligned(const void* data, std::size_t bytes) {
    return reinterpret_cast<std::uintptr_t>(data) % bytes == 0;
}

/// Throws invalid_argument("operation: argument is value, expected ...") unless `condition`. Makes text only on
/// failure.
template <class Value, class... Arguments>
void require(bool condition, const char* operation, const argument_name& name, const Value& value,
             fmt::format_string<Arguments...> expected, Arguments&&... arguments) {
    if (condition) [[likely]]
        return;
    throw invalid_argument(operation, name.text(), detail::format("{}", value),
                           detail::format(expected, std::forward<Arguments>(arguments)...));
}

}  // namespace heddle::detail
