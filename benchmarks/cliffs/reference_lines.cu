#include "benchmarks/cliffs/reference.hpp"
#include "benchmarks/cliffs/reference_parts.cuh"
#include "benchmarks/support/rows.hpp"
#include <heddle/types.hpp>

#include <algorithm>
#include <limits>

namespace heddle::bench::cliffs {
namespace {

/// A sum and what its roundings lost (Knuth's two-sum).
struct compensated {
    double sum = 0, lost = 0;

    __host__ __device__ void add(double x) {
        const double total = sum + x;
        const double part = total - sum;
        lost += (sum - (total - part)) + (x - part);
        sum = total;
    }
    __device__ void add_product(double x, double y) {
        const double product = __dmul_rn(x, y);  // not part of the FMA of a sum
        lost += fma(x, y, -product);
        add(product);
    }
    __host__ __device__ void add(const compensated& other) {
        add(other.sum);
        lost += other.lost;
    }
    [[nodiscard]] double value() const { return sum + lost; }
};

struct line_part {
    compensated sum, squares;
    double magnitudes = 0, deviations = 0, exponentials = 0;
    double smallest = std::numeric_limits<double>::infinity();
    double largest = -std::numeric_limits<double>::infinity();
    std::int64_t first_smallest = -1, first_largest = -1, nonzero = 0;

    __host__ __device__ static bool comes_first(std::int64_t a, std::int64_t b) {
        return b < 0 || (a >= 0 && a < b);
    }
    __host__ __device__ void add(const line_part& other) {
        sum.add(other.sum);
        squares.add(other.squares);
        magnitudes += other.magnitudes;
        deviations += other.deviations;
        exponentials += other.exponentials;
        nonzero += other.nonzero;
        if (other.smallest < smallest ||
            (other.smallest == smallest && comes_first(other.first_smallest, first_smallest))) {
            smallest = other.smallest;
            first_smallest = other.first_smallest;
        }
        if (other.largest > largest ||
            (other.largest == largest && comes_first(other.first_largest, first_largest))) {
            largest = other.largest;
            first_largest = other.first_largest;
        }
    }
};

struct dot_part {
    compensated sum;
    double magnitudes = 0, x_squares = 0, y_squares = 0;

    __host__ __device__ void add(const dot_part& other) {
        sum.add(other.sum);
        magnitudes += other.magnitudes;
        x_squares += other.x_squares;
        y_squares += other.y_squares;
    }
};

/// Blocks along x are lines, and along y the parts of each.
template <class T, class Element>
__device__ void for_each_element(const T* data, const line& l, Element element) {
    const std::int64_t step = std::int64_t{gridDim.y} * threads;
#pragma unroll 4
    for (std::int64_t i = std::int64_t{blockIdx.y} * threads + threadIdx.x; i < l.size; i += step)
        element(i, value_of(data[l.first + i * l.stride]));
}

template <class T>
__global__ void line_kernel(const T* data, const line* lines, line_part* parts) {
    line_part own;
    for_each_element(data, lines[blockIdx.x], [&](std::int64_t i, double x) {
        own.sum.add(x);
        own.squares.add_product(x, x);
        own.magnitudes += fabs(x);
        own.nonzero += x != 0 ? 1 : 0;
        if (x < own.smallest) own.smallest = x, own.first_smallest = i;
        if (x > own.largest) own.largest = x, own.first_largest = i;
    });
    store_total(own, parts);
}

/// What needs a line's mean and largest element.
template <class T>
__global__ void second_line_kernel(const T* data, const line* lines, const line_facts* facts,
                                   line_part* parts) {
    const double mean = facts[blockIdx.x].sum / static_cast<double>(lines[blockIdx.x].size);
    const double largest = facts[blockIdx.x].largest;
    line_part own;
    for_each_element(data, lines[blockIdx.x], [&](std::int64_t, double x) {
        own.deviations += (x - mean) * (x - mean);
        own.exponentials += exp(x - largest);
    });
    store_total(own, parts);
}

template <class T>
__global__ void dot_kernel(const T* x, const line* x_lines, const T* y, const line* y_lines, const T* factors,
                           dot_part* parts) {
    const line y_line = y_lines[blockIdx.x];
    dot_part own;
    for_each_element(x, x_lines[blockIdx.x], [&](std::int64_t i, double from_x) {
        const double factor = factors == nullptr ? 1 : value_of(factors[i]);
        const double from_y = value_of(y[y_line.first + i * y_line.stride]) * factor;
        own.sum.add_product(from_x, from_y);
        own.magnitudes += fabs(from_x * from_y);
        own.x_squares += from_x * from_x;
        own.y_squares += from_y * from_y;
    });
    store_total(own, parts);
}

/// So many that a long line has the device to itself.
unsigned parts_of(const std::vector<line>& lines) {
    constexpr std::int64_t elements_a_part = 1 << 16, most = 256;
    std::int64_t longest = 0;
    for (const line& l : lines) longest = std::max(longest, l.size);
    return static_cast<unsigned>(std::clamp<std::int64_t>(longest / elements_a_part, 1, most));
}

}  // namespace

template <class T>
std::vector<line_facts> facts_of(const T* data, const std::vector<line>& lines) {
    if (lines.empty()) return {};
    const auto where = on_device(lines);
    const unsigned parts = parts_of(lines);
    const auto first = totals<line_part>(lines.size(), parts, [&](dim3 grid, line_part* to) {
        line_kernel<<<grid, threads, 0, stream().get()>>>(data, where.data(), to);
    });
    std::vector<line_facts> facts;
    for (const line_part& p : first)
        facts.push_back({.sum = p.sum.value(),
                         .magnitudes = p.magnitudes,
                         .squares = p.squares.value(),
                         .smallest = p.smallest,
                         .largest = p.largest,
                         .first_smallest = p.first_smallest,
                         .first_largest = p.first_largest,
                         .nonzero = p.nonzero});
    const auto known = on_device(facts);
    const auto second = totals<line_part>(lines.size(), parts, [&](dim3 grid, line_part* to) {
        second_line_kernel<<<grid, threads, 0, stream().get()>>>(data, where.data(), known.data(), to);
    });
    for (std::size_t i = 0; i < facts.size(); ++i) {
        facts[i].deviations = second[i].deviations;
        facts[i].exponentials = second[i].exponentials;
    }
    return facts;
}

template <class T>
std::vector<dot_facts> dots_of(const T* x, const std::vector<line>& x_lines, const T* y,
                               const std::vector<line>& y_lines, const T* factors) {
    if (x_lines.empty()) return {};
    const auto x_where = on_device(x_lines), y_where = on_device(y_lines);
    const auto sums = totals<dot_part>(x_lines.size(), parts_of(x_lines), [&](dim3 grid, dot_part* to) {
        dot_kernel<<<grid, threads, 0, stream().get()>>>(x, x_where.data(), y, y_where.data(), factors, to);
    });
    std::vector<dot_facts> facts;
    for (const dot_part& p : sums) facts.push_back({p.sum.value(), p.magnitudes, p.x_squares, p.y_squares});
    return facts;
}

#define HEDDLE_CLIFFS_LINES(T)                                                            \
    template std::vector<line_facts> facts_of(const T*, const std::vector<line>&);        \
    template std::vector<dot_facts> dots_of(const T*, const std::vector<line>&, const T*, \
                                            const std::vector<line>&, const T*);
HEDDLE_EACH_ADDED_TYPE(HEDDLE_CLIFFS_LINES)
#undef HEDDLE_CLIFFS_LINES

}  // namespace heddle::bench::cliffs
