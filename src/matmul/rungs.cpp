#include "src/matmul/rungs.hpp"

#include "src/validate.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace heddle {
namespace {

using namespace kernels::matmul;
using detail::always, detail::any_problem, detail::needs, detail::never, detail::rows_of;
using enum matmul_algorithm;

// What rungs need.

using need = detail::need<product_facts>;

constexpr need ampere{[](auto&, auto& device) { return device.has_compute_capability(8, 0); },
                      "needs compute capability 8.0"};
constexpr auto& hopper = detail::hopper<product_facts>;
constexpr need unit_strides{[](auto& p, auto&) { return p.has_unit_strides; },
                            "needs the rows or the columns of a and of b side by side (a stride of 1)"};
template <std::size_t kernel>
constexpr need shared_memory_for{[](auto&, auto& device) {
                                     constexpr auto bytes =
                                         static_cast<std::size_t>(pipelined_kernels[kernel].shared_bytes());
                                     return bytes <= device.shared_memory_per_block_optin;
                                 },
                                 "needs more shared memory than the device has"};
template <std::size_t kernel>
constexpr need packets_for{
    [](auto& p, auto&) { return mma_sync_kernels[kernel].takes_elements() || p.lies_in_boxes; },
    "needs rows or columns of a and of b that begin at multiples of 16 bytes"};
template <std::size_t kernel>
constexpr need boxes_for_skinny{
    [](auto& p, auto&) { return skinny_kernels[kernel].n % skinny_height == 0 || p.short_side_lies_along_k; },
    "needs the operand of C's shorter side along k"};
template <std::size_t kernel>
constexpr need rows_for_skinny_float{[](auto& p, auto&) {
                                         return kernel + 1 == skinny_float_kernels.size() ||
                                                std::min(p.c.rows, p.c.cols) <=
                                                    skinny_float_kernels[kernel].rows;
                                     },
                                     "needs m or n of at most its rows"};
constexpr need boxes{
    [](auto& p, auto&) { return p.lies_in_boxes || p.can_be_copied; },
    "needs rows or columns of a and of b that are contiguous and begin at multiples of 16 "
    "bytes, in each matrix of a batch, or scratch memory for copies that do, unless matrices "
    "of a batch overlap; and extents below 2^31"};
constexpr need boxes_along_k{[](auto& p, auto&) { return p.lies_along_k || p.can_be_copied_along_k; },
                             "needs rows of a or columns of b that are contiguous, or scratch memory for a "
                             "copy that has them"};
constexpr need countable{[](auto& p, auto&) { return p.is_countable; }, "needs extents below 2^31"};
constexpr need tiles{[](auto& p, auto&) { return p.has_countable_tiles; },
                     "needs at most 2^30 tiles of C, of 64 x 64, in all of a batch"};
/// Where nothing is multiplied, any C will do.
constexpr need short_side{[](auto& p, auto&) { return p.is_skinny || p.a.cols == 0; },
                          "needs m or n of at most 64"};
static_assert(max_skinny_side == 64 && max_skinny_float_side == 64);
constexpr need one_line{[](auto& p, auto&) { return p.is_vector; }, "needs m or n of 1"};
constexpr need rows_in_shared_memory{
    [](auto&, auto& device) { return device.shared_memory_per_block_optin >= skinny_float_shared_bytes; },
    "of float needs 204800 bytes of shared memory"};
static_assert(skinny_float_shared_bytes == 204800);
constexpr need no_batch{[](auto& p, auto&) { return p.batches == 1; },
                        "takes no batch: those that batched_matmul() names do"};
constexpr need no_epilogue{[](auto& p, auto&) { return !p.has_epilogue; }, "has no epilogue"};
constexpr need one_type{[](auto& p, auto&) { return p.result == p.operands; },
                        "stores the type of its operands"};

// What `automatic` may take.

bool shares_tiles(const product_facts& p, const device_traits&) {
    return p.has_scratch;
}
bool is_normwise(const product_facts& p, const device_traits&) {
    return p.precision == precision::fp32_normwise || p.precision == precision::tf32;
}
bool is_normwise_alone(const product_facts& p, const device_traits&) {
    return p.precision == precision::fp32_normwise;
}
bool is_tf32(const product_facts& p, const device_traits&) {
    return p.precision == precision::tf32;
}
/// From this k on the sums of bf16x6 are at least as exact as sums of FMAs one after another, also where few terms outweigh
/// all others (docs/accuracy.md).
bool is_exact_as_bf16x6(const product_facts& p, const device_traits&) {
    constexpr std::int64_t min_k = 512;
    return p.precision == precision::tf32 || (p.precision != precision::ieee && p.a.cols >= min_k);
}

template <auto launch>
constexpr auto on_hopper = detail::launch_if<launch, HEDDLE_COMPILED_FOR_90 != 0>;

using float_rung = detail::matmul_rung<float, float>;

constexpr auto float_rungs = detail::joined(
    std::to_array<float_rung>({
        {naive, "naive", any_problem, never, plan_one_way, launch_naive<float, float>},
        {coalesced, "coalesced", needs<no_batch, no_epilogue>, never, plan_one_way, launch_coalesced},
        {tiled, "tiled", needs<no_batch, no_epilogue>, never, plan_one_way, launch_tiled},
        {shared_memory, "shared_memory", needs<no_batch, no_epilogue>, never, plan_one_way,
         launch_shared_memory},
        {register_tiled, "register_tiled", needs<no_batch, no_epilogue>, never, plan_one_way,
         launch_register_tiled},
        {warp_tiled, "warp_tiled", any_problem, always, plan_warp_tiled, launch_warp_tiled<>},
    }),
    rows_of<float_rung, pipelined_kernels, plan_pipelined>(
        pipelined, []<std::size_t kernel> { return needs<ampere, shared_memory_for<kernel>, unit_strides>; },
        always, launch_pipelined),
    std::to_array<float_rung>({{tma_pipelined, "tma_pipelined", needs<hopper, no_batch, no_epilogue, boxes>,
                                always, plan_tma_pipelined, on_hopper<launch_tma_pipelined>}}),
    rows_of<float_rung, split_k_names, plan_split_k>(
        split_k, []<std::size_t kernel> { return needs<ampere, shared_memory_for<kernel>, unit_strides>; },
        shares_tiles, launch_split_k),
    rows_of<float_rung, thin_kernels, plan_thin>(
        thin, []<std::size_t> { return needs<ampere, unit_strides>; }, always, launch_thin),
    std::to_array<float_rung>({{tf32x3, "tf32x3", needs<ampere, no_batch, no_epilogue, unit_strides>,
                                is_normwise, plan_tf32x3, launch_tf32x3}}),
    rows_of<float_rung, skinny_float_kernels, plan_skinny_float>(
        skinny,
        []<std::size_t
               kernel> { return needs<rows_in_shared_memory, short_side, rows_for_skinny_float<kernel>>; },
        always, launch_skinny_float),
    rows_of<float_rung, bf16x6_kernels, plan_bf16x6>(
        bf16x6, []<std::size_t> { return needs<hopper, boxes, tiles>; }, is_exact_as_bf16x6,
        on_hopper<launch_bf16x6>),
    std::to_array<float_rung>({{fp16x3, "fp16x3", needs<hopper, no_batch, countable>, is_normwise_alone,
                                plan_fp16x3, on_hopper<launch_fp16x3>}}),
    rows_of<float_rung, tf32_kernels, plan_tf32>(
        tf32, []<std::size_t> { return needs<hopper, boxes, boxes_along_k, tiles>; }, is_tf32,
        on_hopper<launch_tf32>),
    rows_of<float_rung, skinny_tf32_kernels, plan_skinny_tf32>(
        tf32, []<std::size_t> { return needs<hopper, no_batch, boxes, boxes_along_k, short_side>; }, is_tf32,
        on_hopper<launch_skinny_tf32>),
    std::to_array<float_rung>(
        {{vector, "vector", needs<one_line>, always, plan_vector, launch_vector<float, float>}}));

template <class In, class Out, class Rung = detail::matmul_rung<In, Out>>
constexpr auto half_rungs = detail::joined(
    std::to_array<Rung>({
        {naive, "naive", any_problem, never, plan_one_way, launch_naive<In, Out>},
        {wmma, "wmma", any_problem, always, plan_wmma, launch_wmma<In, Out>},
    }),
    rows_of<Rung, mma_sync_kernels, plan_mma_sync>(
        mma_sync, []<std::size_t kernel> { return needs<ampere, unit_strides, packets_for<kernel>>; }, always,
        launch_mma_sync<In, Out>),
    std::to_array<Rung>({
        {wgmma_tma, "wgmma_tma", needs<hopper, no_batch, no_epilogue, one_type, boxes>, never, plan_copied,
         on_hopper<launch_wgmma_tma<In>>},
        {warp_specialized, "warp_specialized", needs<hopper, no_batch, no_epilogue, one_type, boxes>, never,
         plan_copied, on_hopper<launch_warp_specialized<In>>},
    }),
    rows_of<Rung, persistent_kernels, plan_persistent>(
        persistent, []<std::size_t> { return needs<hopper, no_epilogue, boxes, tiles>; }, always,
        on_hopper<launch_persistent<In, Out>>),
    rows_of<Rung, multicast_kernels, plan_cluster_multicast>(
        cluster_multicast, []<std::size_t> { return needs<hopper, no_epilogue, boxes, tiles>; }, always,
        on_hopper<launch_cluster_multicast<In, Out>>),
    rows_of<Rung, stream_k_names, plan_stream_k>(
        stream_k, []<std::size_t> { return needs<hopper, no_epilogue, boxes, tiles>; }, shares_tiles,
        on_hopper<launch_persistent<In, Out>>),
    rows_of<Rung, skinny_kernels, plan_skinny>(
        skinny,
        []<std::size_t
               kernel> { return needs<hopper, no_batch, short_side, boxes, boxes_for_skinny<kernel>>; },
        always, on_hopper<launch_skinny<In, Out>>),
    rows_of<Rung, fused_kernels, plan_fused>(
        fused, []<std::size_t> { return needs<hopper, no_batch, boxes, tiles>; }, always,
        on_hopper<launch_fused<In, Out>>),
    std::to_array<Rung>({{vector, "vector", needs<one_line>, always, plan_vector, launch_vector<In, Out>}}));

constexpr const char* enumeration = "matmul_algorithm";
/// What does not depend on the type beside float or not.
constexpr detail::rung_table float_table(float_rungs, enumeration);
constexpr detail::rung_table half_table(half_rungs<half, half>, enumeration);

template <class Function>
auto with_table(element_type operands, Function function) {
    return operands == element_type::f32 ? function(float_table) : function(half_table);
}

bool has_kernel(matmul_algorithm algorithm, element_type operands, std::string_view kernel) {
    return with_table(operands, [=](const auto& table) { return table.has(algorithm, kernel); });
}

bool is_empty(const matmul_problem& p) {
    return p.c.rows == 0 || p.c.cols == 0 || p.a.cols == 0 || p.batches == 0;
}

/// Where nothing is multiplied, no scratch memory is needed.
product_facts facts_of(matmul_problem problem) {
    problem.has_scratch |= is_empty(problem);
    return product_facts(problem);
}

std::string why_no_kernel(matmul_algorithm algorithm, element_type operands, std::string_view kernel) {
    return detail::format("matmul: {} has no kernel for operands of type {}",
                          kernel.empty() ? to_string(algorithm) : kernel, detail::name_of(operands));
}

/// Knows the kernels of either type: whether there is one for the operands, another check says.
void validate_algorithm(const char* operation, const detail::argument_name& name, matmul_algorithm algorithm,
                        const detail::argument_name& kernel_name, std::string_view kernel) {
    detail::require(to_string(algorithm) != "unknown", operation, name, static_cast<int>(algorithm),
                    "an enumerator of {}", enumeration);
    if (float_table.has(algorithm, kernel) || half_table.has(algorithm, kernel)) return;
    std::string names;
    const auto of_float = matmul_kernels(element_type::f32, algorithm);
    for (const element_type type : {element_type::f32, element_type::f16})
        for (const std::string_view each : matmul_kernels(type, algorithm))
            if (type == element_type::f32 || std::ranges::find(of_float, each) == of_float.end())
                names += detail::format("{}{}", names.empty() ? "" : ", ", each);
    detail::require(false, operation, kernel_name, kernel, "one of {}", names);
}

}  // namespace

