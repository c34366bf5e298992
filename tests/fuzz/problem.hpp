#pragma once

#include "tests/fuzz/draw.hpp"

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Problems of every operation. Each follows from a seed, prints as one line, and is simplified while it fails. Pure.
namespace heddle::fuzz {

/// A number of a problem. A field with words has the index of one of them.
struct field {
    std::string name;
    std::int64_t simplest = 1;
    std::vector<std::string_view> words = {};
};

/// Adds fields of numbers, whose simplest is 1 or as in "rows cols offset=0".
std::vector<field> with_numbers(std::vector<field> fields, const std::string& names);

/// On a GPU, operands are in common memory, or each has pages of its own and begins or ends at their edge.
enum class processor { cpu, gpu, gpu_page_begin, gpu_page_end };

class problem;

/// How problems of an operation are drawn and checked.
struct operation {
    std::string_view name;
    std::vector<field> fields;
    void (*draw)(drawing&, problem&);
    /// Describes the errors of heddle's results; empty where there are none.
    /// @throws heddle::unsupported  the requested rung cannot run it
    std::string (*wrong)(const problem&, processor);
    /// The factor of the number of drawn problems, for operations with more kernels.
    std::uint64_t times = 1;
};

/// A value for each field of an operation.
class problem {
  public:
    explicit problem(const operation& of);

    [[nodiscard]] std::int64_t operator[](std::string_view field) const;
    [[nodiscard]] std::uint64_t seed() const { return static_cast<std::uint64_t>((*this)["seed"]); }
    [[nodiscard]] bool has(std::string_view field) const;
    /// Clamps the value to the field's words, or to zero or more.
    void set(std::string_view field, std::int64_t value);
    void set(std::initializer_list<std::pair<std::string_view, std::int64_t>> values) {
        for (const auto& [field, value] : values) set(field, value);
    }
    /// The word at the field's value.
    [[nodiscard]] std::string_view word(std::string_view field) const;
    /// Draws one of the field's words.
    void draw_word(std::string_view field, drawing& d);
    /// The same for all fields with words. Half of the rungs are the first, `automatic`.
    void draw_words(drawing& d);

    [[nodiscard]] const operation& of() const { return *of_; }
    bool operator==(const problem&) const = default;

  private:
    friend problem simplified(const problem&, const std::function<bool(const problem&)>&);

    [[nodiscard]] std::size_t place_of(std::string_view field) const;

    const operation* of_;
    std::vector<std::int64_t> values_;
};

/// As "scan type=f32 size=17 x_step=2". Fields with their simplest value are left out.
std::string to_string(const problem& p);

std::span<const operation> operations();
/// Null if no operation has this name.
const operation* operation_named(std::string_view name);

/// The inverse of to_string().
/// @throws std::invalid_argument  there is no such operation, field or word
problem parse_problem(std::string_view text);

problem draw_problem(const operation& of, std::uint64_t seed, std::uint64_t index);

/// A simpler problem that fails too, with each number as near to its simplest value as possible.
problem simplified(const problem& p, const std::function<bool(const problem&)>& fails);

/// Extents with a product of at most `most`. A third of all are users' shapes, changed by up to one; a third are odd;
/// a third are any, also zero.
std::vector<std::int64_t> draw_shape(drawing& d, std::size_t count, std::int64_t most);

}  // namespace heddle::fuzz
