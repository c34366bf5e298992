#include "examples/fashion_mnist/report.hpp"

#include "examples/fashion_mnist/data_set.hpp"
#include "examples/support/chart.hpp"
#include "examples/support/program.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <string>

namespace fashion_mnist {

void write_learning_curve(const std::filesystem::path& file, const history& history) {
    const auto line = [](const char* name, const std::vector<float>& values, double factor) {
        examples::chart_line result{name, {}};
        for (const float value : values) result.values.push_back(factor * value);
        return result;
    };
    const examples::chart_panel panels[] = {
        {"Cross-entropy",
         "epoch",
         {line("test set", history.test_loss, 1), line("training", history.training_loss, 1)}},
        {"Right on the test set, %", "epoch", {line("test set", history.accuracy, 100)}}};
    examples::write_chart(file, panels);
}

double print_confusion(std::span<const std::int32_t> labels, std::span<const std::int64_t> predictions) {
    std::array<std::array<std::int64_t, classes.size()>, classes.size()> counts{};
    double all_right = 0;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const auto predicted = static_cast<std::size_t>(predictions[i]);
        if (predicted < classes.size()) ++counts[static_cast<std::size_t>(labels[i])][predicted];
    }
    examples::print("\n{:>10} ", "taken for:");
    for (const auto name : classes) examples::print("{:>9}", name);
    examples::print("{:>9}\n", "right");
    for (std::size_t row = 0; row < classes.size(); ++row) {
        examples::print("{:>10} ", classes[row]);
        for (const std::int64_t count : counts[row]) examples::print("{:>9}", count);
        const auto all = std::accumulate(counts[row].begin(), counts[row].end(), std::int64_t{0});
        const auto right = static_cast<double>(counts[row][row]);
        all_right += right;
        examples::print("{:>7.1f} %\n", all == 0 ? 0 : 100 * right / static_cast<double>(all));
    }
    return all_right / static_cast<double>(labels.size());
}

void print_classes(const std::filesystem::path& picture, const std::vector<float>& probabilities) {
    std::array<std::size_t, classes.size()> order{};
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](auto i, auto j) { return probabilities[i] > probabilities[j]; });
    examples::print("{}: {} {:.1f} %, {} {:.1f} %, {} {:.1f} %\n", picture.string(), classes[order[0]],
                    100 * probabilities[order[0]], classes[order[1]], 100 * probabilities[order[1]],
                    classes[order[2]], 100 * probabilities[order[2]]);
}

}  // namespace fashion_mnist
