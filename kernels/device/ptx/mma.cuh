#pragma once

#include "kernels/device/ptx/shared_address.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <type_traits>

/// Matrix products of a warp with fragments in registers (compute capability 8.0).
namespace heddle::kernels::ptx {

/// Loads four 8 x 8 matrices of 16-bit elements. Thread t gives the address of row t % 8 of matrix t / 8. Its register i
/// gets elements 2 (t % 4) and the next one of row t / 4 of matrix i, or of its transpose where `transposed`.
template <bool transposed>
__device__ inline void load_matrices(unsigned (&registers)[4], const void* row) {
    if constexpr (transposed)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(registers[0]), "=r"(registers[1]), "=r"(registers[2]), "=r"(registers[3])
                     : "r"(shared_address(row))
                     : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(registers[0]), "=r"(registers[1]), "=r"(registers[2]), "=r"(registers[3])
                     : "r"(shared_address(row))
                     : "memory");
}

/// sums (16 x 8) += a (16 x 16) b (16 x 8). Thread t has the sums of row t / 4 in columns 2 (t % 4) and the next one, and
/// then those eight rows below.
///   a: matrices (rows 0..7, k 0..7), (8..15, 0..7), (0..7, 8..15), (8..15, 8..15)
///   b: those of its transpose, (n 0..7, k 0..7), (n 0..7, k 8..15)
template <class T>
__device__ inline void mma(float (&sums)[4], const unsigned (&a)[4], unsigned b_low, unsigned b_high) {
    if constexpr (std::is_same_v<T, __half>)
        asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
            "{%0, %1, %2, %3};"
            : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b_low), "r"(b_high));
    else
        asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, "
            "%9}, "
            "{%0, %1, %2, %3};"
            : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b_low), "r"(b_high));
}

/// The same for tf32, a float32 whose lower 13 bits are ignored: sums (16 x 8) += a (16 x 8) b (8 x 8). Thread t has element
/// (t / 4, t % 4) of each 8 x 4 matrix. load_matrices() loads these too: four floats have the bytes of eight elements.
///   a: matrices (rows 0..7, k 0..3), (8..15, 0..3), (0..7, 4..7), (8..15, 4..7)
///   b: those of its transpose, (n 0..7, k 0..3), (n 0..7, k 4..7)
__device__ inline void mma_tf32(float (&sums)[4], const unsigned (&a)[4], unsigned b_low, unsigned b_high) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b_low), "r"(b_high));
}

/// sums (16 x 8) += a (16 x 16) b (16 x 8), exact, for unsigned bytes. A register holds four neighbours along k. a holds
/// matrices of 8 x 16, rows 0..7 and 8..15. Thread t has elements 4 (t % 4) and the next three of row t / 4 of each. b
/// holds the same of its transpose.
__device__ inline void mma_u8(unsigned (&sums)[4], uint2 a, unsigned b) {
    asm("mma.sync.aligned.m16n8k16.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
        : "r"(a.x), "r"(a.y), "r"(b));
}

/// sums += a b + c d for four such matrices, by one instruction.
__device__ inline void mma_u8(unsigned (&sums)[4], uint2 a, unsigned b, uint2 c, unsigned d) {
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
        : "r"(a.x), "r"(a.y), "r"(c.x), "r"(c.y), "r"(b), "r"(d));
}

}  // namespace heddle::kernels::ptx
