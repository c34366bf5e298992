// strips: rows in strips, whichever way their elements lie in memory (kernels/device/strip.cuh).
//
//   pass 1: the mean      pass 2: the mean of squared deviations      pass 3: read again, write
//
// It takes any strides. It reads again what registers do not hold, and few long rows occupy few SMs.

#include "kernels/device/launchers.hpp"
#include "kernels/device/row.cuh"
#include "kernels/device/strip.cuh"
#include "kernels/norm/launch.hpp"
#include "kernels/norm/scale.cuh"

#include <cstdint>

namespace heddle::kernels::norm {
namespace {

template <bool centred, class T, bool reads_rows, bool writes_rows>
__global__ void __launch_bounds__(strip_limits::threads, strip_limits::blocks_per_sm)
    strips(arguments<T> a, int log_rows) {
    constexpr int turn = centred ? 1 : 0;  // the turn that combines the squares
    using strip = kernels::strip<T, float, turn + 1, reads_rows, writes_rows>;
    __shared__ typename strip::storage shared;
    strip rows(a.x, log_rows, shared);
    const auto cols = static_cast<float>(a.x.cols);

    if constexpr (centred) {
        float sums[strip::elements] = {};
        rows.for_each([&](int k, float x) { sums[k] += x; });
        rows.combine(0, sums, 0.0f, plus{}, [&](float sum) { return sum / cols; });
    }
    const auto mean = [&](int k) { return centred ? rows.total(0, k) : 0.0f; };
    float squares[strip::elements] = {};
    rows.for_each([&](int k, float x) {
        const float deviation = x - mean(k);
        squares[k] += deviation * deviation;
    });
    rows.combine(turn, squares, 0.0f, plus{},
                 [&](float sum) { return reciprocal_deviation(sum, cols, a.epsilon); });

    rows.write(a.y, [&](int k, float x, std::int64_t col) {
        return scaled(x, mean(k), rows.total(turn, k), parameter(a.gamma, col, 1.0f),
                      parameter(a.beta, col, 0.0f));
    });
}

}  // namespace

plan plan_strips(const norm_facts& problem, const device_traits& device) {
    return {.rows = {}, .strips = kernels::plan_strips(problem, device)};
}

template <bool centred, class T>
void launch_strips(const plan& plan, const arguments<T>& arguments, cudaStream_t stream) {
    kernels::launch_strips(plan.strips, arguments, stream, [](auto reads_rows, auto writes_rows) {
        return strips<centred, T, reads_rows.value, writes_rows.value>;
    });
}

HEDDLE_LAUNCHES_OF_BOTH(launch_strips, plan, arguments)

}  // namespace heddle::kernels::norm
