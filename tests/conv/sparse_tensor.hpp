#pragma once

#include "tests/support/mapped_buffer.hpp"
#include <heddle/buffer.hpp>
#include <heddle/error.hpp>
#include <heddle/stream.hpp>
#include <heddle/tensor.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

namespace heddle::test {

/// A tensor, or filters, with pixels so far apart that no memory holds it. Only pages with elements are mapped. The
/// memory around the elements is a canary, and NaN.
template <class T>
class sparse_tensor {
  public:
    /// `lies` has the extents and strides.
    explicit sparse_tensor(const tensor_view<T>& lies)
        : view_(lies), range_(first + lies.count * lies.image_stride * bytes + block_bytes) {
        view_.data = reinterpret_cast<T*>(range_.data() + first);
        for_each_pixel([&](T* pixel, std::size_t) {
            const std::int64_t begin = offset_of(pixel), end = begin + view_.channels * bytes;
            for (std::int64_t block = begin / block_bytes; block * block_bytes < end; ++block)
                if (blocks_.insert(block).second) range_.map(block * block_bytes, block_bytes);
        });
        staging_ = device_buffer<std::byte>(
            std::max(std::ssize(blocks_) * block_bytes, element_count() * bytes), stream_);
    }

    const tensor_view<T>& tensor() const { return view_; }
    filter_view<T> filters() const {
        return {view_.data,     view_.count,      view_.height,     view_.width,
                view_.channels, view_.col_stride, view_.row_stride, view_.image_stride};
    }

    /// Restores the initial state: elements are NaN too.
    void clear() {
        enqueue_clear();
        stream_.synchronize();
    }
    /// Takes the elements in the order of a dense tensor.
    void upload(const std::vector<T>& elements) {
        enqueue_clear();
        enqueue_copy(staging_.data(), elements.data(), std::ssize(elements) * bytes);
        for_each_pixel([&](T* pixel, std::size_t i) {
            enqueue_copy(pixel, staging_.data() + i * sizeof(T), view_.channels * bytes);
        });
        stream_.synchronize();
    }
    std::vector<T> download() const {
        std::vector<T> elements(static_cast<std::size_t>(element_count()));
        for_each_pixel([&](const T* pixel, std::size_t i) {
            enqueue_copy(staging_.data() + i * sizeof(T), pixel, view_.channels * bytes);
        });
        enqueue_copy(elements.data(), staging_.data(), element_count() * bytes);
        stream_.synchronize();
        return elements;
    }

    /// Whether every byte around the elements is unchanged.
    bool canaries_alive() const {
        std::vector<unsigned char> now(blocks_.size() * block_bytes);
        std::int64_t place = 0;
        for (const std::int64_t block : blocks_)
            enqueue_copy(staging_.data() + place++ * block_bytes, range_.data() + block * block_bytes,
                         block_bytes);
        enqueue_copy(now.data(), staging_.data(), std::ssize(now));
        stream_.synchronize();
        place = 0;
        for (const std::int64_t block : blocks_) {
            unsigned char* const bytes_of_block = now.data() + place++ * block_bytes;
            for_each_pixel([&](const T* pixel, std::size_t) {
                const std::int64_t at = offset_of(pixel) - block * block_bytes;
                for (std::int64_t i = std::max<std::int64_t>(at, 0);
                     i < std::min(at + view_.channels * bytes, block_bytes); ++i)
                    bytes_of_block[i] = poison;
            });
        }
        return std::ranges::all_of(now, [](unsigned char byte) { return byte == poison; });
    }

  private:
    static constexpr unsigned char poison = 0xff;
    static constexpr std::int64_t bytes = sizeof(T);
    static constexpr std::int64_t block_bytes = 4096, first = block_bytes / 2;

    std::int64_t offset_of(const T* pixel) const {
        return reinterpret_cast<const std::byte*>(pixel) - range_.data();
    }
    std::int64_t element_count() const { return view_.count * view_.height * view_.width * view_.channels; }
    void enqueue_clear() {
        for (const std::int64_t block : blocks_)
            check(cudaMemsetAsync(range_.data() + block * block_bytes, poison, block_bytes, stream_.get()));
    }
    void enqueue_copy(void* to, const void* from, std::int64_t count) const {
        check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(count), cudaMemcpyDefault, stream_.get()));
    }
    template <class Function>
    void for_each_pixel(Function function) const {
        std::size_t i = 0;
        for (std::int64_t n = 0; n < view_.count; ++n)
            for (std::int64_t y = 0; y < view_.height; ++y)
                for (std::int64_t x = 0; x < view_.width; ++x, i += static_cast<std::size_t>(view_.channels))
                    function(
                        view_.data + n * view_.image_stride + y * view_.row_stride + x * view_.col_stride, i);
    }

    tensor_view<T> view_;
    address_range range_;
    std::set<std::int64_t> blocks_;  ///< the blocks with elements
    stream stream_;
    /// Collects the host's reads and writes into few copies, as each waits for the GPU's other processes.
    mutable device_buffer<std::byte> staging_;
};

}  // namespace heddle::test
