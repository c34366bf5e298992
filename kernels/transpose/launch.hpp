#pragma once

#include <heddle/device.hpp>
#include <heddle/view.hpp>

#include <cuda_runtime_api.h>

namespace heddle::kernels::transpose {

/// destination(j, i) = source(i, j), shapes in agreement, not empty; Word is an unsigned integer. The source's
/// rows are the more contiguous.
///
/// A copy has source.col_stride and destination.row_stride 1 (or a single column of the source), and is one
/// row of the source where there are no gaps.
template <class Word>
struct arguments {
    matrix_view<const Word> source;
    matrix_view<Word> destination;
    bool is_copy = false;
};

template <class Word>
void launch_naive(const arguments<Word>& arguments, const device_traits& device, cudaStream_t stream);
template <class Word>
void launch_shared_memory(const arguments<Word>& arguments, const device_traits& device, cudaStream_t stream);
/// Needs a copy, or col_stride 1 in both.
template <class Word>
void launch_vectorized(const arguments<Word>& arguments, const device_traits& device, cudaStream_t stream);

}  // namespace heddle::kernels::transpose
