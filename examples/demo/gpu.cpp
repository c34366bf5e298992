#include "examples/demo/cub.hpp"
#include "examples/demo/run.hpp"
#include "examples/demo/vendor.hpp"
#include <heddle/heddle.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace demo {
namespace {

using heddle::check;
using heddle::device_buffer;

/// Runs one operation after another on one stream. Times are the device's.
class gpu {
  public:
    explicit gpu(table& table) : table_(table) {}

    void vectors(const work& work);
    void padded_matrices(const work& work);
    void matrices(const work& work);
    void product(const work& work);
    void histogram(const work& work);
    image blur(const work& work);

  private:
    times run(const call& ours, const call& theirs) {
        return race(
            [this](const call& function, int count) {
                start_.record(stream_);
                for (int i = 0; i < count; ++i) function();
                stop_.record(stream_);
                stop_.synchronize();
                return std::chrono::duration<double>(heddle::elapsed(start_, stop_)).count() / count;
            },
            ours, theirs);
    }

    template <class T>
    device_buffer<T> upload(const std::vector<T>& values) {
        device_buffer<T> buffer(static_cast<std::int64_t>(values.size()), stream_);
        heddle::copy_and_wait(values, buffer, stream_);
        return buffer;
    }

    template <class T>
    std::vector<T> download(const device_buffer<T>& buffer) {
        std::vector<T> values(buffer.size());
        heddle::copy_and_wait(buffer, values, stream_);
        return values;
    }

