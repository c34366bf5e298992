#include "benchmarks/ladders/ladder.hpp"
#include "benchmarks/operation.hpp"
#include "benchmarks/support/cublas.hpp"

namespace heddle::bench {
namespace {

/// A source, rows x cols, and a destination, cols x rows.
template <class T>
auto transpose_of(const matrix_shape& s, std::string_view layout = "") {
    return row_case(s.name<T>("transpose") + std::string(layout), random_matrix<T>(s),
                    result_matrix<T>({s.cols, s.rows}));
}

template <class T>
void heddle_row(const matrix_shape& s, temperature temperature,
                transpose_algorithm algorithm = transpose_algorithm::automatic) {
    transpose_of<T>(s).row(implementation(algorithm), temperature,
                           [algorithm](auto source, auto destination) {
                               transpose<T>(source, destination, stream(), {.algorithm = algorithm});
                           });
}

/// A copy of the same bytes is as fast as a transpose can be.
template <class T>
void comparison(const matrix_shape& s, temperature temperature = cold) {
    heddle_row<T>(s, temperature);
    const auto of = transpose_of<T>(s);
    of.row("copy", temperature, [size = s.size()](auto source, auto destination) {
        copy(vector_view<const T>{source.data, size}, vector_view<T>{destination.data, size}, stream());
    });
#if HEDDLE_HAS_CUBLAS
    // cuBLAS computes A^T + 0 B. To it, source and destination are column-major, and still transposes of each other.
    if constexpr (std::is_same_v<T, float>)
        of.row("cublas", temperature, [](auto source, auto destination) {
            const float one = 1, zero = 0;
            check(cublasSgeam_64(cublas_handle(), CUBLAS_OP_T, CUBLAS_OP_N, source.rows, source.cols, &one,
                                 source.data, source.cols, &zero, destination.data, source.rows,
                                 destination.data, source.rows));
        });
#endif
}

}  // namespace

void register_transpose() {
    constexpr matrix_shape square{4096, 4096}, small{1000, 1000}, odd{4097, 4099};
    comparison<float>(square);
    comparison<float>({65536, 1024});
    comparison<float>(small);
    comparison<float>(small, hot);
    comparison<float>({16384, 16384});
    comparison<float>(odd);
    comparison<float>({1 << 22, 8});
    comparison<float>({8, 1 << 22});
    comparison<half>(odd);
    comparison<double>(square);
    comparison<std::uint8_t>(odd);

    for (const auto algorithm : transpose_algorithms()) heddle_row<float>(square, cold, algorithm);
    // The source is row-major and the destination is column-major, so that rows are copied.
    transpose_of<float>(square, "-same-order").row("heddle", cold, [](auto source, auto destination) {
        transpose<float>(source, transposed(destination), stream());
    });
    transpose_of<float>(square).host_row(
        "host", [](auto source, auto destination) { host::transpose<float>(source, destination); });
}

void add_transpose_rows(std::string_view type, const extents& shape) {
    const matrix_shape s{shape[0], shape[1]};
    with_type_named<double, half, std::uint8_t, float>(type, [&s]<class T>() {
        for (const auto algorithm : transpose_algorithms()) heddle_row<T>(s, cold, algorithm);
        comparison<T>(s);
    });
}

}  // namespace heddle::bench
