// fused: one launch, one read, one write. Four kinds.
//
// A warp marches down a strip of the image, filtering each row along x from shared memory and, at once, along y in
// registers (fused.cuh).
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
// Any shape, any alignment: where rows are not aligned, packets are put together from words, and results leave by
// way of shared memory.
//
// Small windows, up to max_tile_radius() and of sources whose rows are aligned, do not march (fused_tiles.cuh). A strip
// reads again, long after, the rows that it shares with the next, and strips that run at once are far apart in DRAM. So a
// warp takes a tile of 8 rows, all of whose loads are under way at once, and blocks take the tiles in the order of memory:
// what they share is still in L1 and L2. Nothing has to be carried on, so the pass along y comes first, by sums that end
// with the tile, and along x shuffles bring what other lanes have. The outermost lanes only lend.
//
// Larger windows of one channel of float march in chains, whose warps lend to each other the rows that they would filter
// twice (fused_chains.cu).
//
// Above max_register_radius() the sums no longer fit the registers: fused_ring.cu, as for two radii. Strips and tiles are
// compiled in files that CMake writes (kernels/CMakeLists.txt).

#include "kernels/gaussian_blur/fused_tiles.hpp"
#include "kernels/gaussian_blur/launch.hpp"

namespace heddle::kernels::gaussian_blur {
namespace {

bool has_one_radius_up_to(std::int64_t most, std::int64_t radius_x, std::int64_t radius_y) {
    return radius_x == radius_y && radius_x <= most;
}

}  // namespace

int fused_blocks_per_sm(const gaussian_blur_problem& problem, const device_traits& device) {
    if (problem.width > max_row_values / problem.channels) return 0;
    const int most = max_register_radius(problem.type, problem.channels);
    return has_one_radius_up_to(most, problem.radius.x, problem.radius.y)
               ? 2
               : fused_ring_blocks_per_sm(problem, device);
}

bool is_one_wave_of_tiles(const gaussian_blur_problem& problem, const device_traits& device) {
    const std::int64_t most = std::int64_t{tile_shape::blocks_per_sm} * device.sm_count;
    const int most_radius = max_tile_radius(problem.type, problem.channels);
    if (!has_one_radius_up_to(most_radius, problem.radius.x, problem.radius.y)) return false;
    if (problem.width > max_row_values / problem.channels || problem.images > most) return false;
    const auto halo = static_cast<int>(problem.radius.x * problem.channels);
    const tile_grid grid{{value_bytes(problem.type), halo}, problem.width * problem.channels, problem.height};
    return grid.segments <= most && grid.strips * grid.segments * problem.images <= most;
}

template <class T>
void launch_fused(const arguments<T>& a, const device_traits& device, cudaStream_t stream) {
    const std::int64_t channels = a.source.first.channels;
    const auto is_up_to = [&a](std::int64_t most) {
        return has_one_radius_up_to(most, a.taps_x.radius, a.taps_y.radius);
    };
    if (is_up_to(max_tile_radius(pixel_type_of<T>, channels)) && tile_shape::fits(a.source))
        launch_fused_tiles(a, device, stream);
    else if (is_up_to(max_register_radius(pixel_type_of<T>, channels)))
        with_channels(channels, [&]<int count>() { launch_registers<T, count>(a, device, stream); });
    else
        launch_fused_ring(a, device, stream);
}

template void launch_fused(const arguments<float>&, const device_traits&, cudaStream_t);
template void launch_fused(const arguments<half>&, const device_traits&, cudaStream_t);
template void launch_fused(const arguments<std::uint16_t>&, const device_traits&, cudaStream_t);
template void launch_fused(const arguments<std::uint8_t>&, const device_traits&, cudaStream_t);

}  // namespace heddle::kernels::gaussian_blur
