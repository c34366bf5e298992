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
    /// The name of an operation's case.
    template <class T>
    [[nodiscard]] std::string name(std::string_view op) const {
        return fmt::format("{}/{}/{}x{}", op, dtype<T>, rows, cols);
    }
};

/// An operand of `size` elements, which each repetition makes anew. `view_of` makes the call's argument of its address.
template <class T, bool is_random, class ViewOf>
struct row_operand {
    static constexpr bool is_read = is_random;
    std::int64_t size;
    ViewOf view_of;

    [[nodiscard]] double bytes() const { return sizeof(T) * static_cast<double>(size); }
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
auto as_matrix(const matrix_shape& s) {
    return [s](T* data) { return matrix_view<T>{data, s.rows, s.cols}; };
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
auto random_matrix(const matrix_shape& s) {
    return random_elements<T>(s.size(), as_matrix<T>(s));
}
template <class T>
auto result_matrix(const matrix_shape& s) {
    return result_elements<T>(s.size(), as_matrix<T>(s));
}

/// Zeroed scratch memory. `bytes_of` returns its size, and may use the device.
template <class BytesOf>
struct scratch {
    static constexpr bool is_read = true;
    BytesOf bytes_of;

    [[nodiscard]] static double bytes() { return 0; }
    [[nodiscard]] workspace on_device() const { return {bytes_of(), stream()}; }
    [[nodiscard]] std::span<std::byte> view(workspace& memory) const { return memory; }
};

/// A problem with its operands. Each of its functions adds a row, whose call takes the views of the operands in their order.
template <class... Operands>
class row_case {
  public:
    bench::problem problem;

    row_case(bench::problem of, Operands... operands) : problem(std::move(of)), operands_(operands...) {}
    /// The problem of this name: a call reads the random operands and writes the results.
    row_case(std::string name, Operands... operands) : problem{std::move(name)}, operands_(operands...) {
        (((Operands::is_read ? problem.bytes_read : problem.bytes_written) += operands.bytes()), ...);
    }

    /// The same problem with more operands, such as scratch memory.
    template <class... More>
    [[nodiscard]] row_case<Operands..., More...> with(More... more) const {
        return std::apply(
            [&](auto... all) { return row_case<Operands..., More...>(problem, all..., more...); }, operands_);
    }

    void row(std::string_view library, temperature temperature, auto call) const {
        prepared_row(library, temperature,
                     [call](auto... views) { return [call, views...]() mutable { call(views...); }; });
    }
    /// `prepare` returns the call.
    void prepared_row(std::string_view library, temperature temperature, auto prepare) const {
        device_row(problem, library, temperature, [prepare, operands = operands_] {
            auto memory = std::apply([](auto... all) { return std::tuple{all.on_device()...}; }, operands);
            auto call = with_views(operands, memory, prepare);
            return [memory = std::move(memory), call = std::move(call)]() mutable { call(); };
        });
    }
    /// On the CPU.
    void host_row(std::string_view library, auto call) const {
        bench::host_row(problem, library, [call, operands = operands_] {
            auto memory = std::apply([](auto... all) { return std::tuple{all.on_host()...}; }, operands);
            return [call, operands, memory = std::move(memory)]() mutable {
                with_views(operands, memory, call);
            };
        });
    }

  private:
    std::tuple<Operands...> operands_;

    static auto with_views(const std::tuple<Operands...>& operands, auto& memory, auto& function) {
        return [&]<std::size_t... i>(std::index_sequence<i...>) {
            return function(std::get<i>(operands).view(std::get<i>(memory))...);
        }
        (std::index_sequence_for<Operands...>{});
    }
};

}  // namespace heddle::bench
