#include "src/conv/rungs.hpp"

#include "kernels/conv/plan/grouped.hpp"
#include "kernels/conv/plan/im2col.hpp"
#include "kernels/conv/plan/kn2row.hpp"
#include "kernels/conv/plan/mma_rows.hpp"
#include "kernels/conv/plan/mma_sync.hpp"
#include "kernels/conv/plan/windows.hpp"
#include "src/conv/validate.hpp"
#include "src/workspace.hpp"
#include <heddle/types.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace heddle {
namespace {

using namespace kernels::conv;
using namespace detail;
using enum conv_algorithm;

using need = detail::need<conv_problem>;

/// What is laid out does not take most of the memory.
bool takes_little_scratch(const conv_problem& problem, const device_traits&) {
    return im2col_fits(problem) && im2col_image_bytes(problem) <= im2col_most_bytes;
}

// What rungs need.

constexpr need one_channel_a_group{[](auto& problem, auto&) {
                                       return problem.geometry.groups == problem.input.channels &&
                                              problem.geometry.groups == problem.output.channels;
                                   },
                                   "takes as many groups as input channels and as output channels"};
static_assert(depthwise_most_taps == 81);
constexpr need few_taps{[](auto& problem, auto&) {
                            return problem.filters.height <= depthwise_most_taps / problem.filters.width;
                        },
                        "takes filters of at most 81 taps"};

constexpr need rows_of_filters{[](auto& problem, auto&) { return filters_are_rows(problem.filters); },
                               "needs filters whose taps lie side by side"};
constexpr need countable_windows{[](auto& problem, auto&) { return im2col_fits(problem); },
                                 "needs windows and sums of fewer than 2^40 elements"};

constexpr need one_group{[](auto& problem, auto&) { return problem.geometry.groups == 1; },
                         "takes one group"};
constexpr need rows_of_pixels{
    [](auto& problem, auto&) { return is_matrix(problem.input) && is_matrix(problem.filters); },
    "needs an input whose pixels, and filters whose taps, all lie at one stride"};
static_assert(kn2row_most_bytes == 1 << 30);
constexpr need few_shares{
    [](auto& problem, auto&) { return shares_fit(problem); },
    "takes images of at least one pixel, and of at most 1 GiB of products with all taps, in float"};

constexpr auto& ampere = detail::ampere<conv_problem>;
constexpr need tf32_or_16_bits{[](auto& problem, auto&) {
                                   return problem.operands != element_type::f32 ||
                                          problem.precision == precision::tf32;
                               },
                               "takes half and bfloat16, and float where its precision may be that of tf32"};
constexpr need floats{[](auto& problem, auto&) { return problem.operands == element_type::f32; },
                      "takes float"};
constexpr need fours_of_channels{[](auto& problem, auto&) { return problem.filters.channels % 4 == 0; },
                                 "needs a multiple of four channels in a group"};
constexpr need ints{[](auto& problem, auto&) { return fits_in_ints(problem); },
                    "needs images, with their padding, and sums of at most 2^30 rows, columns, "
                    "channels and terms, and fewer than 2^31 tiles"};
template <const auto& kernels, std::size_t kernel>
constexpr need tiles_in_grid{[](auto& problem, auto&) { return fits_grid(problem, kernels[kernel].tile()); },
                             "needs fewer than 2^31 tiles"};
template <int bytes>
constexpr need copies_of{[](auto& problem, auto&) { return lies_in(problem, bytes); },
                         bytes == 16 ? "needs channels, pixels and taps at multiples of 16 bytes"
                                     : "needs channels, pixels and taps at multiples of 4 bytes"};
constexpr need rows_of_taps{[](auto& problem, auto&) { return has_rows_of_taps(problem); },
                            "needs one group, pixels and taps side by side and not far apart, "
                            "and rows of taps that fit shared memory"};
constexpr auto on_tensor_cores = needs<ampere, tf32_or_16_bits, ints>;

template <grouped_products products>
constexpr need slabs{
    [](auto& problem, auto&) { return has_slabs(problem, products); },
    "takes groups of 1 to 32 input channels and of at most 32 outputs, and sides, strides and dilations of "
    "filters of at most 128, where windows and filters fit shared memory"};
constexpr need quads_of_channels{[](auto& problem, auto&) { return problem.filters.channels % 4 == 0; },
                                 "needs groups of a multiple of 4 input channels"};

constexpr auto& hopper = detail::hopper<conv_problem>;
constexpr need of_16_bits{[](auto& problem, auto&) { return problem.operands != element_type::f32; },
                          "takes half and bfloat16"};
constexpr need channels{[](auto& problem, auto&) { return problem.filters.channels > 0; },
                        "needs input channels"};
constexpr need window_maps{[](auto& problem, auto&) { return has_window_map(with_maps(problem)); },
                           "needs windows that step by 8 at most and reach at most 255 pixels, padding of "
                           "at most 127, extents below 2^31, and copies of less than 64 GiB"};
constexpr need filter_maps{[](auto& problem, auto&) { return has_filter_map(with_maps(problem).filters); },
                           "needs copies of filters of less than 64 GiB"};
constexpr need memory_for_copies{
    [](auto& problem, auto&) { return problem.has_scratch || copies_for_maps(problem) == operand_copies{}; },
    "needs pixels and taps at multiples of 16 bytes, taps at one stride, or "
    "scratch memory for copies"};
constexpr std::string_view lacks_whole_groups =
    "needs groups of a multiple of 64 input channels, of float 32, and of a multiple of a tile's outputs";
constexpr need whole_groups_of_wgmma{
    [](auto& problem, auto&) { return is_of_one_group(problem, wgmma_tile); }, lacks_whole_groups};
template <std::size_t kernel>
constexpr need whole_groups{
    [](auto& problem, auto&) { return is_of_one_group(problem, persistent_kernels[kernel].tile()); },
    lacks_whole_groups};
template <std::size_t kernel>
constexpr need type_of{[](auto& problem, auto&) {
                           return problem.operands != element_type::f32 ||
                                  persistent_kernels[kernel].takes_float;
                       },
                       "is not built for float"};
/// Blocks that divide the depth of a tile all have a part of it, and all tiles are done at once.
template <std::size_t kernel>
constexpr need few_tiles{
    [](auto& problem, auto& device) {
        const tile_shape tile = persistent_kernels[kernel].tile();
        return !persistent_kernels[kernel].divides_k ||
               (window_steps_of(problem) >= tile.blocks &&
                window_tiles_of(problem, tile) <= device.sm_count / tile.blocks);
    },
    "needs as many steps as blocks share a tile, and as few tiles as the device takes at once"};
constexpr need matrix_output{
    [](auto& problem, auto&) { return is_matrix(problem.output) && is_matrix(problem.residual); },
    "needs an output and a residual whose pixels all lie at one stride"};
constexpr auto maps = needs<channels, window_maps, filter_maps, memory_for_copies>;

template <class In, class Out, class Rung = conv_rung<In, Out>>
constexpr auto table = joined(
    std::to_array<Rung>({
        {naive, "naive", any_problem, always, plan_naive, launch_naive<In, Out>},
        {tiled, "tiled", any_problem, always, plan_tiled, launch_tiled<In, Out>},
    }),
    rows_of<Rung, register_word_kernels, plan_register_words>(
        register_tiled,
        []<std::size_t kernel> {
            return needs<ampere, floats, ints, tiles_in_grid<register_word_kernels, kernel>>;
        },
        always,
        launch_if<launch_register_tiled_words<In, Out>, std::is_same_v<In, float>>),
    rows_of<Rung, register_four_kernels, plan_register_fours>(
        register_tiled,
        []<std::size_t kernel> {
            return needs<ampere, floats, ints, fours_of_channels, tiles_in_grid<register_four_kernels, kernel>>;
        },
        always, launch_if<launch_register_tiled<In, Out>, std::is_same_v<In, float>>),
    std::to_array<Rung>({
        {depthwise, "depthwise", needs<one_channel_a_group, few_taps>, always, plan_depthwise,
         launch_depthwise<In, Out>},
        {im2col, "im2col", needs<rows_of_filters, countable_windows>, takes_little_scratch, plan_im2col,
         launch_im2col<In, Out>},
        {kn2row, "kn2row", needs<one_group, rows_of_pixels, few_shares>, always, plan_kn2row,
         launch_kn2row<In, Out>},
    }),
    rows_of<Rung, mma_element_kernels, plan_mma_sync_elements>(
        mma_sync, needs<on_tensor_cores, of_16_bits>, always,
        launch_if<launch_mma_sync_elements<In, Out>, !std::is_same_v<In, float>>),
    rows_of<Rung, mma_word_kernels, plan_mma_sync_words>(
        mma_sync, needs<on_tensor_cores, copies_of<4>>, always,
        launch_mma_sync_words<In, Out>),
    rows_of<Rung, mma_packet_kernels, plan_mma_sync>(
        mma_sync, needs<on_tensor_cores, copies_of<16>>, always, launch_mma_sync<In, Out>),
    std::to_array<Rung>({
        {mma_sync, "mma_sync rows", needs<on_tensor_cores, of_16_bits, rows_of_taps>, always,
         plan_mma_rows, launch_if<launch_mma_rows<In, Out>, !std::is_same_v<In, float>>},
        {grouped, "grouped fma", needs<ampere, slabs<grouped_products::fma>>, always,
         plan_grouped_fma, launch_grouped_fma<In, Out>},
        {grouped, "grouped mma",
         needs<ampere, of_16_bits, quads_of_channels, slabs<grouped_products::mma>>, always,
         plan_grouped_mma, launch_if<launch_grouped_mma<In, Out>, !std::is_same_v<In, float>>},
        {wgmma, "wgmma", needs<hopper, of_16_bits, maps, whole_groups_of_wgmma>, never, plan_wgmma,
         launch_if<launch_wgmma<In, Out>, HEDDLE_COMPILED_FOR_90 != 0 && !std::is_same_v<In, float>>},
    }),
    rows_of<Rung, persistent_kernels, plan_persistent>(
        persistent,
        []<std::size_t kernel> {
            return needs<hopper, tf32_or_16_bits, maps, whole_groups<kernel>, matrix_output, few_tiles<kernel>,
                         type_of<kernel>>;
        },
        always, launch_on_hopper<launch_persistent<In, Out, matmul_activation>>));

constexpr const char* enumeration = "conv_algorithm";
/// What does not depend on the types.
constexpr rung_table rungs(table<float, float>, enumeration);

void require_valid(const char* operation, const conv_problem& p, const device_traits& device) {
    validate_device(operation, device);
    validate_shapes(operation, "problem", p.input, p.filters, p.output, p.geometry);
    validate_types(operation, p);
}

/// The same of a question of one algorithm.
void require_valid(const char* operation, const conv_problem& p, const device_traits& device,
                   conv_algorithm algorithm, std::string_view kernel) {
    rungs.require_known(operation, "algorithm", algorithm);
    rungs.require_kernel(operation, "kernel", algorithm, kernel);
    require_valid(operation, p, device);
}

bool is_empty(const conv_problem& p) {
    return p.output.count == 0 || p.output.channels == 0;
}

}  // namespace

