#pragma once

#include "benchmarks/support/rows.hpp"
#include "tests/bounds/numbers.hpp"
#include "tests/fuzz/draw.hpp"
#include <heddle/buffer.hpp>
#include <heddle/types.hpp>
#include <heddle/view.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

/// Operands in device memory, and places of them that are looked at.
namespace heddle::bench::cliffs {

using namespace fuzz;

/// Uniform in [low, high]; where `step` is not 0, its multiples.
struct numbers {
    double low = -1;
    double high = 1;
    double step = 0;
};

/// The same numbers for the same seed. T is any element type of heddle.
template <class T>
void fill_random(T* data, std::int64_t size, std::uint64_t seed, const numbers& from = {});

/// results[i] = data[places[i]], all in device memory.
template <class T>
void launch_gather(const T* data, const std::int64_t* places, std::int64_t count, T* results);

/// The elements at these places.
template <class T>
std::vector<T> gathered(const T* data, const std::vector<std::int64_t>& places);

/// A matrix, or a vector of one row, with its memory. With a seed it is drawn, its gaps too; without one it is a result.
template <class T>
class operand {
  public:
    operand(std::int64_t rows, std::int64_t cols, const placement& lie)
        : rows_(rows), cols_(cols), lie_(lie), elements_(span_of(lie, rows, cols), stream()) {}
    operand(std::int64_t rows, std::int64_t cols, const placement& lie, std::uint64_t seed,
            const numbers& from = {})
        : operand(rows, cols, lie) {
        is_drawn_ = true;
        seed_ = seed;
        from_ = from;
        reset();
    }

    [[nodiscard]] bool is_drawn() const { return is_drawn_; }
    /// Draws the same elements again, or poisons a result.
    void reset() {
        if (!is_drawn_) return poison();
        fill_random(elements_.data(), static_cast<std::int64_t>(elements_.size()), seed_, from_);
    }
    /// Makes each byte 0xff: NaN, or -1.
    void poison();
    /// What is wrong with the elements between those of the matrix and before it, some of which are looked at: poison() was
    /// the last to write them.
    [[nodiscard]] std::string changed_gap() const;

    [[nodiscard]] T* data() { return elements_.data() + lie_.offset; }
    [[nodiscard]] matrix_view<T> view() {
        const std::int64_t line = (lie_.column_major ? rows_ : cols_) * lie_.step + lie_.padding;
        if (lie_.column_major) return {data(), rows_, cols_, lie_.step, line};
        return {data(), rows_, cols_, line, lie_.step};
    }
    [[nodiscard]] vector_view<T> vector() { return {data(), cols_, lie_.step}; }

  private:
    std::int64_t rows_, cols_;
    placement lie_;
    device_buffer<T> elements_;
    bool is_drawn_ = false;
    std::uint64_t seed_ = 0;
    numbers from_;
};

struct place {
    std::int64_t row, col;
};

/// The corners of a matrix, places at its edges and beside multiples of 64 (half of all), and others anywhere: `most` of them,
/// or all places of a smaller matrix.
std::vector<place> sampled_places(std::int64_t rows, std::int64_t cols, std::uint64_t seed,
                                  std::int64_t most = 64);

/// Where these places are, from the first element on.
template <class T>
std::vector<std::int64_t> offsets_of(const matrix_view<T>& m, const std::vector<place>& places) {
    std::vector<std::int64_t> offsets;
    for (const auto& [row, col] : places) offsets.push_back(row * m.row_stride + col * m.col_stride);
    return offsets;
}

template <class T>
std::vector<std::remove_const_t<T>> gathered(const matrix_view<T>& m, const std::vector<place>& places) {
    return gathered<std::remove_const_t<T>>(m.data, offsets_of(m, places));
}

using bounds::smallest;
using bounds::to_double;
using bounds::unit_roundoff;

/// What to say of a result that is not within its bound; empty where it is. NaN is within the bound of NaN alone.
std::string mismatch(const std::string& where, double actual, double expected, double bound);

/// Compares the elements at these places with what is expected of each.
template <class T>
std::string mismatch(const matrix_view<T>& m, const std::vector<place>& places,
                     const std::vector<double>& expected, const std::vector<double>& bounds, double slack);

/// Calls f.operator()<T>() with the type of this number.
template <class... Types, class Function>
auto with_type(std::size_t number, Function f) {
    decltype((f.template operator()<Types>(), ...)) result{};
    std::size_t at = 0;
    ((at++ == number ? void(result = f.template operator()<Types>()) : void()), ...);
    return result;
}

}  // namespace heddle::bench::cliffs
