#pragma once

#include <heddle/view.hpp>

#include <cuda/stream_ref>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#pragma GCC visibility push(default)

namespace heddle {
namespace detail {

/// The kinds of memory of a buffer. Each is the deleter of its own allocations.
struct device_memory {
    static constexpr bool host_accessible = false;
    cuda::stream_ref stream;
    int device = 0;  ///< the memory's, set by allocate(): default streams do not name one
    void* allocate(std::int64_t size, std::size_t element_bytes);
    void operator()(void* data) const noexcept;
};

struct pinned_memory {
    static constexpr bool host_accessible = true;
    void* allocate(std::int64_t size, std::size_t element_bytes) const;
    void operator()(void* data) const noexcept;
};

struct managed_memory {
    static constexpr bool host_accessible = true;
    void* allocate(std::int64_t size, std::size_t element_bytes) const;
    void operator()(void* data) const noexcept;
};

}  // namespace detail

/// An owning, move-only array of uninitialised elements; see device_buffer, pinned_buffer and managed_buffer. It is
/// never required: every operation takes views, which raw pointers make as well.
///
/// A moved-from buffer is empty. An empty buffer allocates nothing and its data() is null.
template <class T, class Memory>
class basic_buffer {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>,
                  "a buffer's elements are copied between host and device as bytes");

  public:
    using value_type = T;

    basic_buffer() = default;

    /// @throws invalid_argument  size < 0, or more bytes than can be counted
    /// @throws cuda_error        out of memory, no device; the device stays usable
    explicit basic_buffer(std::int64_t size) requires(Memory::host_accessible)
        : basic_buffer(size, Memory{}) {}

    /// Stream-ordered: usable in work enqueued on `stream` from now on, and freed there by the destructor. The stream
    /// must outlive the buffer, or set_stream() must give it one that does. Safe under stream capture.
    /// @throws invalid_argument  size < 0, or more bytes than can be counted
    /// @throws cuda_error        out of memory, no device; the device stays usable
    basic_buffer(std::int64_t size, cuda::stream_ref stream) requires(!Memory::host_accessible)
        : basic_buffer(size, Memory{stream}) {}

    basic_buffer(basic_buffer&& other) noexcept
        : elements_(std::move(other.elements_)), size_(std::exchange(other.size_, 0)) {}

    basic_buffer& operator=(basic_buffer&& other) noexcept {
        basic_buffer taken(std::move(other));  // makes a self-move keep its elements
        elements_.swap(taken.elements_);
        std::swap(size_, taken.size_);
        return *this;
    }

    [[nodiscard]] T* data() noexcept { return elements_.get(); }
    [[nodiscard]] const T* data() const noexcept { return elements_.get(); }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

    operator vector_view<T>() noexcept { return {data(), static_cast<std::int64_t>(size_)}; }
    operator vector_view<const T>() const noexcept { return {data(), static_cast<std::int64_t>(size_)}; }

    [[nodiscard]] T& operator[](std::size_t index) noexcept requires(Memory::host_accessible) {
        return data()[index];
    }
    [[nodiscard]] const T& operator[](std::size_t index) const noexcept requires(Memory::host_accessible) {
        return data()[index];
    }
    [[nodiscard]] T* begin() noexcept requires(Memory::host_accessible) { return data(); }
    [[nodiscard]] const T* begin() const noexcept requires(Memory::host_accessible) { return data(); }
    [[nodiscard]] T* end() noexcept requires(Memory::host_accessible) { return data() + size_; }
    [[nodiscard]] const T* end() const noexcept requires(Memory::host_accessible) { return data() + size_; }

    /// The stream on which the memory will be freed.
    [[nodiscard]] cuda::stream_ref stream() const noexcept requires(!Memory::host_accessible) {
        return elements_.get_deleter().stream;
    }

    /// Makes another stream the one that frees the memory, for a buffer whose last use is there. The caller orders
    /// the two streams. A default stream is that of the memory's device.
    void set_stream(cuda::stream_ref stream) noexcept requires(!Memory::host_accessible) {
        elements_.get_deleter().stream = stream;
    }

  private:
    basic_buffer(std::int64_t size, Memory memory)
        : elements_(allocated(size, memory)), size_(static_cast<std::size_t>(size)) {}

    static std::unique_ptr<T[], Memory> allocated(std::int64_t size, Memory memory) {
        auto* const data = static_cast<T*>(memory.allocate(size, sizeof(T)));
        return {data, memory};
    }

    std::unique_ptr<T[], Memory> elements_;
    std::size_t size_ = 0;
};

/// Stream-ordered device memory, from the pool of the stream's device: device_buffer<float> x(n, stream). Declare it
/// after its stream, so that it is destroyed first. CUDA may crash where memory is freed on a destroyed stream.
/// Allocating and freeing do not synchronise. The host cannot read it: use copy().
template <class T>
using device_buffer = basic_buffer<T, detail::device_memory>;

/// Page-locked host memory. Copies to and from it are asynchronous and at the link's full speed. It is slow to
/// allocate. The destructor frees at once: first wait for the work that uses it.
template <class T>
using pinned_buffer = basic_buffer<T, detail::pinned_memory>;

/// Memory that host and device both address. Pages migrate to the processor that touches them. The destructor frees
/// at once: first wait for the work that uses it.
template <class T>
using managed_buffer = basic_buffer<T, detail::managed_memory>;

}  // namespace heddle

#pragma GCC visibility pop
