#pragma once

#include <heddle/types.hpp>

#include <cuda_runtime_api.h>

/// Declares the plan and the launcher of a rung, for the list of an operation's rungs. The operation has facts_type, plan
/// and arguments<T>.
#define HEDDLE_PLAN_AND_LAUNCH(rung, ...)                                     \
    plan plan_##rung(const facts_type& problem, const device_traits& device); \
    template <class T>                                                        \
    void launch_##rung(const plan& plan, const arguments<T>& arguments, cudaStream_t stream);

/// Declares the launcher of a rung whose arguments have two template parameters, such as the types of operands and results.
#define HEDDLE_LAUNCHER_OF_PAIRS(rung) \
    template <class T, class U>        \
    void launch_##rung(const plan& plan, const arguments<T, U>& arguments, cudaStream_t stream);

/// These instantiate LAUNCH, the launcher of a rung, which takes a PLAN, ARGUMENTS of some types, and a stream.
#define HEDDLE_LAUNCH(T, LAUNCH, PLAN, ARGUMENTS) \
    template void LAUNCH(const PLAN&, const ARGUMENTS<T>&, cudaStream_t);
#define HEDDLE_LAUNCH_OF_PAIR(T, U, LAUNCH, PLAN, ARGUMENTS) \
    template void LAUNCH(const PLAN&, const ARGUMENTS<T, U>&, cudaStream_t);

/// For each element type.
#define HEDDLE_LAUNCHES(LAUNCH, PLAN, ARGUMENTS) HEDDLE_ELEMENT_TYPES(HEDDLE_LAUNCH, LAUNCH, PLAN, ARGUMENTS)
/// For each element type, and for both values of the launcher's first template argument, a bool.
#define HEDDLE_LAUNCHES_OF_BOTH(LAUNCH, PLAN, ARGUMENTS) \
    HEDDLE_LAUNCHES(LAUNCH<false>, PLAN, ARGUMENTS)      \
    HEDDLE_LAUNCHES(LAUNCH<true>, PLAN, ARGUMENTS)
/// For each pair of types.
#define HEDDLE_LAUNCHES_OF_PAIRS(LAUNCH, PLAN, ARGUMENTS) \
    HEDDLE_PAIRS_OF_TYPES(HEDDLE_LAUNCH_OF_PAIR, LAUNCH, PLAN, ARGUMENTS)
#define HEDDLE_LAUNCHES_OF_16_BITS(LAUNCH, PLAN, ARGUMENTS) \
    HEDDLE_PAIRS_OF_16_BITS(HEDDLE_LAUNCH_OF_PAIR, LAUNCH, PLAN, ARGUMENTS)
