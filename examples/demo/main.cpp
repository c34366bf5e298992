// Operations of every kind, on real data, beside the vendor's: on the GPU, or on the CPU where there is none.
#include "examples/demo/run.hpp"
#include "examples/support/image.hpp"
#include <heddle/device.hpp>
#include <heddle/error.hpp>

#include <CLI/CLI.hpp>
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <thread>

namespace {

std::string why_on_cpu() {
    int count = 0;
    if (const cudaError_t status = cudaGetDeviceCount(&count); status != cudaSuccess)
        return fmt::format("No CUDA device: {}", heddle::cuda_error(status).what());
    return "As asked";
}

int demonstrate(const std::filesystem::path& photo, const std::filesystem::path& output, bool on_cpu) {
    const demo::work work{.vector = 1 << (on_cpu ? 24 : 26),
                          .matrix = on_cpu ? 2048 : 4096,
                          .product = on_cpu ? 1024 : 2048,
                          .photo = examples::to_8_bit(examples::read_image(photo))};
    if (on_cpu) {
        fmt::print("On the CPU implementations, {} threads, the same work at smaller sizes. {}.\n",
                   std::thread::hardware_concurrency(), why_on_cpu());
    } else {
        const heddle::device_traits& device = heddle::traits_of(heddle::current_device());
        fmt::print("On {}, {} SMs.\n", device.name, device.sm_count);
    }
    fmt::print(
        "Times are the best of ten rounds, heddle's and the vendor's by turns; ratio is vendor / heddle: "
        "above "
        "1 heddle is faster.\nErrors are against float64, as shares of the largest value.\n\n");

    demo::table table;
    const demo::image blurred = on_cpu ? demo::run_on_cpu(work, table) : demo::run_on_gpu(work, table);
    examples::write_image(output, blurred);
    fmt::print("\n{}, blurred, is in {}\n", photo.filename().string(), output.string());
    if (table.all_right()) return EXIT_SUCCESS;
    fmt::print(stderr, "heddle_demo: an error is larger than docs/accuracy.md allows\n");
    return EXIT_FAILURE;
}

int run(int argc, char** argv) {
    std::filesystem::path photo = HEDDLE_DEMO_PHOTO;
    std::filesystem::path output = HEDDLE_DEMO_OUTPUT;
    bool on_cpu = false;
    CLI::App app("Operations of every kind that heddle has, beside the vendor's.");
    app.add_option("photo", photo, "the picture to blur, PNG or JPEG")->capture_default_str();
    app.add_option("-o,--output", output, "where the blurred one goes")->capture_default_str();
    app.add_flag("--cpu", on_cpu, "use the CPU implementations, even where there is a GPU");
    CLI11_PARSE(app, argc, argv);
    return demonstrate(photo, output, on_cpu || heddle::device_count() == 0);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "heddle_demo: %s\n", error.what());
        return EXIT_FAILURE;
    }
}
