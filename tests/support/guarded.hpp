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

/// A strided matrix in device memory (or host memory) between canaries: every byte before, after and between its
/// elements. All of it is poisoned at first, floating-point elements with NaN, so that elements that were never
/// written show too.
template <class T>
class guarded {
  public:
    enum class memory { device, host };

    /// Takes `elements` as upload() does, if there are any.
    guarded(std::int64_t rows, std::int64_t cols, std::int64_t row_stride, std::int64_t offset = 0,
            std::int64_t col_stride = 1, memory where = memory::device, const std::vector<T>& elements = {})
        : rows_(rows), cols_(cols), row_stride_(row_stride), col_stride_(col_stride), where_(where) {
        const std::int64_t extent =
            rows > 0 && cols > 0 ? (rows - 1) * row_stride + (cols - 1) * col_stride + 1 : 0;
        first_ = canaries + offset;
        image_.resize(static_cast<std::size_t>(first_ + extent + canaries));
        std::memset(static_cast<void*>(image_.data()), poison, bytes());
        if (where_ == memory::host) {
            host_ = image_;
            data_ = host_.data();
        } else {
            check(cudaMalloc(reinterpret_cast<void**>(&data_), bytes()));
        }
        if (!elements.empty()) {
            upload(elements);
        } else if (where_ == memory::device) {
            check(cudaMemset(data_, poison, bytes()));
            check(cudaDeviceSynchronize());  // no other stream waits for it
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
    /// The vector of a matrix with one row.
    vector_view<T> vector() { return {data(), cols_, col_stride_}; }

    /// Elements in row-major order, without gaps.
    void upload(const std::vector<T>& elements) {
        for_each([&](std::size_t at, std::size_t i) { image_[at] = elements[i]; });
        if (where_ == memory::host) {
            std::ranges::copy(image_, data_);
            return;
        }
        check(cudaMemcpy(data_, image_.data(), bytes(), cudaMemcpyDefault));
        // A copy from pageable memory returns before its data has arrived, and no other stream waits for it.
        check(cudaDeviceSynchronize());
    }

    /// Waits for the device, then reads the elements in row-major order, without gaps.
    std::vector<T> download() {
        read();
        return elements_now();
    }

    /// Whether every byte outside the elements is unchanged.
    bool canaries_alive() {
        read();
        return canaries_alive_now();
    }

    struct reading {
        std::vector<T> elements;
        bool canaries_alive;
    };
    /// Both from one read, as each waits for a device that other processes use too.
    reading inspect() {
        read();
        reading result{elements_now(), false};
        result.canaries_alive = canaries_alive_now();
        return result;
    }

    /// Whether no byte at all has changed since the last upload (or since it was made).
    bool untouched() {
        read();
        return std::memcmp(now_.data(), image_.data(), bytes()) == 0;
    }

  private:
    static constexpr unsigned char poison = std::is_integral_v<T> ? 0xa7 : 0xff;
    static constexpr std::int64_t canaries = 256;  // a multiple of every vector's width

    std::size_t bytes() const { return image_.size() * sizeof(T); }

    /// The elements as last read.
    std::vector<T> elements_now() const {
        std::vector<T> elements(static_cast<std::size_t>(rows_ * cols_));
        for_each([&](std::size_t at, std::size_t i) { elements[i] = now_[at]; });
        return elements;
    }
    bool canaries_alive_now() {
        for_each([&](std::size_t at, std::size_t) {
            std::memset(static_cast<void*>(&now_[at]), poison, sizeof(T));
        });
        const auto* byte = reinterpret_cast<const unsigned char*>(now_.data());
        return byte[0] == poison &&
               std::memcmp(byte, byte + 1, bytes() - 1) == 0;  // each equals the previous one
    }

    /// Reads the whole memory.
    void read() {
        if (where_ == memory::host) {
            now_ = host_;
            return;
        }
        now_.resize(image_.size());
        check(cudaDeviceSynchronize());
        check(cudaMemcpy(now_.data(), data_, bytes(), cudaMemcpyDefault));
    }

    /// function(place in memory, place in row-major order).
    template <class Function>
    void for_each(Function function) const {
        const auto visit = [&](std::int64_t row, std::int64_t first, std::int64_t last, std::int64_t step) {
            for (std::int64_t col = first; col < last; ++col)
                function(static_cast<std::size_t>(first_ + row * row_stride_ + col * step),
                         static_cast<std::size_t>(row * cols_ + col));
        };
        if (col_stride_ == 1) {
            for (std::int64_t row = 0; row < rows_; ++row) visit(row, 0, cols_, 1);
            return;
        }
        constexpr std::int64_t side = 16;  // a square has its lines in the cache, in either order
        for (std::int64_t top = 0; top < rows_; top += side)
            for (std::int64_t left = 0; left < cols_; left += side)
                for (std::int64_t row = top; row < std::min(top + side, rows_); ++row)
                    visit(row, left, std::min(left + side, cols_), col_stride_);
    }

    std::int64_t rows_, cols_, row_stride_, col_stride_;
    std::int64_t first_ = 0;
    memory where_;
    std::vector<T> image_;  // what was uploaded, to find changes
    std::vector<T> now_;    // what was read last
    std::vector<T> host_;
    T* data_ = nullptr;
};

}  // namespace heddle::test
