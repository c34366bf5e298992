#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace fashion_mnist {

/// The course of the training, with one value an epoch.
struct history {
    std::vector<float> training_loss;  ///< the mean over the epoch, during its steps
    std::vector<float> test_loss;      ///< the mean over the test set, after the epoch
    std::vector<float> accuracy;       ///< the share of right answers in the test set, after the epoch

    std::int64_t epochs() const { return static_cast<std::int64_t>(accuracy.size()); }
    /// The curves by their names in a checkpoint.
    std::map<std::string, std::vector<float>*> curves() {
        return {{"history.training_loss", &training_loss},
                {"history.test_loss", &test_loss},
                {"history.accuracy", &accuracy}};
    }
};

/// @throws std::runtime_error  names the file and the error
void write_learning_curve(const std::filesystem::path& file, const history& history);

/// Prints a row for each class, with a column for each answer. Returns the share of right answers.
double print_confusion(std::span<const std::int32_t> labels, std::span<const std::int64_t> predictions);

/// Prints the three most probable classes of a picture.
void print_classes(const std::filesystem::path& picture, const std::vector<float>& probabilities);

}  // namespace fashion_mnist
