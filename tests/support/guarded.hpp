#pragma once

#include <heddle/error.hpp>
#include <heddle/view.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <vector>

namespace heddle::test {

/// A strided matrix in device memory (or host memory) of which every byte that is not an element is a canary:
/// before and after it and between its rows and columns. All of it is poisoned at first, floating-point
/// elements with NaN, so that an element that was never written is seen too.
template <class T>
class guarded {
  public:
    enum class memory { device, host };

    guarded(std::int64_t rows, std::int64_t cols, std::int64_t row_stride, std::int64_t offset = 0,
            std::int64_t col_stride = 1, memory where = memory::device)
        : rows_(rows), cols_(cols), row_stride_(row_stride), col_stride_(col_stride), where_(where) {
        const std::int64_t extent =
            rows > 0 && cols > 0 ? (rows - 1) * row_stride + (cols - 1) * col_stride + 1 : 0;
        first_ = canaries + offset;
        image_.resize(static_cast<std::size_t>(first_ + extent + canaries));
        std::memset(static_cast<void*>(image_.data()), poison, bytes());
        if (where_ == memory::device) {
            check(cudaMalloc(reinterpret_cast<void**>(&data_), bytes()));
            fill_device();
        } else {
            host_ = image_;
            data_ = host_.data();
        }
    }
    ~guarded() {
        if (where_ == memory::device) (void)cudaFree(data_);
    }
    guarded(const guarded&) = delete;
    guarded& operator=(const guarded&) = delete;

    /// A contiguous vector, `offset` elements off the allocation's alignment.
    explicit guarded(std::int64_t size, std::int64_t offset = 0, memory where = memory::device)
        : guarded(1, size, size, offset, 1, where) {}

    T* data() { return data_ + first_; }
    matrix_view<T> matrix() { return {data(), rows_, cols_, row_stride_, col_stride_}; }
    /// Of a matrix of one row.
    vector_view<T> vector() { return {data(), cols_, col_stride_}; }

    /// Elements in row-major order, without gaps.
    void upload(const std::vector<T>& elements) {
        for_each([&](std::size_t at, std::size_t i) { image_[at] = elements[i]; });
        if (where_ == memory::device)
            fill_device();
        else
            std::ranges::copy(image_, data_);
    }

    /// Waits for the device, then reads the elements in row-major order, without gaps.
    std::vector<T> download() {
        const std::vector<T> now = contents();
        std::vector<T> elements(static_cast<std::size_t>(rows_ * cols_));
        for_each([&](std::size_t at, std::size_t i) { elements[i] = now[at]; });
        return elements;
    }

    /// Whether every byte outside the elements is as it was made.
    bool canaries_alive() {
        std::vector<T> now = contents();
        for_each([&](std::size_t at, std::size_t) {
            std::memset(static_cast<void*>(&now[at]), poison, sizeof(T));
        });
        const auto* byte = reinterpret_cast<const unsigned char*>(now.data());
        for (std::size_t i = 0; i < bytes(); ++i)
            if (byte[i] != poison) return false;
        return true;
    }

    /// Whether no byte at all has changed since the last upload (or since it was made).
    bool untouched() {
        const std::vector<T> now = contents();
        return std::memcmp(now.data(), image_.data(), bytes()) == 0;
    }

  private:
    static constexpr unsigned char poison = std::is_integral_v<T> ? 0xa7 : 0xff;
    static constexpr std::int64_t canaries = 256;  // a multiple of every vector's width

    std::size_t bytes() const { return image_.size() * sizeof(T); }

    /// A copy from pageable memory returns before its data has arrived, and no other stream waits for it.
    void fill_device() {
        check(cudaMemcpy(data_, image_.data(), bytes(), cudaMemcpyDefault));
        check(cudaDeviceSynchronize());
    }

    std::vector<T> contents() {
        if (where_ == memory::host) return host_;
        std::vector<T> now(image_.size());
        check(cudaDeviceSynchronize());
        check(cudaMemcpy(now.data(), data_, bytes(), cudaMemcpyDefault));
        return now;
    }

    template <class Function>
    void for_each(Function function) {
        std::size_t i = 0;
        for (std::int64_t row = 0; row < rows_; ++row)
            for (std::int64_t col = 0; col < cols_; ++col)
                function(static_cast<std::size_t>(first_ + row * row_stride_ + col * col_stride_), i++);
    }

    std::int64_t rows_, cols_, row_stride_, col_stride_;
    std::int64_t first_ = 0;
    memory where_;
    std::vector<T> image_;  // what was uploaded, to tell later what has changed
    std::vector<T> host_;
    T* data_ = nullptr;
};

}  // namespace heddle::test