std::span<const conv_algorithm> conv_algorithms() {
    return ids_of<table<float, float>>;
}

std::string_view to_string(conv_algorithm algorithm) {
    return rungs.name_of(algorithm);
}

std::span<const std::string_view> conv_kernels(conv_algorithm algorithm) {
    return kernels_of<table<float, float>>(algorithm);
}

conv_algorithm select(const conv_problem& problem, const device_traits& device) {
    require_valid("select", problem, device);
    if (is_empty(problem)) return naive;
    return rungs.choose("conv", automatic, problem, device).rung->id;
}

std::string why_not(conv_algorithm algorithm, const conv_problem& problem, const device_traits& device,
                    std::string_view kernel) {
    require_valid("why_not", problem, device, algorithm, kernel);
    if (is_empty(problem)) return {};
    return rungs.why_not("conv", algorithm, problem, device, kernel);
}

std::string_view select_kernel(const conv_problem& problem, const device_traits& device,
                               conv_algorithm algorithm, std::string_view kernel) {
    require_valid("select_kernel", problem, device, algorithm, kernel);
    if (is_empty(problem)) return "naive";
    return rungs.choose("select_kernel", algorithm, problem, device, kernel).rung->name;
}

std::int64_t conv_workspace_bytes(const conv_problem& problem, const device_traits& device,
                                  conv_algorithm algorithm, std::string_view kernel) {
    conv_problem with = problem;
    with.has_scratch = true;
    if (!why_not(algorithm, with, device, kernel).empty() || is_empty(problem)) return 0;
    return workspace_bytes_for(scratch_bytes(rungs.choose("conv", algorithm, with, device, kernel)));
}

