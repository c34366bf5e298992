// Blurs PNG and JPEG pictures on the GPU, or on the CPU where there is no GPU or the CPU is requested.
#include "examples/blur_image/compare.hpp"
#include "examples/support/image.hpp"
#include "examples/support/options.hpp"
#include "examples/support/program.hpp"
#include <heddle/heddle.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace {

namespace fs = std::filesystem;
using examples::any_image;
using examples::from_to;
using examples::image;

struct request {
    std::vector<fs::path> files;
    fs::path output = ".";
    std::optional<fs::path> comparison;
    double sigma = 2;
    heddle::gaussian_blur_options options;
    bool on_cpu = false;
};

class stopwatch {
    using clock = std::chrono::steady_clock;
    clock::time_point start_ = clock::now();

  public:
    double seconds() const { return std::chrono::duration<double>(clock::now() - start_).count(); }
};

template <class T>
image<T> blur_on_gpu(const image<T>& source, const request& request, const heddle::stream& stream) {
    image<T> result = examples::make_image<T>(source.width, source.height, source.channels);
    const auto size = static_cast<std::int64_t>(source.pixels.size());
    heddle::device_buffer<T> before(size, stream), after(size, stream);
    const auto on_device = [&](heddle::device_buffer<T>& buffer) {
        return heddle::image_view{buffer.data(), source.width, source.height, source.channels};
    };
    heddle::copy(source.pixels, before, stream);
    heddle::gaussian_blur<T>(on_device(before), on_device(after), request.sigma, stream, request.options);
    heddle::copy_and_wait(after, result.pixels, stream);
    return result;
}

template <class T>
image<T> blur_on_cpu(const image<T>& source, const request& request) {
    image<T> result = examples::make_image<T>(source.width, source.height, source.channels);
    heddle::host::gaussian_blur<T>(source.view(), result.view(), request.sigma, request.options);
    return result;
}

/// `stream` is null for the CPU.
template <class T>
image<T> blur(const image<T>& source, const request& request, const heddle::stream* stream) {
    return stream != nullptr ? blur_on_gpu(source, request, *stream) : blur_on_cpu(source, request);
}

/// Writes the picture of --compare, and prints how close the GPU's result is to the CPU's.
template <class T>
void compare(const image<T>& before, const image<T>& after, const request& request, bool is_of_gpu) {
    std::vector<image<T>> pictures = {before, after};
    if (is_of_gpu) pictures.push_back(blur_on_cpu(before, request));
    examples::write_image(*request.comparison, examples::side_by_side<T>(pictures));
    if (!is_of_gpu) {
        examples::print("{}: before, on the CPU\n", request.comparison->string());
        return;
    }
    const double ratio = examples::psnr(pictures[1], pictures[2]);
    examples::print("{}: before, on the GPU, on the CPU; PSNR of the GPU's to the CPU's: {}\n",
                    request.comparison->string(),
                    std::isinf(ratio) ? "infinite, they are equal" : fmt::format("{:.1f} dB", ratio));
}

/// The path of a file's result: in a folder the file's name with "-blurred" added, otherwise the given path.
fs::path output_of(const fs::path& file, const request& request) {
    if (!fs::is_directory(request.output)) return request.output;
    const fs::path ending = examples::has_jpeg_name(file) ? file.extension() : ".png";
    return (request.output / file.stem()) += fs::path("-blurred") += ending;
}

/// Checks that no result overwrites an input picture or another result. A single result may replace its own input.
void require_outputs_apart(const request& request) {
    const bool are_several = request.files.size() > 1;
    if (are_several && !fs::is_directory(request.output))
        throw std::runtime_error(
            fmt::format("{}: several files need a folder that exists", request.output.string()));
    if (are_several && request.comparison) throw std::runtime_error("--compare takes one file");
    std::set<fs::path> inputs, outputs;
    for (const fs::path& file : request.files) inputs.insert(fs::weakly_canonical(file));
    for (const fs::path& file : request.files) {
        const fs::path output = fs::weakly_canonical(output_of(file, request));
        if (!outputs.insert(output).second)
            throw std::runtime_error(
                fmt::format("{}: another file's result has the same name", file.string()));
        if (are_several && inputs.contains(output))
            throw std::runtime_error(
                fmt::format("{}: its result would overwrite {}", file.string(), output.string()));
    }
    if (!request.comparison) return;
    const fs::path comparison = fs::weakly_canonical(*request.comparison);
    if (inputs.contains(comparison) || outputs.contains(comparison))
        throw std::runtime_error(fmt::format("{}: --compare would overwrite the picture or the result",
                                             request.comparison->string()));
}

std::string_view channel_names(std::int64_t channels) {
    constexpr std::string_view names[] = {"grey", "grey and alpha", "RGB", "RGBA"};
    return names[channels - 1];
}

std::string rate(double bytes, double seconds) {
    return fmt::format("{:.1f} MB/s", bytes / seconds / 1e6);
}

