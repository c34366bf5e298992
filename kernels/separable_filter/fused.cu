// fused: one launch, one read, one write. Four kernels, its variants: strips, tiles, chains and the ring.
//
// strips: a warp marches down a strip of the image, filtering each row along x from shared memory and, at once, along y in
// registers (fused_strips.cuh). One radius up to max_register_radius(), whose sums registers hold.
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
// tiles: small windows, up to max_tile_radius() and of sources whose rows are aligned, do not march (fused_tiles.cuh). A strip
// reads again, long after, the rows that it shares with the next, and strips that run at once are far apart in DRAM. So a
// warp takes a tile of 8 rows, all of whose loads are under way at once, and blocks take the tiles in the order of memory:
// what they share is still in L1 and L2. Nothing has to be carried on, so the pass along y comes first, by sums that end
// with the tile, and along x shuffles bring what other lanes have. The outermost lanes only lend.
//
// chains: larger windows of one channel of float, whose warps lend to each other the rows that they would filter twice
// (fused_chains.cu).
//
// ring: any two radii up to 255 whose rows the shared memory holds (fused_ring.cu).
//
// Strips and tiles are compiled in files that CMake writes (kernels/CMakeLists.txt).

#include "kernels/separable_filter/launch.hpp"
#include "kernels/separable_filter/plan/compiled.hpp"

namespace heddle::kernels::separable_filter {

template <class T>
void launch_fused_strips(const fused_strips_plan& plan, const arguments<T>& a, cudaStream_t stream) {
    with_channels(a.source.first.channels,
                  [&]<int channels>() { launch_strips<T, channels>(plan, a, stream); });
}

template void launch_fused_strips(const fused_strips_plan&, const arguments<float>&, cudaStream_t);
template void launch_fused_strips(const fused_strips_plan&, const arguments<half>&, cudaStream_t);
template void launch_fused_strips(const fused_strips_plan&, const arguments<std::uint16_t>&, cudaStream_t);
template void launch_fused_strips(const fused_strips_plan&, const arguments<std::uint8_t>&, cudaStream_t);

}  // namespace heddle::kernels::separable_filter
