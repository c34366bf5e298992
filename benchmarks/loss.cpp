#include "benchmarks/operation.hpp"

namespace heddle::bench {
namespace {

using shape = matrix_shape;

/// A call reads `inputs` matrices and the labels. It writes a float for each row, and the gradient if it has one.
template <class T>
problem matrices(std::string_view op, const shape& s, int inputs, bool has_gradient) {
    const double bytes = sizeof(T) * static_cast<double>(s.size());
    const double bytes_of_rows = 4 * static_cast<double>(s.rows);
    return {fmt::format("{}/{}/{}x{}", op, dtype<T>, s.rows, s.cols), inputs * bytes + bytes_of_rows,
            (has_gradient ? bytes : 0) + bytes_of_rows};
}

/// A label for each row.
struct labels_of {
    shape of;

    [[nodiscard]] std::vector<std::int32_t> on_host() const {
        std::vector<std::int32_t> labels(static_cast<std::size_t>(of.rows));
        std::int64_t next = 0;
        for (auto& label : labels) label = static_cast<std::int32_t>(next = (next * 48271 + 11) % of.cols);
        return labels;
    }
    [[nodiscard]] device_buffer<std::int32_t> on_device() const {
        device_buffer<std::int32_t> labels(of.rows, stream());
        copy_and_wait(on_host(), labels, stream());
        return labels;
    }
    [[nodiscard]] vector_view<const std::int32_t> view(auto& labels) const {
        return {labels.data(), of.rows};
    }
};

/// A step of training computes both the losses and the gradient.
template <class T>
void cross_entropy_row(const shape& s, loss_algorithm algorithm = loss_algorithm::automatic) {
    operand_row(
        matrices<T>("cross_entropy", s, 1, true), implementation(algorithm), cold,
        [algorithm](auto x, auto labels, auto loss, auto gradient) {
            cross_entropy<T>(x, labels, loss, gradient, stream(), {.algorithm = algorithm});
        },
        random_matrix<T>(s), labels_of{s}, result_vector<float>(s.rows), result_matrix<T>(s));
}

template <class T>
void mean_squared_error_row(const shape& s, loss_algorithm algorithm = loss_algorithm::automatic) {
    operand_row(
        matrices<T>("mean_squared_error", s, 2, true), implementation(algorithm), cold,
        [algorithm](auto x, auto target, auto loss, auto gradient) {
            mean_squared_error<T>(x, target, loss, gradient, stream(), {.algorithm = algorithm});
        },
        random_matrix<T>(s), random_matrix<T>(s), result_vector<float>(s.rows), result_matrix<T>(s));
}

template <class T>
void label_hits_row(const shape& s) {
    operand_row(
        matrices<T>("label_hits", s, 1, false), "heddle", cold,
        [](auto x, auto labels, auto hits) { label_hits<T>(x, labels, hits, stream()); }, random_matrix<T>(s),
        labels_of{s}, result_vector<std::int32_t>(s.rows));
}

}  // namespace

void register_loss() {
    constexpr shape batch{1024, 10}, images{65536, 1024}, tokens{8192, 32000}, long_rows{256, 262144};
    for (const shape& s : {batch, images, tokens, long_rows}) {
        cross_entropy_row<float>(s);
        cross_entropy_row<bfloat16>(s);
    }
    cross_entropy_row<half>(tokens);
    for (const shape& s : {batch, images}) {
        mean_squared_error_row<float>(s);
        label_hits_row<float>(s);
    }
    mean_squared_error_row<bfloat16>(images);
    label_hits_row<bfloat16>(tokens);

    for (const auto algorithm : loss_algorithms()) {
        cross_entropy_row<float>(images, algorithm);
        cross_entropy_row<bfloat16>(tokens, algorithm);
        mean_squared_error_row<float>(images, algorithm);
    }

    constexpr shape square{1024, 1024};
    host_operand_row(
        matrices<float>("cross_entropy", square, 1, true), "host",
        [](auto... views) { host::cross_entropy<float>(views...); }, random_matrix<float>(square),
        labels_of{square}, result_vector<float>(square.rows), result_matrix<float>(square));
}

}  // namespace heddle::bench
