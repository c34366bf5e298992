#include "examples/fashion_mnist/program.hpp"

#include "examples/fashion_mnist/data_set.hpp"
#include "examples/support/options.hpp"
#include "examples/support/program.hpp"
#include <heddle/device.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace fashion_mnist {
namespace {

using examples::from_to;

/// The runner for `device`; by default for the GPU if there is one.
runner chosen(const std::string& device, runner on_gpu) {
    if (device == "cpu") return run_on_cpu;
    const bool has_gpu = on_gpu != nullptr && heddle::device_count() > 0;
    if (device == "gpu" && on_gpu == nullptr)
        throw std::runtime_error("--device gpu: this program is for CPUs alone");
    if (device == "gpu" && !has_gpu) throw std::runtime_error("--device gpu: there is no CUDA device");
    return has_gpu ? on_gpu : run_on_cpu;
}

/// Saves the pictures of these numbers beside the checkpoint.
void save_pictures(const settings& settings, const std::vector<std::int64_t>& numbers) {
    const data_set set = read_data_set(settings.data);
    for (const std::int64_t number : numbers) {
        const std::filesystem::path file =
            settings.checkpoint.parent_path() / fmt::format("picture-{}.png", number);
        write_picture(file, set.test, number);
        examples::print("{}: {}\n", file.string(),
                        classes[static_cast<std::size_t>(set.test.labels[static_cast<std::size_t>(number)])]);
    }
}

int run(int argc, char** argv, runner on_gpu) {
    settings settings;
    const std::map<std::string, element> types = {{"float", element::float32}, {"bf16", element::bfloat16}};
    std::string device = "auto", type = "float";
    std::vector<std::int64_t> saved;
    CLI::App app(
        "Trains a multi-layer perceptron on the pictures of Fashion-MNIST, and writes a checkpoint and a "
        "learning "
        "curve after each epoch; or, given pictures, says what the network of a checkpoint takes them for.");
    app.add_option("pictures", settings.pictures,
                   "PNG or JPEG files of 28 x 28 pixels on black, to classify");
    app.add_option("--data", settings.data, "the folder of the data set's four IDX files, plain or .gz")
        ->take_last()
        ->capture_default_str();
    app.add_option("--checkpoint", settings.checkpoint,
                   "the safetensors file to write, resume or classify from")
        ->take_last()
        ->capture_default_str();
    app.add_option("--curve", settings.curve, "the learning curve to write, SVG")
        ->take_last()
        ->capture_default_str();
    app.add_flag("--resume", settings.resume, "go on from the checkpoint, up to --epochs in all");
    app.add_option("--widths", settings.widths, "of the hidden layers")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(from_to(1, 1 << 16))
        ->capture_default_str();
    app.add_option("--type", type, "what the network computes in; the optimizer's weights are float")
        ->check(CLI::IsMember(types))
        ->capture_default_str();
    app.add_option("--batch", settings.batch, "pictures a step")
        ->check(from_to(1, 1 << 20))
        ->capture_default_str();
    app.add_option("--epochs", settings.epochs, "passes over the training set")
        ->check(from_to(0, 10000))
        ->capture_default_str();
    app.add_option("--seed", settings.seed, "of the first weights and of each epoch's order")
        ->check(from_to<std::uint64_t>(0, std::numeric_limits<std::uint64_t>::max()))
        ->capture_default_str();
    app.add_option("--learning-rate", settings.learning_rate, "AdamW's, in the first epoch")
        ->check(from_to(0.0, 1.0))
        ->capture_default_str();
    app.add_option("--decay", settings.decay, "multiplies the learning rate after each epoch")
        ->check(from_to(0.0, 1.0))
        ->capture_default_str();
    app.add_option("--weight-decay", settings.weight_decay, "AdamW's")
        ->check(from_to(0.0, 1.0))
        ->capture_default_str();
    app.add_option("--device", device, "where it runs; auto is the GPU where there is one")
        ->check(CLI::IsMember({"auto", "cpu", "gpu"}))
        ->capture_default_str();
    app.add_option("--save-picture", saved,
                   "write this picture of the test set, such as 0, as picture-0.png beside the checkpoint, "
                   "and do nothing else")
        ->check(from_to(0, std::numeric_limits<int>::max()))
        ->allow_extra_args(false);
    CLI11_PARSE(app, argc, argv);
    settings.type = types.at(type);
    if (!saved.empty()) {
        save_pictures(settings, saved);
        return EXIT_SUCCESS;
    }
    chosen(device, on_gpu)(settings);
    return EXIT_SUCCESS;
}

}  // namespace

std::map<std::string, std::string> metadata_of(const settings& settings) {
    return {{"type", settings.type == element::float32 ? "float" : "bf16"},
            {"batch", fmt::format("{}", settings.batch)},
            {"seed", fmt::format("{}", settings.seed)},
            {"learning-rate", fmt::format("{}", settings.learning_rate)},
            {"decay", fmt::format("{}", settings.decay)},
            {"weight-decay", fmt::format("{}", settings.weight_decay)}};
}

int program(int argc, char** argv, runner on_gpu) {
    return examples::run_program("fashion_mnist", [&] { return run(argc, argv, on_gpu); });
}

}  // namespace fashion_mnist
