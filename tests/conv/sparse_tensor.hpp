#pragma once

#include "tests/support/mapped_buffer.hpp"
#include <heddle/error.hpp>
#include <heddle/tensor.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

namespace heddle::test {

/// A tensor, or filters, whose pixels lie so far apart that no memory holds it: pages are mapped where elements are, and no
/// others. What lies around the elements is a canary, and NaN.
template <class T>
class sparse_tensor {
  public:
    /// `lies` has extents and strides.
    explicit sparse_tensor(const tensor_view<T>& lies)
        : view_(lies), range_(first + lies.count * lies.image_stride * bytes + block_bytes) {
        view_.data = reinterpret_cast<T*>(range_.data() + first);
        for_each_pixel([&](T* pixel, std::size_t) {
            const std::int64_t begin = offset_of(pixel), end = begin + view_.channels * bytes;
            for (std::int64_t block = begin / block_bytes; block * block_bytes < end; ++block)
                if (blocks_.insert(block).second) range_.map(block * block_bytes, block_bytes);
        });
    }

    const tensor_view<T>& tensor() const { return view_; }
    filter_view<T> filters() const {
        return {view_.data,     view_.count,      view_.height,     view_.width,
                view_.channels, view_.col_stride, view_.row_stride, view_.image_stride};
    }

    /// All is as it was made: elements too are NaN.
    void clear() {
        for (const std::int64_t block : blocks_)
            check(cudaMemset(range_.data() + block * block_bytes, poison, block_bytes));
        check(cudaDeviceSynchronize());
    }
    /// Elements in the order of a dense tensor.
    void upload(const std::vector<T>& elements) {
        clear();
        for_each_pixel([&](T* pixel, std::size_t i) { copy(pixel, &elements[i], view_.channels * bytes); });
    }
    std::vector<T> download() const {
        std::vector<T> elements(
            static_cast<std::size_t>(view_.count * view_.height * view_.width * view_.channels));
        for_each_pixel([&](T* pixel, std::size_t i) { copy(&elements[i], pixel, view_.channels * bytes); });
        return elements;
    }

    /// Whether every byte around the elements is as it was made.
    bool canaries_alive() const {
        return std::ranges::all_of(blocks_, [&](std::int64_t block) {
            const std::int64_t begin = block * block_bytes;
            std::vector<unsigned char> now(block_bytes);
            copy(now.data(), range_.data() + begin, block_bytes);
            for_each_pixel([&](const T* pixel, std::size_t) {
                const std::int64_t at = offset_of(pixel) - begin;
                for (std::int64_t i = std::max<std::int64_t>(at, 0);
                     i < std::min(at + view_.channels * bytes, block_bytes); ++i)
                    now[static_cast<std::size_t>(i)] = poison;
            });
            return std::ranges::all_of(now, [](unsigned char byte) { return byte == poison; });
        });
    }

  private:
    static constexpr unsigned char poison = 0xff;
    static constexpr std::int64_t bytes = sizeof(T);
    static constexpr std::int64_t block_bytes = 4096, first = block_bytes / 2;

    std::int64_t offset_of(const T* pixel) const {
        return reinterpret_cast<const std::byte*>(pixel) - range_.data();
    }
    static void copy(void* to, const void* from, std::int64_t count) {
        check(cudaMemcpy(to, from, static_cast<std::size_t>(count), cudaMemcpyDefault));
        check(cudaDeviceSynchronize());  // no other stream waits for a copy from pageable memory
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
    std::set<std::int64_t> blocks_;  ///< that elements lie in
};

}  // namespace heddle::test
