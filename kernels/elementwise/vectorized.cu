// vectorized: 16 bytes a load, one packet a thread.
//
//   a row:   | p p p p ... (packets of 16 bytes)                 | tail |
//
// A warp's instruction moves 512 bytes instead of 64 to 128. A full SM has 32 KB under way for every input, which covers
// DRAM's latency for 2-byte types too. Where all rows begin equally far past a multiple of 16 bytes, their first packet is
// cut. Where an input of 1-byte or 2-byte elements begins elsewhere, a thread reads two neighbouring packets and shifts.
// Other rows, and elements with gaps between them, go one by one: as many per thread as a packet has, and a warp's are
// neighbours. An input that lies across the output is transposed in shared memory, tile by tile. An input with one element
// per row fills packets with it, where there are other inputs. From 64 MiB per operand on, blocks of 1024 threads compute
// functions of two or three inputs that need at most 32 registers. Each input is then read in longer runs; this makes a
// single input slower. It takes any shape and any strides. The limit is DRAM, and where elements have gaps, sectors that
// are used in part.

#include "kernels/elementwise/any_of.cuh"
#include <heddle/elementwise.cuh>

namespace heddle::kernels::elementwise {

/// In packets, instructions limit the exponentials, so that choosing one of several would cost time. So each has its own
/// kernel.
template <bool is_mixed, class T, class... Others>
void launch_packets(const launch_config& config, const any_of<T, exp, Others...>& any,
                    const detail::elementwise_operands<T, 1>& a, int lead) {
    with_function_alone(any,
                        [&](auto function) { detail::launch_packets<is_mixed>(config, function, a, lead); });
}

plan plan_vectorized(const elementwise_facts& problem, const device_traits&) {
    using tile = detail::elementwise_tile;
    // Every function here that has several inputs fits wide blocks.
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
