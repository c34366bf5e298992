#include "examples/demo/run.hpp"
#include <heddle/host.hpp>

#include <fmt/format.h>
#include <heddle_baselines.hpp>

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#if HEDDLE_HAS_OPENBLAS
#include <cblas.h>
#endif

namespace demo {
namespace {

using heddle::matrix_view;
using heddle::vector_view;

double seconds_of(const call& function, int times) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < times; ++i) function();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / times;
}

/// OpenBLAS's calls of the operations. They are empty if it is not installed.
struct openblas {
#if HEDDLE_HAS_OPENBLAS
    static int narrow(std::size_t size) {
        return static_cast<int>(size);
    }

    /// y = x + y.
    static call add(const std::vector<float>& x, std::vector<float>& y) {
        return [&] { cblas_saxpy(narrow(x.size()), 1, x.data(), 1, y.data(), 1); };
    }
    static call sum(const std::vector<float>& x, float& result) {
        return [&] { result = cblas_ssum(narrow(x.size()), x.data(), 1); };
    }
    static call min(const std::vector<float>& x, float& result) {
        return [&] { result = x[cblas_ismin(narrow(x.size()), x.data(), 1)]; };
    }
    static call max(const std::vector<float>& x, float& result) {
        return [&] { result = x[cblas_ismax(narrow(x.size()), x.data(), 1)]; };
    }
    /// The sums of each row or column of a square matrix X, as its product with ones.
    static call sgemv(along direction, const std::vector<float>& x, const std::vector<float>& ones,
                      std::vector<float>& sums) {
        const CBLAS_TRANSPOSE transpose = direction == along::rows ? CblasNoTrans : CblasTrans;
        return [&, transpose, size = narrow(ones.size())] {
            cblas_sgemv(CblasRowMajor, transpose, size, size, 1, x.data(), size, ones.data(), 1, 0,
                        sums.data(), 1);
        };
    }
    static call transpose(const std::vector<float>& x, std::vector<float>& y, int size) {
        return [&, size] {
            cblas_somatcopy(CblasRowMajor, CblasTrans, size, size, 1, x.data(), size, y.data(), size);
        };
    }
    static call matmul(const std::vector<float>& a, const std::vector<float>& b, std::vector<float>& c,
                       int size) {
        return [&, size] {
            cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, size, size, size, 1, a.data(), size,
                        b.data(), size, 0, c.data(), size);
        };
    }
#else
    static call add(const std::vector<float>&, std::vector<float>&) {
        return {};
    }
    static call sum(const std::vector<float>&, float&) {
        return {};
    }
    static call min(const std::vector<float>&, float&) {
        return {};
    }
    static call max(const std::vector<float>&, float&) {
        return {};
    }
    static call sgemv(along, const std::vector<float>&, const std::vector<float>&, std::vector<float>&) {
        return {};
    }
    static call transpose(const std::vector<float>&, std::vector<float>&, int) {
        return {};
    }
    static call matmul(const std::vector<float>&, const std::vector<float>&, std::vector<float>&, int) {
        return {};
    }
#endif
};

/// The largest number of additions that a number goes through in heddle::host::sum (docs/accuracy.md).
std::int64_t depth_of_sum(std::int64_t size) {
    return 133 + static_cast<std::int64_t>(std::ceil(std::log2(static_cast<double>(size) / 4096)));
}

/// The same for heddle::host::inclusive_scan: two for each element of a chunk, and one for each chunk.
constexpr std::int64_t depth_of_scan(std::int64_t size) {
    constexpr std::int64_t chunk = 1024;
    return 2 * chunk + size / chunk;
}

/// Sums of rows and columns are in double, so that only their last rounding counts. They are never rescaled to a larger
/// element.
constexpr bounds::row_steps steps_in_double{2, 0};

void vectors(const work& work, table& table) {
    const auto size = work.vector;
    const auto x = random_numbers(size, 0, 1), y = random_numbers(size, 1, 2),
               w = random_numbers(size, -8, 8);
    std::vector<float> z(x.size());
    const vector_view in{x.data(), size}, in2{y.data(), size}, in3{w.data(), size};
    const vector_view out{z.data(), size};
    const std::string shape = fmt::format("{} f32", size);

    // The timed sum is in place, as OpenBLAS's. The checked result is another sum.
    std::vector<float> total = y, their_total = y;
    const vector_view in_place{total.data(), size};
    times seconds = race(
        seconds_of, [&] { heddle::host::add<float>(in, in_place, in_place); }, openblas::add(x, their_total));
    heddle::host::add<float>(in, in2, out);
    table.print({"add", shape, seconds, "OpenBLAS saxpy", add_error(x, y, z), bounds::add});

    seconds = race(seconds_of, [&] { heddle::host::sigmoid<float>(in3, out); }, {});
    table.print({"sigmoid", shape, seconds, "", sigmoid_error(w, z), bounds::sigmoid});

    seconds = race(seconds_of, [&] { heddle::host::gelu<float>(in3, out); }, {});
    table.print({"gelu", shape, seconds, "", gelu_error(w, z), bounds::gelu});

    float result = 0, their_result = 0;
    seconds = race(
        seconds_of, [&] { result = heddle::host::sum<float>(in); }, openblas::sum(x, their_result));
    table.print(
        {"sum", shape, seconds, "OpenBLAS ssum", sum_error(x, result), bounds::sum(depth_of_sum(size))});

    seconds = race(
        seconds_of, [&] { result = heddle::host::min<float>(in); }, openblas::min(x, their_result));
    table.print({"min", shape, seconds, "OpenBLAS ismin", min_error(x, result), bounds::exact});

    seconds = race(
        seconds_of, [&] { result = heddle::host::max<float>(in); }, openblas::max(x, their_result));
    table.print({"max", shape, seconds, "OpenBLAS ismax", max_error(x, result), bounds::exact});

    seconds = race(seconds_of, [&] { heddle::host::inclusive_scan<float>(in, out); }, {});
    table.print({"inclusive_scan", shape, seconds, "", scan_error(x, z), bounds::sum(depth_of_scan(size))});
}

