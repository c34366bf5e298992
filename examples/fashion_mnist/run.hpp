#pragma once

#include "examples/fashion_mnist/settings.hpp"
#include "examples/fashion_mnist/training.hpp"
#include "examples/support/file.hpp"
#include "examples/support/program.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <vector>

namespace fashion_mnist {

/// Trains from the beginning or from a checkpoint, and prints the results after each epoch.
template <class Device, class T>
void train(Device& device, const settings& settings) {
    examples::require_replaceable(settings.checkpoint);
    examples::require_writable(settings.curve);
    const data_set data = read_data_set(settings.data);
    if (settings.batch > data.training.count())
        throw std::runtime_error(fmt::format("--batch {} is more than the {} pictures of the training set",
                                             settings.batch, data.training.count()));
    training<Device, T> training(device, data, settings);
    if (settings.resume)
        training.resume(examples::read_safetensors(settings.checkpoint), settings.checkpoint);
    const history& past = training.past();
    const bool is_done = past.epochs() >= settings.epochs;
    examples::print("{} pictures to train with, {} to test with, on the {}\n", data.training.count(),
                    data.test.count(), Device::name);
    while (past.epochs() < settings.epochs) {
        const auto start = std::chrono::steady_clock::now();
        training.epoch();
        const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
        examples::print("epoch {:>2}: loss {:.4f}, on the test set {:.4f} and {:.2f} % right; {:.3g} s\n",
                        past.epochs(), past.training_loss.back(), past.test_loss.back(),
                        100 * past.accuracy.back(), time.count());
        if (!std::isfinite(past.training_loss.back()) || !std::isfinite(past.test_loss.back()))
            examples::fail(settings.checkpoint, "is not written: the loss is not finite");
        examples::write_safetensors(settings.checkpoint, training.checkpoint());
        write_learning_curve(settings.curve, past);
    }
    const double accuracy = print_confusion(data.test.labels, training.predictions());
    examples::print("\n{:.2f} % of the test set are right after {} epochs", 100 * accuracy, past.epochs());
    if (!is_done) examples::print(": {}, {}", settings.checkpoint.string(), settings.curve.string());
    examples::print("\n");
}

/// Prints the class that the trained network gives each picture.
template <class Device, class T>
void classify(Device& device, const settings& settings) {
    const examples::safetensors content = examples::read_safetensors(settings.checkpoint);
    network<Device, T> network(device, picture_side * picture_side, settings);
    network.load(content, settings.checkpoint);
    auto made = network.allocate(1, false);
    for (const std::filesystem::path& file : settings.pictures) {
        const auto x = device.upload(numbers_of<T>(read_picture(file, picture_side, picture_side)));
        network.forward({x.data(), 1, static_cast<std::int64_t>(x.size())}, made);
        const heddle::matrix_view<T> logits = made.last().value_matrix();
        device.template softmax<T>(logits, logits);
        std::vector<T> probabilities(classes.size());
        device.copy(made.last().values, probabilities);
        device.wait();
        print_classes(file, {probabilities.begin(), probabilities.end()});
    }
}

template <class Device>
void run(Device& device, const settings& settings) {
    const auto of_type = [&]<class T>(T) {
        settings.pictures.empty() ? train<Device, T>(device, settings)
                                  : classify<Device, T>(device, settings);
    };
    settings.type == element::float32 ? of_type(float{}) : of_type(heddle::bfloat16{});
}

}  // namespace fashion_mnist
