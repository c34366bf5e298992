#pragma once

/// Instantiates a rung's launcher for each rule and each pair of types.
#define HEDDLE_OPTIMIZER_LAUNCHES_OF(LAUNCH, RULE)                                               \
    template void LAUNCH(const plan&, const arguments<RULE, float, float>&, cudaStream_t);       \
    template void LAUNCH(const plan&, const arguments<RULE, half, half>&, cudaStream_t);         \
    template void LAUNCH(const plan&, const arguments<RULE, half, float>&, cudaStream_t);        \
    template void LAUNCH(const plan&, const arguments<RULE, bfloat16, bfloat16>&, cudaStream_t); \
    template void LAUNCH(const plan&, const arguments<RULE, bfloat16, float>&, cudaStream_t)
#define HEDDLE_OPTIMIZER_LAUNCHES(LAUNCH)               \
    HEDDLE_OPTIMIZER_LAUNCHES_OF(LAUNCH, plain_sgd);    \
    HEDDLE_OPTIMIZER_LAUNCHES_OF(LAUNCH, momentum_sgd); \
    HEDDLE_OPTIMIZER_LAUNCHES_OF(LAUNCH, any_adam)
