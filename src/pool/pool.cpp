#include "src/pool/rungs.hpp"
#include "src/pool/validate.hpp"
#include <heddle/pool.hpp>
#include <heddle/stream.hpp>
#include <heddle/types.hpp>

#pragma GCC visibility push(default)

namespace heddle {

template <class T>
pool_problem pool_problem_of(tensor_view<const std::type_identity_t<T>> input, tensor_view<T> output,
                             const pool_options& options) {
    constexpr bool have_elements = false;
    return detail::validated_pool<T>("pool_problem_of", input, output, options, have_elements);
}

template <class T>
void pool(tensor_view<const std::type_identity_t<T>> input, tensor_view<T> output, cuda::stream_ref stream,
          const pool_options& options) {
    const auto rungs = detail::pool_rungs<T>();
    const pool_problem problem = detail::validated_pool<T>("pool", input, output, options);
    rungs.require_known("pool", {"options", "algorithm"}, options.algorithm);
    rungs.require_kernel("pool", {"options", "kernel"}, options.algorithm, options.kernel);
    if (output.count == 0 || output.channels == 0) return;
    const detail::stream_device device(stream);
    const auto [rung, plan] =
        rungs.choose("pool", options.algorithm, problem, device.traits(), options.kernel);
    rung->launch(plan, {input, output, options.mode, options.geometry}, stream.get());
}

#define INSTANTIATE(T)                                                                                   \
    template pool_problem pool_problem_of<T>(tensor_view<const T>, tensor_view<T>, const pool_options&); \
    template void pool<T>(tensor_view<const T>, tensor_view<T>, cuda::stream_ref, const pool_options&);
HEDDLE_ELEMENT_TYPES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace heddle

#pragma GCC visibility pop
