#include "benchmarks/operation.hpp"

namespace heddle::bench {
namespace {

using shape = matrix_shape;

/// A label for each row.
struct labels_of {
    static constexpr bool is_read = true;
    shape of;

    [[nodiscard]] double bytes() const { return sizeof(std::int32_t) * static_cast<double>(of.rows); }
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
auto cross_entropy_of(const shape& s) {
    return row_case(s.name<T>("cross_entropy"), random_matrix<T>(s), labels_of{s},
                    result_vector<float>(s.rows), result_matrix<T>(s));
}

template <class T>
void cross_entropy_row(const shape& s, loss_algorithm algorithm = loss_algorithm::automatic) {
    cross_entropy_of<T>(s).row(implementation(algorithm), cold, [algorithm](auto... views) {
        cross_entropy<T>(views..., stream(), {.algorithm = algorithm});
    });
}

/// It reads no labels, but as many bytes are counted for each row.
template <class T>
void mean_squared_error_row(const shape& s, loss_algorithm algorithm = loss_algorithm::automatic) {
    row_case of(s.name<T>("mean_squared_error"), random_matrix<T>(s), random_matrix<T>(s),
                result_vector<float>(s.rows), result_matrix<T>(s));
    of.problem.bytes_read += labels_of{s}.bytes();
    of.row(implementation(algorithm), cold, [algorithm](auto... views) {
        mean_squared_error<T>(views..., stream(), {.algorithm = algorithm});
    });
}

template <class T>
void label_hits_row(const shape& s) {
    row_case(s.name<T>("label_hits"), random_matrix<T>(s), labels_of{s}, result_vector<std::int32_t>(s.rows))
        .row("heddle", cold, [](auto... views) { label_hits<T>(views..., stream()); });
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
    cross_entropy_of<float>({1024, 1024}).host_row("host", [](auto... views) {
        host::cross_entropy<float>(views...);
    });
}

}  // namespace heddle::bench
