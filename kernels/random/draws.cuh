#pragma once

#include "kernels/device/philox.cuh"
#include "kernels/device/ptx/approximate.cuh"
#include "kernels/random/launch.hpp"
#include <heddle/types.hpp>

#include <cstdint>
#include <type_traits>

namespace heddle::kernels::random {

// A draw makes `size` numbers of type `drawn` from a block of Philox. finish() makes an element from such a number and,
// where there is an input, from its element.

/// 24 bits of a word as a fraction: 0 to less than 1.
__device__ inline float fraction(std::uint32_t word) {
    return static_cast<float>(word >> 8) * 0x1p-24f;
}
/// 53 bits of two words as a fraction. The lower word of the double 2^31 counts multiples of 2^-21, and that of 1/2
/// multiples of 2^-53. Sum and difference are exact. A conversion instead would run at a quarter of their rate.
__device__ inline double fraction(std::uint32_t low, std::uint32_t high) {
    const double upper_bits = __hiloint2double(0x41e00000, static_cast<int>(high >> 11));
    const double lower_bits = __hiloint2double(0x3fe00000, static_cast<int>(__funnelshift_r(low, high, 11)));
    return (upper_bits - (0x1p31 + 0.5)) + lower_bits;
}
__device__ inline std::uint64_t wide_word(std::uint32_t low, std::uint32_t high) {
    return std::uint64_t{high} << 32 | low;
}

template <class T>
struct uniform {
    using element = T;
    using compute = compute_type<T>;
    using drawn = T;
    static constexpr int inputs = 0;
    static constexpr int size = sizeof(T) == 8 ? 2 : 4;

    compute low, width, least, most;

    explicit uniform(const scalars& s)
        : low(static_cast<compute>(s.low)),
          width(static_cast<compute>(s.width)),
          least(static_cast<compute>(s.least)),
          most(static_cast<compute>(s.most)) {}

    __device__ void operator()(const philox_block& block, drawn (&numbers)[size]) const {
        const auto& w = block.words;
#pragma unroll
        for (int i = 0; i < size; ++i) {
            if constexpr (size == 2)
                numbers[i] = inside(fma(fraction(w[2 * i], w[2 * i + 1]), width, low));
            else
                numbers[i] = inside(fmaf(fraction(w[i]), width, low));
        }
    }
    __device__ T finish(drawn number, T) const {
        return number;
    }

  private:
    /// Rounding leaves low + u * width at `low` or above. `least` differs from `low` only for 16-bit types.
    __device__ T inside(compute x) const {
        if constexpr (sizeof(T) == 2)
            return static_cast<T>(fminf(fmaxf(x, least), most));
        else if constexpr (sizeof(T) == 4)
            return fminf(x, most);
        else
            return x > most ? most : x;
    }
};

/// Box and Muller's two normal numbers from two words of 32 or 64 bits.
template <class T>
__device__ void normal_pair(std::uint32_t v, std::uint32_t w, float& even, float& odd) {
    constexpr float pi = 3.14159265f;
    const float r = ptx::square_root(-2 * logf(fmaf(static_cast<float>(v), 0x1p-32f, 0x1p-33f)));
    const float a = static_cast<float>(static_cast<std::int32_t>(w)) * 0x1p-31f;
    float sine, cosine;
    if constexpr (sizeof(T) == 2)
        __sincosf(pi * a, &sine, &cosine);
    else
        sincospif(a, &sine, &cosine);
    even = r * cosine;
    odd = r * sine;
}
template <class T>
__device__ void normal_pair(std::uint64_t v, std::uint64_t w, double& even, double& odd) {
    const double r = sqrt(-2 * log(static_cast<double>((v >> 11) + 1) * 0x1p-53));
    double sine, cosine;
    sincospi(static_cast<double>(static_cast<std::int64_t>(w)) * 0x1p-63, &sine, &cosine);
    even = r * cosine;
    odd = r * sine;
}

template <class T>
struct normal {
    using element = T;
    using compute = compute_type<T>;
    using drawn = T;
    static constexpr int inputs = 0;
    static constexpr int size = sizeof(T) == 8 ? 2 : 4;

    compute mean, deviation;

    explicit normal(const scalars& s)
        : mean(static_cast<compute>(s.low)), deviation(static_cast<compute>(s.width)) {}

    __device__ void operator()(const philox_block& block, drawn (&numbers)[size]) const {
        const auto& w = block.words;
        compute z[size];
        if constexpr (size == 2) {
            normal_pair<T>(wide_word(w[0], w[1]), wide_word(w[2], w[3]), z[0], z[1]);
        } else {
            normal_pair<T>(w[0], w[1], z[0], z[1]);
            normal_pair<T>(w[2], w[3], z[2], z[3]);
        }
#pragma unroll
        for (int i = 0; i < size; ++i) numbers[i] = static_cast<T>(fma(deviation, z[i], mean));
    }
    __device__ T finish(drawn number, T) const {
        return number;
    }
};

/// Tests whether a word is below a threshold of 0 to 2^32, by one comparison of 32 bits.
class word_below {
  public:
    explicit word_below(std::uint64_t threshold)
        : is_possible_(threshold > 0), largest_(static_cast<std::uint32_t>(threshold - 1)) {}

