#pragma once

#include "tests/bounds/products.hpp"
#include "tests/fuzz/matrices.hpp"
#include "tests/fuzz/operations.hpp"
#include "tests/fuzz/scratch.hpp"
#include <heddle/matmul.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

/// The common parts of operations that multiply matrices: layouts, plans, scratch memory, and expected results.
namespace heddle::fuzz {

using bounds::activated;
using bounds::approximate;
using bounds::products_of;
using bounds::sums;

inline const std::vector<std::string_view> factors = {"1", "0", "-0.5", "2"};
inline constexpr float factor_of[] = {1, 0, -0.5f, 2};
inline const std::vector<std::string_view> factors_of_c = {"0", "-0.5", "2", "1"};
inline const std::vector<std::string_view> precisions = {"fp32", "ieee", "tf32", "fp32_normwise"};
inline constexpr precision precision_of[] = {precision::fp32, precision::ieee, precision::tf32,
                                             precision::fp32_normwise};

struct named_matrix {
    std::string name;
    std::int64_t rows, cols;
};

/// In two of three problems, lines begin at multiples of 16 bytes, as some rungs need: those of the first two
/// matrices, A and B, and of half of the others.
inline void draw_matrices(drawing& d, problem& p, const std::vector<named_matrix>& matrices) {
    constexpr std::int64_t packet = 8;
    const bool in_packets = d.integer(1, 3) > 1;
    std::size_t place = 0;
    for (const auto& [name, rows, cols] : matrices) {
        const placement at = d.lie(false, 12);
        p.draw_word(name + "_order", d);
        p.set({{name + "_offset", at.offset}, {name + "_padding", at.padding}, {name + "_step", at.step}});
        if (++place > 2 ? !in_packets || d.one_in(2) : !in_packets) continue;
        const std::int64_t line = p[name + "_order"] == 1 ? rows : cols;
        p.set({{name + "_offset", 0},
               {name + "_padding", (packet - line % packet) % packet},
               {name + "_step", 1}});
    }
}

inline std::int64_t draw_length(drawing& d, double low, double high) {
    return static_cast<std::int64_t>(d.log_uniform(low, high));
}

/// More elements of C than the tiles of 128 x 128 that a GPU works on at once have.
inline constexpr std::int64_t elements_of_many_tiles = 2'200'000;

/// m, n and k: any; beside tiles; a line; a short side; long sums, which are split; and a C of many tiles.
inline std::vector<std::int64_t> draw_product(drawing& d, std::int64_t most) {
    const auto beside = [&] {
        const std::int64_t tile = std::int64_t{16} << d.index(5), tiles = d.integer(1, 2);
        return tiles * tile + d.integer(-1, 1);
    };
    const bool is_lone = most >= 1 << 22;
    const double widest = is_lone ? 4000 : 1500;
    std::vector<std::int64_t> shape;
    switch (d.index(12)) {
        case 0:
        case 1:
        case 2:
            shape = draw_shape(d, 3, most);
            break;
        case 3:
        case 4:
        case 5:
        case 6:
            shape = {beside(), beside(), beside()};
            break;
        case 7:
            shape = {1, draw_length(d, 1, 40000), draw_length(d, 1, 20000)};
            break;
        case 8:
            shape = {d.integer(2, 64), draw_length(d, 64, 80000), draw_length(d, 1, 5000)};
            break;
        case 9:
            shape = {draw_length(d, 1, 4), draw_length(d, 1, 4), draw_length(d, 2000, 1000000)};
            break;
        case 10:
            shape = {draw_length(d, 1, 300), draw_length(d, 1, 300), draw_length(d, 2000, 20000)};
            most *= 4;
            break;
        default:
            shape = {draw_length(d, 300, widest), draw_length(d, 300, widest), draw_length(d, 1, 300)};
            if (is_lone && d.one_in(2)) {
                shape[0] = d.integer(1048, 2100);
                shape[1] = d.integer(1, 2) * elements_of_many_tiles / shape[0] + d.integer(1, 32);
                shape[2] = d.integer(16, 64);
            }
            most *= 32;
    }
    if (d.one_in(2)) std::swap(shape[0], shape[1]);
    shape[2] =
        std::min(shape[2], std::max<std::int64_t>(most / std::max<std::int64_t>(shape[0] * shape[1], 1), 1));
    if (d.one_in(32)) shape[2] = 0;
    return shape;
}

inline void set_shape(problem& p, std::initializer_list<const char*> extents,
                      const std::vector<std::int64_t>& shape) {
    std::size_t i = 0;
    for (const char* const extent : extents) p.set(extent, shape[i++]);
}

/// In three of four cases a rung of the type. `vector` and `skinny` get the short side that they need, and `stream` the
/// short depth.
inline void draw_rung(drawing& d, problem& p, const char* rows, const char* cols, const char* depth) {
    if (d.one_in(4)) return;
    const auto rungs = matmul_algorithms(p["type"] == 0 ? element_type::f32 : element_type::f16);
    const matmul_algorithm rung = rungs[d.index(rungs.size())];
    const auto& words = std::ranges::find(p.of().fields, "rung", &field::name)->words;
    const auto found = std::ranges::find(words, to_string(rung));
    if (found == words.end()) return;
    p.set("rung", found - words.begin());
    const char* const side = p[rows] <= p[cols] ? rows : cols;
    if (rung == matmul_algorithm::vector) p.set(side, 1);
    if (rung == matmul_algorithm::skinny) p.set(side, std::min<std::int64_t>(p[side], d.integer(1, 64)));
    if (rung == matmul_algorithm::stream) p.set(depth, std::min<std::int64_t>(p[depth], d.integer(1, 64)));
}

/// With many tiles, a kernel of the rung is requested, and C is added to more often.
inline void draw_plan(drawing& d, problem& p) {
    p.draw_word("scratch", d);
    if (p["type"] == 0 && d.one_in(3)) p.draw_word("precision", d);
    const bool has_many_tiles = p.has("kernel") && p["m"] * p["n"] > elements_of_many_tiles;
    if (has_many_tiles && d.one_in(4)) p.set("beta", d.integer(1, 3));
    constexpr std::int64_t most = 36;  // a multiple of most kernel counts, so that kernels are drawn equally
    if (p.has("kernel") && (has_many_tiles || d.one_in(2))) p.set("kernel", d.integer(1, most));
}

/// The common options of all products.
template <class Options>
void set_plan(const problem& p, Options& options) {
    options.precision = precision_of[p["precision"]];
    options.scratch = p.word("scratch") == "none" ? scratch::none : scratch::pool;
}

/// Counts through the kernels of the rung, from 1 on, and then begins again.
template <class In>
matmul_options options_of(const problem& p, processor where, float alpha, float beta) {
    matmul_options options{
        .alpha = alpha, .beta = beta, .algorithm = rung_of(p, where, matmul_algorithms(element_type_of<In>))};
    set_plan(p, options);
    if (options.algorithm == matmul_algorithm::automatic || !p.has("kernel") || p["kernel"] < 1)
        return options;
    const auto kernels = matmul_kernels(element_type_of<In>, options.algorithm);
    options.kernel = kernels[static_cast<std::size_t>(p["kernel"] - 1) % kernels.size()];
    return options;
}

/// As drawn, with few special elements: most sums are numbers.
template <class T>
std::vector<T> draw_terms(values kind, std::int64_t count, std::uint64_t seed) {
    if (kind != values::special) return draw_values<T>(kind, count, seed);
    std::vector<T> drawn = draw_values<T>(values::uniform, count, seed);
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const float special[] = {infinity, -infinity, std::nanf("")};
    for (std::uint64_t i = 0; i <= seed % 4 && count > 0; ++i)
        drawn[(seed / 4 + i * 7919) % drawn.size()] = static_cast<T>(special[(seed + i) % 3]);
    return drawn;
}

/// The error of the additions in a product of k terms, as a share of the sum of their magnitudes.
template <class In>
double error_of_products(std::int64_t k, processor where, matmul_algorithm rung = matmul_algorithm::automatic,
                         precision wanted = precision::fp32) {
    const auto terms = static_cast<double>(k);
    if (where == processor::cpu) return bounds::of_fmas(terms);
    if (rung != matmul_algorithm::automatic || !std::is_same_v<In, float>)
        return bounds::of_matmul<In>(rung, terms);
    if (wanted == precision::tf32) return bounds::of_tf32(terms);
    if (wanted == precision::fp32_normwise)
        return std::max({bounds::of_fmas(terms), bounds::of_tf32x3(terms), bounds::of_fp16x3(terms)});
    return bounds::of_fmas(terms);
}

template <class In>
bool may_be_fp16x3(processor where, const matmul_options& options) {
    using enum matmul_algorithm;
    return where != processor::cpu && std::is_same_v<In, float> &&
           (options.algorithm == fp16x3 ||
            (options.algorithm == automatic && options.precision == precision::fp32_normwise));
}

/// The error bound of a result.
template <class Out>
double error_of_result(const approximate& result) {
    return bounds::stored_as<Out>(result) + 0x1p-126;
}

template <class Out>
approximate activated_on(processor where, matmul_activation activation, const approximate& sum) {
    return activated(activation, sum, where != processor::cpu && sizeof(Out) == 2 ? 0x1p-16 : bounds::u);
}

template <class T>
std::vector<T> transposed(const std::vector<T>& by_rows, std::int64_t rows, std::int64_t cols) {
    std::vector<T> result(by_rows.size());
    for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < cols; ++c)
            result[static_cast<std::size_t>(c * rows + r)] = by_rows[static_cast<std::size_t>(r * cols + c)];
    return result;
}

inline const std::vector<std::string_view> activations = {"none", "relu",    "gelu", "gelu_tanh",
                                                          "silu", "sigmoid", "tanh"};

/// The rungs of all types.
inline std::vector<std::string_view> all_rungs() {
    std::vector<std::string_view> words = rung_words(matmul_algorithms(element_type::f32));
    for (const std::string_view word : rung_words(matmul_algorithms(element_type::f16)))
        if (std::ranges::find(words, word) == words.end()) words.push_back(word);
    return words;
}
/// Without fp16x3, whose bound is one of norms.
inline std::vector<std::string_view> rungs_without_norms() {
    std::vector<std::string_view> words = all_rungs();
    std::erase(words, to_string(matmul_algorithm::fp16x3));
    return words;
}
inline const std::vector<std::string_view> precisions_without_norms(precisions.begin(), precisions.end() - 1);

}  // namespace heddle::fuzz
