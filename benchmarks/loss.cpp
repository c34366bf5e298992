#include "benchmarks/operations.hpp"
#include "benchmarks/support/random.hpp"
#include "benchmarks/support/rows.hpp"
#include <heddle/copy.hpp>
#include <heddle/host.hpp>
#include <heddle/loss.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace heddle::bench {
namespace {

struct shape {
    std::int64_t rows;
    std::int64_t cols;

    [[nodiscard]] std::int64_t size() const { return rows * cols; }
};

/// `inputs` matrices and the labels are read, a float a row is written, and so is a gradient, if there is one.
template <class T>
problem matrices(std::string_view op, shape shape, int inputs, bool has_gradient) {
    const double bytes = sizeof(T) * static_cast<double>(shape.size());
    const double bytes_of_rows = 4 * static_cast<double>(shape.rows);
    return {fmt::format("{}/{}/{}x{}", op, dtype<T>, shape.rows, shape.cols), inputs * bytes + bytes_of_rows,
            (has_gradient ? bytes : 0) + bytes_of_rows};
}

std::vector<std::int32_t> some_labels(shape shape) {
    std::vector<std::int32_t> labels(static_cast<std::size_t>(shape.rows));
    std::int64_t next = 0;
    for (auto& label : labels) label = static_cast<std::int32_t>(next = (next * 48271 + 11) % shape.cols);
    return labels;
}

device_buffer<std::int32_t> labels_on_device(shape shape) {
    const std::vector<std::int32_t> labels = some_labels(shape);
    device_buffer<std::int32_t> on_device(shape.rows, stream());
    copy_and_wait(labels, on_device, stream());
    return on_device;
}

/// The losses and the gradient, as a step of training asks for them.
template <class T>
void cross_entropy_row(shape shape, loss_algorithm algorithm = loss_algorithm::automatic) {
    device_row(matrices<T>("cross_entropy", shape, 1, true), implementation(algorithm), temperature::cold,
               [shape, algorithm] {
                   return
                       [shape, algorithm, x = random_on_device<T>(shape.size()),
                        labels = labels_on_device(shape), loss = device_buffer<float>(shape.rows, stream()),
                        gradient = device_buffer<T>(shape.size(), stream())]() mutable {
                           cross_entropy<T>({x.data(), shape.rows, shape.cols}, {labels.data(), shape.rows},
                                            {loss.data(), shape.rows},
                                            matrix_view<T>{gradient.data(), shape.rows, shape.cols}, stream(),
                                            {.algorithm = algorithm});
                       };
               });
}

template <class T>
void mean_squared_error_row(shape shape, loss_algorithm algorithm = loss_algorithm::automatic) {
    device_row(matrices<T>("mean_squared_error", shape, 2, true), implementation(algorithm),
               temperature::cold, [shape, algorithm] {
                   return [shape, algorithm, x = random_on_device<T>(shape.size()),
                           target = random_on_device<T>(shape.size()),
                           loss = device_buffer<float>(shape.rows, stream()),
                           gradient = device_buffer<T>(shape.size(), stream())]() mutable {
                       mean_squared_error<T>(
                           {x.data(), shape.rows, shape.cols}, {target.data(), shape.rows, shape.cols},
                           {loss.data(), shape.rows}, matrix_view<T>{gradient.data(), shape.rows, shape.cols},
                           stream(), {.algorithm = algorithm});
                   };
               });
}

template <class T>
void label_hits_row(shape shape) {
    device_row(matrices<T>("label_hits", shape, 1, false), "heddle", temperature::cold, [shape] {
        return [shape, x = random_on_device<T>(shape.size()), labels = labels_on_device(shape),
                hits = device_buffer<std::int32_t>(shape.rows, stream())]() mutable {
            label_hits<T>({x.data(), shape.rows, shape.cols}, {labels.data(), shape.rows},
                          {hits.data(), shape.rows}, stream());
        };
    });
}

void host(shape shape) {
    host_row(matrices<float>("cross_entropy", shape, 1, true), "host", [shape] {
        return [shape, x = random_on_host<float>(shape.size()), labels = some_labels(shape),
                loss = std::vector<float>(static_cast<std::size_t>(shape.rows)),
                gradient = std::vector<float>(static_cast<std::size_t>(shape.size()))]() mutable {
            host::cross_entropy<float>({x.data(), shape.rows, shape.cols}, {labels.data(), shape.rows},
                                       {loss.data(), shape.rows},
                                       matrix_view<float>{gradient.data(), shape.rows, shape.cols});
        };
    });
}

}  // namespace

void register_loss() {
    constexpr shape batch{1024, 10}, images{65536, 1024}, tokens{8192, 32000}, long_rows{256, 262144};
    for (const shape& shape : {batch, images, tokens, long_rows}) {
        cross_entropy_row<float>(shape);
        cross_entropy_row<bfloat16>(shape);
    }
    cross_entropy_row<half>(tokens);
    for (const shape& shape : {batch, images}) {
        mean_squared_error_row<float>(shape);
        label_hits_row<float>(shape);
    }
    mean_squared_error_row<bfloat16>(images);
    label_hits_row<bfloat16>(tokens);

    for (const auto algorithm : loss_algorithms()) {
        cross_entropy_row<float>(images, algorithm);
        cross_entropy_row<bfloat16>(tokens, algorithm);
        mean_squared_error_row<float>(images, algorithm);
    }

    host({1024, 1024});
}

}  // namespace heddle::bench
