#pragma once

#include "kernels/matrix_reduce/launch.hpp"
#include <heddle/types.hpp>

#include <cuda_runtime_api.h>

/// Instantiates a rung's launcher for each operation and each type.
#define HEDDLE_MATRIX_REDUCE_LAUNCH(T, Operation, LAUNCH) \
    template void LAUNCH(const plan&, const arguments<Operation, T>&, cudaStream_t);
#define HEDDLE_MATRIX_REDUCE_LAUNCHES_OF(Operation, LAUNCH) \
    HEDDLE_ELEMENT_TYPES(HEDDLE_MATRIX_REDUCE_LAUNCH, Operation, LAUNCH)
#define HEDDLE_MATRIX_REDUCE_LAUNCHES(LAUNCH) \
    HEDDLE_MATRIX_REDUCE_OPERATIONS(HEDDLE_MATRIX_REDUCE_LAUNCHES_OF, LAUNCH)

/// Instantiates a rung's plan for each operation.
#define HEDDLE_MATRIX_REDUCE_PLAN(Operation, PLAN) \
    template plan PLAN<Operation>(const matrix_facts&, const device_traits&);
#define HEDDLE_MATRIX_REDUCE_PLANS(PLAN) HEDDLE_MATRIX_REDUCE_OPERATIONS(HEDDLE_MATRIX_REDUCE_PLAN, PLAN)
