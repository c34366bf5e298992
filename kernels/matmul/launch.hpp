#pragma once

#include "kernels/frame/epilogue.hpp"
#include "kernels/matmul/plan/plan.hpp"
#include <heddle/view.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace heddle::kernels::matmul {

using frame::epilogue;

/// The elements from one matrix of a batch to the next; 0 if one matrix serves all.
struct batch_strides {
    std::int64_t count = 1;
    std::int64_t a = 0;
    std::int64_t b = 0;
    std::int64_t c = 0;
};

constexpr batch_strides transposed(const batch_strides& s) {
    return {s.count, s.b, s.a, s.c};
}

/// C = alpha * A * B + beta * C. The shapes agree, and C is not empty. C is contiguous along its rows rather than its
/// columns; otherwise the caller has turned the product into C^T = B^T A^T. For a batch, these are its first matrices.
template <class In, class Out, class Activation = matmul_activation>
struct product {
    matrix_view<const In> a;
    matrix_view<const In> b;
    matrix_view<Out> c;
    float alpha = 1;
    float beta = 0;
    frame::epilogue<Out, Activation> epilogue{};
    batch_strides batch{};
    product_workspace workspace{};
};

/// The transposed product, C^T = B^T A^T.
template <class In, class Out>
product<In, Out> transposed(const product<In, Out>& p) {
    return {transposed(p.b), transposed(p.a),        transposed(p.c),     p.alpha,
            p.beta,          transposed(p.epilogue), transposed(p.batch), p.workspace};
}

using arguments = product<float, float>;

/// A product that is ready for a kernel with the user's function (heddle/matmul.cuh).
template <class In, class Out>
struct function_call {
    product<In, Out> arguments;
    matmul::plan plan;
    bool by_warpgroups;  ///< whether by `fused` (`tf32` for float), else by `wmma` (`warp_tiled`)
    bool is_transposed;  ///< whether rows are columns of the C that was given
    std::shared_ptr<const void> held{};  ///< scratch memory, kept until the kernel is launched
};

/// Makes the plan's copies of A and B at the end of the scratch memory. Returns the product of the copies.
template <class In, class Out>
product<In, Out> launch_copies(const plan& plan, const product<In, Out>& arguments, cudaStream_t stream);

// Each rung takes its own plan and the product that the plan describes: that of copies, or the transposed one, if it says
// so. The rows of src/matmul/rungs.cpp state what each rung needs.

#define HEDDLE_LAUNCHER(rung)      \
    template <class In, class Out> \
    void launch_##rung(const plan& plan, const product<In, Out>& arguments, cudaStream_t stream);
#define HEDDLE_LAUNCHER_OF_FLOAT(rung) \
    void launch_##rung(const plan& plan, const arguments& arguments, cudaStream_t stream);

// If In is float, Out is float. If In is half or bfloat16, Out is the same type or float.
HEDDLE_LAUNCHER(naive)
HEDDLE_LAUNCHER(scale)  // for products where nothing is multiplied
HEDDLE_LAUNCHER(vector)

// For float. Activation may be a user's function, as for wmma and fused.
HEDDLE_LAUNCHER_OF_FLOAT(coalesced)
HEDDLE_LAUNCHER_OF_FLOAT(tiled)
HEDDLE_LAUNCHER_OF_FLOAT(shared_memory)
HEDDLE_LAUNCHER_OF_FLOAT(register_tiled)
template <class Activation>
void launch_warp_tiled(const plan& plan, const product<float, float, Activation>& arguments,
                       cudaStream_t stream);
HEDDLE_LAUNCHER_OF_FLOAT(pipelined)  // computes whole tiles, or also parts of tiles (split_k)
HEDDLE_LAUNCHER_OF_FLOAT(split_k)
HEDDLE_LAUNCHER_OF_FLOAT(thin)
HEDDLE_LAUNCHER_OF_FLOAT(stream)
HEDDLE_LAUNCHER_OF_FLOAT(packed)
HEDDLE_LAUNCHER_OF_FLOAT(tma_pipelined)
HEDDLE_LAUNCHER_OF_FLOAT(tf32x3)
HEDDLE_LAUNCHER_OF_FLOAT(skinny_float)
HEDDLE_LAUNCHER_OF_FLOAT(bf16x6)
HEDDLE_LAUNCHER_OF_FLOAT(fp16x3)
template <class Activation>
void launch_tf32(const plan& plan, const product<float, float, Activation>& arguments, cudaStream_t stream);
HEDDLE_LAUNCHER_OF_FLOAT(skinny_tf32)

// For half and bfloat16.
template <class In, class Out, class Activation = matmul_activation>
void launch_wmma(const plan& plan, const product<In, Out, Activation>& arguments, cudaStream_t stream);
HEDDLE_LAUNCHER(mma_sync)
template <class T>
void launch_wgmma_tma(const plan& plan, const product<T, T>& arguments, cudaStream_t stream);
template <class T>
void launch_warp_specialized(const plan& plan, const product<T, T>& arguments, cudaStream_t stream);
HEDDLE_LAUNCHER(persistent)  // computes whole tiles, or also streamed ones (stream_k)
HEDDLE_LAUNCHER(cluster_multicast)
HEDDLE_LAUNCHER(skinny)
template <class In, class Out, class Activation = matmul_activation>
void launch_fused(const plan& plan, const product<In, Out, Activation>& arguments, cudaStream_t stream);

#undef HEDDLE_LAUNCHER
#undef HEDDLE_LAUNCHER_OF_FLOAT

/// The most products of one grouped launch.
inline constexpr std::size_t max_grouped = 47;
/// At most max_grouped products without batches and epilogues, in the order of decreasing k.
template <class T>
void launch_grouped(const group_plan& plan, std::span<const product<T, T>> products, cudaStream_t stream);

}  // namespace heddle::kernels::matmul
