#pragma once

#include "examples/fashion_mnist/gather.hpp"
#include <heddle/heddle.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace fashion_mnist {

/// The device interface of the network on a GPU: heddle's calls, all on one stream. Only wait() waits for the GPU.
class gpu {
    heddle::stream stream_;
    bool use_graph_;

  public:
    static constexpr std::string_view name = "GPU";
    template <class T>
    using buffer = heddle::device_buffer<T>;
    template <class T>
    using matrix = heddle::matrix_view<T>;
    template <class T>
    using vector = heddle::vector_view<T>;

    /// Without a graph, record() returns the function itself. The results have the same bits.
    explicit gpu(bool use_graph = true) : use_graph_(use_graph) {}

    /// Memory that is set to zeros.
    template <class T>
    buffer<T> allocate(std::int64_t size) {
        buffer<T> result(size, stream_);
        heddle::fill_zero(result, stream_);
        return result;
    }
    template <class T>
    buffer<T> upload(const std::vector<T>& source) {
        buffer<T> result(static_cast<std::int64_t>(source.size()), stream_);
        heddle::copy_and_wait(source, result, stream_);
        return result;
    }
    void zero(auto& elements) { heddle::fill_zero(elements, stream_); }
    /// `source` must not change until wait().
    void copy(const auto& source, auto&& destination) { heddle::copy(source, destination, stream_); }
    void wait() { stream_.synchronize(); }

    /// Records the work that `body` enqueues as one graph, which can be launched again and again.
    std::function<void()> record(std::function<void()> body) {
        if (!use_graph_) return body;
        return [this, graph = std::make_shared<heddle::graph>(heddle::graph::capture(stream_, body))] {
            graph->launch(stream_);
        };
    }

    void advance(std::int64_t* step) { heddle::advance(step, stream_); }
    void permutation(vector<std::int32_t> order, const heddle::philox& generator) {
        heddle::random_permutation(order, generator, stream_);
    }
    template <class T>
    void gather(const batch_gather<T>& batch) {
        fashion_mnist::gather(batch, stream_);
    }
    template <class T>
    void linear(matrix<const T> x, matrix<const T> weights, vector<const T> bias, matrix<T> y,
                const heddle::linear_options& options) {
        heddle::linear<T>(x, weights, bias, y, stream_, options);
    }
    template <class T>
    void linear_gradient(matrix<const T> x, matrix<const T> weights, matrix<const T> gradient, matrix<T> dx,
                         matrix<float> dweights, vector<float> dbias,
                         const heddle::linear_gradient_options& options) {
        heddle::linear_gradient<T>(x, weights, gradient, dx, dweights, dbias, stream_, options);
    }
    template <class T>
    void cross_entropy(matrix<const T> logits, vector<const std::int32_t> labels, vector<float> loss,
                       matrix<T> gradient, const heddle::cross_entropy_options& options = {}) {
        heddle::cross_entropy<T>(logits, labels, loss, gradient, stream_, options);
    }
    template <class T>
    void label_hits(matrix<const T> logits, vector<const std::int32_t> labels, vector<std::int32_t> hits) {
        heddle::label_hits<T>(logits, labels, hits, stream_);
    }
    template <class T>
    void row_argmax(matrix<const T> logits, vector<std::int64_t> places) {
        heddle::row_argmax<T>(logits, places, stream_);
    }
    template <class T>
    void softmax(matrix<const T> logits, matrix<T> probabilities) {
        heddle::softmax<T>(logits, probabilities, stream_);
    }
    template <class T>
    void sum(vector<const T> x, heddle::sum_type<T>* result) {
        heddle::sum<T>(x, result, stream_);
    }
    void add(vector<const float> x, vector<float> y) { heddle::add<float>(x, y, y, stream_); }
    template <class T, class Gradient>
    void adamw(std::span<const heddle::parameter<T, Gradient>> parameters,
               const heddle::adam_options& options) {
        heddle::adamw<T, Gradient>(parameters, stream_, options);
    }
};

}  // namespace fashion_mnist
