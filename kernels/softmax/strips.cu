// strips: rows in strips, whichever way their elements lie in memory (kernels/device/strip.cuh).
//
//   pass 1: the largest element and the sum, online      pass 2: read again, write
//
// A step of a sum takes one exponential: of the smaller of the new element and the largest so far. It takes any strides.
// It reads again what registers do not hold, and few long rows occupy few SMs.

#include "kernels/device/launchers.hpp"
#include "kernels/device/strip.cuh"
#include "kernels/softmax/exponential.cuh"
#include "kernels/softmax/launch.hpp"

#include <cstdint>

namespace heddle::kernels::softmax {
namespace {

/// A NaN does not become the largest element: its exponential makes the sum NaN.
template <class T>
struct add_element {
    __device__ void operator()(normalizer& n, float x) const {
        const bool is_larger = x > n.largest;
        const float smaller = is_larger ? n.largest : x;
        n.largest = is_larger ? x : n.largest;
        const float share = exponential<T>(difference(smaller, n.largest));
        n.sum = is_larger ? n.sum * share + 1.0f : n.sum + share;
    }
};

template <class T>
struct merge_normalizers {
    __device__ normalizer operator()(const normalizer& a, const normalizer& b) const {
        const float largest = fmaxf(a.largest, b.largest);
        return {largest, a.sum * exponential<T>(difference(a.largest, largest)) +
                             b.sum * exponential<T>(difference(b.largest, largest))};
    }
};

template <bool logarithm, class T, bool reads_rows, bool writes_rows>
__global__ void __launch_bounds__(strip_limits::threads, strip_limits::blocks_per_sm)
    strips(arguments<T> a, int log_rows) {
    using strip = kernels::strip<T, normalizer, 1, reads_rows, writes_rows>;
    __shared__ typename strip::storage shared;
    strip rows(a.x, log_rows, shared);

    constexpr normalizer of_none{-infinity, 0};
    normalizer normalizers[strip::elements];
#pragma unroll
    for (int k = 0; k < strip::elements; ++k) normalizers[k] = of_none;
    rows.for_each([&](int k, float x) { add_element<T>{}(normalizers[k], x); });
    rows.combine(0, normalizers, of_none, merge_normalizers<T>{}, [](const normalizer& n) {
        return normalizer{n.largest, logarithm ? logf(n.sum) : n.sum};
    });
    rows.write(a.y, [&](int k, float x, std::int64_t) {
        const normalizer& of_row = rows.total(0, k);
        const float distance = difference(x, of_row.largest);
        return logarithm ? distance - of_row.sum : exponential<T>(distance) / of_row.sum;
    });
}

}  // namespace

plan plan_strips(const softmax_facts& problem, const device_traits& device) {
    return {.rows = {}, .strips = kernels::plan_strips(problem, device)};
}

template <bool logarithm, class T>
void launch_strips(const plan& plan, const arguments<T>& arguments, cudaStream_t stream) {
    kernels::launch_strips(plan.strips, arguments, stream, [](auto reads_rows, auto writes_rows) {
        return strips<logarithm, T, reads_rows.value, writes_rows.value>;
    });
}

HEDDLE_LAUNCHES_OF_BOTH(launch_strips, plan, arguments)

}  // namespace heddle::kernels::softmax
