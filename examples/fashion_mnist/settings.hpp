#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace fashion_mnist {

enum class element { float32, bfloat16 };

/// The settings of the command line.
struct settings {
    std::filesystem::path data = "/usr/share/datasets/fashion-mnist";
    std::filesystem::path checkpoint = "fashion_mnist.safetensors";
    std::filesystem::path curve = "fashion_mnist.svg";
    std::vector<std::filesystem::path> pictures;  ///< pictures to classify; with any, nothing is trained
    bool resume = false;

    std::vector<std::int64_t> widths = {1024, 1024};  ///< sizes of the hidden layers
    element type = element::float32;
    std::int64_t batch = 1024;
    std::int64_t epochs = 20;
    std::uint64_t seed = 1;
    double learning_rate = 1e-3;
    double decay = 0.9;  ///< factor of the learning rate after each epoch
    double weight_decay = 0.01;
};

/// The settings that a checkpoint stores. A training can only be continued with the same ones.
std::map<std::string, std::string> metadata_of(const settings& settings);

}  // namespace fashion_mnist
