#include "benchmarks/support/own_functor.hpp"
#include "benchmarks/support/rows.hpp"
#include <heddle/elementwise.cuh>

namespace heddle::bench {
namespace {

struct gelu {
    template <class T>
    __device__ T operator()(T x) const {
        const float value = static_cast<float>(x);
        return static_cast<T>(value * 0.5f * erfcf(value * -0.70710678f));
    }
};

}  // namespace

template <class T>
void own_gelu(vector_view<const T> x, vector_view<T> y) {
    transform<T>(gelu{}, x, y, stream());
}

template void own_gelu(vector_view<const float>, vector_view<float>);
template void own_gelu(vector_view<const half>, vector_view<half>);

}  // namespace heddle::bench