std::span<const matmul_algorithm> matmul_algorithms(element_type operands) {
    if (operands == element_type::f32) return detail::ids_of<float_rungs>;
    return detail::ids_of<half_rungs<half, half>>;
}

std::string_view to_string(matmul_algorithm algorithm) {
    const std::string_view name = float_table.name_of(algorithm);
    return name != "unknown" ? name : half_table.name_of(algorithm);
}

std::string_view to_string(precision precision) {
    constexpr std::array names = {"ieee", "fp32", "fp32_normwise", "tf32"};
    const auto place = static_cast<std::size_t>(precision);
    return place < names.size() ? names[place] : "unknown";
}

std::span<const std::string_view> matmul_kernels(element_type operands, matmul_algorithm algorithm) {
    return operands == element_type::f32 ? detail::kernels_of<float_rungs>(algorithm)
                                         : detail::kernels_of<half_rungs<half, half>>(algorithm);
}

matmul_algorithm select(const matmul_problem& problem, const device_traits& device) {
    detail::validate_problem("select", problem, device);
    if (is_empty(problem)) return naive;
    return with_table(problem.operands, [&](const auto& table) {
        return table.choose("select", automatic, product_facts(problem), device).rung->id;
    });
}

std::string why_not(matmul_algorithm algorithm, const matmul_problem& problem, const device_traits& device,
                    std::string_view kernel) {
    validate_algorithm("why_not", "algorithm", algorithm, "kernel", kernel);
    detail::validate_problem("why_not", problem, device);
    if (!has_kernel(algorithm, problem.operands, kernel))
        return why_no_kernel(algorithm, problem.operands, kernel);
    return with_table(problem.operands, [&](const auto& table) {
        return table.why_not("matmul", algorithm, facts_of(problem), device, kernel);
    });
}

