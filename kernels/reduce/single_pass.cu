// single_pass: one launch for any size. Blocks tell each other what they have by the quickest way there is.
//
//   up to 64 KB:   one block             packets -> registers -> shuffles -> shared memory -> result
//   up to 512 KB:  a cluster of 8        every warp sends its share into the first block's shared memory
//   up to 8 MB:    16 clusters           then 15 send theirs to the last, which waits for them
//   more:          many blocks           partials[block], then a ticket: whoever draws the last combines the
//                                        partials in the order of their blocks
//
// What clusters send is data and signal at once: a store that counts at a barrier in the receiver's shared memory,
// or 16 bytes of which the second half is not zero. No fence, no atomic, no reload.
//
// Who is last to come varies, what it computes does not: the same call gives the same bits. Tickets and
// messages are zero again after the call. Without clusters (before compute capability 9.0) the second and third
// are as the last: data is spread over the SMs, one block each, until every block has a whole tile; then over
// more blocks, until the device is full. Large data gets several blocks for each place on the device, so that
// an SM that runs ahead takes more of them. Loads are those of `vectorized`.
//
// Any stride; 16-byte loads for stride 1. What limits it is the launch up to about 1 MB, then L2 or DRAM.
//
// 2^28 floats on an H200: 4.3 TB/s, as much as CUB.

#include "kernels/device/block_reduce.cuh"
#include "kernels/reduce/single_pass.cuh"

namespace heddle::kernels::reduce {

plan plan_single_pass(const reduce_problem& problem, const device_traits& device) {
    const std::int64_t width =
        problem.stride == 1 ? static_cast<std::int64_t>(max_vector_bytes / problem.element_bytes) : 1;
    const std::int64_t packets = problem.size / width;
    const auto [blocks, threads, cluster] = plan_single_pass_grid(packets, device);
    const std::int64_t share = accumulate_depth(packets, width, tile::unroll, blocks * threads);
    if (cluster > 1) {
        // Two warp_reduce, and three levels for the eight warps that a lane of the second takes.
        const std::int64_t depth = share + 2 * warp_reduce_depth + 3;
        if (blocks == cluster) return {.partials = 0, .depth = depth};
        return {.partials = blocks / cluster, .depth = depth + warp_reduce_depth + 1};
    }
    const std::int64_t depth = share + block_reduce_depth;
    if (blocks == 1) return {.partials = 0, .depth = depth};
    // Partials are taken four at a time.
    const std::int64_t last = 2 + blocks_for(blocks, tile::unroll * threads) + block_reduce_depth;
    return {.partials = blocks, .depth = depth + last};
}

template void launch_single_pass(const arguments<sum, double>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<sum, float>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<sum, half>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<sum, bfloat16>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<sum, std::int32_t>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<sum, std::int64_t>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<mean, double>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<mean, float>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<mean, half>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<mean, bfloat16>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<mean, std::int32_t>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<mean, std::int64_t>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<min, double>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<min, float>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<min, half>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<min, bfloat16>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<min, std::int32_t>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<min, std::int64_t>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<max, double>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<max, float>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<max, half>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<max, bfloat16>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<max, std::int32_t>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<max, std::int64_t>&, const device_traits&, cudaStream_t);

}  // namespace heddle::kernels::reduce
