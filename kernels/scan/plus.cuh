#pragma once

#include <cstdint>
#include <type_traits>

namespace heddle::kernels::scan {

struct plus {
    template <class T>
    static __device__ T identity() {
        return T{0};
    }
    template <class T>
    __device__ T operator()(T a, T b) const {
        if constexpr (std::is_integral_v<T>)  // wraps, where signed overflow would be undefined
            return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) +
                                  static_cast<std::make_unsigned_t<T>>(b));
        else
            return a + b;
    }
};

}  // namespace heddle::kernels::scan
