#pragma once

#include <heddle/device.hpp>
#include <heddle/error.hpp>

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

/// Device memory beside unmapped addresses. Allocations of cudaMalloc are neighbours in large pages, so a read past
/// the end of an operand finds memory. Here it is an illegal address. That ends the context: every later call of the
/// process fails.
namespace heddle::test {

/// Functions of the driver, which tests do not link.
template <class Function>
Function driver_function(const char* name) {
    constexpr unsigned since = 10020;
    void* function = nullptr;
    cudaDriverEntryPointQueryResult result{};
    check(cudaGetDriverEntryPointByVersion(name, &function, since, cudaEnableDefault, &result));
    if (function == nullptr) throw std::runtime_error(std::string("the driver has no ") + name);
    return reinterpret_cast<Function>(function);
}

template <class Function, class... Arguments>
void call_driver(const char* name, Arguments... arguments) {
    if (const CUresult status = driver_function<Function*>(name)(arguments...); status != CUDA_SUCCESS)
        throw std::runtime_error(std::string(name) + " returned " + std::to_string(status));
}

/// Addresses of the current device that are unmapped, except for chosen pages.
class address_range {
  public:
    explicit address_range(std::int64_t bytes) {
        check(cudaFree(nullptr));  // there is a context from here on
        location_.type = CU_MEM_LOCATION_TYPE_DEVICE;
        location_.id = current_device();
        properties_.type = CU_MEM_ALLOCATION_TYPE_PINNED;
        properties_.location = location_;
        call_driver<decltype(cuMemGetAllocationGranularity)>("cuMemGetAllocationGranularity", &page_bytes_,
                                                             &properties_, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
        bytes_ = (static_cast<std::size_t>(bytes) + page_bytes_ - 1) / page_bytes_ * page_bytes_;
        call_driver<decltype(cuMemAddressReserve)>("cuMemAddressReserve", &begin_, bytes_, std::size_t{0},
                                                   CUdeviceptr{0}, 0ULL);
    }
    address_range(const address_range&) = delete;
    address_range& operator=(const address_range&) = delete;
    ~address_range() {
        (void)cudaDeviceSynchronize();
        try {
            for (const auto& [page, memory] : memory_) {
                call_driver<decltype(cuMemUnmap)>("cuMemUnmap", begin_ + page * page_bytes_, page_bytes_);
                call_driver<decltype(cuMemRelease)>("cuMemRelease", memory);
            }
            call_driver<decltype(cuMemAddressFree)>("cuMemAddressFree", begin_, bytes_);
        } catch (const std::exception&) {
            // After an illegal address nothing can be freed; the process ends with the test's failure.
        }
    }

    /// Makes the pages of these bytes readable and writable; their contents are undefined.
    void map(std::int64_t first, std::int64_t count) {
        const auto last_page = static_cast<std::size_t>(first + count - 1) / page_bytes_;
        for (auto page = static_cast<std::size_t>(first) / page_bytes_; page <= last_page; ++page) {
            if (memory_.contains(page)) continue;
            CUmemGenericAllocationHandle memory{};
            call_driver<decltype(cuMemCreate)>("cuMemCreate", &memory, page_bytes_, &properties_, 0ULL);
            memory_[page] = memory;
            const CUdeviceptr address = begin_ + page * page_bytes_;
            call_driver<decltype(cuMemMap)>("cuMemMap", address, page_bytes_, std::size_t{0}, memory, 0ULL);
            const CUmemAccessDesc access{location_, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
            call_driver<decltype(cuMemSetAccess)>("cuMemSetAccess", address, page_bytes_, &access,
                                                  std::size_t{1});
        }
    }

    std::byte* data() const { return reinterpret_cast<std::byte*>(begin_); }
    std::int64_t page_bytes() const { return static_cast<std::int64_t>(page_bytes_); }

  private:
    CUmemLocation location_{};
    CUmemAllocationProp properties_{};
    std::size_t page_bytes_ = 0;
    std::size_t bytes_ = 0;
    CUdeviceptr begin_ = 0;
    std::map<std::size_t, CUmemGenericAllocationHandle> memory_;
};

enum class page_edge { begin, end };

/// Bytes that begin at the beginning of their first page, or end at the end of their last. The pages before and after
/// are unmapped. Mapping is slow: freed pages stay mapped for the next request of as many.
class mapped_buffer {
  public:
    mapped_buffer(std::int64_t bytes, page_edge edge)
        : whole_((bytes + most_page_bytes - 1) / most_page_bytes * most_page_bytes) {
        std::vector<std::unique_ptr<address_range>>& unused = unused_ranges()[whole_];
        if (unused.empty()) {
            range_ = std::make_unique<address_range>(whole_ + 3 * most_page_bytes);
            if (range_->page_bytes() > most_page_bytes)
                throw unsupported("a page is larger than the room that was left for it");
            if (whole_ > 0) range_->map(range_->page_bytes(), whole_);
        } else {
            range_ = std::move(unused.back());
            unused.pop_back();
        }
        data_ = range_->data() + range_->page_bytes() + (edge == page_edge::begin ? 0 : whole_ - bytes);
    }
    mapped_buffer(const mapped_buffer&) = delete;
    mapped_buffer& operator=(const mapped_buffer&) = delete;
    ~mapped_buffer() {
        (void)cudaDeviceSynchronize();
        unused_ranges()[whole_].push_back(std::move(range_));
    }

    std::byte* data() const { return data_; }

  private:
    static constexpr std::int64_t most_page_bytes = std::int64_t{2} << 20;

    /// By their mapped bytes. They live until the process ends, longer than anything that frees them.
    static std::map<std::int64_t, std::vector<std::unique_ptr<address_range>>>& unused_ranges() {
        static auto& all = *new std::map<std::int64_t, std::vector<std::unique_ptr<address_range>>>;
        return all;
    }

    std::int64_t whole_;
    std::unique_ptr<address_range> range_;
    std::byte* data_ = nullptr;
};

}  // namespace heddle::test
