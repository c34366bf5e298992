#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace fashion_mnist {

enum class element { float32, bfloat16 };

/// What the command line asks for.
struct settings {
    std::filesystem::path data = "/usr/share/datasets/fashion-mnist";
    std::filesystem::path checkpoint = "fashion_mnist.safetensors";
    std::filesystem::path curve = "fashion_mnist.svg";
    std::vector<std::filesystem::path> pictures;  ///< to be classified; then nothing is trained
    bool resume = false;

    std::vector<std::int64_t> widths = {1024, 1024};  ///< of the hidden layers
    element type = element::float32;
    std::int64_t batch = 1024;
    std::int64_t epochs = 20;
    std::uint64_t seed = 1;
    double learning_rate = 1e-3;
    double decay = 0.9;  ///< of the learning rate, by which each epoch multiplies it
    double weight_decay = 0.01;
};

/// What a checkpoint says that it was trained with: training goes on by the same alone.
std::map<std::string, std::string> metadata_of(const settings& settings);

}  // namespace fashion_mnist
