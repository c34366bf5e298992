// stream_k: the last round of tiles is shared out along k.
//
//   140 tiles on 132 multiprocessors, whole:  | round 1: 132 tiles | round 2: 8 tiles, 124 idle |
//   streamed:                                 | round 1: 132 tiles | 8 tiles x 64 steps / 64 = 8 steps each |
//
// persistent is as slow as its last round, however few tiles that has. Here the steps along k of the tiles that fill no
// round are one row that is cut into equal lengths (Osama, Merrill, Cecka, Garland, Owens: Stream-K, 2023). Who has a
// part of a tile leaves its sums in the workspace; who comes last adds them up, always in one order, so the bits do not
// depend on who that is. Nobody waits for anybody. The kernel is persistent's: only the schedule differs.

#include "kernels/matmul/launch.hpp"
#include <heddle/types.hpp>

namespace heddle::kernels::matmul {

template <class In, class Out>
void launch_stream_k(const product<In, Out>& arguments, std::byte* workspace, const device_traits& device,
                     cudaStream_t stream) {
    const auto& c = arguments.c;
    const tile_layout layout = cheapest_streamed(persistent_tiles, c.rows, c.cols, arguments.a.cols,
                                                 device.sm_count, workspace != nullptr, arguments.tile.index);
    launch_persistent_layout(layout, arguments, workspace, stream);
}

template void launch_stream_k(const product<half, half>&, std::byte*, const device_traits&, cudaStream_t);
template void launch_stream_k(const product<half, float>&, std::byte*, const device_traits&, cudaStream_t);
template void launch_stream_k(const product<bfloat16, bfloat16>&, std::byte*, const device_traits&,
                              cudaStream_t);
template void launch_stream_k(const product<bfloat16, float>&, std::byte*, const device_traits&,
                              cudaStream_t);

}  // namespace heddle::kernels::matmul