std::string_view select_kernel(const matmul_problem& problem, const device_traits& device,
                               matmul_algorithm algorithm, std::string_view kernel) {
    validate_algorithm("select_kernel", "algorithm", algorithm, "kernel", kernel);
    detail::validate_problem("select_kernel", problem, device);
    detail::require_kernel(algorithm, problem.operands, kernel);
    if (is_empty(problem)) return "naive";
    return with_table(problem.operands, [&](const auto& table) {
        return table.choose("select_kernel", algorithm, product_facts(problem), device, kernel).rung->name;
    });
}

bool may_stand_for(matmul_algorithm algorithm, const matmul_problem& problem, const device_traits& device) {
    return with_table(problem.operands, [&](const auto& table) {
        return table.may_take(algorithm, facts_of(problem), device);
    });
}

std::int64_t matmul_workspace_bytes(const matmul_problem& problem, const device_traits& device,
                                    matmul_algorithm algorithm, std::string_view kernel) {
    validate_algorithm("matmul_workspace_bytes", "algorithm", algorithm, "kernel", kernel);
    detail::validate_problem("matmul_workspace_bytes", problem, device);
    matmul_problem with = problem;
    with.has_scratch = true;
    if (is_empty(problem) || !detail::can_run(algorithm, with, device, kernel)) return 0;
    return with_table(problem.operands, [&](const auto& table) {
        return table.choose("matmul", algorithm, product_facts(with), device, kernel).plan.workspace_bytes();
    });
}

