#include "src/transpose/rungs.hpp"
#include "src/transpose/validate.hpp"
#include <heddle/stream.hpp>
#include <heddle/transpose.hpp>
#include <heddle/types.hpp>

#include <cstdint>

#pragma GCC visibility push(default)

namespace heddle {
namespace {

/// The problem of a call, after all checks; without elements, after those of shapes and strides alone.
template <class Word>
transpose_problem validated(const char* operation, const matrix_view<const Word>& source,
                            const matrix_view<Word>& destination, bool have_elements = true) {
    detail::validate_transpose(operation, source, destination, have_elements);
    return {layout_of(source), layout_of(destination)};
}

}  // namespace

template <class Word>
transpose_problem detail::transpose_problem_of(matrix_view<const Word> source,
                                               matrix_view<Word> destination) {
    constexpr bool have_elements = false;
    return validated("transpose_problem_of", source, destination, have_elements);
}

template <class Word>
void detail::transpose(matrix_view<const Word> source, matrix_view<Word> destination, cuda::stream_ref stream,
                       const transpose_options& options) {
    const auto rungs = transpose_rungs<Word>();
    const transpose_problem problem = validated("transpose", source, destination);
    rungs.require_known("transpose", {"options", "algorithm"}, options.algorithm);
    if (source.rows == 0 || source.cols == 0) return;
    const stream_device device(stream);
    const auto [rung, plan] =
        rungs.choose("transpose", options.algorithm, kernels::transpose::facts_of(problem), device.traits());
    const kernels::transpose::arguments<Word> arguments{source, destination};
    rung->launch(plan, canonical(arguments), stream.get());
}

#define INSTANTIATE(Word)                                                                                \
    template transpose_problem detail::transpose_problem_of(matrix_view<const Word>, matrix_view<Word>); \
    template void detail::transpose(matrix_view<const Word>, matrix_view<Word>, cuda::stream_ref,        \
                                    const transpose_options&);
HEDDLE_WORD_TYPES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace heddle

#pragma GCC visibility pop
