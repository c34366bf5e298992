#pragma once

#include "kernels/reduce/launch.hpp"
#include <heddle/types.hpp>

#include <cuda_runtime_api.h>

/// Instantiates a rung's launcher, for HEDDLE_REDUCTIONS and HEDDLE_REDUCTIONS_ON_ALL_RUNGS.
#define HEDDLE_REDUCE_LAUNCH(T, Operation, LAUNCH) \
    template void LAUNCH(const plan&, const arguments<Operation, T>&, cudaStream_t);
