#include "benchmarks/ladders/ladder.hpp"
#include "benchmarks/operation.hpp"
#include "benchmarks/support/cublas.hpp"

namespace heddle::bench {
namespace {

template <class T>
problem matrix(const matrix_shape& s, std::string_view layout = "") {
    const double bytes = sizeof(T) * static_cast<double>(s.size());
    return {fmt::format("transpose/{}/{}x{}{}", dtype<T>, s.rows, s.cols, layout), bytes, bytes};
}

/// `call` takes the source, rows x cols, and the destination, cols x rows.
template <class T>
void row(const matrix_shape& s, std::string_view library, temperature temperature, auto call) {
    operand_row(matrix<T>(s), library, temperature, call, random_matrix<T>(s),
                result_matrix<T>(s.cols, s.rows));
}

template <class T>
void heddle_row(const matrix_shape& s, temperature temperature,
                transpose_algorithm algorithm = transpose_algorithm::automatic) {
    row<T>(s, implementation(algorithm), temperature, [algorithm](auto source, auto destination) {
        transpose<T>(source, destination, stream(), {.algorithm = algorithm});
    });
}

/// A copy of the same bytes is as fast as a transpose can be.
template <class T>
void comparison(const matrix_shape& s, temperature temperature = cold) {
    heddle_row<T>(s, temperature);
    row<T>(s, "copy", temperature, [size = s.size()](auto source, auto destination) {
        copy(vector_view<const T>{source.data, size}, vector_view<T>{destination.data, size}, stream());
    });
#if HEDDLE_HAS_CUBLAS
    // cuBLAS computes A^T + 0 B. To it, source and destination are column-major, and still transposes of each other.
    if constexpr (std::is_same_v<T, float>)
        row<T>(s, "cublas", temperature, [](auto source, auto destination) {
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
    operand_row(
        matrix<float>(square, "-same-order"), "heddle", cold,
        [](auto source, auto destination) { transpose<float>(source, transposed(destination), stream()); },
        random_matrix<float>(square), result_matrix<float>(square));

    host_operand_row(
        matrix<float>(square), "host",
        [](auto source, auto destination) { host::transpose<float>(source, destination); },
        random_matrix<float>(square), result_matrix<float>(square));
}

void add_transpose_rows(std::string_view type, const extents& shape) {
    with_type_named<double, half, std::uint8_t, float>(type,
                                                       [s = matrix_shape{shape[0], shape[1]}]<class T>() {
                                                           for (const auto algorithm : transpose_algorithms())
                                                               heddle_row<T>(s, cold, algorithm);
                                                           comparison<T>(s);
                                                       });
}

}  // namespace heddle::bench
