#pragma once

#include <heddle/device.hpp>
#include <heddle/elementwise.hpp>
#include <heddle/rungs.hpp>
#include <heddle/types.hpp>
#include <heddle/view.hpp>

#include <cuda/stream_ref>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#pragma GCC visibility push(default)

namespace heddle {

/// The generator of random numbers: Philox 4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy
/// as 1, 2, 3", 2011). It has no state: a number depends on the seed and the number's place alone.
///
/// With S = offset + *device_offset, element i of a call has place S + i (mod 2^64). Elements are counted along rows
/// for any strides: element (r, c) of a matrix has i = r * cols + c. A place is a part of a block of 128 bits, the
/// four words w[0] to w[3]. Philox gives them for the key (seed mod 2^32, seed / 2^32) and the counter
/// (b mod 2^32, b / 2^32, kind, 0):
///
/// | numbers | kind | b | words of a place |
/// |-|-|-|-|
/// | bits, bernoulli, dropout of all types; uniform of float, half, bfloat16 | 0 | place / 4 | w[place mod 4] |
/// | normal of float, half, bfloat16 | 0 | place / 4 | w[k] and w[k + 1], k = 2 if place mod 4 >= 2 and else 0 |
/// | uniform of double | 1 | place / 2 | d[place mod 2], d[j] = w[2 j] + 2^32 w[2 j + 1] |
/// | normal of double | 1 | place / 2 | d[0] and d[1] |
/// | the keys of a permutation | 2 | S, not place / 4 | see random_permutation() |
///
/// So a call continues the numbers of a call with n elements that began n places earlier. Calls with one seed and no
/// common places are independent. At common places, numbers of one kind are made of the same words. Normal numbers
/// come in pairs: two calls are independent where the first one's offset plus size is even.
struct philox {
    std::uint64_t seed = 0;
    std::uint64_t offset = 0;
    /// Where it is not null, the kernel adds *device_offset to `offset`. So a graph that is launched again draws
    /// other numbers, if it or the caller advances *device_offset in between. In device memory (host memory for
    /// heddle::host), apart from the output.
    const std::uint64_t* device_offset = nullptr;
};

/// The rungs of random numbers that are drawn element by element; kernels/random/README.md is their ladder. For each
/// rung, the list has its name, whether `automatic` may take it, and what it needs of a problem, if anything.
#define HEDDLE_RANDOM_RUNGS(RUNG)    \
    RUNG(naive, never)               \
    RUNG(counter_per_thread, always) \
    RUNG(vectorized, always, unit_stride)

/// The rung that a call asks for; `automatic` leaves the choice to heddle.
enum class random_algorithm { automatic, HEDDLE_RANDOM_RUNGS(HEDDLE_ENUMERATOR) };

/// All rungs except `automatic`. Tests, benchmarks and pages iterate over them.
std::span<const random_algorithm> random_algorithms();
std::string_view to_string(random_algorithm algorithm);

struct random_options {
    random_algorithm algorithm = random_algorithm::automatic;
};

/// The facts by which a call is planned. random_problem_of() makes it.
struct random_problem {
    matrix_layout y{};  ///< the output; a vector is a matrix of one column
    matrix_layout x{};  ///< dropout's input; otherwise all zero
    /// Uniform or normal numbers are drawn. They take more words where they are double.
    bool draws_reals = true;