    heddle::stream stream_;
    heddle::event start_, stop_;
    const heddle::device_traits& device_ = heddle::traits_of(heddle::current_device());
    table& table_;
};

void gpu::vectors(const work& work) {
    const auto size = work.vector;
    const int count = static_cast<int>(size);
    const auto xs = random_numbers(size, 0, 1), ys = random_numbers(size, 1, 2),
               ws = random_numbers(size, -8, 8);
    const auto x = upload(xs), y = upload(ys), w = upload(ws);
    device_buffer<float> z(size, stream_), theirs(size, stream_);
    const std::string shape = fmt::format("{} f32", size);

    times seconds = run([&] { heddle::add<float>(x, y, z, stream_); },
                        [&] { check(cub::add(x.data(), y.data(), theirs.data(), count, stream_.get())); });
    table_.print({"add", shape, seconds, "CUB Transform", add_error(xs, ys, download(z)), bounds::add});

    seconds = run([&] { heddle::sigmoid<float>(w, z, stream_); },
                  [&] { check(cub::sigmoid(w.data(), theirs.data(), count, stream_.get())); });
    table_.print({"sigmoid", shape, seconds, "CUB Transform, fast exp", sigmoid_error(ws, download(z)),
                  bounds::sigmoid});

    seconds = run([&] { heddle::gelu<float>(w, z, stream_); },
                  [&] { check(cub::gelu(w.data(), theirs.data(), count, stream_.get())); });
    table_.print({"gelu", shape, seconds, "CUB Transform", gelu_error(ws, download(z)), bounds::gelu});

    heddle::workspace workspace(std::max(heddle::reduce_workspace_bytes({.x = {size}}, device_),
                                         heddle::scan_workspace_bytes({{size}, {size}}, device_)),
                                stream_);
    const heddle::reduce_options options{.workspace = workspace};
    device_buffer<std::byte> scratch(cub::scratch_bytes, stream_);
    device_buffer<float> result(1, stream_), their_result(1, stream_);

    seconds =
        run([&] { heddle::sum<float>(x, result.data(), stream_, options); },
            [&] { check(cub::sum(x.data(), count, their_result.data(), scratch.data(), stream_.get())); });
    table_.print({"sum", shape, seconds, "CUB Sum", sum_error(xs, download(result)[0]),
                  bounds::sum(heddle::reduce_depth({.x = {size}}, device_))});

    seconds =
        run([&] { heddle::min<float>(x, result.data(), stream_, options); },
            [&] { check(cub::min(x.data(), count, their_result.data(), scratch.data(), stream_.get())); });
    table_.print({"min", shape, seconds, "CUB Min", min_error(xs, download(result)[0]), bounds::exact});

    seconds =
        run([&] { heddle::max<float>(x, result.data(), stream_, options); },
            [&] { check(cub::max(x.data(), count, their_result.data(), scratch.data(), stream_.get())); });
    table_.print({"max", shape, seconds, "CUB Max", max_error(xs, download(result)[0]), bounds::exact});

    seconds = run(
        [&] { heddle::inclusive_scan<float>(x, z, stream_, {.workspace = workspace}); },
        [&] { check(cub::inclusive_scan(x.data(), theirs.data(), count, scratch.data(), stream_.get())); });
    table_.print({"inclusive_scan", shape, seconds, "CUB InclusiveSum", scan_error(xs, download(z)),
                  bounds::sum(heddle::scan_depth({{size}, {size}}, device_))});
}

void gpu::padded_matrices(const work& work) {
    const auto elements = work.matrix * work.row_stride();
    const auto xs = random_numbers(elements, 0, 1), ys = random_numbers(elements, 1, 2);
    auto x = upload(xs), y = upload(ys);
    device_buffer<float> z(elements, stream_), theirs(elements, stream_);
    const auto view = [&](device_buffer<float>& buffer) {
        return heddle::matrix_view{buffer.data(), work.matrix, work.matrix, work.row_stride()};
    };
    const times seconds = run([&] { heddle::add<float>(view(x), view(y), view(z), stream_); },
                              vendor::sgeam(x.data(), y.data(), theirs.data(), static_cast<int>(work.matrix),
                                            static_cast<int>(work.row_stride()), stream_));
    table_.print({"add", fmt::format("{0} x {0} padded f32", work.matrix), seconds, "cuBLAS sgeam",
                  padded_add_error(work, xs, ys, download(z)), bounds::add});
}

void gpu::matrices(const work& work) {
    const auto size = work.matrix;
    const int count = static_cast<int>(size);
    const auto xs = random_numbers(size * size, 0, 1), ws = random_numbers(size * size, -8, 8);
    const auto x = upload(xs), w = upload(ws),
               ones = upload(std::vector<float>(static_cast<std::size_t>(size), 1));
    device_buffer<float> y(size * size, stream_), theirs(size * size, stream_);
    device_buffer<float> sums(size, stream_), their_sums(size, stream_);
    const auto view = [&](auto& buffer) { return heddle::matrix_view{buffer.data(), size, size}; };
    const std::string shape = fmt::format("{0} x {0} f32", size);

    const auto rows = heddle::row_problem(view(x)), columns = heddle::column_problem(view(x));
    heddle::workspace workspace(std::max(heddle::matrix_reduce_workspace_bytes(rows, device_),
                                         heddle::matrix_reduce_workspace_bytes(columns, device_)),
                                stream_);
    const heddle::matrix_reduce_options options{.workspace = workspace};
    const auto product_with_ones = [&](along direction) {
        return vendor::sgemv(direction, x.data(), ones.data(), their_sums.data(), count, stream_);
    };

    times seconds =
        run([&] { heddle::row_sum<float>(view(x), sums, stream_, options); }, product_with_ones(along::rows));
    table_.print({"row_sum", shape, seconds, "cuBLAS sgemv, ones", row_sum_error(xs, download(sums)),
                  bounds::sum(heddle::matrix_reduce_depth(rows, device_))});

    seconds = run([&] { heddle::column_sum<float>(view(x), sums, stream_, options); },
                  product_with_ones(along::columns));
    table_.print({"column_sum", shape, seconds, "cuBLAS sgemv, ones", column_sum_error(xs, download(sums)),
                  bounds::sum(heddle::matrix_reduce_depth(columns, device_))});

    const auto n = static_cast<double>(size);
    const bounds::row_steps steps{64 + n / 512, 4 + n / 8192};  // for `vectorized`
    seconds = run([&] { heddle::softmax<float>(view(w), view(y), stream_); },
                  vendor::softmax(w.data(), theirs.data(), count, stream_));
    table_.print({"softmax", shape, seconds, "cuDNN softmax", softmax_error(ws, download(y), size),
                  bounds::softmax(size, steps)});

    seconds = run([&] { heddle::layer_norm<float>(view(w), {}, {}, view(y), stream_); }, {});
    table_.print({"layer_norm", shape, seconds, "", layer_norm_error(ws, download(y), size),
                  bounds::layer_norm(steps)});

    seconds = run([&] { heddle::transpose<float>(view(w), view(y), stream_); },
                  vendor::transposing_sgeam(w.data(), theirs.data(), count, stream_));
    table_.print(
        {"transpose", shape, seconds, "cuBLAS sgeam", transpose_error(ws, download(y), size), bounds::exact});
}

void gpu::product(const work& work) {
    const auto size = work.product;
    const auto as = random_numbers(size * size, 0, 1), bs = random_numbers(size * size, 1, 2);
    auto a = upload(as), b = upload(bs);
    device_buffer<float> c(size * size, stream_), theirs(size * size, stream_);
    const auto view = [&](device_buffer<float>& buffer) {
        return heddle::matrix_view{buffer.data(), size, size};
    };
    const times seconds =
        run([&] { heddle::matmul<float>(view(a), view(b), view(c), stream_); },
            vendor::sgemm(a.data(), b.data(), theirs.data(), static_cast<int>(size), stream_));
    table_.print({"matmul", fmt::format("{0} x {0} x {0} f32", size), seconds, "cuBLAS sgemm",
                  matmul_error(as, bs, download(c), size), bounds::matmul(size)});
}

void gpu::histogram(const work& work) {
    const auto& pixels = work.photo.pixels;
    const int size = static_cast<int>(pixels.size());
    const auto x = upload(pixels);
    device_buffer<std::int64_t> counts(work::byte_values, stream_);
    device_buffer<std::int32_t> theirs(work::byte_values, stream_);
    device_buffer<std::byte> scratch(cub::scratch_bytes, stream_);
    const times seconds =
        run([&] { heddle::histogram(x, counts, stream_); },
            [&] { check(cub::histogram(x.data(), size, theirs.data(), scratch.data(), stream_.get())); });
    table_.print({"histogram", fmt::format("{} u8", size), seconds, "CUB HistogramEven",
                  histogram_error(pixels, download(counts)), bounds::exact});
}

/// The taps of heddle's blur, for NPP.
std::vector<float> gaussian_taps(double sigma) {
    const std::int64_t radius = heddle::gaussian_radius(sigma);
    std::vector<double> weights;
    double sum = 0;
    for (std::int64_t i = -radius; i <= radius; ++i) {
        weights.push_back(std::exp(-static_cast<double>(i * i) / (2 * sigma * sigma)));
        sum += weights.back();
    }
    std::vector<float> taps;
    for (const double weight : weights) taps.push_back(static_cast<float>(weight / sum));
    return taps;
}

image gpu::blur(const work& work) {
    const image& photo = work.photo;
    const auto source = upload(photo.pixels);
    const auto taps = upload(gaussian_taps(work::sigma));
    const auto size = static_cast<std::int64_t>(source.size());
    device_buffer<std::uint8_t> destination(size, stream_), theirs(size, stream_);
    const auto view = [&](auto& buffer) {
        return heddle::image_view{buffer.data(), photo.width, photo.height, photo.channels};
    };
    const auto problem =
        heddle::gaussian_blur_problem_of<std::uint8_t>(view(source), view(destination), work::sigma);
    heddle::workspace workspace(heddle::gaussian_blur_workspace_bytes(problem, device_), stream_);

    const times seconds = run(
        [&] {
            heddle::gaussian_blur<std::uint8_t>(view(source), view(destination), work::sigma, stream_,
                                                {.workspace = workspace});
        },
        vendor::gauss(view(source), view(theirs), {taps.data(), taps.size()}, stream_));
    image result = photo;
    heddle::copy_and_wait(destination, result.pixels, stream_);
    table_.print({"gaussian_blur", fmt::format("{} x {} u8c{}", photo.width, photo.height, photo.channels),
                  seconds, "NPP FilterGaussAdvanced", blur_error(photo, result, work::sigma),
                  bounds::blur(problem.radius.x)});
    return result;
}

}  // namespace

image run_on_gpu(const work& work, table& table) {
    gpu gpu(table);
    gpu.vectors(work);
    gpu.padded_matrices(work);
    gpu.matrices(work);
    gpu.product(work);
    gpu.histogram(work);
    return gpu.blur(work);
}

}  // namespace demo
