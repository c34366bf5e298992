// vectorized: 16 bytes a load, one packet a thread.
//
//   a row:   | p p p p ... (packets of 16 bytes)                 | tail |
//
// A warp's instruction moves 512 bytes instead of 64 to 128, and a full SM has 32 KB under way for every input:
// enough to cover DRAM's latency, for 2-byte types too. More packets a thread do not help, and streaming hints
// (ld.cs, L1::no_allocate) make it slower. Where pointers or row strides are not multiples of 16 bytes, or elements
// do not lie side by side, a thread takes as many elements one by one, a block's width apart, so that a warp's are
// still neighbours. From 64 MiB an operand on, two or three inputs are taken by blocks of 1024 threads, where the
// function needs no more than 32 registers: each input is then read in longer runs. A single input is not, and
// such blocks make it slower. Any shape, any strides. What limits it is DRAM itself.

#include "kernels/elementwise/functors.cuh"
#include <heddle/elementwise.cuh>

namespace heddle::kernels::elementwise {

plan plan_vectorized(const elementwise_problem& problem, const device_traits&) {
    using tile = detail::elementwise_tile;
    // Wide blocks fit each function here that has several inputs.
    const auto [blocks, threads, in_packets] = detail::plan_transform(
        problem, detail::gains_by_wide_blocks(problem) ? tile::wide_threads : tile::threads);
    return {blocks, threads, in_packets};
}

void launch_vectorized(const plan& plan, const arguments& arguments, cudaStream_t stream) {
    const detail::elementwise_plan shared{plan.blocks, plan.threads, plan.in_packets};
    visit(arguments, [&]<class T, class Functor>(Functor functor) {
        detail::launch_transform<T, Functor::inputs>(shared, functor, arguments.operands, stream);
    });
}

}  // namespace heddle::kernels::elementwise
