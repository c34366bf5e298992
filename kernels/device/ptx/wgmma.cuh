#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>

/// Products of a warpgroup (128 threads) with operands in shared memory and sums in registers (compute capability 9.0a).
/// Half and bfloat16 use m64nNk16, and float as TF32 uses m64nNk8; these have float32 sums. The tensor cores work while the
/// threads go on. From wgmma_fence() to the wait, nobody else may touch the sums.
namespace heddle::kernels::ptx {

/// Call this before the first product, and after any access to the registers of the sums.
__device__ inline void wgmma_fence() {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

/// Makes the products since the last call a group.
__device__ inline void wgmma_commit() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/// Waits until all but the last `pending` groups are done.
template <int pending>
__device__ inline void wgmma_wait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}

/// Call this after the wait: it keeps reads of the sums behind the wait.
template <int count>
__device__ inline void wgmma_results(float (&sums)[count]) {
#pragma unroll
    for (float& sum : sums) asm volatile("" : "+f"(sum));
}
template <int count>
__device__ inline void wgmma_results(unsigned (&sums)[count]) {
#pragma unroll
    for (unsigned& sum : sums) asm volatile("" : "+r"(sum));
}

// The instruction names each of its registers. These macros are undefined at the end of the file.
// clang-format off
#define REGISTERS_0 "%0, %1, %2, %3"
#define REGISTERS_4 ", %4, %5, %6, %7"
#define REGISTERS_8 ", %8, %9, %10, %11, %12, %13, %14, %15"
#define REGISTERS_16 ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define REGISTERS_32 \
    ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, " \
    "%52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define REGISTERS_64_TO_79 \
    ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79"
#define REGISTERS_64 \
    ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, " \
    "%84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define REGISTERS_96 \
    ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, " \
    "%113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define SUMS_4(i) "+f"(sums[i]), "+f"(sums[i + 1]), "+f"(sums[i + 2]), "+f"(sums[i + 3])
#define SUMS_16(i) SUMS_4(i), SUMS_4(i + 4), SUMS_4(i + 8), SUMS_4(i + 12)
#define SUMS_32(i) SUMS_16(i), SUMS_16(i + 16)
#define WGMMA(n, type, a_at, b_at, accumulate_at, a_order_at, b_order_at, registers, ...)                            \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" accumulate_at ", 0;\n"                                         \
                 "wgmma.mma_async.sync.aligned.m64n" n "k16.f32." type "." type " {" registers "}, %" a_at ", %" b_at \
                 ", p, 1, 1, %" a_order_at ", %" b_order_at ";\n}"                                                    \
                 : __VA_ARGS__                                                                                        \
                 : "l"(a), "l"(b), "r"(static_cast<int>(accumulate)), "n"(a_k_major ? 0 : 1), "n"(b_k_major ? 0 : 1))
#define WGMMA_OF_FLOAT(n, a_at, b_at, accumulate_at, a_order_at, b_order_at, registers, ...)                         \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" accumulate_at ", 0;\n"                                         \
                 "wgmma.mma_async.sync.aligned.m64n" n "k8.f32.tf32.tf32 {" registers "}, %" a_at ", %" b_at          \
                 ", p, 1, 1;\n}"                                                                                     \
                 : __VA_ARGS__                                                                                        \
                 : "l"(a), "l"(b), "r"(static_cast<int>(accumulate)))
#define WGMMA_OF_ANY(n, ...)                                                                                         \
    if constexpr (std::is_same_v<T, float>) WGMMA_OF_FLOAT(n, __VA_ARGS__);                                          \
    else if constexpr (std::is_same_v<T, __half>) WGMMA(n, "f16", __VA_ARGS__);                                      \
    else WGMMA(n, "bf16", __VA_ARGS__)
// clang-format on

