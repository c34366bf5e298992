#pragma once

#include "tests/fuzz/operand.hpp"
#include <heddle/heddle.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The functions that the files of operations share. Each operation is made in its file; operations.cpp lists them.
namespace heddle::fuzz {

/// The names of an operation's rungs, `automatic` first.
template <class Algorithm>
std::vector<std::string_view> rung_words(std::span<const Algorithm> algorithms) {
    std::vector<std::string_view> words{"automatic"};
    for (const Algorithm each : algorithms)
        if (each != Algorithm::automatic) words.push_back(to_string(each));
    return words;
}

/// The rung that a problem names; on the CPU there is one.
/// @throws unsupported  the rung is that of another type
template <class Algorithm>
Algorithm rung_of(const problem& p, processor where, std::span<const Algorithm> algorithms) {
    if (where == processor::cpu || p["rung"] == 0) return Algorithm::automatic;
    const std::string_view wanted = p.word("rung");
    const auto found =
        std::ranges::find_if(algorithms, [&](Algorithm each) { return to_string(each) == wanted; });
    if (found == algorithms.end()) throw unsupported(std::string(wanted) + " is no rung of this type");
    return *found;
}

/// The error of a rung as its plan chooses, or of one of its kernels. wrong(kernel) checks a kernel.
/// @throws unsupported  the plan finds no kernel
template <class Wrong>
std::string wrong_of_plans(std::span<const std::string_view> kernels, Wrong wrong) {
    std::string found = wrong(std::string_view());
    if (kernels.size() < 2) return found;  // there is one kernel at most
    for (std::size_t i = 0; i < kernels.size() && found.empty(); ++i) try {
            found = wrong(kernels[i]);
            if (!found.empty()) found = fmt::format("{}: {}", kernels[i], found);
        } catch (const unsupported&) {
        }
    return found;
}

/// Calls f.operator()<T>() with the type at this index of single_types.
template <class Result, class Function>
Result with_single(std::int64_t type, Function f) {
    if (type == 0) return f.template operator()<float>();
    if (type == 1) return f.template operator()<half>();
    return f.template operator()<bfloat16>();
}

/// Calls f.operator()<In, Out>() with the types at this index.
template <class Function>
std::string with_types(std::int64_t type, Function f) {
    if (type == 0) return f.template operator()<float, float>();
    if (type == 1) return f.template operator()<half, half>();
    if (type == 2) return f.template operator()<bfloat16, bfloat16>();
    if (type == 3) return f.template operator()<half, float>();
    return f.template operator()<bfloat16, float>();
}

/// The error of a problem of the type that it names: wrong.operator()<T>() checks it.
template <auto wrong>
std::string of_single_type(const problem& p, processor where) {
    return with_single<std::string>(p["type"],
                                    [&]<class T>() { return wrong.template operator()<T>(p, where); });
}

/// The same for a pair of types.
template <auto wrong>
std::string of_types(const problem& p, processor where) {
    return with_types(p["type"],
                      [&]<class A, class B>() { return wrong.template operator()<A, B>(p, where); });
}

/// Calls the CPU's function, with options where it has any, or the GPU's.
template <class OnHost, class OnGpu, class Options, class... Operands>
void call(processor where, OnHost on_host, OnGpu on_gpu, const Options& options,
          const Operands&... operands) {
    if (where != processor::cpu)
        on_gpu(operands..., calls(), options);
    else if constexpr (std::is_invocable_v<OnHost, Operands..., Options>)
        on_host(operands..., options);
    else
        on_host(operands...);
}

operation matmul_cases(), linear_gradient_cases(), softmax_cases(), norm_cases(), matrix_reduce_cases(),
    cross_entropy_cases(), reduce_cases(), scan_cases(), transpose_cases(), histogram_cases(),
    elementwise_cases(), conv_cases(), pool_cases(), softmax_gradient_cases(), norm_gradient_cases(),
    squared_error_cases(), label_hits_cases(), gaussian_blur_cases(), image_filter_cases(), optimizer_cases(),
    gradient_norm_cases(), random_cases(), permutation_cases(), batched_matmul_cases(), linear_cases(),
    planes_cases(), matmul_list_cases();

}  // namespace heddle::fuzz
