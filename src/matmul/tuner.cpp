#include "kernels/matmul/launch.hpp"
#include "src/format.hpp"
#include "src/matmul/rungs.hpp"
#include "src/require.hpp"
#include <heddle/device.hpp>
#include <heddle/error.hpp>
#include <heddle/matmul_tuner.hpp>
#include <heddle/stream.hpp>
#include <heddle/types.hpp>
#include <heddle/version.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <limits>
#include <mutex>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

#pragma GCC visibility push(default)

namespace heddle {
namespace {

/// The first line of a file. The file's choices hold only for these versions.
std::string header() {
    int runtime = 0, driver = 0;
    check(cudaRuntimeGetVersion(&runtime));
    check(cudaDriverGetVersion(&driver));
    return detail::format("heddle {} matmul kernels; driver {}; runtime {}", version(), driver, runtime);
}

constexpr char separator = '|';

struct line {
    std::string key;
    std::string_view kernel;  ///< one of matmul_kernels()
};

/// Reads "key|kernel".
std::optional<line> parsed(std::string_view text) {
    const auto end = text.rfind(separator);
    if (end == text.npos || end == 0) return std::nullopt;
    for (const element_type type : {element_type::f32, element_type::f16})
        for (const std::string_view kernel : matmul_kernels(type))
            if (kernel == text.substr(end + 1)) return line{std::string(text.substr(0, end)), kernel};
    return std::nullopt;
}

/// How an operand lies, as far as a product's time depends on it.
template <class T>
std::string_view order_of(const matrix_view<T>& m) {
    namespace layout = kernels::matmul;
    if (layout::has_tensor_rows(m)) return "rows";
    if (layout::has_tensor_rows(transposed(m))) return "columns";
    return m.col_stride == 1 ? "odd rows" : m.row_stride == 1 ? "odd columns" : "gaps";
}

std::string workspace_of(const matmul_options& options) {
    if (!options.workspace.empty()) return std::to_string(options.workspace.size());
    return options.scratch == scratch::pool ? "of the pool" : "none";
}

template <class T>
constexpr std::string_view type_name = std::is_same_v<T, float>  ? "f32"
                                       : std::is_same_v<T, half> ? "f16"
                                                                 : "bf16";

template <class Out, class In>
double seconds_of(const matrix_view<const In>& a, const matrix_view<const In>& b, const matrix_view<Out>& c,
                  cuda::stream_ref stream, const matmul_options& options) {
    constexpr int calls = 5;
    constexpr int rounds = 3;
    double best = std::numeric_limits<double>::infinity();
    matmul<Out, In>(a, b, c, stream, options);
    for (int round = 0; round < rounds; ++round) {
        event start, stop;
        start.record(stream);
        for (int i = 0; i < calls; ++i) matmul<Out, In>(a, b, c, stream, options);
        stop.record(stream);
        stop.synchronize();
        best = std::min(best, std::chrono::duration<double>(elapsed(start, stop)).count() / calls);
    }
    return best;
}

}  // namespace

matmul_tuner::matmul_tuner(std::filesystem::path file, warning warn) : file_(std::move(file)) {
    std::ifstream in(file_);
    if (file_.empty() || !in) return;
    const auto tell = [&](const std::string& text) {
        if (warn) warn(detail::format("{}: {}", file_.string(), text));
    };
    std::string text;
    if (!std::getline(in, text) || text != header()) {
        tell("of another driver or version, of one that named tiles, or not of heddle: ignored");
        return;
    }
    for (int number = 2; std::getline(in, text); ++number) {
        if (const auto read = parsed(text))
            choices_[read->key] = read->kernel;
        else
            tell(detail::format("line {} cannot be read: ignored", number));
    }
}

std::size_t matmul_tuner::size() const {
    const std::lock_guard lock(mutex_);
    return choices_.size();
}

void matmul_tuner::save() const {
    detail::require(!file_.empty(), "matmul_tuner::save", "file", "an empty path",
                    "the path that the tuner was to be made with");
    std::string text = header() + '\n';
    {
        const std::lock_guard lock(mutex_);
        for (const auto& [key, kernel] : choices_) text += detail::format("{}{}{}\n", key, separator, kernel);
    }
    std::filesystem::path temporary = file_;
    temporary += detail::format(".{:08x}", std::random_device{}());  // other processes may be saving too
    std::ofstream out(temporary);
    out << text;
    out.close();
    std::error_code error;
    if (out) std::filesystem::rename(temporary, file_, error);
    if (out && !error) return;
    std::error_code ignored;
    std::filesystem::remove(temporary, ignored);
    throw std::runtime_error(detail::format("matmul_tuner: {} cannot be written", file_.string()));
}

template <class Out, class In>
matmul_options matmul_tuner::choose(matrix_view<const std::type_identity_t<In>> a,
                                    matrix_view<const std::type_identity_t<In>> b, matrix_view<Out> c,
                                    cuda::stream_ref stream, const matmul_options& options) {
    const bool is_default = !std::is_same_v<In, float> || options.precision == precision::fp32;
    const std::string key = detail::format(
        "{}: {} to {} {}x{}x{} {} {} {} alpha {} beta {} workspace {}{}{}", traits_of(device_of(stream)).name,
        type_name<In>, type_name<Out>, c.rows, c.cols, a.cols, order_of(a), order_of(b), order_of(c),
        options.alpha == 0 ? 0 : 1, options.beta == 0 ? 0 : 1, workspace_of(options), is_default ? "" : " ",
        is_default ? "" : to_string(options.precision));
    // A file may name a kernel for another type.
    const auto is_of_type = [kernels = matmul_kernels(element_type_of<In>)](std::string_view kernel) {
        return std::ranges::find(kernels, kernel) != kernels.end();
    };
    matmul_options result = options;
    result.algorithm = matmul_algorithm::automatic;
    {
        const std::lock_guard lock(mutex_);
        const auto known = choices_.find(key);
        if (known != choices_.end() && is_of_type(known->second)) {
            result.kernel = known->second;
            return result;
        }
    }
    matmul<Out, In>(a, b, c, stream, options);  // throws if the arguments are invalid
    std::string_view best;
    double best_seconds = std::numeric_limits<double>::infinity();
    const device_traits& device = traits_of(device_of(stream));
    const matmul_problem problem = matmul_problem_of<Out, In>(a, b, c, options);
    for (const matmul_algorithm algorithm : matmul_algorithms(element_type_of<In>)) {
        if (!may_stand_for(algorithm, problem, device)) continue;
        for (const std::string_view kernel : matmul_kernels(element_type_of<In>, algorithm)) {
            matmul_options candidate = result;
            candidate.kernel = kernel;
            try {
                const double seconds = seconds_of<Out, In>(a, b, c, stream, candidate);
                if (seconds < best_seconds) {
                    best_seconds = seconds;
                    best = kernel;
                }
            } catch (const unsupported&) {       // it cannot run this product
            } catch (const invalid_argument&) {  // it would need a larger workspace
            }
        }
    }
    const std::lock_guard lock(mutex_);
    std::string_view& kept = choices_[key];  // another thread's choice is kept
    if (!is_of_type(kept)) kept = best;
    result.kernel = kept;
    return result;
}

#define INSTANTIATE(In, Out)                                                                            \
    template matmul_options matmul_tuner::choose<Out, In>(matrix_view<const In>, matrix_view<const In>, \
                                                          matrix_view<Out>, cuda::stream_ref,           \
                                                          const matmul_options&);
HEDDLE_PAIRS_OF_TYPES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace heddle

#pragma GCC visibility pop
