#include "benchmarks/support/cub.hpp"
#include "benchmarks/support/rows.hpp"
#include <heddle/error.hpp>
#include <heddle/types.hpp>

#include <cub/device/device_transform.cuh>

#include <type_traits>

namespace heddle::bench {
namespace {

struct fast_sigmoid {
    template <class T>
    __device__ T operator()(T x) const {
        return static_cast<T>(__fdividef(1.0f, 1.0f + __expf(-static_cast<float>(x))));
    }
};

}  // namespace

template <class T>
void cub_sigmoid(const T* x, T* y, std::int64_t size) {
    if constexpr (std::is_same_v<T, double>)
        cub_elementwise<T>(elementwise_operation::sigmoid, {x}, y, size);
    else
        check(cub::DeviceTransform::Transform(x, y, size, fast_sigmoid{}, stream().get()));
}

template void cub_sigmoid(const double*, double*, std::int64_t);
template void cub_sigmoid(const float*, float*, std::int64_t);
template void cub_sigmoid(const half*, half*, std::int64_t);
template void cub_sigmoid(const bfloat16*, bfloat16*, std::int64_t);

}  // namespace heddle::bench
