#pragma once

#include "tests/support/gpu.hpp"
#include "tests/support/mapped_buffer.hpp"
#include <heddle/error.hpp>
#include <heddle/stream.hpp>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// Operands at the first or the last bytes of mapped pages: whatever a kernel reads or writes outside of them there is an
/// illegal address. It ends the context, so that all tests after the one that met it fail too: the first is the one to look at.
namespace heddle::test {

/// The operands of one call, each in memory of its own: at an edge of mapped pages, or in the middle of an ordinary
/// allocation at the same distance from a multiple of 256 bytes.
class operands {
  public:
    operands(page_edge edge, bool is_ordinary) : edge_(edge), is_ordinary_(is_ordinary) {}
    operands(const operands&) = delete;
    operands& operator=(const operands&) = delete;
    ~operands() {
        for (std::byte* memory : ordinary_) (void)cudaFree(memory);
    }

    template <class T>
    T* of(const std::vector<T>& elements) {
        const auto bytes = elements.size() * sizeof(T);
        std::byte* const data = allocate(static_cast<std::int64_t>(bytes));
        check(cudaMemcpy(data, elements.data(), bytes, cudaMemcpyDefault));
        check(cudaDeviceSynchronize());  // no other stream waits for a copy from pageable memory
        return reinterpret_cast<T*>(data);
    }

    /// An output; its bytes are the same in each run at first.
    template <class T>
    T* result(std::int64_t size) {
        T* const data = of(std::vector<T>(static_cast<std::size_t>(size)));
        results_.push_back({reinterpret_cast<std::byte*>(data), static_cast<std::size_t>(size) * sizeof(T)});
        return data;
    }

    std::vector<std::vector<std::byte>> download() const {
        std::vector<std::vector<std::byte>> all;
        for (const auto& [data, bytes] : results_) {
            all.emplace_back(bytes);
            check(cudaMemcpy(all.back().data(), data, bytes, cudaMemcpyDefault));
        }
        return all;
    }

  private:
    std::byte* allocate(std::int64_t bytes) {
        if (!is_ordinary_) return mapped_.emplace_back(std::make_unique<mapped_buffer>(bytes, edge_))->data();
        constexpr std::int64_t alignment = 256, margin = 4096;
        std::byte* memory = nullptr;
        check(cudaMalloc(reinterpret_cast<void**>(&memory), static_cast<std::size_t>(bytes + 2 * margin)));
        ordinary_.push_back(memory);
        const std::int64_t past = edge_ == page_edge::begin ? 0 : (alignment - bytes % alignment) % alignment;
        return memory + margin + past;
    }

    struct output {
        std::byte* data;
        std::size_t bytes;
    };

    page_edge edge_;
    bool is_ordinary_;
    std::vector<std::unique_ptr<mapped_buffer>> mapped_;
    std::vector<std::byte*> ordinary_;
    std::vector<output> results_;
};

/// A matrix of rows x cols in as few elements as it can have.
inline constexpr std::int64_t extent(std::int64_t rows, std::int64_t row_stride, std::int64_t cols) {
    return (rows - 1) * row_stride + cols;
}

class mapped_pages_test : public gpu_test {
  protected:
    void SetUp() override {
        gpu_test::SetUp();
        if (!IsSkipped()) stream_.emplace();
    }

    /// `call` enqueues an operation on operands that it takes from what it is given. At both edges it comes to an end, with the
    /// bits that it gives in ordinary memory. False where it throws unsupported.
    template <class Call>
    bool check_edges(const std::string& what, Call call) {
        SCOPED_TRACE(what);
        for (const page_edge edge : {page_edge::begin, page_edge::end}) {
            SCOPED_TRACE(edge == page_edge::begin ? "from a page's first byte" : "to a page's last byte");
            operands ordinary(edge, true), mapped(edge, false);
            try {
                call(ordinary);
            } catch (const unsupported&) {
                return false;
            }
            call(mapped);
            stream_->synchronize();
            EXPECT_EQ(mapped.download(), ordinary.download());
        }
        return true;
    }

    std::optional<stream> stream_;
};

template <class Algorithm>
class of_rung : public mapped_pages_test, public testing::WithParamInterface<Algorithm> {};

inline const auto rung_name = [](const auto& info) { return std::string(to_string(info.param)); };

template <class Algorithms>
auto values_in(const Algorithms& algorithms) {
    return testing::ValuesIn(algorithms.begin(), algorithms.end());
}

}  // namespace heddle::test
