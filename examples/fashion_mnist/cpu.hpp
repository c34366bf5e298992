#pragma once

#include "examples/fashion_mnist/gather.hpp"
#include <heddle/host.hpp>
#include <heddle/linear.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace fashion_mnist {

/// The device interface of the network on the CPU: heddle's host calls, which are complete on return.
class cpu {
  public:
    static constexpr std::string_view name = "CPU";
    template <class T>
    using buffer = std::vector<T>;
    template <class T>
    using matrix = heddle::matrix_view<T>;
    template <class T>
    using vector = heddle::vector_view<T>;

    /// Memory that is set to zeros.
    template <class T>
    buffer<T> allocate(std::int64_t size) {
        return buffer<T>(static_cast<std::size_t>(size));
    }
    template <class T>
    buffer<T> upload(const std::vector<T>& source) {
        return source;
    }
    void zero(auto& elements) { std::ranges::fill(elements, 0); }
    void copy(const auto& source, auto&& destination) {
        if (std::size(source) != std::size(destination)) throw std::invalid_argument("copy: sizes differ");
        std::copy_n(std::data(source), std::size(source), std::data(destination));
    }
    void wait() {}
    std::function<void()> record(std::function<void()> body) { return body; }

    void advance(std::int64_t* step) { ++*step; }
    void permutation(vector<std::int32_t> order, const heddle::philox& generator) {
        heddle::host::random_permutation(order, generator);
    }
    template <class T>
    void gather(const batch_gather<T>& batch) {
        const std::int32_t* order = batch.order + (*batch.step - 1) % batch.batches * batch.x.rows;
        for (std::int64_t row = 0; row < batch.x.rows; ++row) {
            const std::uint8_t* from = batch.pictures.data + order[row] * batch.pictures.row_stride;
            T* to = batch.x.data + row * batch.x.row_stride;
            for (std::int64_t i = 0; i < batch.x.cols; ++i)
                to[i] = static_cast<T>(static_cast<float>(from[i]) * byte_scale);
            batch.y[row] = batch.labels[order[row]];
        }
    }
    template <class T>
    void linear(matrix<const T> x, matrix<const T> weights, vector<const T> bias, matrix<T> y,
                const heddle::linear_options& options) {
        heddle::host::linear<T>(x, weights, bias, y, options);
    }
    template <class T>
    void linear_gradient(matrix<const T> x, matrix<const T> weights, matrix<const T> gradient, matrix<T> dx,
                         matrix<float> dweights, vector<float> dbias,
                         const heddle::linear_gradient_options& options) {
        heddle::host::linear_gradient<T>(x, weights, gradient, dx, dweights, dbias, options);
    }
    template <class T>
    void cross_entropy(matrix<const T> logits, vector<const std::int32_t> labels, vector<float> loss,
                       matrix<T> gradient, const heddle::cross_entropy_options& options = {}) {
        heddle::host::cross_entropy<T>(logits, labels, loss, gradient, options);
    }
    template <class T>
    void label_hits(matrix<const T> logits, vector<const std::int32_t> labels, vector<std::int32_t> hits) {
        heddle::host::label_hits<T>(logits, labels, hits);
    }
    template <class T>
    void row_argmax(matrix<const T> logits, vector<std::int64_t> places) {
        heddle::host::row_argmax<T>(logits, places);
    }
    template <class T>
    void softmax(matrix<const T> logits, matrix<T> probabilities) {
        heddle::host::softmax<T>(logits, probabilities);
    }
    template <class T>
    void sum(vector<const T> x, heddle::sum_type<T>* result) {
        *result = heddle::host::sum<T>(x);
    }
    void add(vector<const float> x, vector<float> y) { heddle::host::add<float>(x, y, y); }
    template <class T, class Gradient>
    void adamw(std::span<const heddle::parameter<T, Gradient>> parameters,
               const heddle::adam_options& options) {
        heddle::host::adamw<T, Gradient>(parameters, options);
    }
};

}  // namespace fashion_mnist
