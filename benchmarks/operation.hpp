#pragma once

#include "benchmarks/operations.hpp"
#include "benchmarks/support/random.hpp"

#if HEDDLE_HAS_OPENBLAS
#include <cblas.h>
#endif

/// The files of operations describe their rows by operands.
namespace heddle::bench {

inline constexpr auto cold = temperature::cold, hot = temperature::hot;

/// The extents of a dense matrix.
struct matrix_shape {
    std::int64_t rows;
    std::int64_t cols;

    [[nodiscard]] std::int64_t size() const { return rows * cols; }
};

/// An operand of `size` elements, which each repetition makes anew. `view_of` makes the call's argument of its address.
template <class T, bool is_random, class ViewOf>
struct row_operand {
    std::int64_t size;
    ViewOf view_of;

    [[nodiscard]] device_buffer<T> on_device() const {
        if constexpr (is_random)
            return random_on_device<T>(size);
        else
            return {size, stream()};
    }
    [[nodiscard]] std::vector<T> on_host() const {
        if constexpr (is_random)
            return random_on_host<T>(size);
        else
            return std::vector<T>(static_cast<std::size_t>(size));
    }
    [[nodiscard]] auto view(auto& elements) const { return view_of(elements.data()); }
};

/// An operand with random elements, and a result.
template <class T, class ViewOf>
row_operand<T, true, ViewOf> random_elements(std::int64_t size, ViewOf view_of) {
    return {size, view_of};
}
template <class T, class ViewOf>
row_operand<T, false, ViewOf> result_elements(std::int64_t size, ViewOf view_of) {
    return {size, view_of};
}

/// The same, where the call's argument is the address.
template <class T>
auto random_array(std::int64_t size) {
    return random_elements<T>(size, [](T* data) { return data; });
}
template <class T>
auto result_array(std::int64_t size) {
    return result_elements<T>(size, [](T* data) { return data; });
}

template <class T>
auto as_vector(std::int64_t size) {
    return [size](T* data) { return vector_view<T>{data, size}; };
}
template <class T>
auto as_matrix(std::int64_t rows, std::int64_t cols) {
    return [rows, cols](T* data) { return matrix_view<T>{data, rows, cols}; };
}
template <class T>
auto random_vector(std::int64_t size) {
    return random_elements<T>(size, as_vector<T>(size));
}
template <class T>
auto result_vector(std::int64_t size) {
    return result_elements<T>(size, as_vector<T>(size));
}
template <class T>
auto random_matrix(std::int64_t rows, std::int64_t cols) {
    return random_elements<T>(rows * cols, as_matrix<T>(rows, cols));
}
template <class T>
auto random_matrix(const matrix_shape& s) {
    return random_matrix<T>(s.rows, s.cols);
}
template <class T>
auto result_matrix(std::int64_t rows, std::int64_t cols) {
    return result_elements<T>(rows * cols, as_matrix<T>(rows, cols));
}
template <class T>
auto result_matrix(const matrix_shape& s) {
    return result_matrix<T>(s.rows, s.cols);
}

/// Zeroed scratch memory. `bytes_of` returns its size, and may use the device.
template <class BytesOf>
struct scratch {
    BytesOf bytes_of;

    [[nodiscard]] workspace on_device() const { return {bytes_of(), stream()}; }
    [[nodiscard]] std::span<std::byte> view(workspace& memory) const { return memory; }
};

/// Adds a row on the device. `prepare` takes the views of the operands in their order, and returns the call.
template <class Prepare, class... Operands>
void prepared_row(const problem& problem, std::string_view library, temperature temperature, Prepare prepare,
                  Operands... operands) {
    device_row(problem, library, temperature, [prepare, operands...] {
        auto memory = std::tuple{operands.on_device()...};
        auto call = std::apply([&](auto&... of) { return prepare(operands.view(of)...); }, memory);
        return [memory = std::move(memory), call = std::move(call)]() mutable { call(); };
    });
}

/// Adds a row on the device. `call` takes the views of the operands in their order.
template <class Call, class... Operands>
void operand_row(const problem& problem, std::string_view library, temperature temperature, Call call,
                 Operands... operands) {
    prepared_row(
        problem, library, temperature,
        [call](auto... views) { return [call, views...]() mutable { call(views...); }; }, operands...);
}

/// Adds the same on the CPU.
template <class Call, class... Operands>
void host_operand_row(const problem& problem, std::string_view library, Call call, Operands... operands) {
    host_row(problem, library, [call, operands...] {
        return [call, operands..., memory = std::tuple{operands.on_host()...}]() mutable {
            std::apply([&](auto&... of) { call(operands.view(of)...); }, memory);
        };
    });
}

}  // namespace heddle::bench
