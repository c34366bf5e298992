#include "examples/demo/demonstrate.hpp"

#include "examples/support/file.hpp"
#include "examples/support/image.hpp"
#include "examples/support/program.hpp"
#include <heddle/device.hpp>

#include <CLI/CLI.hpp>
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

namespace demo {
namespace {

std::string why_no_gpu() {
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status == cudaErrorInsufficientDriver) return "no NVIDIA driver of release 580 or newer is installed";
    return cudaGetErrorString(status);
}

/// The first sentence of the output. `has_gpu` says whether CUDA finds one.
std::string why_on_cpu(bool asked, bool has_gpu) {
    if (asked) return "As asked, nothing runs on a GPU";
    if (has_gpu) return "There is a GPU, but this program was built without its kernels";
    return fmt::format("CUDA finds no GPU: {}", why_no_gpu());
}

struct arguments {
    std::filesystem::path photo = HEDDLE_DEMO_PHOTO;
    std::filesystem::path output = HEDDLE_DEMO_OUTPUT;
    bool on_cpu = false;
};

int run(const arguments& given, runner* run_on_gpu) {
    examples::require_writable(given.output);
    const bool has_gpu = heddle::device_count() > 0;
    const bool on_cpu = given.on_cpu || !has_gpu || run_on_gpu == nullptr;
    const work work{.vector = 1 << (on_cpu ? 24 : 26),
                    .matrix = on_cpu ? 2048 : 4096,
                    .product = on_cpu ? 1024 : 2048,
                    .photo = examples::to_8_bit(examples::read_image(given.photo))};
    if (on_cpu) {
        examples::print("{}. The CPU implementations do the same work at smaller sizes, in {} threads.\n",
                        why_on_cpu(given.on_cpu, has_gpu), std::thread::hardware_concurrency());
    } else {
        const heddle::device_traits& device = heddle::traits_of(heddle::current_device());
        examples::print("On {}, {} SMs.\n", device.name, device.sm_count);
    }
    examples::print(
        "Times are the best of ten rounds, heddle's and the vendor's by turns; ratio is vendor / heddle: "
        "above 1 heddle is faster.\nErrors are against float64, as shares of the largest value.\n\n");

    table table;
    const image blurred = on_cpu ? run_on_cpu(work, table) : run_on_gpu(work, table);
    examples::write_image(given.output, blurred);
    examples::print("\n{}, blurred, is in {}\n", given.photo.filename().string(), given.output.string());
    if (table.all_right()) return EXIT_SUCCESS;
    fmt::print(stderr, "heddle_demo: an error is larger than docs/accuracy.md allows\n");
    return EXIT_FAILURE;
}

int run(int argc, char** argv, runner* run_on_gpu) {
    arguments given;
    CLI::App app("Operations of every kind that heddle has, beside the vendor's.");
    app.add_option("photo", given.photo, "the picture to blur, PNG or JPEG")->capture_default_str();
    app.add_option("-o,--output", given.output, "where the blurred one goes")->capture_default_str();
    app.add_flag("--cpu", given.on_cpu, "use the CPU implementations, even where there is a GPU");
    CLI11_PARSE(app, argc, argv);
    return run(given, run_on_gpu);
}

}  // namespace

int demonstrate(int argc, char** argv, runner* run_on_gpu) {
    return examples::run_program("heddle_demo", [&] { return run(argc, argv, run_on_gpu); });
}

}  // namespace demo
