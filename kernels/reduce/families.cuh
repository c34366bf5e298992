#pragma once

#include "kernels/reduce/operations.cuh"

#include <cstdint>
#include <type_traits>

/// Families of operations that share kernels. A family has one type of states. All threads know which operation was called.
/// Operations differ in how they read elements: there with_operation() picks the called one. They combine states alike.
namespace heddle::kernels::reduce {

/// sum, norm1, and the mean of floating-point elements.
struct sums : sum {
    bool of_magnitudes = false;
    bool is_mean = false;

    template <class Result, class State>
    __device__ Result finish(State all, std::int64_t size) const {
        return is_mean ? mean::finish<Result>(all, size) : sum::finish<Result>(all, size);
    }
};

/// min and max.
struct extremes : min {
    bool is_max = false;

    template <class T>
    __device__ T identity() const {
        return is_max ? max::identity<T>() : min::identity<T>();
    }
    template <class T>
    __device__ T operator()(T a, T b) const {
        return is_max ? max{}(a, b) : min{}(a, b);
    }
};

/// argmin and argmax.
struct places : place_of<min> {
    bool of_max = false;
};

/// Returns compute() of the operation that was called.
template <class Operation, class Compute>
__device__ auto with_operation(Operation operation, Compute compute) {
    return compute(operation);
}
template <class Compute>
__device__ auto with_operation(sums asked, Compute compute) {
    return asked.of_magnitudes ? compute(norm1{}) : compute(sum{});
}
template <class Compute>
__device__ auto with_operation(extremes asked, Compute compute) {
    return asked.is_max ? compute(max{}) : compute(min{});
}
template <class Compute>
__device__ auto with_operation(places asked, Compute compute) {
    return asked.of_max ? compute(argmax{}) : compute(argmin{});
}

/// The operation or family that kernels take for one that all rungs have.
template <class Operation>
auto on_all_rungs() {
    if constexpr (is_any_of<Operation, min, max>)
        return extremes{{}, std::is_same_v<Operation, max>};
    else
        return Operation{};
}

/// The operation or family that warp_shuffle and single_pass take for any operation.
template <class Operation, class T>
auto in_family() {
    if constexpr (is_any_of<Operation, sum, norm1> ||
                  (std::is_same_v<Operation, mean> && !std::is_integral_v<T>))
        return sums{{}, std::is_same_v<Operation, norm1>, std::is_same_v<Operation, mean>};
    else if constexpr (is_any_of<Operation, argmin, argmax>)
        return places{{}, std::is_same_v<Operation, argmax>};
    else if constexpr (std::is_same_v<Operation, count_nonzero>)
        return count_nonzero{
            {}, std::is_integral_v<T> ? ~std::uint64_t{0} : ~std::uint64_t{0} >> (65 - 8 * sizeof(T))};
    else
        return on_all_rungs<Operation>();
}

}  // namespace heddle::kernels::reduce
