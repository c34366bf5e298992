#include "src/facts.hpp"
#include "src/require.hpp"
#include "src/validate.hpp"
#include <heddle/copy.hpp>
#include <heddle/error.hpp>
#include <heddle/stream.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace heddle::detail {
namespace {

template <class T>
bool is_row_major(const block<T>& m) {
    return m.cols.extent <= 1 || m.cols.stride == 1;
}

template <class T>
block<T> transposed(const block<T>& m) {
    return {m.data, m.cols, m.rows};
}

template <class T>
bool is_empty(const block<T>& m) {
    return m.rows.extent == 0 || m.cols.extent == 0;
}

template <class T>
void require_elements(const char* operation, const char* name, const block<T>& m) {
    for (const dimension& d : {m.rows, m.cols})
        require(d.extent >= 0, operation, {name, d.extent_name}, d.extent, "zero or more");
    require(m.data != nullptr || is_empty(m), operation, {name, "data"}, "null", "a pointer to its elements");
}

/// Checks that the rows of a row-major block do not overlap. The block is not empty.
template <class T>
void require_rows_apart(const char* operation, const char* name, const block<T>& m,
                        std::size_t element_bytes) {
    const auto& [data, rows, cols] = m;
    require(rows.extent == 1 || rows.stride >= cols.extent, operation, {name, rows.stride_name}, rows.stride,
            "at least {}", cols.extent);
    dimension down = rows, across = cols;  // the stride of a dimension with one element is ignored
    if (rows.extent == 1) down.stride = cols.extent;
    across.stride = 1;
    validate_bytes(operation, name, down, across, element_bytes);
}

/// A row-major block in bytes, as the CUDA runtime takes it.
struct byte_rows {
    std::size_t count;
    std::size_t width;
    std::size_t pitch;

    template <class T>
    byte_rows(const block<T>& m, std::size_t element_bytes)
        : count(static_cast<std::size_t>(m.rows.extent)),
          width(static_cast<std::size_t>(m.cols.extent) * element_bytes),
          pitch(count == 1 ? width : static_cast<std::size_t>(m.rows.stride) * element_bytes) {}

    bool is_flat() const { return pitch == width; }
    footprint at(const void* data) const {
        const auto rows = static_cast<std::int64_t>(count), bytes = static_cast<std::int64_t>(pitch);
        return footprint_of(static_cast<const std::byte*>(data), static_cast<std::int64_t>(width),
                            {{rows, bytes}});
    }
};

/// Whether the runtime's two-dimensional calls accept this pitch. Current devices limit it to 2 GiB.
bool fits_pitch(std::size_t pitch, int device) {
    int most = 0;
    check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxPitch, device));
    return pitch <= static_cast<std::size_t>(most);
}

}  // namespace

void copy(const block<const void>& source, const block<void>& destination, std::size_t element_bytes,
          cuda::stream_ref stream) {
    require_elements("copy", "source", source);
    require_elements("copy", "destination", destination);
    for (const auto& [from, to] :
         {std::pair(source.rows, destination.rows), std::pair(source.cols, destination.cols)})
        require(to.extent == from.extent, "copy", {"destination", to.extent_name}, to.extent,
                "{} (source.{})", from.extent, from.extent_name);
    if (is_empty(source)) return;

    const bool as_given = is_row_major(source) && is_row_major(destination);
    const block<const void> from = as_given ? source : transposed(source);
    const block<void> to = as_given ? destination : transposed(destination);
    if (!is_row_major(from) || !is_row_major(to))
        throw unsupported("copy: source and destination must both be row-major, or both be transposed" +
                          facts({fact("source.row_stride", source.rows.stride),
                                 fact("source.col_stride", source.cols.stride),
                                 fact("destination.row_stride", destination.rows.stride),
                                 fact("destination.col_stride", destination.cols.stride)})
                              .given());
    require_rows_apart("copy", "source", from, element_bytes);
    require_rows_apart("copy", "destination", to, element_bytes);

    const byte_rows read(from, element_bytes);
    const byte_rows written(to, element_bytes);
    require(!overlap(read.at(from.data), written.at(to.data)), "copy", "destination", to.data,
            "no overlap with source ({})", from.data);

    const stream_device call_device(stream);
    if (read.is_flat() && written.is_flat()) {
        check(cudaMemcpyAsync(to.data, from.data, read.count * read.width, cudaMemcpyDefault, stream.get()));
    } else if (fits_pitch(std::max(read.pitch, written.pitch), call_device.traits().device)) {
        check(cudaMemcpy2DAsync(to.data, written.pitch, from.data, read.pitch, read.width, read.count,
                                cudaMemcpyDefault, stream.get()));
    } else {  // a call for each row: few rows fit memory at such a pitch
        for (std::size_t row = 0; row < read.count; ++row)
            check(cudaMemcpyAsync(static_cast<std::byte*>(to.data) + row * written.pitch,
                                  static_cast<const std::byte*>(from.data) + row * read.pitch, read.width,
                                  cudaMemcpyDefault, stream.get()));
    }
}

void fill(const block<void>& destination, std::size_t element_bytes, std::byte value,
          cuda::stream_ref stream) {
    require_elements("fill", "destination", destination);
    if (is_empty(destination)) return;

    const block<void> to = is_row_major(destination) ? destination : transposed(destination);
    if (!is_row_major(to))
        throw unsupported("fill: destination must be row-major or transposed" +
                          facts({fact("destination.row_stride", destination.rows.stride),
                                 fact("destination.col_stride", destination.cols.stride)})
                              .given());
    require_rows_apart("fill", "destination", to, element_bytes);

    const byte_rows written(to, element_bytes);
    const int byte = std::to_integer<int>(value);
    const stream_device call_device(stream);
    if (written.is_flat()) {
        check(cudaMemsetAsync(to.data, byte, written.count * written.width, stream.get()));
    } else if (fits_pitch(written.pitch, call_device.traits().device)) {
        check(cudaMemset2DAsync(to.data, written.pitch, byte, written.width, written.count, stream.get()));
    } else {
        for (std::size_t row = 0; row < written.count; ++row)
            check(cudaMemsetAsync(static_cast<std::byte*>(to.data) + row * written.pitch, byte, written.width,
                                  stream.get()));
    }
}

void wait(cuda::stream_ref stream) {
    check(cudaStreamSynchronize(stream.get()));
}

}  // namespace heddle::detail
