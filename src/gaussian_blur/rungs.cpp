#include "src/gaussian_blur/rungs.hpp"

#include "kernels/gaussian_blur/cost/cost.hpp"
#include "kernels/gaussian_blur/facts.hpp"
#include "kernels/gaussian_blur/launch.hpp"
#include "src/gaussian_blur/needs.hpp"
#include "src/gaussian_blur/taps.hpp"
#include "src/gaussian_blur/validate.hpp"
#include "src/workspace.hpp"
#include <heddle/types.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

namespace heddle {
namespace {

using namespace kernels::gaussian_blur;
using namespace detail;
using enum gaussian_blur_algorithm;
namespace of = detail::blur_needs;

/// The row of a kernel that has its own type of plan. why_not() tells if the kernel does not take T or is not built.
template <class T, auto plan_kernel, auto launch_kernel, bool is_built = true>
constexpr blur_rung<T> row(gaussian_blur_algorithm id, std::string_view name,
                           decltype(blur_rung<T>::why_not) why_not,
                           decltype(blur_rung<T>::pays) pays = always) {
    using own_plan = std::invoke_result_t<decltype(plan_kernel), const filter_facts&, const device_traits&>;
    const auto plan_any = [](const filter_facts& f, const device_traits& device) -> plan {
        const own_plan own = plan_kernel(f, device);
        return {own, own.us};
    };
    const auto launch = [](const plan& plan, const arguments<T>& arguments, cudaStream_t stream) {
        launch_if<launch_kernel, is_built>(std::get<own_plan>(plan.kernels), arguments, stream);
    };
    return {id, name, why_not, pays, plan_any, launch};
}

/// decimated's window is not exactly a Gaussian.
bool may_be_decimated(const filter_facts& f, const device_traits& device) {
    return !f.exact && std::min(f.sigma.x, f.sigma.y) >= costs_of(device).min_sigma_of_decimated;
}

constexpr bool for_90 = HEDDLE_COMPILED_FOR_90 != 0;

template <class T>
constexpr auto table = std::to_array<blur_rung<T>>({
    row<T, plan_naive, launch_naive<T>>(naive, "naive", needs<of::tables>),
    row<T, plan_separable, launch_separable<T>>(separable, "separable", any_problem),
    row<T, plan_shared_memory, launch_shared_memory<T>>(shared_memory, "shared_memory", of::shared_memory),
    row<T, plan_tiled, launch_tiled<T>>(tiled, "tiled", of::tiled),
    row<T, plan_fused_ring, launch_fused_ring<T>>(fused, "fused ring", of::ring),
    row<T, plan_fused_strips, launch_fused_strips<T>>(fused, "fused strips", of::strips),
    row<T, plan_fused_chains, launch_fused_chains>(fused, "fused chains", of::chains),
    row<T, plan_fused_tiles, launch_fused_tiles<T>>(fused, "fused tiles",
                                                    needs<of::tile_radius, of::tile_packets, of::short_rows>),
    row<T, plan_mma_xy, launch_mma_xy, for_90>(mma_xy, "mma_xy",
                                               needs<of::tensor_cores, of::gaussian, of::square_radius>),
    row<T, plan_wgmma_xy, launch_wgmma_xy, for_90>(wgmma_xy, "wgmma_xy", of::warpgroups),
    row<T, plan_mma_xy_by_channel, launch_mma_xy_by_channel, for_90>(
        mma_xy_by_channel, "mma_xy_by_channel",
        needs<of::wide_windows, of::gaussian, of::pixel_radius, of::mirrored, of::images_in_grid>),
    row<T, plan_decimated, launch_decimated<T>>(decimated, "decimated", decimated_needs, may_be_decimated),
});

constexpr const char* enumeration = "gaussian_blur_algorithm";
/// For the calls that have no pixel type of their own.
constexpr detail::rung_table rungs(table<std::uint8_t>, enumeration);

/// The facts of a call: its radius leaves out the weights that are 0.
filter_facts facts_of(gaussian_blur_problem problem) {
    problem.radius = blur_radius(problem.sigma, problem.radius);
    return filter_facts(problem);
}

/// One number if both axes have the same.
template <class Pair>
std::string text_of(const Pair& p) {
    return p.x == p.y ? detail::format("{}", p.x) : detail::format("(x {}, y {})", p.x, p.y);
}

}  // namespace

std::span<const gaussian_blur_algorithm> gaussian_blur_algorithms() {
    return ids_of<table<std::uint8_t>>;
}

std::span<const std::string_view> gaussian_blur_kernels(gaussian_blur_algorithm algorithm) {
    return kernels_of<table<std::uint8_t>>(algorithm);
}

std::string_view to_string(gaussian_blur_algorithm algorithm) {
    return rungs.name_of(algorithm);
}

gaussian_blur_algorithm select(const gaussian_blur_problem& problem, const device_traits& device) {
    validate_problem("select", problem, device);
    return rungs.choose("select", automatic, facts_of(problem), device).rung->id;
}

std::string why_not(gaussian_blur_algorithm algorithm, const gaussian_blur_problem& problem,
                    const device_traits& device, std::string_view kernel) {
    rungs.require_known("why_not", "algorithm", algorithm);
    rungs.require_kernel("why_not", "kernel", algorithm, kernel);
    validate_problem("why_not", problem, device);
    return rungs.why_not("gaussian_blur", algorithm, facts_of(problem), device, kernel);
}

std::int64_t gaussian_blur_workspace_bytes(const gaussian_blur_problem& problem, const device_traits& device,
                                           gaussian_blur_algorithm algorithm) {
    constexpr const char* operation = "gaussian_blur_workspace_bytes";
    rungs.require_known(operation, {"options", "algorithm"}, algorithm);
    validate_problem(operation, problem, device);
    gaussian_blur_problem with = problem;
    with.has_scratch = true;
    return is_empty(problem) ? 0 : workspace_bytes(facts_of(with), device, algorithm);
}

namespace detail {

void add_facts(facts& to, const filter_facts& f) {
    constexpr std::array windows = {"gaussian", "box", "taps"};
    constexpr std::array types = {"uint8", "uint16", "half", "float"};
    constexpr std::array borders = {"replicate", "reflect", "reflect_101", "wrap", "constant"};
    const auto name_in = [](const auto& names, auto value) {
        return std::string_view(names[static_cast<std::size_t>(value)]);
    };
    const bool has_sigma = f.window == window::gaussian;
    to.add({fact("width", f.width), fact("height", f.height), fact("channels", f.channels),
            fact("radius", text_of(f.radius)), fact("sigma", has_sigma ? text_of(f.sigma) : "", ""),
            fact("window", name_in(windows, f.window), windows[0]), fact("type", name_in(types, f.type)),
            fact("images", f.images), fact("exact", f.exact, false), fact("in_words", f.in_words, true),
            fact("in_vectors", f.in_vectors, true), fact("border", name_in(borders, f.border), borders[0]),
            fact("has_scratch", f.has_scratch, true), fact("x", f.x, 0), fact("y", f.y, 0),
            fact("source_width", f.source_width, f.width), fact("source_height", f.source_height, f.height),
            fact("source_fits_map", f.source_fits_map, true)});
}

std::int64_t workspace_bytes(const filter_facts& facts, const device_traits& device,
                             gaussian_blur_algorithm algorithm) {
    constexpr const char* operation = "workspace_bytes";
    if (!rungs.can_run(algorithm, facts, device)) return 0;
    return workspace_bytes_for(scratch_bytes(rungs.choose(operation, algorithm, facts, device).plan));
}

template <class T>
rung_table<blur_rung<T>> blur_rungs() {
    return {table<T>, enumeration};
}

template rung_table<blur_rung<float>> blur_rungs();
template rung_table<blur_rung<half>> blur_rungs();
template rung_table<blur_rung<std::uint16_t>> blur_rungs();
template rung_table<blur_rung<std::uint8_t>> blur_rungs();

}  // namespace detail
}  // namespace heddle
