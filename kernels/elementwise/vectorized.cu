// vectorized: 16 bytes a load, one packet a thread.
//
//   a row:   | p p p p ... (packets of 16 bytes)                 | tail |
//
// A warp's instruction moves 512 bytes instead of 64 to 128, and a full SM has 32 KB under way for every input:
// enough to cover DRAM's latency, for 2-byte types too. Rows that all begin as far beyond a multiple of 16 bytes begin
// with a cut packet. Where an input of 1-byte or 2-byte elements begins elsewhere, a thread reads the two packets that its
// own lies in, and shifts. Other rows, and elements with gaps between them, go one by one, as many a thread, a warp's being
// neighbours. An input that lies across the output is turned over in shared memory, tile by tile. One with an element for
// all of a row, beside others, fills packets with it. From 64 MiB an operand on, two or three inputs are taken by blocks of
// 1024 threads, where the function needs no more than 32 registers: each input is then read in longer runs; a single input
// is slower so. Any shape, any strides. What limits it is DRAM itself, and sectors that are used in part where elements
// have gaps.

#include "kernels/elementwise/any_of.cuh"
#include <heddle/elementwise.cuh>

namespace heddle::kernels::elementwise {

/// In packets the exponentials are bound by instructions: to find one of several would cost time, where it costs none beside
/// loads. So each has a kernel.
template <bool is_mixed, class T, class... Others>
void launch_packets(const launch_config& config, const any_of<T, exp, Others...>& any,
                    const detail::elementwise_operands<T, 1>& a, int lead) {
    with_function_alone(any,
                        [&](auto function) { detail::launch_packets<is_mixed>(config, function, a, lead); });
}

plan plan_vectorized(const elementwise_facts& problem, const device_traits&) {
    using tile = detail::elementwise_tile;
    // Wide blocks fit each function here that has several inputs.
    const auto [blocks, threads, way, lead] = detail::plan_transform(
        problem, detail::gains_by_wide_blocks(problem) ? tile::wide_threads : tile::threads);
    return {blocks, threads, way, lead};
}

void launch_vectorized(const plan& plan, const arguments& arguments, cudaStream_t stream) {
    const detail::elementwise_plan shared{plan.blocks, plan.threads, plan.way, plan.lead};
    visit(arguments, [&]<class T, class Function>(Function function) {
        detail::launch_transform<T, Function::inputs>(shared, function, arguments.operands, stream);
    });
}

}  // namespace heddle::kernels::elementwise
