#pragma once

/// Turns the orders of A and B, which are known at run time, into constants for loops along k.
namespace heddle::kernels::matmul {

/// Calls function.operator()<a_k_major, b_k_major>(), on the host or the device, as the function allows.
#pragma nv_exec_check_disable
template <class Function>
__host__ __device__ void with_orders(bool a_k_major, bool b_k_major, Function function) {
    if (a_k_major)
        b_k_major ? function.template operator()<true, true>() : function.template operator()<true, false>();
    else
        b_k_major ? function.template operator()<false, true>()
                  : function.template operator()<false, false>();
}
template <class Product, class Function>
__device__ void in_order_of(const Product& p, Function function) {
    with_orders(p.a_k_major, p.b_k_major, function);
}

/// Calls function.operator()<k_major>(), on the device.
template <class Function>
__device__ void in_order(bool k_major, Function function) {
    k_major ? function.template operator()<true>() : function.template operator()<false>();
}

}  // namespace heddle::kernels::matmul
