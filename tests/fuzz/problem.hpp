#pragma once

#include "tests/fuzz/draw.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Problems of every operation that follow from a seed, are told by one line, and become simpler while they fail. Pure.
namespace heddle::fuzz {

/// A number of a problem. Where it has words, it is the place of one among them.
struct field {
    std::string name;
    std::int64_t simplest = 1;
    std::vector<std::string_view> words = {};
};

/// On a GPU operands are among others, or each has pages of its own, and begins or ends where they do.
enum class processor { cpu, gpu, gpu_page_begin, gpu_page_end };

class problem;

/// How problems of an operation are drawn and checked.
struct operation {
    std::string_view name;
    std::vector<field> fields;
    void (*draw)(drawing&, problem&);
    /// What is wrong with what heddle computes; empty where nothing is.
    /// @throws heddle::unsupported  the rung that is asked for cannot do it
    std::string (*wrong)(const problem&, processor);
    /// So many times as many problems as of others are drawn: there are more kernels.
    std::uint64_t times = 1;
};

/// A value for each field of an operation.
class problem {
  public:
    explicit problem(const operation& of);

    [[nodiscard]] std::int64_t operator[](std::string_view field) const;
    [[nodiscard]] bool has(std::string_view field) const;
    /// Outside of its words, or below zero, it is brought to the nearest that is allowed.
    void set(std::string_view field, std::int64_t value);
    /// The word that the field's value stands for.
    [[nodiscard]] std::string_view word(std::string_view field) const;
    /// One of the field's words.
    void draw_word(std::string_view field, drawing& d);
    /// The same of all fields that have words. Half of the rungs are the first, which is `automatic`.
    void draw_words(drawing& d);

    [[nodiscard]] const operation& of() const { return *of_; }
    bool operator==(const problem&) const = default;

  private:
    friend problem simplified(const problem&, const std::function<bool(const problem&)>&);

    [[nodiscard]] std::size_t place_of(std::string_view field) const;

    const operation* of_;
    std::vector<std::int64_t> values_;
};

/// As "scan type=f32 size=17 x_step=2": what is as simple as can be is left out.
std::string to_string(const problem& p);

std::span<const operation> operations();
/// Null where there is none of this name.
const operation* operation_named(std::string_view name);

/// The problem that to_string() wrote.
/// @throws std::invalid_argument  there is no such operation, field or word
problem parse_problem(std::string_view text);

problem draw_problem(const operation& of, std::uint64_t seed, std::uint64_t index);

/// A simpler problem that fails too: each number as near to its simplest as it may be.
problem simplified(const problem& p, const std::function<bool(const problem&)>& fails);

/// Extents whose product is at most `most`: a third of all as users have them, but for a change by one; a third odd; a
/// third anything, zero too.
std::vector<std::int64_t> draw_shape(drawing& d, std::size_t count, std::int64_t most);

}  // namespace heddle::fuzz