    __device__ bool operator()(std::uint32_t word) const { return is_possible_ && word <= largest_; }

  private:
    bool is_possible_;
    std::uint32_t largest_;
};

template <class T>
struct bernoulli {
    using element = T;
    using drawn = T;
    static constexpr int inputs = 0;
    static constexpr int size = 4;

    word_below is_one;

    explicit bernoulli(const scalars& s) : is_one(s.threshold) {}

    __device__ void operator()(const philox_block& block, drawn (&numbers)[size]) const {
#pragma unroll
        for (int i = 0; i < size; ++i) {
            if constexpr (std::is_integral_v<T>)
                numbers[i] = is_one(block.words[i]) ? 1 : 0;
            else
                numbers[i] = static_cast<T>(is_one(block.words[i]) ? 1.0f : 0.0f);
        }
    }
    __device__ T finish(drawn number, T) const {
        return number;
    }
};

struct bits {
    using element = std::uint32_t;
    using drawn = std::uint32_t;
    static constexpr int inputs = 0;
    static constexpr int size = 4;

    explicit bits(const scalars&) {}

    __device__ void operator()(const philox_block& block, drawn (&numbers)[size]) const {
#pragma unroll
        for (int i = 0; i < size; ++i) numbers[i] = block.words[i];
    }
    __device__ std::uint32_t finish(drawn number, std::uint32_t) const {
        return number;
    }
};

template <class T>
struct dropout {
    using element = T;
    using compute = compute_type<T>;
    using drawn = bool;
    static constexpr int inputs = 1;
    static constexpr int size = 4;

    word_below is_dropped;
    compute scale;

    explicit dropout(const scalars& s) : is_dropped(s.threshold), scale(static_cast<compute>(s.scale)) {}

    __device__ void operator()(const philox_block& block, drawn (&is_kept)[size]) const {
#pragma unroll
        for (int i = 0; i < size; ++i) is_kept[i] = !is_dropped(block.words[i]);
    }
    __device__ T finish(drawn is_kept, T x) const {
        return static_cast<T>(is_kept ? static_cast<compute>(x) * scale : compute{0});
    }
};

/// The sequence that a call draws from.
template <class Draw>
struct sequence {
    static constexpr int size = Draw::size;
    static constexpr std::uint32_t kind = size == 2 ? 1 : 0;

    philox_keys keys;
    std::uint64_t offset;
    const std::uint64_t* device_offset;

    explicit sequence(const philox& generator)
        : keys(generator.seed), offset(generator.offset), device_offset(generator.device_offset) {}

    /// The place of element 0.
    __device__ std::uint64_t start() const {
        return offset + (device_offset != nullptr ? *device_offset : 0);
    }
    /// Draws the numbers of the block that has a place.
    __device__ void draw(const Draw& draw, std::uint64_t place, typename Draw::drawn (&numbers)[size]) const {
        const std::uint64_t b = place / size;
        draw(
            philox4x32({{static_cast<std::uint32_t>(b), static_cast<std::uint32_t>(b >> 32), kind, 0}}, keys),
            numbers);
    }
};

/// Typed operands; x is not used where there is no input.
template <class Draw>
struct operands {
    using T = typename Draw::element;
    matrix_view<const T> x;
    matrix_view<T> y;

    explicit operands(const arguments& a)
        : x{static_cast<const T*>(a.x.data), a.x.rows, a.x.cols, a.x.row_stride, a.x.col_stride},
          y{static_cast<T*>(a.y.data), a.y.rows, a.y.cols, a.y.row_stride, a.y.col_stride} {}

    __device__ T input(std::int64_t row, std::int64_t col) const {
        if constexpr (Draw::inputs == 0) return T{};
        return x.data[row * x.row_stride + col * x.col_stride];
    }
    __device__ T& output(std::int64_t row, std::int64_t col) const {
        return y.data[row * y.row_stride + col * y.col_stride];
    }
};

template <class T, class Visitor>
void visit_operation(const arguments& a, Visitor visitor) {
    using enum detail::random_operation;
    switch (a.operation) {
        case uniform:
            return visitor(random::uniform<T>(a.scalars));
        case normal:
            return visitor(random::normal<T>(a.scalars));
        case bernoulli:
            return visitor(random::bernoulli<T>(a.scalars));
        case dropout:
            return visitor(random::dropout<T>(a.scalars));
        case bits:
            return;  // only of type u32
    }
}

/// Calls visitor(draw) with the draw that the arguments ask for.
template <class Visitor>
void visit(const arguments& a, Visitor visitor) {
    switch (a.type) {
        case detail::random_type::f32:
            return visit_operation<float>(a, visitor);
        case detail::random_type::f64:
            return visit_operation<double>(a, visitor);
        case detail::random_type::f16:
            return visit_operation<half>(a, visitor);
        case detail::random_type::bf16:
            return visit_operation<bfloat16>(a, visitor);
        case detail::random_type::u8:
            return visitor(bernoulli<std::uint8_t>(a.scalars));
        case detail::random_type::u32:
            return visitor(bits(a.scalars));
    }
}

}  // namespace heddle::kernels::random