namespace detail {

void add_facts(facts& to, const matrix_layout& m) {
    to.add({fact("rows", m.rows), fact("cols", m.cols), fact("row_stride", m.row_stride, m.cols),
            fact("col_stride", m.col_stride, 1), fact("alignment", m.alignment(), 256)});
}

void add_facts(facts& to, const matmul_problem& p) {
    to.add({fact("a", p.a), fact("b", p.b), fact("c", p.c), fact("operands", name_of(p.operands)),
            fact("result", name_of(p.result), name_of(p.operands)), fact("batches", p.batches, 1),
            fact("a_stride", p.a_stride, 0), fact("b_stride", p.b_stride, 0), fact("c_stride", p.c_stride, 0),
            fact("has_epilogue", p.has_epilogue, false), fact("adds_c", p.adds_c, false),
            fact("has_scratch", p.has_scratch, true),
            fact("precision", to_string(p.precision), to_string(precision::fp32))});
}

bool can_run(matmul_algorithm algorithm, const matmul_problem& problem, const device_traits& device,
             std::string_view kernel) {
    return has_kernel(algorithm, problem.operands, kernel) &&
           with_table(problem.operands, [&](const auto& table) {
               return table.can_run(algorithm, facts_of(problem), device, kernel);
           });
}

void require_kernel(matmul_algorithm algorithm, element_type operands, std::string_view kernel) {
    if (!has_kernel(algorithm, operands, kernel))
        throw unsupported(why_no_kernel(algorithm, operands, kernel));
}

void validate_choice(const char* operation, const matmul_options& options) {
    validate_algorithm(operation, {"options", "algorithm"}, options.algorithm, {"options", "kernel"},
                       options.kernel);
    require(to_string(options.precision) != "unknown", operation, {"options", "precision"},
            static_cast<int>(options.precision), "an enumerator of precision");
}

void validate_problem(const char* operation, const matmul_problem& p, const device_traits& device) {
    validate_device(operation, device);
    const std::int64_t m = p.c.rows, n = p.c.cols, k = p.a.cols;
    validate_extents(operation, {{"m", m}, {"n", n}, {"batches", p.batches}});
    validate_extents(operation, {{"m", m}, {"k", k}});
    validate_extents(operation, {{"n", n}, {"k", k}});
    require(p.a.rows == m && p.b.rows == k && p.b.cols == n, operation, "problem",
            "one of shapes that disagree", "one of matmul_problem_of()");
    const auto is_operand = [](element_type type) {
        return type == element_type::f32 || type == element_type::f16 || type == element_type::bf16;
    };
    require(is_operand(p.operands), operation, {"problem", "operands"}, static_cast<int>(p.operands),
            "f32, f16 or bf16");
    require(p.result == p.operands || p.result == element_type::f32, operation, {"problem", "result"},
            static_cast<int>(p.result), "the type of the operands, or f32");
    const std::int64_t bytes = p.operands == element_type::f32 ? 4 : 2;
    require(p.a.element_bytes == bytes && p.b.element_bytes == bytes, operation,
            {"problem", "a.element_bytes"}, p.a.element_bytes, "{}, as that of b: the size of an operand",
            bytes);
    require(to_string(p.precision) != "unknown", operation, {"problem", "precision"},
            static_cast<int>(p.precision), "an enumerator of precision");
}

template <class In, class Out>
planned_matmul<In, Out> plan_matmul(const matmul_problem& problem, const device_traits& device,
                                    const matmul_options& options) {
    validate_problem("matmul", problem, device);
    const rung_table table = [] {
        if constexpr (std::is_same_v<In, float>)
            return rung_table(float_rungs, enumeration);
        else
            return rung_table(half_rungs<In, Out>, enumeration);
    }();
    if (problem.a.cols == 0) {  // nothing is multiplied, whatever rung was asked for
        static constexpr matmul_rung<In, Out> scale{naive, "scale",    any_problem,
                                                    never, plan_scale, launch_scale<In, Out>};
        const std::string reason = why_not(options.algorithm, problem, device, options.kernel);
        if (!reason.empty()) throw unsupported(reason);
        return {&scale, scale.plan(product_facts(problem), device)};
    }
    return table.choose("matmul", options.algorithm, product_facts(problem), device, options.kernel);
}

template planned_matmul<float, float> plan_matmul(const matmul_problem&, const device_traits&,
                                                  const matmul_options&);
template planned_matmul<half, half> plan_matmul(const matmul_problem&, const device_traits&,
                                                const matmul_options&);
template planned_matmul<half, float> plan_matmul(const matmul_problem&, const device_traits&,
                                                 const matmul_options&);
template planned_matmul<bfloat16, bfloat16> plan_matmul(const matmul_problem&, const device_traits&,
                                                        const matmul_options&);
template planned_matmul<bfloat16, float> plan_matmul(const matmul_problem&, const device_traits&,
                                                     const matmul_options&);

}  // namespace detail
}  // namespace heddle
