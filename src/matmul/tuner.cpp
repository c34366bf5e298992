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
#include <charconv>
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

namespace heddle {
namespace {

/// The first line of a file: what its choices count for.
std::string header() {
    int runtime = 0, driver = 0;
    check(cudaRuntimeGetVersion(&runtime));
    check(cudaDriverGetVersion(&driver));
    return detail::format("heddle {} matmul choices; driver {}; runtime {}", version(), driver, runtime);
}

std::optional<matmul_algorithm> algorithm_of(std::string_view name) {
    for (const element_type type : {element_type::f32, element_type::f16})
        for (const matmul_algorithm each : matmul_algorithms(type))
            if (to_string(each) == name) return each;
    return std::nullopt;
}

constexpr char separator = '|';

struct line {
    std::string key;
    matmul_algorithm algorithm;
    int tile;
};

/// key | algorithm | tile
std::optional<line> parsed(const std::string& text) {
    const auto second = text.rfind(separator);
    if (second == std::string::npos || second == 0) return std::nullopt;
    const auto first = text.rfind(separator, second - 1);
    if (first == std::string::npos || first == 0) return std::nullopt;
    const auto algorithm = algorithm_of(std::string_view(text).substr(first + 1, second - first - 1));
    const std::string_view tile = std::string_view(text).substr(second + 1);
    int value = 0;
    const auto [end, error] = std::from_chars(tile.data(), tile.data() + tile.size(), value);
    if (!algorithm || error != std::errc{} || end != tile.data() + tile.size()) return std::nullopt;
    if (value < -1 || value >= static_cast<int>(std::max<std::size_t>(1, matmul_tiles(*algorithm).size())))
        return std::nullopt;
    return line{text.substr(0, first), *algorithm, value};
}

/// What the time of a product depends on, of one operand: how it lies.
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
        tell("of another driver or version, or not of heddle: ignored");
        return;
    }
    for (int number = 2; std::getline(in, text); ++number) {
        if (const auto read = parsed(text))
            choices_[read->key] = {read->algorithm, read->tile};
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
        for (const auto& [key, chosen] : choices_)
            text += detail::format("{}{}{}{}{}\n", key, separator, to_string(chosen.algorithm), separator,
                                   chosen.tile);
    }
    std::filesystem::path temporary = file_;
    temporary += detail::format(".{:08x}", std::random_device{}());  // others may be saving, too
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
    matmul_options result = options;
    result.variant = {};  // the model chooses among a rung's kernels
    {
        const std::lock_guard lock(mutex_);
        if (const auto known = choices_.find(key); known != choices_.end()) {
            result.algorithm = known->second.algorithm;
            result.tile = known->second.tile;
            return result;
        }
    }
    matmul<Out, In>(a, b, c, stream, options);  // throws where the arguments are wrong
    choice best;
    double best_seconds = std::numeric_limits<double>::infinity();
    const device_traits& device = traits_of(device_of(stream));
    const matmul_problem problem = matmul_problem_of<Out, In>(a, b, c, options);
    for (const matmul_algorithm algorithm : matmul_algorithms(element_type_of<In>)) {
        if (!may_stand_for(algorithm, problem, device)) continue;
        const int tiles = static_cast<int>(matmul_tiles(algorithm).size());
        const bool the_model_chooses = tiles == 0 || !matmul_variants(algorithm).empty();
        for (int tile = the_model_chooses ? -1 : 0; tile < tiles; ++tile) {
            matmul_options candidate = result;
            candidate.algorithm = algorithm;
            candidate.tile = tile;
            try {
                const double seconds = seconds_of<Out, In>(a, b, c, stream, candidate);
                if (seconds < best_seconds) {
                    best_seconds = seconds;
                    best = {algorithm, tile};
                }
            } catch (const unsupported&) {       // it cannot run this product
            } catch (const invalid_argument&) {  // it would need a larger workspace
            }
        }
    }
    const std::lock_guard lock(mutex_);
    best = choices_.try_emplace(key, best).first->second;  // what another thread found meanwhile stays
    result.algorithm = best.algorithm;
    result.tile = best.tile;
    return result;
}

template matmul_options matmul_tuner::choose<float, float>(matrix_view<const float>, matrix_view<const float>,
                                                           matrix_view<float>, cuda::stream_ref,
                                                           const matmul_options&);
template matmul_options matmul_tuner::choose<half, half>(matrix_view<const half>, matrix_view<const half>,
                                                         matrix_view<half>, cuda::stream_ref,
                                                         const matmul_options&);
template matmul_options matmul_tuner::choose<float, half>(matrix_view<const half>, matrix_view<const half>,
                                                          matrix_view<float>, cuda::stream_ref,
                                                          const matmul_options&);
template matmul_options matmul_tuner::choose<bfloat16, bfloat16>(matrix_view<const bfloat16>,
                                                                 matrix_view<const bfloat16>,
                                                                 matrix_view<bfloat16>, cuda::stream_ref,
                                                                 const matmul_options&);
template matmul_options matmul_tuner::choose<float, bfloat16>(matrix_view<const bfloat16>,
                                                              matrix_view<const bfloat16>, matrix_view<float>,
                                                              cuda::stream_ref, const matmul_options&);

}  // namespace heddle
