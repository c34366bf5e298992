#pragma once

#include "src/format.hpp"
#include <heddle/types.hpp>

#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

namespace heddle::detail {

class facts;

/// Whether add_facts() lists the members of such a value, by their names and in their order.
template <class Value>
concept has_facts = requires(facts& to, const Value& value) {
    add_facts(to, value);
};

/// The name and value of something that the caller gave. The text is empty if the value is the usual one.
struct fact {
    std::string text;

    template <class Value>
    fact(std::string_view name, const Value& value);
    template <class Value>
    fact(std::string_view name, const Value& value, const std::type_identity_t<Value>& usual) {
        if (!(value == usual)) text = fact(name, value).text;
    }
};

/// The facts that an error lists: "rows 3, cols 5, unit_stride false".
class facts {
  public:
    facts(std::initializer_list<fact> all = {}) { add(all); }

    void add(std::initializer_list<fact> all) {
        for (const fact& each : all) text_ += (text_.empty() || each.text.empty() ? "" : ", ") + each.text;
    }

    const std::string& text() const { return text_; }
    /// The end of an error's text.
    std::string given() const { return "; given: " + text_; }

  private:
    std::string text_;
};

template <class Value>
fact::fact(std::string_view name, const Value& value) {
    if constexpr (has_facts<Value>) {
        facts members;
        add_facts(members, value);
        text = detail::format("{} ({})", name, members.text());
    } else {
        text = detail::format("{} {}", name, value);
    }
}

constexpr std::string_view name_of(element_type type) {
    return type == element_type::f32    ? "float"
           : type == element_type::f16  ? "half"
           : type == element_type::bf16 ? "bfloat16"
                                        : "double";
}

}  // namespace heddle::detail
