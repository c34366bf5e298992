// A multi-layer perceptron and its training, by heddle's operations alone. `Device` is a gpu or a cpu. T is the type
// of the network's arithmetic, float or bfloat16.
#pragma once

#include "examples/fashion_mnist/data_set.hpp"
#include "examples/fashion_mnist/gather.hpp"
#include "examples/fashion_mnist/parameter_tensor.hpp"
#include "examples/fashion_mnist/report.hpp"
#include "examples/fashion_mnist/settings.hpp"
#include "examples/support/file.hpp"
#include "examples/support/safetensors.hpp"
#include <heddle/host.hpp>
#include <heddle/linear.hpp>

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace fashion_mnist {

auto view(auto& buffer) {
    return heddle::vector_view{std::data(buffer), static_cast<std::int64_t>(std::size(buffer))};
}

template <class Device, class T>
class network {
    using tensor = parameter_tensor<Device, T>;
    using activation = heddle::matmul_activation;
    template <class U>
    using matrix = heddle::matrix_view<U>;

    struct fully_connected {
        std::int64_t inputs;
        std::int64_t outputs;
        activation function;
        tensor weights;
        tensor bias;
        matrix<T> weight_values() { return {weights.values(), outputs, inputs}; }
    };
    Device& device_;
    std::vector<fully_connected> layers_;

  public:
    /// The results of the layers for some rows of inputs. For training, also the loss's gradients with respect to
    /// their sums.
    struct activations {
        struct of_a_layer {
            std::int64_t rows, cols;
            Device::template buffer<T> values, gradients;
            matrix<T> value_matrix() { return {values.data(), rows, cols}; }
            matrix<T> gradient_matrix() { return {gradients.data(), rows, cols}; }
        };
        std::vector<of_a_layer> layers;
        of_a_layer& last() { return layers.back(); }
    };

    /// Weights are uniform with the variance 2 / inputs (He et al., "Delving deep into rectifiers", 2015). The host
    /// draws the same Philox numbers as a GPU would.
    network(Device& device, std::int64_t inputs, const settings& settings) : device_(device) {
        std::vector<std::int64_t> widths = settings.widths;
        widths.push_back(classes.size());
        std::uint64_t drawn = 0;
        for (std::size_t i = 0; i < widths.size(); inputs = widths[i++]) {
            const std::string name = fmt::format("layers.{}.", i);
            layers_.push_back({inputs, widths[i], i + 1 < widths.size() ? activation::relu : activation::none,
                               tensor(device, name + "weight", {widths[i], inputs}),
                               tensor(device, name + "bias", {widths[i]})});
            std::vector<float> weights(layers_.back().weights.size());
            const float bound = std::sqrt(6.0f / static_cast<float>(inputs));
            heddle::host::random_uniform<float>(view(weights), -bound, bound, {settings.seed, drawn});
            layers_.back().weights.set(device, weights);
            drawn += weights.size();
        }
    }

    activations allocate(std::int64_t rows, bool with_gradients) {
        activations result;
        for (const fully_connected& layer : layers_)
            result.layers.push_back(
                {rows, layer.outputs, device_.template allocate<T>(rows * layer.outputs),
                 device_.template allocate<T>(with_gradients ? rows * layer.outputs : 0)});
        return result;
    }

    /// y = f(x W^T + b), layer by layer.
    void forward(matrix<const T> x, activations& made) {
        for (std::size_t i = 0; i < layers_.size(); ++i) {
            fully_connected& layer = layers_[i];
            const matrix<T> y = made.layers[i].value_matrix();
            device_.template linear<T>(x, layer.weight_values(), {layer.bias.values(), layer.outputs}, y,
                                       {.activation = layer.function});
            x = y;
        }
    }

    /// Goes from the gradient of the last layer down to the first. The gradient of x is not needed.
    void backward(matrix<const T> x, activations& made) {
        for (std::size_t i = layers_.size(); i-- > 0;) {
            fully_connected& layer = layers_[i];
            const matrix<float> dweights{layer.weights.gradient(), layer.outputs, layer.inputs};
            const heddle::vector_view<float> dbias{layer.bias.gradient(), layer.outputs};
            const matrix<T> gradient = made.layers[i].gradient_matrix();
            if (i == 0) {
                device_.template linear_gradient<T>(x, layer.weight_values(), gradient, {}, dweights, dbias,
                                                    {});
                continue;
            }
            auto& below = made.layers[i - 1];
            device_.template linear_gradient<T>(below.value_matrix(), layer.weight_values(), gradient,
                                                below.gradient_matrix(), dweights, dbias,
                                                {.activation_of_x = layers_[i - 1].function});
        }
    }

    void update(const heddle::adam_options& options) {
        std::vector<heddle::parameter<T, float>> parameters;
        for (tensor* each : tensors()) parameters.push_back(each->parameter());
        device_.template adamw<T, float>(parameters, options);
    }

    void save(examples::safetensors& content) {
        for (tensor* each : tensors()) each->save(device_, content);
    }
    void load(const examples::safetensors& content, const std::filesystem::path& file) {
        for (tensor* each : tensors()) each->load(device_, content, file);
    }

  private:
    std::vector<tensor*> tensors() {
        std::vector<tensor*> all;
        for (fully_connected& layer : layers_) all.insert(all.end(), {&layer.weights, &layer.bias});
        return all;
    }
};

template <class Device, class T>
class training {
    template <class U>
    using buffer = Device::template buffer<U>;

    Device& device_;
    const settings settings_;
    const std::int64_t pixels_, steps_per_epoch_, test_count_;
    network<Device, T> network_;
    history history_;

    // The training set and the batch that a step takes from it.
    buffer<std::uint8_t> pictures_;
    buffer<std::int32_t> labels_, order_, batch_labels_;
    buffer<T> x_;
    network<Device, T>::activations made_;
    // Values that change from step to step are in device memory, where the recorded step reads them.
    buffer<std::int64_t> step_number_;
    buffer<float> rate_, losses_, batch_loss_, epoch_loss_;
    std::function<void()> step_;
    // The test set, and its results.
    buffer<T> test_x_;
    buffer<std::int32_t> test_labels_, hits_;
    buffer<std::int64_t> hit_count_, predictions_;
    buffer<float> test_losses_, test_loss_;
    network<Device, T>::activations test_made_;

  public:
    training(Device& device, const data_set& data, const settings& settings)
        : device_(device),
          settings_(settings),
          pixels_(data.training.pixels_each()),
          steps_per_epoch_(data.training.count() / settings.batch),
          test_count_(data.test.count()),
          network_(device, pixels_, settings),
          pictures_(device.upload(data.training.pixels)),
          labels_(device.upload(data.training.labels)),
          order_(device.template allocate<std::int32_t>(data.training.count())),
          batch_labels_(device.template allocate<std::int32_t>(settings.batch)),
          x_(device.template allocate<T>(settings.batch * pixels_)),
          made_(network_.allocate(settings.batch, true)),
          step_number_(device.template allocate<std::int64_t>(1)),
          rate_(device.template allocate<float>(1)),
          losses_(device.template allocate<float>(settings.batch)),
          batch_loss_(device.template allocate<float>(1)),
          epoch_loss_(device.template allocate<float>(1)),
          test_x_(device.upload(numbers_of<T>(data.test.pixels))),
          test_labels_(device.upload(data.test.labels)),
          hits_(device.template allocate<std::int32_t>(test_count_)),
          hit_count_(device.template allocate<std::int64_t>(1)),
          predictions_(device.template allocate<std::int64_t>(test_count_)),
          test_losses_(device.template allocate<float>(test_count_)),
          test_loss_(device.template allocate<float>(1)),
          test_made_(network_.allocate(test_count_, false)) {
        step_ = device.record([this] { step(); });
    }

    training(const training&) = delete;  // the recorded step holds its address

    const history& past() const { return history_; }

    /// One pass over the training set in its own order, then one over the test set. The host waits once, at the end.
    void epoch() {
        const std::vector<float> rate = {static_cast<float>(
            settings_.learning_rate * std::pow(settings_.decay, static_cast<double>(history_.epochs())))};
        device_.copy(rate, rate_);
        device_.zero(epoch_loss_);
        device_.permutation(view(order_), {settings_.seed, static_cast<std::uint64_t>(history_.epochs())});
        for (std::int64_t i = 0; i < steps_per_epoch_; ++i) step_();
        test();
        std::vector<float> loss(1), test_loss(1);
        std::vector<std::int64_t> hits(1);
        device_.copy(epoch_loss_, loss);
        device_.copy(test_loss_, test_loss);
        device_.copy(hit_count_, hits);
        device_.wait();
        history_.training_loss.push_back(loss[0] / static_cast<float>(steps_per_epoch_ * settings_.batch));
        history_.test_loss.push_back(test_loss[0] / static_cast<float>(test_count_));
        history_.accuracy.push_back(static_cast<float>(hits[0]) / static_cast<float>(test_count_));
    }

    /// The class that the network gives each picture of the test set.
    std::vector<std::int64_t> predictions() {
        test();
        device_.template row_argmax<T>(test_made_.last().value_matrix(), view(predictions_));
        std::vector<std::int64_t> result(predictions_.size());
        device_.copy(predictions_, result);
        device_.wait();
        return result;
    }

    /// The state from which training continues.
    examples::safetensors checkpoint() {
        examples::safetensors content;
        content.metadata = metadata_of(settings_);
        network_.save(content);
        std::vector<std::int64_t> step(1);
        device_.copy(step_number_, step);
        device_.wait();
        content.add<std::int64_t>("step", {1}, step);
        for (const auto& [name, values] : history_.curves())
            content.add<float>(name, {history_.epochs()}, *values);
        return content;
    }

    /// @throws std::runtime_error  names `file` and its difference from the settings
    void resume(const examples::safetensors& content, const std::filesystem::path& file) {
        for (const auto& [name, value] : metadata_of(settings_)) {
            const auto found = content.metadata.find(name);
            const std::string had = found == content.metadata.end() ? "no known one" : found->second;
            if (had != value)
                examples::fail(file, fmt::format("was trained with {} {}, not {}", name, had, value));
        }
        const auto step = examples::values_of<std::int64_t>(
            examples::tensor_of(content, file, "step", "I64", std::vector<std::int64_t>{1}));
        if (step[0] < 0 || step[0] % steps_per_epoch_ != 0)
            examples::fail(
                file, fmt::format("step: {} is not the end of an epoch of {}", step[0], steps_per_epoch_));
        const std::vector<std::int64_t> epochs = {step[0] / steps_per_epoch_};
        for (const auto& [name, values] : history_.curves())
            *values = numbers_of(content, file, name, epochs);
        network_.load(content, file);
        device_.copy(step, step_number_);
        device_.wait();
    }

  private:
    /// The work for a batch: the graph that a GPU replays.
    void step() {
        const heddle::matrix_view<T> x{x_.data(), settings_.batch, pixels_};
        device_.advance(step_number_.data());
        device_.template gather<T>({{pictures_.data(), static_cast<std::int64_t>(labels_.size()), pixels_},
                                    labels_.data(),
                                    order_.data(),
                                    step_number_.data(),
                                    steps_per_epoch_,
                                    x,
                                    batch_labels_.data()});
        network_.forward(x, made_);
        device_.template cross_entropy<T>(made_.last().value_matrix(), view(batch_labels_), view(losses_),
                                          made_.last().gradient_matrix(),
                                          {.scale = 1 / static_cast<float>(settings_.batch)});
        device_.template sum<float>(view(losses_), batch_loss_.data());
        device_.add(view(batch_loss_), view(epoch_loss_));
        network_.backward(x, made_);
        network_.update({.weight_decay = settings_.weight_decay,
                         .device_step = step_number_.data(),
                         .device_learning_rate = rate_.data()});
    }

    void test() {
        network_.forward({test_x_.data(), test_count_, pixels_}, test_made_);
        const heddle::matrix_view<T> logits = test_made_.last().value_matrix();
        device_.template cross_entropy<T>(logits, view(test_labels_), view(test_losses_), {});
        device_.template label_hits<T>(logits, view(test_labels_), view(hits_));
        device_.template sum<float>(view(test_losses_), test_loss_.data());
        device_.template sum<std::int32_t>(view(hits_), hit_count_.data());
    }
};

}  // namespace fashion_mnist
