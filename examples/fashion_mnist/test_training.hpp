#pragma once

#include "examples/fashion_mnist/data_set.hpp"
#include "examples/fashion_mnist/training.hpp"
#include "examples/support/safetensors.hpp"
#include "examples/support/test_support.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace fashion_mnist {

inline void write_idx(const std::filesystem::path& file, const std::vector<std::int64_t>& extents,
                      const std::vector<std::uint8_t>& bytes) {
    std::string content = {0, 0, 8, static_cast<char>(extents.size())};
    for (const std::int64_t extent : extents)
        for (const int shift : {24, 16, 8, 0}) content += static_cast<char>(extent >> shift & 0xff);
    content.append(bytes.begin(), bytes.end());
    std::ofstream(file, std::ios::binary) << content;
}

/// Pictures of 9 x 7 pixels. Each class has a pattern of its own, black and grey, with noise of a quarter of that grey.
inline pictures drawn_pictures(std::int64_t count, unsigned seed) {
    constexpr std::int64_t height = 9, width = 7;
    pictures result{height, width, {}, {}};
    std::mt19937 patterns(1), noise(seed);
    std::vector<std::uint8_t> of_classes;
    for (std::size_t i = 0; i < classes.size() * height * width; ++i)
        of_classes.push_back(patterns() % 2 * 160);
    for (std::int64_t i = 0; i < count; ++i) {
        const auto label = static_cast<std::int32_t>(noise() % classes.size());
        result.labels.push_back(label);
        for (std::int64_t p = 0; p < height * width; ++p)
            result.pixels.push_back(static_cast<std::uint8_t>(
                of_classes[static_cast<std::size_t>(label * height * width + p)] + noise() % 40));
    }
    return result;
}

/// The batch size does not divide the training set, and packets do not divide a picture.
inline data_set drawn_set() {
    return {drawn_pictures(650, 2), drawn_pictures(170, 3)};
}

inline settings small_settings() {
    settings result;
    result.widths = {40, 24};
    result.batch = 64;
    result.seed = 7;
    result.learning_rate = 5e-3;
    return result;
}

/// All bits from which training continues.
using state = std::map<std::string, std::vector<std::byte>>;

template <class Device, class T>
state state_of(training<Device, T>& training) {
    state result;
    for (const auto& [name, tensor] : training.checkpoint().tensors) result[name] = tensor.bytes;
    return result;
}

template <class Device, class T>
state trained_state(Device& device, int epochs, const settings& settings = small_settings()) {
    training<Device, T> training(device, drawn_set(), settings);
    for (int i = 0; i < epochs; ++i) training.epoch();
    return state_of(training);
}

template <class Device, class T>
void expect_that_it_learns(Device& device) {
    training<Device, T> training(device, drawn_set(), small_settings());
    for (int i = 0; i < 12; ++i) training.epoch();
    const history& past = training.past();
    // Random guesses have a loss of log 10, and certain right answers one of 0. Patterns differ in dozens of pixels by
    // far more than the noise.
    EXPECT_GT(past.training_loss.front(), past.training_loss.back());
    EXPECT_LT(past.training_loss.back(), std::log(10.0f) / 10);
    EXPECT_LT(past.test_loss.back(), std::log(10.0f) / 10);
    EXPECT_GE(past.accuracy.back(), 0.95f);

    const data_set data = drawn_set();
    const std::vector<std::int64_t> predictions = training.predictions();
    ASSERT_EQ(predictions.size(), data.test.labels.size());
    std::int64_t right = 0;
    for (std::size_t i = 0; i < predictions.size(); ++i) right += predictions[i] == data.test.labels[i];
    EXPECT_EQ(static_cast<float>(right) / static_cast<float>(predictions.size()), past.accuracy.back());
}

template <class Device, class T>
void expect_the_same_bits_each_time(Device& device) {
    const state first = trained_state<Device, T>(device, 2);
    EXPECT_EQ(first, (trained_state<Device, T>(device, 2)));
    settings other = small_settings();
    other.seed = 8;
    EXPECT_NE(first, (trained_state<Device, T>(device, 2, other)));
}

/// Two epochs, a file and one more epoch give the same as three epochs.
template <class Device, class T>
void expect_that_it_resumes_to_the_bit(Device& device) {
    const state straight = trained_state<Device, T>(device, 3);
    const std::filesystem::path file = examples::temporary("resumed.safetensors");
    {
        training<Device, T> training(device, drawn_set(), small_settings());
        for (int i = 0; i < 2; ++i) training.epoch();
        examples::write_safetensors(file, training.checkpoint());
    }
    training<Device, T> resumed(device, drawn_set(), small_settings());
    resumed.resume(examples::read_safetensors(file), file);
    ASSERT_EQ(resumed.past().epochs(), 2);
    resumed.epoch();
    EXPECT_EQ(straight, state_of(resumed));
}

}  // namespace fashion_mnist
