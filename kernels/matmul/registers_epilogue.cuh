#pragma once

#include "kernels/frame/warp_specialized.cuh"
#include "kernels/matmul/warpgroup.cuh"

/// From a tile's sums in registers straight to C.
namespace heddle::kernels::matmul {

template <class Product>
struct registers_epilogue {
    struct storage {};

    const Product& p;

    __device__ registers_epilogue(const Product& p, storage&, int /*group*/) : p(p) {}

    static __device__ void prefetch(const Product&) {}
    static __device__ void init(storage&) {}
    __device__ void fetch(int, const frame::sums_place&) const {}
    template <int n>
    __device__ void store(int /*half*/, const frame::sums_place& place, const float (&sums)[n / 2]) const {
        const int row = place.row + row_of_thread(0), col = place.col + col_of_thread();
        if (p.epilogue.is_identity)
            matmul::store<n>(result_of(p), row, col, sums);
        else
            finish<n>(result_of(p), row, 8, col, sums);
    }
    static __device__ void end(int) {}
};

}  // namespace heddle::kernels::matmul
