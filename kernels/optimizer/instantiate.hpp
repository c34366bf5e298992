#pragma once

#include "kernels/optimizer/launch.hpp"
#include <heddle/types.hpp>

#include <cuda_runtime_api.h>

/// Instantiates a rung's launcher for each rule and each pair of types.
#define HEDDLE_OPTIMIZER_LAUNCH(T, Gradient, Rule, LAUNCH) \
    template void LAUNCH(const plan&, const arguments<Rule, T, Gradient>&, cudaStream_t);
#define HEDDLE_OPTIMIZER_LAUNCHES(LAUNCH)                                \
    HEDDLE_PAIRS_OF_TYPES(HEDDLE_OPTIMIZER_LAUNCH, plain_sgd, LAUNCH)    \
    HEDDLE_PAIRS_OF_TYPES(HEDDLE_OPTIMIZER_LAUNCH, momentum_sgd, LAUNCH) \
    HEDDLE_PAIRS_OF_TYPES(HEDDLE_OPTIMIZER_LAUNCH, any_adam, LAUNCH)