void padded_matrices(const work& work, table& table) {
    const auto elements = work.matrix * work.row_stride();
    const auto x = random_numbers(elements, 0, 1), y = random_numbers(elements, 1, 2);
    std::vector<float> z(x.size());
    const auto view = [&](auto& storage) {
        return matrix_view{storage.data(), work.matrix, work.matrix, work.row_stride()};
    };
    const times seconds = race(seconds_of, [&] { heddle::host::add<float>(view(x), view(y), view(z)); }, {});
    table.print({"add", fmt::format("{0} x {0} padded f32", work.matrix), seconds, "",
                 padded_add_error(work, x, y, z), bounds::add});
}

void matrices(const work& work, table& table) {
    const auto size = work.matrix;
    const auto x = random_numbers(size * size, 0, 1), w = random_numbers(size * size, -8, 8);
    const std::vector<float> ones(static_cast<std::size_t>(size), 1);
    std::vector<float> y(x.size()), theirs(x.size()), sums(ones.size()), their_sums(ones.size());
    const auto view = [&](auto& storage) { return matrix_view{storage.data(), size, size}; };
    const vector_view out{sums.data(), size};
    const std::string shape = fmt::format("{0} x {0} f32", size);

    times seconds = race(
        seconds_of, [&] { heddle::host::row_sum<float>(view(x), out); },
        openblas::sgemv(along::rows, x, ones, their_sums));
    table.print({"row_sum", shape, seconds, "OpenBLAS sgemv, ones", row_sum_error(x, sums), bounds::sum(1)});

    seconds = race(
        seconds_of, [&] { heddle::host::column_sum<float>(view(x), out); },
        openblas::sgemv(along::columns, x, ones, their_sums));
    table.print(
        {"column_sum", shape, seconds, "OpenBLAS sgemv, ones", column_sum_error(x, sums), bounds::sum(1)});

    seconds = race(seconds_of, [&] { heddle::host::softmax<float>(view(w), view(y)); }, {});
    table.print(
        {"softmax", shape, seconds, "", softmax_error(w, y, size), bounds::softmax(size, steps_in_double)});

    seconds = race(seconds_of, [&] { heddle::host::layer_norm<float>(view(w), {}, {}, view(y)); }, {});
    table.print({"layer_norm", shape, seconds, "", layer_norm_error(w, y, size),
                 bounds::layer_norm(steps_in_double)});

    seconds = race(
        seconds_of, [&] { heddle::host::transpose<float>(view(w), view(y)); },
        openblas::transpose(w, theirs, static_cast<int>(size)));
    table.print(
        {"transpose", shape, seconds, "OpenBLAS somatcopy", transpose_error(w, y, size), bounds::exact});
}

void product(const work& work, table& table) {
    const auto size = work.product;
    const auto a = random_numbers(size * size, 0, 1), b = random_numbers(size * size, 1, 2);
    std::vector<float> c(a.size()), theirs(a.size());
    const auto view = [&](auto& storage) { return matrix_view{storage.data(), size, size}; };
    const times seconds = race(
        seconds_of, [&] { heddle::host::matmul<float>(view(a), view(b), view(c)); },
        openblas::matmul(a, b, theirs, static_cast<int>(size)));
    table.print({"matmul", fmt::format("{0} x {0} x {0} f32", size), seconds, "OpenBLAS sgemm",
                 matmul_error(a, b, c, size), bounds::matmul(size)});
}

void histogram(const work& work, table& table) {
    const auto& pixels = work.photo.pixels;
    std::vector<std::int64_t> counts(work::byte_values);
    const vector_view in{pixels.data(), std::ssize(pixels)};
    const vector_view out{counts.data(), work::byte_values};
    const times seconds = race(seconds_of, [&] { heddle::host::histogram(in, out); }, {});
    table.print({"histogram", fmt::format("{} u8", pixels.size()), seconds, "",
                 histogram_error(pixels, counts), bounds::exact});
}

image blur(const work& work, table& table) {
    const image& photo = work.photo;
    image result = examples::make_image<std::uint8_t>(photo.width, photo.height, photo.channels);
    const times seconds = race(
        seconds_of,
        [&] { heddle::host::gaussian_blur<std::uint8_t>(photo.view(), result.view(), work::sigma); }, {});
    table.print({"gaussian_blur", fmt::format("{} x {} u8c{}", photo.width, photo.height, photo.channels),
                 seconds, "", blur_error(photo, result, work::sigma),
                 bounds::blur(heddle::gaussian_radius(work::sigma))});
    return result;
}

}  // namespace

image run_on_cpu(const work& work, table& table) {
    vectors(work, table);
    padded_matrices(work, table);
    matrices(work, table);
    product(work, table);
    histogram(work, table);
    return blur(work, table);
}

}  // namespace demo
