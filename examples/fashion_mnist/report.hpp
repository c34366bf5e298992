#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace fashion_mnist {

/// What training has come to, a value an epoch.
struct history {
    std::vector<float> training_loss;  ///< the mean over the epoch, while its steps were made
    std::vector<float> test_loss;      ///< the mean over the test set, after the epoch
    std::vector<float> accuracy;       ///< the share of the test set whose class was found, after the epoch

    std::int64_t epochs() const { return static_cast<std::int64_t>(accuracy.size()); }
    /// By the names that a checkpoint has for them.
    std::map<std::string, std::vector<float>*> curves() {
        return {{"history.training_loss", &training_loss},
                {"history.test_loss", &test_loss},
                {"history.accuracy", &accuracy}};
    }
};

/// @throws std::runtime_error  naming the file and what is wrong with it
void write_learning_curve(const std::filesystem::path& file, const history& history);

/// A row a class, a column for what it was taken for. Returns the share that is right.
double print_confusion(std::span<const std::int32_t> labels, std::span<const std::int64_t> predictions);

/// The three most probable classes of a picture.
void print_classes(const std::filesystem::path& picture, const std::vector<float>& probabilities);

}  // namespace fashion_mnist
