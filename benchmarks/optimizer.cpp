#include "benchmarks/operation.hpp"
#include "kernels/device/math.hpp"

namespace heddle::bench {
namespace {

/// A list of tensors: its name, and the number of elements of each.
struct tensors {
    std::string name;
    std::vector<std::int64_t> counts;
};

tensors one_of(std::int64_t count) {
    return {fmt::format("{}", count), {count}};
}

/// GPT-2 with 124 million parameters (Radford et al., "Language models are unsupervised multitask learners", 2019): 148
/// tensors.
tensors gpt2_small() {
    constexpr std::int64_t vocabulary = 50257, positions = 1024, width = 768, layers = 12;
    tensors result{"gpt2-small", {vocabulary * width, positions * width}};
    // Adds a matrix and its bias, or the two vectors of a norm.
    const auto add = [&](std::int64_t inputs, std::int64_t outputs) {
        result.counts.insert(result.counts.end(), {inputs * outputs, outputs});
    };
    for (std::int64_t layer = 0; layer < layers; ++layer) {
        add(1, width);
        add(width, 3 * width);
        add(width, width);
        add(1, width);
        add(width, 4 * width);
        add(4 * width, width);
    }
    add(1, width);
    return result;
}

/// The arrays of a list of tensors. Each tensor begins at a multiple of 256 bytes or more.
template <class T>
class network {
  public:
    network(const tensors& of, int moments)
        : counts_(of.counts),
          size_(std::accumulate(counts_.begin(), counts_.end(), std::int64_t{0},
                                [](std::int64_t sum, std::int64_t count) { return sum + padded(count); })),
          masters_(random_on_device<float>(size_)),
          values_(std::is_same_v<T, float> ? 0 : size_, stream()),
          gradients_(random_on_device<T>(size_)),
          firsts_(moments > 0 ? size_ : 0, stream()),
          seconds_(moments > 1 ? size_ : 0, stream()) {
        fill_zero(firsts_, stream());
        fill_zero(seconds_, stream());
    }

    std::vector<parameter<T>> parameters() {
        std::vector<parameter<T>> result;
        std::int64_t at = 0;
        const auto in = [&at](auto& buffer) { return buffer.size() == 0 ? nullptr : buffer.data() + at; };
        for (const std::int64_t count : counts_) {
            result.push_back({in(masters_), in(values_), in(gradients_), in(firsts_), in(seconds_), count});
            at += padded(count);
        }
        return result;
    }

  private:
    static std::int64_t padded(std::int64_t count) { return kernels::round_up(count, 128); }

    std::vector<std::int64_t> counts_;
    std::int64_t size_;
    device_buffer<float> masters_;
    device_buffer<T> values_;
    device_buffer<T> gradients_;
    device_buffer<float> firsts_, seconds_;
};

template <class T>
problem step_of(std::string_view op, const tensors& of, int moments) {
    const auto elements =
        static_cast<double>(std::accumulate(of.counts.begin(), of.counts.end(), std::int64_t{0}));
    const double kept = elements * sizeof(float) * (1 + moments);
    const double values = std::is_same_v<T, float> ? 0 : elements * sizeof(T);
    problem result{fmt::format("{}/{}/{}", op, dtype<T>, of.name), kept + elements * sizeof(T),
                   kept + values};
    result.footprint = result.bytes_read + values;
    return result;
}

/// `call` takes the parameters.
template <class T>
void row(std::string_view op, const tensors& of, int moments, std::string_view library, auto call) {
    device_row(step_of<T>(op, of, moments), library, cold, [of, moments, call] {
        return [call, all = network<T>(of, moments)]() mutable { call(all.parameters()); };
    });
}

/// 16-bit types have master weights in float beside their values.
template <class T>
void adamw_row(const tensors& of, optimizer_algorithm algorithm = optimizer_algorithm::automatic) {
    row<T>(std::is_same_v<T, float> ? "adamw" : "adamw_mixed", of, 2, implementation(algorithm),
           [algorithm](const auto& parameters) {
               adamw<T>(parameters, stream(), {.weight_decay = 0.01, .algorithm = algorithm});
           });
}

void sgd_row(const tensors& of) {
    row<float>("sgd", of, 1, "heddle",
               [](const auto& parameters) { sgd<float>(parameters, stream(), {.momentum = 0.9}); });
}

template <class T>
void norm_row(const tensors& of) {
    problem problem = step_of<T>("gradient_norm", of, 0);
    problem.bytes_read = problem.footprint = problem.bytes_read * sizeof(T) / (sizeof(T) + sizeof(float));
    problem.bytes_written = sizeof(float);
    device_row(problem, "heddle", cold, [of] {
        return [all = network<T>(of, 0), result = device_buffer<float>(1, stream())]() mutable {
            gradient_norm<T>(all.parameters(), result.data(), stream());
        };
    });
}

}  // namespace

void register_optimizer() {
    constexpr std::int64_t large = std::int64_t{1} << 26;
    for (const tensors& of : {one_of(large), gpt2_small()}) {
        adamw_row<float>(of);
        adamw_row<bfloat16>(of);
        sgd_row(of);
        norm_row<float>(of);
        norm_row<bfloat16>(of);
        for (const auto algorithm : optimizer_algorithms()) adamw_row<float>(of, algorithm);
    }
    adamw_row<float>(one_of(1 << 16));
}

}  // namespace heddle::bench