namespace detail {

void add_facts(facts& to, const tensor_layout& t) {
    to.add({fact("count", t.count), fact("height", t.height), fact("width", t.width),
            fact("channels", t.channels), fact("col_stride", t.col_stride, t.channels),
            fact("row_stride", t.row_stride, t.width * t.col_stride),
            fact("image_stride", t.image_stride, t.height * t.row_stride),
            fact("alignment", t.alignment(), 256)});
}

void add_facts(facts& to, const conv_steps& s) {
    to.add({fact("y", s.y), fact("x", s.x)});
}

void add_facts(facts& to, const conv_padding& p) {
    to.add({fact("top", p.top), fact("bottom", p.bottom), fact("left", p.left), fact("right", p.right)});
}

void add_facts(facts& to, const conv_geometry& g) {
    to.add({fact("stride", g.stride, {}), fact("padding", g.padding, {}), fact("dilation", g.dilation, {}),
            fact("groups", g.groups, 1)});
}

void add_facts(facts& to, const conv_problem& p) {
    to.add({fact("input", p.input), fact("filters", p.filters), fact("output", p.output),
            fact("geometry", p.geometry, {}), fact("operands", name_of(p.operands)),
            fact("result", name_of(p.result), name_of(p.operands)),
            fact("has_epilogue", p.has_epilogue, false),
            fact("is_matmul_epilogue", p.is_matmul_epilogue, p.is_matmul_epilogue || p.has_epilogue),
            fact("residual", p.residual, {}), fact("has_scratch", p.has_scratch, true),
            fact("precision", to_string(p.precision), to_string(precision::fp32))});
}

void validate_choice(const char* operation, const conv_options& options) {
    rungs.require_known(operation, {"options", "algorithm"}, options.algorithm);
    rungs.require_kernel(operation, {"options", "kernel"}, options.algorithm, options.kernel);
    validate_precision(operation, {"options", "precision"}, options.precision);
}

template <class In, class Out>
rung_table<conv_rung<In, Out>> conv_rungs() {
    return {table<In, Out>, enumeration};
}

#define INSTANTIATE(In, Out) template rung_table<conv_rung<In, Out>> conv_rungs();
HEDDLE_PAIRS_OF_TYPES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace detail
}  // namespace heddle
