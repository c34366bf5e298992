#include "src/matmul/call.hpp"
#include <heddle/batched_matmul.hpp>
#include <heddle/types.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

#pragma GCC visibility push(default)

namespace heddle {
namespace {

/// One product of a list, with its plan.
template <class In, class Out>
struct described_product {
    kernels::matmul::product<In, Out> product;
    matmul_problem problem;
    detail::planned_matmul<In, Out> planned{};
};

/// Whether a kernel for groups of products is compiled for these types.
template <class In, class Out>
constexpr bool have_groups =
    HEDDLE_COMPILED_FOR_90 != 0 && std::is_same_v<In, Out> && !std::is_same_v<In, float>;

/// A list of products. The first `alone` have a launch each; the others are launched in groups.
template <class In, class Out>
struct planned_list {
    std::vector<described_product<In, Out>> products;
    std::size_t alone;
};
/// The products with a launch each use the same memory in turn.
template <class In, class Out>
std::int64_t scratch_bytes(const planned_list<In, Out>& list) {
    std::int64_t bytes = 0;
    for (const auto& p : std::span(list.products).first(list.alone))
        bytes = std::max(bytes, p.planned.plan.scratch_bytes());
    return bytes;
}
template <class In, class Out>
bool needs_tickets(const planned_list<In, Out>& list) {
    return std::ranges::any_of(std::span(list.products).first(list.alone),
                               [](const auto& p) { return needs_tickets(p.planned.plan); });
}

template <class In, class Out>
bool can_be_grouped(const described_product<In, Out>& p, const device_traits& device) {
    return have_groups<In, Out> && kernels::matmul::product_facts(p.problem).lies_in_boxes &&
           p.problem.a.cols > 0 && detail::can_run(matmul_algorithm::persistent, p.problem, device);
}

template <class Products>
std::vector<kernels::matmul::product_facts> problems_of(const Products& products) {
    std::vector<kernels::matmul::product_facts> problems;
    for (const auto& p : products) problems.emplace_back(p.problem);
    return problems;
}

/// How many of the products, sorted by falling k, should have a launch each: none, all, or the first with a long k.
/// k is long if a product alone takes less time than one of its tiles in a group.
template <class Products>
std::size_t count_alone(const Products& products, const device_traits& device) {
    const double launch_us = kernels::matmul::launch_us(device);
    std::size_t long_ones = 0;
    double all_us = 0, long_us = 0;
    for (std::size_t i = 0; i < products.size(); ++i) {
        const double us = launch_us + products[i].planned.plan.us;
        all_us += us;
        if (long_ones != i || us >= kernels::matmul::grouped_tile_us(products[i].problem.a.cols, device))
            continue;
        ++long_ones;
        long_us += us;
    }
    const auto problems = problems_of(products);
    const auto grouped_us = [&](std::size_t first) {
        return launch_us + kernels::matmul::plan_group(std::span(problems).subspan(first), device).us;
    };
    const double none_us = grouped_us(0);
    const double some_us = long_us + grouped_us(long_ones);
    if (all_us <= std::min(none_us, some_us)) return products.size();
    return some_us < none_us ? long_ones : 0;
}

/// Launches the products in groups of at most max_grouped.
template <class T>
void launch_groups(std::span<described_product<T, T>> products, const device_traits& device,
                   cudaStream_t stream) {
    constexpr std::size_t most = kernels::matmul::max_grouped;
    for (std::size_t launches = (products.size() + most - 1) / most; launches > 0; --launches) {
        const std::span group = products.first((products.size() + launches - 1) / launches);
        products = products.subspan(group.size());
        std::vector<kernels::matmul::product<T, T>> arguments;
        for (const auto& p : group) arguments.push_back(p.product);
        kernels::matmul::launch_grouped<T>(kernels::matmul::plan_group(problems_of(group), device), arguments,
                                           stream);
    }
}

}  // namespace

template <class Out, class In>
void batched_matmul(batch_view<const std::type_identity_t<In>> a,
                    batch_view<const std::type_identity_t<In>> b, batch_view<Out> c, cuda::stream_ref stream,
                    const matmul_options& options) {
    detail::validate_batch(a, b, c);
    detail::run<In, Out>(a.first, b.first, c.first, {}, {c.count, a.stride, b.stride, c.stride}, stream,
                         options);
}

template <class Out, class In>
std::int64_t batched_matmul_workspace_bytes(batch_view<const std::type_identity_t<In>> a,
                                            batch_view<const std::type_identity_t<In>> b, batch_view<Out> c,
                                            cuda::stream_ref stream, const matmul_options& options) {
    detail::validate_batch(a, b, c);
    detail::validate_matmul<In, Out>("matmul", a.first, b.first, c.first, c.count > 0);
    detail::validate_choice("matmul", options);
    const auto product = detail::described<In, Out>(a.first, b.first, c.first, {},
                                                    {c.count, a.stride, b.stride, c.stride}, options);
    return matmul_workspace_bytes(detail::problem_of(product, options), traits_of(device_of(stream)),
                                  options.algorithm, options.kernel);
}

template <class Out, class In>
void batched_matmul(std::type_identity_t<std::span<const matmul_operands<Out, In>>> products,
                    cuda::stream_ref stream, const matmul_options& options) {
    std::vector<described_product<In, Out>> todo;
    todo.reserve(products.size());
    for (const auto& each : products)
        if (const auto product = detail::checked<In, Out>(each.a, each.b, each.c, {}, {}, options))
            todo.push_back({*product, detail::problem_of(*product, options)});
    detail::require_kernel(options.algorithm, element_type_of<In>, options.kernel);
    if (todo.empty()) return;

    const detail::stream_device call_device(stream);
    const device_traits& device = call_device.traits();
    auto [planned, workspace] = detail::plan_with_workspace("matmul", options, stream, [&](bool has_scratch) {
        planned_list<In, Out> list{todo, todo.size()};
        for (auto& p : list.products) {
            p.problem.has_scratch = has_scratch;
            p.planned = detail::plan_matmul<In, Out>(p.problem, device, options);
        }
        if (options.algorithm == matmul_algorithm::automatic && options.kernel.empty()) {
            const std::span group = std::ranges::partition(
                list.products, [&](const auto& p) { return !can_be_grouped(p, device); });
            std::ranges::sort(group, std::greater(), [](const auto& p) { return p.problem.a.cols; });
            list.alone += count_alone(group, device) - group.size();
        }
        return list;
    });
    const std::span all = planned.products;
    for (auto& p : all.first(planned.alone)) {
        p.product.workspace = {workspace.tickets(), workspace.scratch()};
        detail::launch(p.planned, p.product, stream.get());
    }
    if constexpr (have_groups<In, Out>) launch_groups<In>(all.subspan(planned.alone), device, stream.get());
}

template <class Out, class In>
std::int64_t batched_matmul_workspace_bytes(
    std::type_identity_t<std::span<const matmul_operands<Out, In>>> products, cuda::stream_ref stream,
    const matmul_options& options) {
    std::int64_t bytes = 0;
    for (const auto& each : products)
        bytes = std::max(bytes, matmul_workspace_bytes<Out, In>(each.a, each.b, each.c, stream, options));
    return bytes;
}

#define INSTANTIATE(In, Out)                                                                                 \
    template void batched_matmul<Out, In>(batch_view<const In>, batch_view<const In>, batch_view<Out>,       \
                                          cuda::stream_ref, const matmul_options&);                          \
    template void batched_matmul<Out, In>(std::span<const matmul_operands<Out, In>>, cuda::stream_ref,       \
                                          const matmul_options&);                                            \
    template std::int64_t batched_matmul_workspace_bytes<Out, In>(batch_view<const In>,                      \
                                                                  batch_view<const In>, batch_view<Out>,     \
                                                                  cuda::stream_ref, const matmul_options&);  \
    template std::int64_t batched_matmul_workspace_bytes<Out, In>(std::span<const matmul_operands<Out, In>>, \
                                                                  cuda::stream_ref, const matmul_options&);
HEDDLE_PAIRS_OF_TYPES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace heddle

#pragma GCC visibility pop
