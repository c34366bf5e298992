#include "benchmarks/headline.hpp"

#include "benchmarks/support/headers.hpp"

namespace heddle::bench {
namespace {

// Beside a row without a peer in this program: it is limited by the memory, as the copy is.
constexpr std::string_view copy = "copy/u8/1073741824/cuda";

// clang-format off
constexpr headline_row table[] = {
    {"add/f32/268435456/heddle",                        "add/f32/268435456/cub"},
    {"sigmoid/f32/268435456/heddle",                    "sigmoid/f32/268435456/cub"},
    {"gelu/f16/268435456/heddle",                       "gelu/f16/268435456/cub"},
    {"sum/f32/16384/heddle",                            "sum/f32/16384/cub"},
    {"sum/f32/4194304/heddle/hot",                      "sum/f32/4194304/cub/hot"},
    {"sum/f32/268435456/heddle",                        "sum/f32/268435456/cub"},
    {"argmax/f32/16777216/heddle",                      "argmax/f32/16777216/cub"},
    {"dot/f32/268435456/heddle",                        "dot/f32/268435456/cub"},
    {"row_sum/f32/4096x4096/heddle",                    "row_sum/f32/4096x4096/cub"},
    {"column_sum/f32/4096x4096/heddle",                 "column_sum/f32/4096x4096/cudnn"},
    {"softmax/f32/4096x4096/heddle",                    "softmax/f32/4096x4096/cudnn"},
    {"softmax/f32/4096x4096/heddle/hot",                "softmax/f32/4096x4096/cudnn/hot"},
    {"softmax/f16/4096x4096/heddle",                    "softmax/f16/4096x4096/cudnn"},
    {"layer_norm/f32/4096x4096/heddle",                 copy},
    {"layer_norm/f32/4096x4096/heddle/hot",             copy},
    {"rms_norm/f16/4096x4096/heddle",                   copy},
    {"transpose/f32/4096x4096/heddle",                  "transpose/f32/4096x4096/cublas"},
    {"transpose/f32/4097x4099/heddle",                  "transpose/f32/4097x4099/cublas"},
    {"inclusive_scan/f32/1048576/heddle",               "inclusive_scan/f32/1048576/cub"},
    {"inclusive_scan/f32/16777216/heddle/hot",          "inclusive_scan/f32/16777216/cub/hot"},
    {"inclusive_scan/f32/268435456/heddle",             "inclusive_scan/f32/268435456/cub"},
    {"histogram/u8/268435456x256/heddle",               "histogram/u8/268435456x256/cub"},
    {"matmul/f32/512x512x512/heddle",                   "matmul/f32/512x512x512/cublas"},
    {"matmul/f32/4096x4096x4096/heddle",                "matmul/f32/4096x4096x4096/cublas"},
    {"matmul/f32/4096x4096x4096/heddle/hot",            "matmul/f32/4096x4096x4096/cublas/hot"},
    {"matmul/f32/4097x4099x4101/heddle",                "matmul/f32/4097x4099x4101/cublas"},
    {"matmul/tf32/4096x4096x4096/heddle",               "matmul/tf32/4096x4096x4096/cublas"},
    {"matmul/bf16/512x512x512/heddle",                  "matmul/bf16/512x512x512/cublaslt"},
    {"matmul/bf16/16x4096x4096/heddle",                 "matmul/bf16/16x4096x4096/cublas"},
    {"matmul/bf16/4096x4096x4096/heddle",               "matmul/bf16/4096x4096x4096/cublaslt"},
    {"matmul/bf16/4096x4096x4096/heddle/hot",           "matmul/bf16/4096x4096x4096/cublaslt/hot"},
    {"matmul/bf16/8192x8192x8192/heddle",               "matmul/bf16/8192x8192x8192/cublaslt"},
    {"matmul/f16/512x512x512/heddle",                   "matmul/f16/512x512x512/cublaslt"},
    {"matmul/f16/16x4096x4096/heddle",                  "matmul/f16/16x4096x4096/cublas"},
    {"matmul/f16/4096x4096x4096/heddle",                "matmul/f16/4096x4096x4096/cublaslt"},
    {"matmul/f16/8192x8192x8192/heddle",                "matmul/f16/8192x8192x8192/cublaslt"},
    {"linear_gelu_tanh/bf16/4096x4096x4096/heddle",     "linear_gelu_tanh/bf16/4096x4096x4096/cublaslt"},
    {"batched_matmul/bf16/16x1024x1024x1024/heddle",    "batched_matmul/bf16/16x1024x1024x1024/cublas"},
    {"batched_matmul/bf16/mixed_16/heddle/hot",         "batched_matmul/bf16/mixed_16/cublas/hot"},
    {"gaussian_blur/f32c1/4096x4096-r2/heddle",         "gaussian_blur/f32c1/4096x4096-r2/npp"},
    {"gaussian_blur/u8c1/4096x4096-r5/heddle/hot",      "gaussian_blur/u8c1/4096x4096-r5/npp:mask/hot"},
    {"gaussian_blur/u8c4/3840x2160-r5/heddle",          "gaussian_blur/u8c4/3840x2160-r5/npp:mask"},
    {"conv/bf16/32x56x56x64-k64-3x3-p1/heddle",         "conv/bf16/32x56x56x64-k64-3x3-p1/cudnn"},
    {"conv/bf16/256x14x14x256-k256-3x3-p1/heddle",      "conv/bf16/256x14x14x256-k256-3x3-p1/cudnn"},
    {"conv/bf16/256x28x28x128-k512-1x1/heddle",         "conv/bf16/256x28x28x128-k512-1x1/cudnn"},
    {"conv/bf16/32x56x56x144-k144-3x3-p1-g144/heddle",  "conv/bf16/32x56x56x144-k144-3x3-p1-g144/cudnn"},
    {"max_pool/bf16/256x112x112x64-3x3-s2-p1/heddle",   "max_pool/bf16/256x112x112x64-3x3-s2-p1/cudnn:forward"},
    {"linear_gradient/bf16/4096x4096x4096/heddle",      "linear_gradient/bf16/4096x4096x4096/cublaslt_products"},
    {"layer_norm_gradient/bf16/8192x4096/heddle",       copy},
    {"cross_entropy/bf16/8192x32000/heddle",            copy},
    {"adamw/f32/67108864/heddle",                       copy},
    {"random_uniform/f32/268435456/heddle",             copy},
    {"box_blur/f32c1/4096x4096-r1/heddle",              "box_blur/f32c1/4096x4096-r1/npp"},
    {"sobel_x/f32c1/4096x4096/heddle",                  "sobel_x/f32c1/4096x4096/npp"},
    {"call/f32/add-1024/heddle",                        "call/f32/add-1024/launch"},
    {"call/f32/sum-32768/heddle",                       "call/f32/sum-32768/launch"},
};
// clang-format on

}  // namespace

std::span<const headline_row> headline() {
    return table;
}

std::string_view library_lacking_for(std::string_view row) {
    const auto has = [row](std::string_view part) { return row.find(part) != row.npos; };
    if (!HEDDLE_HAS_CUBLAS && has("/cublas")) return "cuBLAS";
    if (!HEDDLE_HAS_CUDNN && has("/cudnn")) return "cuDNN";
    if (!HEDDLE_HAS_CUDNN_FRONTEND && has("/cudnn") && row.starts_with("conv/")) return "cuDNN's frontend";
    if (!HEDDLE_HAS_NPP && has("/npp")) return "NPP";
    return "";
}

}  // namespace heddle::bench
