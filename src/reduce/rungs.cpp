#include "src/reduce/rungs.hpp"

#include "src/format.hpp"
#include "src/rung_queries.hpp"
#include "src/validate.hpp"
#include "src/workspace.hpp"
#include <heddle/error.hpp>
#include <heddle/types.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace heddle {
namespace {

namespace kernel = kernels::reduce;
using detail::always, detail::never;
using enum reduce_algorithm;

constexpr detail::need<kernel::reduce_facts> unit_stride{
    [](auto& problem, auto&) { return problem.stride == 1; }, "needs x.stride 1"};

/// A row for each rung that the operation has. single_pass is one launch, which beats two at every size, and takes any
/// stride.
template <class Operation, class T>
constexpr auto table = [] {
    using row = detail::reduce_rung<Operation, T>;
    return detail::joined(
#define ROW(name, operations, pays, ...)                                                                    \
    [] {                                                                                                    \
        if constexpr (kernel::operations<Operation>)                                                        \
            return std::array<row, 1>{{{name, #name, detail::needs<__VA_ARGS__>, pays, kernel::plan_##name, \
                                        kernel::launch_##name<Operation, T>}}};                             \
        else                                                                                                \
            return std::array<row, 0>{};                                                                    \
    }(),
        HEDDLE_REDUCE_RUNGS(ROW)
#undef ROW
            std::array<row, 0>{});
}();

constexpr const char* enumeration = "reduce_algorithm";
/// What depends neither on the operation, if it has all rungs, nor on the type.
constexpr detail::rung_table rungs(table<kernel::sum, float>, enumeration);

struct description {
    reduce_operation value;
    const char* name;
    std::span<const reduce_algorithm> rungs;
};

template <class Operation>
constexpr description describe(reduce_operation value, const char* name) {
    return {value, name, detail::ids_of<table<Operation, float>>};
}

constexpr std::array descriptions = {
    describe<kernel::sum>(reduce_operation::sum, "sum"),
    describe<kernel::mean>(reduce_operation::mean, "mean"),
    describe<kernel::min>(reduce_operation::min, "min"),
    describe<kernel::max>(reduce_operation::max, "max"),
    describe<kernel::argmin>(reduce_operation::argmin, "argmin"),
    describe<kernel::argmax>(reduce_operation::argmax, "argmax"),
    describe<kernel::dot>(reduce_operation::dot, "dot"),
    describe<kernel::norm1>(reduce_operation::norm1, "norm1"),
    describe<kernel::norm2>(reduce_operation::norm2, "norm2"),
    describe<kernel::count_nonzero>(reduce_operation::count_nonzero, "count_nonzero"),
};

constexpr auto operations = [] {
    std::array<reduce_operation, descriptions.size()> values{};
    std::ranges::transform(descriptions, values.begin(), &description::value);
    return values;
}();

kernel::reduce_facts valid_facts(const char* operation, const reduce_problem& p,
                                 const device_traits& device) {
    constexpr std::int64_t max_element_bytes = 8;
    detail::validate_device(operation, device);
    detail::validate_vectors(operation, p.x, p.y.size == 0 ? p.x : p.y);
    detail::require(p.x.element_bytes >= 1 && p.x.element_bytes <= max_element_bytes, operation,
                    {"problem", "element_bytes"}, p.x.element_bytes, "1 to {}", max_element_bytes);
    return kernel::reduce_facts(p);
}

/// Empty where the operation has the rung.
std::string why_it_lacks(reduce_operation operation, reduce_algorithm algorithm) {
    const auto has = reduce_algorithms(operation);
    if (algorithm == automatic || std::ranges::find(has, algorithm) != has.end()) return {};
    return detail::format("{}: {} is a rung of sum, min and max alone", to_string(operation),
                          to_string(algorithm));
}

/// What a rung would do with a problem that it cannot run is what it does without gaps, and with scratch memory.
kernel::plan plan_of(const char* operation, reduce_algorithm algorithm, const reduce_problem& problem,
                     const device_traits& device) {
    rungs.require_known(operation, {"options", "algorithm"}, algorithm);
    kernel::reduce_facts facts = valid_facts(operation, problem, device);
    if (!rungs.can_run(algorithm, facts, device)) {
        facts.stride = 1;
        facts.has_scratch = true;
    }
    return rungs.choose(operation, algorithm, facts, device).plan;
}

}  // namespace

HEDDLE_RUNG_QUERIES(reduce, table<kernel::sum, float>)

std::span<const reduce_algorithm> reduce_algorithms(reduce_operation operation) {
    const auto found = std::ranges::find(descriptions, operation, &description::value);
    return found == descriptions.end() ? std::span<const reduce_algorithm>() : found->rungs;
}

std::span<const reduce_operation> reduce_operations() {
    return operations;
}

std::string_view to_string(reduce_operation operation) {
    const auto found = std::ranges::find(descriptions, operation, &description::value);
    return found == descriptions.end() ? "unknown" : found->name;
}

std::string why_not(reduce_operation operation, reduce_algorithm algorithm, const reduce_problem& problem,
                    const device_traits& device) {
    rungs.require_known("why_not", "algorithm", algorithm);
    const kernel::reduce_facts facts = valid_facts("why_not", problem, device);
    const char* const name = to_string(operation).data();
    const std::string lack = why_it_lacks(operation, algorithm);
    return lack.empty() ? rungs.why_not(name, algorithm, facts, device) : lack;
}

std::int64_t reduce_workspace_bytes(const reduce_problem& problem, const device_traits& device,
                                    reduce_algorithm algorithm) {
    reduce_problem with = problem;
    with.has_scratch = true;
    return detail::workspace_bytes_for(
        scratch_bytes(plan_of("reduce_workspace_bytes", algorithm, with, device)));
}

std::int64_t reduce_depth(const reduce_problem& problem, const device_traits& device,
                          reduce_algorithm algorithm) {
    return plan_of("reduce_depth", algorithm, problem, device).depth;
}

namespace detail {

void require_rung(reduce_operation operation, reduce_algorithm algorithm) {
    const char* const name = to_string(operation).data();
    rungs.require_known(name, {"options", "algorithm"}, algorithm);
    const std::string lack = why_it_lacks(operation, algorithm);
    if (!lack.empty()) throw unsupported(lack);
}

template <class Operation, class T>
rung_table<reduce_rung<Operation, T>> reduce_rungs() {
    return {table<Operation, T>, enumeration};
}

#define INSTANTIATE(T, Operation) template rung_table<reduce_rung<kernel::Operation, T>> reduce_rungs();
HEDDLE_REDUCTIONS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace detail
}  // namespace heddle