/// sums = a b + (accumulate ? sums : 0). a and b are descriptors (warpgroup_tile.cuh). Floats must be k-major, and the bits
/// that TF32 lacks are cut off. For columns 8j + 2 (t % 4) and the next one, thread t holds sums[4j] and [4j + 1] in row 16
/// (t / 32) + t % 32 / 4. It holds [4j + 2] and [4j + 3] eight rows below.
template <class T, int n, bool a_k_major, bool b_k_major>
__device__ inline void wgmma(float (&sums)[n / 2], std::uint64_t a, std::uint64_t b, bool accumulate) {
    static_assert(std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16> ||
                  (std::is_same_v<T, float> && a_k_major && b_k_major));
    // clang-format off
    if constexpr (n == 16) {
        WGMMA_OF_ANY("16", "8", "9", "10", "11", "12", REGISTERS_0 REGISTERS_4,
                      SUMS_4(0), SUMS_4(4));
    } else if constexpr (n == 64) {
        WGMMA_OF_ANY("64", "32", "33", "34", "35", "36", REGISTERS_0 REGISTERS_4 REGISTERS_8 REGISTERS_16,
                      SUMS_32(0));
    } else if constexpr (n == 128) {
        WGMMA_OF_ANY("128", "64", "65", "66", "67", "68", REGISTERS_0 REGISTERS_4 REGISTERS_8 REGISTERS_16 REGISTERS_32,
                      SUMS_32(0), SUMS_32(32));
    } else if constexpr (n == 160) {
        WGMMA_OF_ANY("160", "80", "81", "82", "83", "84", REGISTERS_0 REGISTERS_4 REGISTERS_8 REGISTERS_16 REGISTERS_32 REGISTERS_64_TO_79,
                      SUMS_32(0), SUMS_32(32), SUMS_16(64));
    } else if constexpr (n == 192) {
        WGMMA_OF_ANY("192", "96", "97", "98", "99", "100", REGISTERS_0 REGISTERS_4 REGISTERS_8 REGISTERS_16 REGISTERS_32 REGISTERS_64,
                      SUMS_32(0), SUMS_32(32), SUMS_32(64));
    } else if constexpr (n == 256) {
        WGMMA_OF_ANY("256", "128", "129", "130", "131", "132", REGISTERS_0 REGISTERS_4 REGISTERS_8 REGISTERS_16 REGISTERS_32 REGISTERS_64 REGISTERS_96,
                      SUMS_32(0), SUMS_32(32), SUMS_32(64), SUMS_32(96));
    } else {
        static_assert(n == 0, "no instruction of this width here");
    }
    // clang-format on
}

/// The same with A in registers, bfloat16, and 128 columns. Thread t gives rows 16 (t / 32) + t % 32 / 4 and eight below. The
/// pairs from column 2 (t % 4) on are in a[0] and a[1], and those eight columns on in a[2] and a[3]. They must not change until
/// the wait.
template <bool b_k_major>
__device__ inline void wgmma_of_registers(float (&sums)[64], const unsigned (&a)[4], std::uint64_t b,
                                          bool accumulate) {
    // clang-format off
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %69, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
                 REGISTERS_0 REGISTERS_4 REGISTERS_8 REGISTERS_16 REGISTERS_32
                 "}, {%64, %65, %66, %67}, %68, p, 1, 1, %70;\n}"
                 : SUMS_32(0), SUMS_32(32)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(static_cast<int>(accumulate)),
                   "n"(b_k_major ? 0 : 1));
    // clang-format on
}

// clang-format off
#define WGMMA_TF32(n, a_at, b_at, accumulate_at, registers, ...)                                                    \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" accumulate_at ", 0;\n"                                         \
                 "wgmma.mma_async.sync.aligned.m64n" n "k8.f32.tf32.tf32 {" registers "}, {" a_at "}, %" b_at       \
                 ", p, 1, 1;\n}"                                                                                    \
                 : __VA_ARGS__                                                                                      \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(static_cast<int>(accumulate)))
// clang-format on

