#include "benchmarks/tuning/rows.hpp"

#include "src/matmul/rungs.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>

namespace heddle::bench::tuning {
namespace {

struct shape {
    std::int64_t m, n, k, batches = 1;
    bool b_along_k = false;
};
constexpr shape cube(std::int64_t size, std::int64_t batches = 1, bool b_along_k = false) {
    return {size, size, size, batches, b_along_k};
}

constexpr shape shapes[] = {
    cube(128),           cube(256),           cube(512),          cube(1000),          cube(1024),
    cube(1536),          cube(2048),          cube(3072),         cube(4096),          cube(6144),
    cube(8192),          cube(16384),         cube(512, 1, true), cube(1024, 1, true), cube(2048, 1, true),
    cube(4096, 1, true), cube(8192, 1, true), cube(64, 256),      cube(512, 64),       cube(1024, 16),
    cube(128, 128),      {1, 4096, 4096},     {8, 4096, 4096},    {16, 4096, 4096},    {64, 4096, 4096},
    {64, 4096, 11008},   {128, 8192, 4096},   {4096, 4096, 64},   {8192, 128, 8192},   {64, 64, 65536},
    {16384, 1024, 4096}, {4097, 4099, 4101},  {4095, 4096, 4097}};

struct kind {
    std::string_view name;
    element_type operands;
    heddle::precision precision = precision::fp32;
};
constexpr kind kinds[] = {{"f32 ieee", element_type::f32, precision::ieee},
                          {"f32", element_type::f32},
                          {"f32 fp32_normwise", element_type::f32, precision::fp32_normwise},
                          {"tf32", element_type::f32, precision::tf32},
                          {"16 bits", element_type::f16}};

matmul_problem problem_of(const shape& s, const kind& kind) {
    const std::int64_t bytes = kind.operands == element_type::f32 ? 4 : 2;
    const matrix_layout b{s.k, s.n, s.b_along_k ? 1 : s.n, s.b_along_k ? s.k : 1, bytes};
    return {.a = {s.m, s.k, s.k, 1, bytes},
            .b = b,
            .c = {s.m, s.n, s.n, 1, bytes},
            .operands = kind.operands,
            .result = kind.operands,
            .batches = s.batches,
            .a_stride = s.batches > 1 ? s.m * s.k : 0,
            .b_stride = s.batches > 1 ? s.k * s.n : 0,
            .precision = kind.precision};
}

/// The kernel that `automatic` takes, and its plan.
std::pair<std::string_view, kernels::matmul::plan> automatic(const matmul_problem& p,
                                                             const device_traits& device) {
    const auto of = [](const auto& planned) { return std::pair(planned.rung->name, planned.plan); };
    if (p.operands == element_type::f32) return of(detail::plan_matmul<float, float>(p, device, {}));
    return of(detail::plan_matmul<half, half>(p, device, {}));
}

}  // namespace

std::vector<row> rows_of_benchmarks(const device_traits& device) {
    std::vector<row> all;
    for (const kind& kind : kinds)
        for (const shape& s : shapes) {
            row of{.name = fmt::format("{} {} x {} x {}{}{}", kind.name, s.m, s.n, s.k,
                                       s.b_along_k ? ", B along k" : "",
                                       s.batches > 1 ? fmt::format(", {} times", s.batches) : ""),
                   .problem = problem_of(s, kind),
                   .device = device,
                   .kernel = {},
                   .plan = {}};
            std::tie(of.kernel, of.plan) = automatic(of.problem, device);
            all.push_back(std::move(of));
        }
    return all;
}

bool is_same(kernels::matmul::plan a, const kernels::matmul::plan& b) {
    a.us = b.us;
    return a == b;
}

bool is_as_before(const row& of) {
    const auto [kernel, plan] = automatic(of.problem, of.device);
    return kernel == of.kernel && is_same(plan, of.plan);
}

std::string_view kernel_of(const row& of) {
    return automatic(of.problem, of.device).first;
}

}  // namespace heddle::bench::tuning
