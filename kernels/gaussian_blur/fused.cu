// fused: one launch, one read, one write. A warp marches down a strip of the image, filtering each row along
// x from shared memory and, at once, along y in registers.
//
//            strip: halo | 32 * tile::values values | halo                  taps w, n = 2r + 1
//   row y+2  . . . . . . being loaded . . . . . . . . . . . .
//   row y+1  in shared memory  ->  h = sum of w[k] * in[x + k]
//   row y    written: out[y - r] = sums[0] + w[n - 1] * h, and sums[i] = sums[i + 1] + w[n - 2 - i] * h
//
// sums[i] are the output rows that still miss inputs: each row of h adds one term to all of them, and writing
// the sum one place down is free. So the pass along y loads nothing and stores nothing, and the intermediate
// image of the rungs below is gone. What is left beside the FMAs decides how fast bytes are:
// - After the start no warp waits for another: each stages its own columns and halo. Rows are fetched into
//   registers, staged and filtered some at a time, with one branch for all, and nothing in between that keeps
//   loads behind stores.
// - An integer is taken for the subnormal float of its bits, which costs no conversion, and FMAs are no
//   slower for it.
// - Halos, and what stands for values beyond a border, come singly, mostly one value a lane, while the row's
//   packets do. So a warp at an edge does what all others do, and nobody waits for it.
// Above max_register_radius() the sums no longer fit the registers: fused_ring.cu, as for two radii. Any
// shape, any alignment: where rows are not aligned, packets are put together from words, and results leave by
// way of shared memory. The kernel is in fused.cuh, and compiled for each type in a file of its own.
//
// 4096 x 4096, radius 2, on an H200: float 38 us, where a copy takes 33.5; uint8 18, where one takes 11.5.
// Float of radius 15, on 8 warps a multiprocessor, as sums take half of the registers: 64.5, 72 by way of the
// ring.

#include "kernels/gaussian_blur/fused.cuh"

namespace heddle::kernels::gaussian_blur {
namespace {

bool is_for_registers(std::int64_t radius_x, std::int64_t radius_y, pixel_type type, std::int64_t channels) {
    return radius_x == radius_y && radius_x <= max_register_radius(type, channels);
}

}  // namespace

int fused_blocks_per_sm(const gaussian_blur_problem& problem, const device_traits& device) {
    if (problem.width > max_row_values / problem.channels) return 0;
    return is_for_registers(problem.radius.x, problem.radius.y, problem.type, problem.channels)
               ? 2
               : fused_ring_blocks_per_sm(problem, device);
}

template <class T>
void launch_fused(const arguments<T>& a, const device_traits& device, cudaStream_t stream) {
    if (is_for_registers(a.taps_x.radius, a.taps_y.radius, pixel_type_of<T>, a.source.first.channels))
        launch_registers(a, device, stream);
    else
        launch_fused_ring(a, device, stream);
}

template void launch_fused(const arguments<float>&, const device_traits&, cudaStream_t);
template void launch_fused(const arguments<half>&, const device_traits&, cudaStream_t);
template void launch_fused(const arguments<std::uint16_t>&, const device_traits&, cudaStream_t);
template void launch_fused(const arguments<std::uint8_t>&, const device_traits&, cudaStream_t);

}  // namespace heddle::kernels::gaussian_blur