/// The same for TF32, with 8 elements along k and B k-major. Thread t gives rows 16 (t / 32) + t % 32 / 4, in a[0] and
/// a[2], and eight below, in a[1] and a[3]. Column t % 4 is in a[0] and a[1], and four columns on in a[2] and a[3].
template <int n>
__device__ inline void wgmma_tf32(float (&sums)[n / 2], const unsigned (&a)[4], std::uint64_t b,
                                  bool accumulate) {
    // clang-format off
    if constexpr (n == 16) {
        WGMMA_TF32("16", "%8, %9, %10, %11", "12", "13", REGISTERS_0 REGISTERS_4, SUMS_4(0), SUMS_4(4));
    } else if constexpr (n == 32) {
        WGMMA_TF32("32", "%16, %17, %18, %19", "20", "21", REGISTERS_0 REGISTERS_4 REGISTERS_8, SUMS_16(0));
    } else if constexpr (n == 64) {
        WGMMA_TF32("64", "%32, %33, %34, %35", "36", "37", REGISTERS_0 REGISTERS_4 REGISTERS_8 REGISTERS_16,
                   SUMS_32(0));
    } else if constexpr (n == 128) {
        WGMMA_TF32("128", "%64, %65, %66, %67", "68", "69", REGISTERS_0 REGISTERS_4 REGISTERS_8 REGISTERS_16 REGISTERS_32,
                   SUMS_32(0), SUMS_32(32));
    } else if constexpr (n == 192) {
        WGMMA_TF32("192", "%96, %97, %98, %99", "100", "101", REGISTERS_0 REGISTERS_4 REGISTERS_8 REGISTERS_16 REGISTERS_32 REGISTERS_64,
                   SUMS_32(0), SUMS_32(32), SUMS_32(64));
    } else if constexpr (n == 256) {
        WGMMA_TF32("256", "%128, %129, %130, %131", "132", "133", REGISTERS_0 REGISTERS_4 REGISTERS_8 REGISTERS_16 REGISTERS_32 REGISTERS_64 REGISTERS_96,
                   SUMS_32(0), SUMS_32(32), SUMS_32(64), SUMS_32(96));
    } else {
        static_assert(n == 0, "no instruction of this width here");
    }
    // clang-format on
}

#define WHOLE_4(i) "+r"(sums[i]), "+r"(sums[i + 1]), "+r"(sums[i + 2]), "+r"(sums[i + 3])
#define WHOLE_16(i) WHOLE_4(i), WHOLE_4(i + 4), WHOLE_4(i + 8), WHOLE_4(i + 12)

/// Exact sums of 64 x 64 products of unsigned bytes, 32 along k; A and B are k-major.
__device__ inline void wgmma_u8(unsigned (&sums)[32], std::uint64_t a, std::uint64_t b, bool accumulate) {
    // clang-format off
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n64k32.s32.u8.u8 {"
                 REGISTERS_0 REGISTERS_4 REGISTERS_8 REGISTERS_16 "}, %32, %33, p;\n}"
                 : WHOLE_16(0), WHOLE_16(16)
                 : "l"(a), "l"(b), "r"(static_cast<int>(accumulate)));
    // clang-format on
}

/// The same for 64 x 32, with A in registers. Thread t gives rows 16 (t / 32) + t % 32 / 4 and eight below. Four bytes from
/// column 4 (t % 4) on are in a[0] and a[1], and those 16 columns on in a[2] and a[3].
__device__ inline void wgmma_u8_of_registers(unsigned (&sums)[16], const unsigned (&a)[4], std::uint64_t b,
                                             bool accumulate) {
    // clang-format off
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %21, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n32k32.s32.u8.u8 {"
                 REGISTERS_0 REGISTERS_4 REGISTERS_8 "}, {%16, %17, %18, %19}, %20, p;\n}"
                 : WHOLE_16(0)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(static_cast<int>(accumulate)));
    // clang-format on
}

#undef WHOLE_16
#undef WHOLE_4
#undef WGMMA_TF32
#undef WGMMA_OF_ANY
#undef WGMMA_OF_FLOAT
#undef WGMMA
#undef SUMS_32
#undef SUMS_16
#undef SUMS_4
#undef REGISTERS_96
#undef REGISTERS_64
#undef REGISTERS_64_TO_79
#undef REGISTERS_32
#undef REGISTERS_16
#undef REGISTERS_8
#undef REGISTERS_4
#undef REGISTERS_0

}  // namespace heddle::kernels::ptx