/// Blurs the index-th file. Returns the bytes of its pixels.
double blur_file(std::size_t index, const request& request, const heddle::stream* stream) {
    const fs::path& file = request.files[index];
    const fs::path output = output_of(file, request);
    const std::size_t count = request.files.size();
    const std::string progress = count > 1 ? fmt::format("{} of {}: ", index + 1, count) : "";
    const stopwatch reading;
    const any_image picture = examples::read_image(file);
    const double read_seconds = reading.seconds();

    const auto of_type = [&]<class T>(const image<T>& source) {
        const stopwatch blurring;
        const image<T> result = blur(source, request, stream);
        const double seconds = blurring.seconds();
        const stopwatch writing;
        examples::write_image(output, result);
        const auto bytes = static_cast<double>(source.pixels.size() * sizeof(T));
        examples::print(
            "{}{}: {} x {} {}, {} bit; read {:.1f} ms, blur on the {} {:.2f} ms ({}), write {:.1f} ms\n",
            progress, output.lexically_normal().string(), source.width, source.height,
            channel_names(source.channels), 8 * sizeof(T), 1e3 * read_seconds,
            stream != nullptr ? "GPU with copies" : "CPU", 1e3 * seconds, rate(bytes, seconds),
            1e3 * writing.seconds());
        if (request.comparison) compare(source, result, request, stream != nullptr);
        return bytes;
    };
    return std::visit(of_type, picture);
}

/// Blurs all pictures, also those after one that cannot be blurred. Returns whether all were blurred.
bool blur_all(const request& request) {
    require_outputs_apart(request);
    const bool has_gpu = heddle::device_count() > 0;
    if (!has_gpu && !request.on_cpu) examples::print("no CUDA device: blurring on the CPU\n");
    std::unique_ptr<heddle::stream> stream;
    if (has_gpu && !request.on_cpu) stream = std::make_unique<heddle::stream>();

    const stopwatch all;
    double bytes = 0;
    std::size_t blurred = 0;
    for (std::size_t i = 0; i < request.files.size(); ++i) {
        try {
            bytes += blur_file(i, request, stream.get());
            ++blurred;
        } catch (const std::exception& error) {
            fmt::print(stderr, "blur_image: {}\n", error.what());
        }
    }
    if (request.files.size() > 1)
        examples::print("{} of {} pictures, {:.1f} MB in {:.2f} s: {} with reading and writing\n", blurred,
                        request.files.size(), bytes / 1e6, all.seconds(), rate(bytes, all.seconds()));
    return blurred == request.files.size();
}

/// The algorithms by the library's names for them.
std::map<std::string, heddle::gaussian_blur_algorithm> algorithm_names() {
    std::map<std::string, heddle::gaussian_blur_algorithm> names;
    const auto add = [&](heddle::gaussian_blur_algorithm algorithm) {
        names.emplace(heddle::to_string(algorithm), algorithm);
    };
    add(heddle::gaussian_blur_algorithm::automatic);
    for (const auto algorithm : heddle::gaussian_blur_algorithms()) add(algorithm);
    return names;
}

std::map<std::string, heddle::border> border_names() {
    return {{"replicate", heddle::border::replicate},
            {"reflect", heddle::border::reflect},
            {"reflect_101", heddle::border::reflect_101},
            {"wrap", heddle::border::wrap},
            {"constant", heddle::border::constant}};
}

int run(int argc, char** argv) {
    request request;
    std::optional<std::int64_t> radius;
    std::string border = "replicate", algorithm = "automatic";
    const auto algorithms = algorithm_names();
    const auto borders = border_names();
    CLI::App app(
        "Blurs pictures with a Gaussian: PNG and JPEG, 8 and 16 bit, grey or RGB, with alpha or without. "
        "Each channel is blurred for itself; metadata, such as colour profiles and orientation, is left "
        "behind.");
    app.add_option("files", request.files, "PNG and JPEG files")->required();
    app.add_option("-o,--output", request.output,
                   "a folder, for files of the same names with -blurred added, or the one result's name; it "
                   "is a JPEG (8 bit, no alpha) where its name says so, else a PNG")
        ->capture_default_str();
    app.add_option("-s,--sigma", request.sigma, "standard deviation in pixels")
        ->check(from_to(0.001, 0x1p26))
        ->capture_default_str();
    app.add_option("-r,--radius", radius, "where the Gaussian is cut, in pixels [4 sigma]")
        ->check(from_to(0, 1 << 28));
    app.add_option("-b,--border", border, "what lies outside of the image")
        ->check(CLI::IsMember(borders))
        ->capture_default_str();
    const CLI::Option* border_value = app.add_option("--border-value", request.options.border_value,
                                                     "for a constant border, 0 to 255, of 16 bit 0 to 65535")
                                          ->check(from_to(0, 65535));
    CLI::Option* on_cpu = app.add_flag("--cpu", request.on_cpu, "blur on the CPU");
    app.add_flag(
           "--exact", request.options.exact,
           "the weights of the radius themselves, also where sigma is large, in place of their approximation")
        ->excludes(on_cpu);
    app.add_option("-a,--algorithm", algorithm, "the GPU's kernel")
        ->check(CLI::IsMember(algorithms))
        ->capture_default_str()
        ->excludes(on_cpu);
    app.add_option("--compare", request.comparison,
                   "also write FILE: the picture before, right of it the GPU's result, right of that the "
                   "CPU's; and say how near the two are, as PSNR in dB, infinite where they are equal. "
                   "Without a GPU: before and the CPU's result")
        ->type_name("FILE");
    CLI11_PARSE(app, argc, argv);
    if (border_value->count() > 0 && border != "constant")
        throw std::runtime_error("--border-value is for --border constant");
    if (radius) request.options.radius = *radius;
    request.options.border = borders.at(border);
    request.options.algorithm = algorithms.at(algorithm);
    return blur_all(request) ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
    return examples::run_program("blur_image", [&] { return run(argc, argv); });
}
