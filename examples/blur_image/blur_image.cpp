// Blurs PNG files, on the GPU or, where there is none or it is asked for, on the CPU.
#include "examples/support/png.hpp"
#include <heddle/heddle.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using examples::image;

struct request {
    std::vector<fs::path> files;
    fs::path output = ".";
    double sigma = 2;
    heddle::gaussian_blur_options options;
    bool on_cpu = false;
};

image blur_on_gpu(const image& source, const request& request, const heddle::stream& stream) {
    image result = examples::make_image(source.width, source.height, source.channels);
    const auto size = static_cast<std::int64_t>(source.pixels.size());
    heddle::device_buffer<std::uint8_t> before(size, stream), after(size, stream);
    const auto on_device = [&](heddle::device_buffer<std::uint8_t>& buffer) {
        return heddle::image_view{buffer.data(), source.width, source.height, source.channels};
    };
    heddle::copy(source.pixels, before, stream);
    heddle::gaussian_blur<std::uint8_t>(on_device(before), on_device(after), request.sigma, stream,
                                        request.options);
    heddle::copy_and_wait(after, result.pixels, stream);
    return result;
}

image blur_on_cpu(const image& source, const request& request) {
    image result = examples::make_image(source.width, source.height, source.channels);
    heddle::host::gaussian_blur<std::uint8_t>(source.view(), result.view(), request.sigma, request.options);
    return result;
}

/// A folder takes every file under its own name with "-blurred" added; anything else is the name of the one
/// result.
fs::path output_of(const fs::path& file, const request& request) {
    if (!fs::is_directory(request.output)) return request.output;
    return request.output / (file.stem().string() + "-blurred.png");
}

/// The enumerators by their names, as the library gives them.
std::map<std::string, heddle::gaussian_blur_algorithm> algorithm_names() {
    std::map<std::string, heddle::gaussian_blur_algorithm> names;
    const auto add = [&](heddle::gaussian_blur_algorithm algorithm) {
        names.emplace(heddle::to_string(algorithm), algorithm);
    };
    add(heddle::gaussian_blur_algorithm::automatic);
    for (const auto algorithm : heddle::gaussian_blur_algorithms()) add(algorithm);
    return names;
}

const std::map<std::string, heddle::border> border_names = {{"replicate", heddle::border::replicate},
                                                            {"reflect", heddle::border::reflect},
                                                            {"wrap", heddle::border::wrap},
                                                            {"constant", heddle::border::constant}};

/// One line, rewritten as the work goes on; silent where nobody watches.
void show_progress(std::size_t done, std::size_t all, const fs::path& file) {
    if (all < 2 || isatty(STDERR_FILENO) == 0) return;
    fmt::print(stderr, "\r\033[K{} of {}: {}", done + 1, all, file.filename().string());
    if (done + 1 == all) fmt::print(stderr, "\r\033[K");
    std::fflush(stderr);
}

void blur_all(const request& request) {
    if (request.files.size() > 1 && !fs::is_directory(request.output))
        throw std::runtime_error(
            fmt::format("{}: several files need a folder that exists", request.output.string()));

    const bool has_gpu = heddle::device_count() > 0;
    if (!has_gpu && !request.on_cpu) fmt::print("no CUDA device: blurring on the CPU\n");
    const bool on_cpu = request.on_cpu || !has_gpu;
    std::unique_ptr<heddle::stream> stream;
    if (!on_cpu) stream = std::make_unique<heddle::stream>();

    for (std::size_t i = 0; i < request.files.size(); ++i) {
        const fs::path& file = request.files[i];
        show_progress(i, request.files.size(), file);
        const image source = examples::read_png(file);
        const auto start = std::chrono::steady_clock::now();
        const image result = on_cpu ? blur_on_cpu(source, request) : blur_on_gpu(source, request, *stream);
        const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
        const fs::path output = output_of(file, request);
        examples::write_png(output, result);
        fmt::print("{}: {} x {} x {}, {:.2f} ms on the {}\n", output.lexically_normal().string(),
                   source.width, source.height, source.channels, elapsed.count(),
                   on_cpu ? "CPU" : "GPU, with the copies to it and back");
    }
}

int run(int argc, char** argv) {
    request request;
    std::optional<std::int64_t> radius;
    std::string border = "replicate", algorithm = "automatic", device = "gpu";
    const auto algorithms = algorithm_names();
    CLI::App app("Blurs PNG files with a Gaussian.");
    app.add_option("files", request.files, "PNG files")->required();
    app.add_option("-o,--output", request.output, "a folder, or the one result's name")
        ->capture_default_str();
    app.add_option("-s,--sigma", request.sigma, "standard deviation in pixels")->capture_default_str();
    app.add_option("-r,--radius", radius, "where the Gaussian is cut, in pixels [4 sigma]");
    app.add_option("-b,--border", border, "what lies outside of the image")
        ->check(CLI::IsMember(border_names))
        ->capture_default_str();
    app.add_option("--border-value", request.options.border_value, "for a constant border, 0 to 255");
    app.add_option("-a,--algorithm", algorithm, "the GPU's kernel")
        ->check(CLI::IsMember(algorithms))
        ->capture_default_str();
    app.add_option("-d,--device", device, "gpu or cpu")
        ->check(CLI::IsMember({"gpu", "cpu"}))
        ->capture_default_str();
    CLI11_PARSE(app, argc, argv);
    request.options.radius = radius;
    request.options.border = border_names.at(border);
    request.options.algorithm = algorithms.at(algorithm);
    request.on_cpu = device == "cpu";
    blur_all(request);
    return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "blur_image: %s\n", error.what());
        return EXIT_FAILURE;
    }
}
