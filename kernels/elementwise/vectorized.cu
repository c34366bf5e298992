// vectorized: 16 bytes a load, one packet a thread.
//
//   a row:   | p p p p ... (packets of 16 bytes)                 | tail |
//
// A warp's instruction now moves 512 bytes instead of 64..128, and a full SM has 32 KB under way for every
// input: enough to cover DRAM's latency, for 2-byte types too. More packets a thread do not help: two or four
// cost sigmoid 3 %, and streaming hints (ld.cs, L1::no_allocate) cost add up to 10 %. Where pointers or row
// strides are not multiples of 16 bytes, or elements not side by side, a thread takes as many elements one by
// one, a block's width apart, so that a warp's are still neighbours. From 64 MiB an operand on, two or three inputs
// are taken by blocks of 1024 threads, where the function needs no more than 32 registers: each input is read in
// longer runs, 1 % for add. A single input is not: such blocks cost sigmoid 10 %. What limits it now is DRAM itself.
//
// 2^28 floats on an H200: add 4.4 TB/s, as much as CUB, and more than the 4.3 that a copy moves.

#include "kernels/elementwise/functors.cuh"
#include <heddle/elementwise.cuh>

namespace heddle::kernels::elementwise {

void launch_vectorized(const arguments& arguments, const device_traits&, cudaStream_t stream) {
    visit(arguments, [&]<class T, class Functor>(Functor functor) {
        detail::launch_transform<T, Functor::inputs>(functor, arguments.operands, stream);
    });
}

}  // namespace heddle::kernels::elementwise
