#pragma once

#include <heddle/view.hpp>

#include <cuda/stream_ref>

#include <cstdint>
#include <span>
#include <vector>

namespace fashion_mnist {

/// Takes the pictures of a batch out of the data set. Row i of x is picture order[b * batch + i], with bytes divided
/// by 255, and y[i] is its label. b = (*step - 1) mod batches is the batch's number in the epoch; batch is y's size
/// and x's rows.
template <class T>
struct batch_gather {
    heddle::matrix_view<const std::uint8_t> pictures;  ///< one a row, contiguous
    const std::int32_t* labels;
    const std::int32_t* order;  ///< batches * batch numbers of pictures
    const std::int64_t* step;   ///< counts from 1
    std::int64_t batches;
    heddle::matrix_view<T> x;
    std::int32_t* y;
};

/// The factor from a byte of a picture to the network's input.
inline constexpr float byte_scale = 1.0f / 255;

template <class T>
std::vector<T> numbers_of(std::span<const std::uint8_t> bytes) {
    std::vector<T> numbers;
    numbers.reserve(bytes.size());
    for (const std::uint8_t byte : bytes)
        numbers.push_back(static_cast<T>(static_cast<float>(byte) * byte_scale));
    return numbers;
}

/// Everything in device memory. Enqueued on `stream`; safe under stream capture.
/// @throws heddle::cuda_error  the launch failed
template <class T>
void gather(const batch_gather<T>& batch, cuda::stream_ref stream);

}  // namespace fashion_mnist