    bool operator==(const random_problem&) const = default;
};

namespace detail {

random_problem random_problem_of(std::span<const operand> operands, std::size_t element_bytes,
                                 bool draws_reals);

}  // namespace detail

/// The problem of a call that writes y. draws_reals: uniform or normal numbers; otherwise bits or Bernoulli numbers.
/// Elements are not read; the pointer may be null.
/// @throws invalid_argument  a negative extent, a stride smaller than a row
template <template <class> class View, class T>
random_problem random_problem_of(View<T> y, bool draws_reals = true) {
    const detail::operand operands[] = {detail::operand_of("y", y)};
    return detail::random_problem_of(operands, sizeof(T), draws_reals);
}
/// The same for dropout() and its gradient.
/// @throws invalid_argument  also where shapes disagree
template <template <class> class View, class From, class T>
random_problem random_problem_of(View<From> x, View<T> y) {
    const detail::operand operands[] = {detail::operand_of("x", x), detail::operand_of("y", y)};
    return detail::random_problem_of(operands, sizeof(T), false);
}

/// The rung that `automatic` chooses. Pure.
/// @throws invalid_argument  shapes that disagree, a negative extent, more than 2^58 elements, elements not of 1, 2, 4
///                           or 8 bytes, strides that overflow, an offset other than 0 to 255, device.sm_count below 1
random_algorithm select(const random_problem& problem, const device_traits& device);

/// The reason, as in `unsupported`, why a rung cannot run a problem; empty if it can, and for `automatic`. Pure.
/// @throws invalid_argument  as select(), and for an unknown algorithm
std::string why_not(random_algorithm algorithm, const random_problem& problem, const device_traits& device);

namespace detail {

enum class random_operation { uniform, normal, bernoulli, bits, dropout };
enum class random_type { f32, f64, f16, bf16, u8, u32 };

template <class T>
inline constexpr random_type random_type_of = [] {
    if constexpr (std::is_same_v<T, std::uint8_t>)
        return random_type::u8;
    else if constexpr (std::is_same_v<T, std::uint32_t>)
        return random_type::u32;
    else if constexpr (element_type_of<T> == element_type::f32)
        return random_type::f32;
    else if constexpr (element_type_of<T> == element_type::f64)
        return random_type::f64;
    else if constexpr (element_type_of<T> == element_type::f16)
        return random_type::f16;
    else
        return random_type::bf16;
}();

/// The common form of every call below except the permutation. The operands are the input, where there is one, then
/// the output.
struct random_call {
    const char* name;  ///< for error messages
    random_operation operation;
    random_type type;
    std::span<const operand> operands;
    philox generator;
    double p = 0;  ///< the operation's scalars, in their order
    double q = 0;
};

void run(const random_call& call, cuda::stream_ref stream, const random_options& options);

template <class T>
void draw(const char* name, random_operation operation, const philox& generator, double p, double q,
          cuda::stream_ref stream, const random_options& options, std::same_as<operand> auto... operands) {
    const operand all[] = {operands...};
    run({name, operation, random_type_of<T>, all, generator, p, q}, stream, options);
}

}  // namespace detail

// The output is a vector of any stride or a matrix of any row and column strides, in device memory. Every rung, every
// device and heddle::host give the same bits, except for normal numbers, which agree within a bound. The call is
// enqueued on `stream` and its device. It never synchronises or allocates, and is safe under stream capture. Empty
// views do nothing. The 16-bit types are computed in float and rounded once.
//
// @throws invalid_argument  a negative extent, a null or misaligned pointer, a stride smaller than a row, scalars
//                           outside of their range, an overlap other than exactly in place, an unknown algorithm
//                           (nothing is enqueued)
// @throws unsupported       `vectorized` was requested and the elements of a row are not contiguous
// @throws cuda_error        the launch failed

/// Uniform numbers in [low, high): low + u * (high - low) in one rounding. u = (w / 2^8 rounded down) / 2^24, and for
/// double (d / 2^11 rounded down) / 2^53. A number that rounding moves out of [low, high) becomes T's nearest number
/// inside. T is float, double, half or bfloat16.
/// @throws invalid_argument  also where low or high is beyond T's largest number, high <= low, high - low overflows,
///                           or T has no number in [low, high)
template <class T>
void random_uniform(vector_view<T> y, compute_type<T> low, compute_type<T> high, const philox& generator,
                    cuda::stream_ref stream, const random_options& options = {}) {
    detail::draw<T>("random_uniform", detail::random_operation::uniform, generator, low, high, stream,
                    options, detail::operand_of("y", y));
}
template <class T>
void random_uniform(matrix_view<T> y, compute_type<T> low, compute_type<T> high, const philox& generator,
                    cuda::stream_ref stream, const random_options& options = {}) {
    detail::draw<T>("random_uniform", detail::random_operation::uniform, generator, low, high, stream,
                    options, detail::operand_of("y", y));
}

/// Normal numbers, mean + deviation * z, by Box and Muller (1958). From the words v and w at a place, r = sqrt(-2
/// log((v + 1/2) / 2^32)) and a = pi w / 2^31, with w as a signed number. z is r cos a at even places and r sin a at
/// odd ones; |z| is at most 6.77. For double, r = sqrt(-2 log((v / 2^11 rounded down + 1) / 2^53)), a = pi w / 2^63,
/// and |z| is at most 8.58. docs/accuracy.md bounds the errors. T is float, double, half or bfloat16.
/// @throws invalid_argument  also where mean or deviation is not finite, or deviation is negative
template <class T>
void random_normal(vector_view<T> y, compute_type<T> mean, compute_type<T> deviation, const philox& generator,
                   cuda::stream_ref stream, const random_options& options = {}) {
    detail::draw<T>("random_normal", detail::random_operation::normal, generator, mean, deviation, stream,
                    options, detail::operand_of("y", y));
}
template <class T>
void random_normal(matrix_view<T> y, compute_type<T> mean, compute_type<T> deviation, const philox& generator,
                   cuda::stream_ref stream, const random_options& options = {}) {
    detail::draw<T>("random_normal", detail::random_operation::normal, generator, mean, deviation, stream,
                    options, detail::operand_of("y", y));
}

/// 1 with probability p, else 0. It is 1 where w < p * 2^32, which is rounded to the nearest integer. T is float,
/// double, half, bfloat16 or std::uint8_t.
/// @throws invalid_argument  also where p is not in [0, 1]
template <class T>
void random_bernoulli(vector_view<T> y, double p, const philox& generator, cuda::stream_ref stream,
                      const random_options& options = {}) {
    detail::draw<T>("random_bernoulli", detail::random_operation::bernoulli, generator, p, 0, stream, options,
                    detail::operand_of("y", y));
}
template <class T>
void random_bernoulli(matrix_view<T> y, double p, const philox& generator, cuda::stream_ref stream,
                      const random_options& options = {}) {
    detail::draw<T>("random_bernoulli", detail::random_operation::bernoulli, generator, p, 0, stream, options,
                    detail::operand_of("y", y));
}

/// The words w themselves.
inline void random_bits(vector_view<std::uint32_t> y, const philox& generator, cuda::stream_ref stream,
                        const random_options& options = {}) {
    detail::draw<std::uint32_t>("random_bits", detail::random_operation::bits, generator, 0, 0, stream,
                                options, detail::operand_of("y", y));
}

/// y = x * s with s = 1 / (1 - p) rounded once; with probability p, y = 0 for any x, even NaN. y is 0 where
/// random_bernoulli() with p gives 1. No mask is stored: dropout_gradient() draws it again. y has the shape of x, and
/// is exactly x or apart from it. T is float, double, half or bfloat16.
/// @throws invalid_argument  also where p is not in [0, 1], or shapes disagree
template <class T>
void dropout(vector_view<const std::type_identity_t<T>> x, vector_view<T> y, double p,
             const philox& generator, cuda::stream_ref stream, const random_options& options = {}) {
    detail::draw<T>("dropout", detail::random_operation::dropout, generator, p, 0, stream, options,
                    detail::operand_of("x", x), detail::operand_of("y", y));
}
template <class T>
void dropout(matrix_view<const std::type_identity_t<T>> x, matrix_view<T> y, double p,
             const philox& generator, cuda::stream_ref stream, const random_options& options = {}) {
    detail::draw<T>("dropout", detail::random_operation::dropout, generator, p, 0, stream, options,
                    detail::operand_of("x", x), detail::operand_of("y", y));
}

/// dx = dy * s where dropout() with the same p, generator and shape kept its element, else 0. Advance a device_offset
/// only after both calls. All else is as for dropout().
template <class T>
void dropout_gradient(vector_view<const std::type_identity_t<T>> dy, vector_view<T> dx, double p,
                      const philox& generator, cuda::stream_ref stream, const random_options& options = {}) {
    detail::draw<T>("dropout_gradient", detail::random_operation::dropout, generator, p, 0, stream, options,
                    detail::operand_of("dy", dy), detail::operand_of("dx", dx));
}
template <class T>
void dropout_gradient(matrix_view<const std::type_identity_t<T>> dy, matrix_view<T> dx, double p,
                      const philox& generator, cuda::stream_ref stream, const random_options& options = {}) {
    detail::draw<T>("dropout_gradient", detail::random_operation::dropout, generator, p, 0, stream, options,
                    detail::operand_of("dy", dy), detail::operand_of("dx", dx));
}

/// y = a permutation of 0, 1, ..., n - 1, with n = y.size at most 2^31. S chooses it: S + 1 gives another
/// permutation, not the tail of this one.
///
/// Element i goes through a Feistel network on the bits of n - 1 until it is below n again (cycle walking: Black and
/// Rogaway, 2002). Each thread computes its own element, without memory. L is the upper b / 2 of the b bits, and R
/// the others. 16 steps alternate L ^= f(R, key) and R ^= f(L, key). f(x, key) is the low bits of g(M1, g(M0, x ^
/// key)). g(M, x) is the upper word of the product M * x xor the lower one; M0 and M1 are Philox's multipliers. Keys
/// 4 j to 4 j + 3 are the words of the block of the counter (S mod 2^32, S / 2^32, 2, j).
///
/// It is not uniform over all n! permutations: from n = 35 on there are more permutations than seeds and offsets. For
/// small n, their frequencies differ by some per cent. It is good for shuffling data, not for cryptography.
/// @throws invalid_argument  also where y.size > 2^31
void random_permutation(vector_view<std::int32_t> y, const philox& generator, cuda::stream_ref stream);

}  // namespace heddle

#pragma GCC visibility pop
