#pragma once

#include "benchmarks/cliffs/case.hpp"
#include "benchmarks/support/vendor_product.hpp"

#include <functional>
#include <string>

namespace heddle::bench::cliffs {

/// What the vendors have for it: cublasGemmEx, the best of cublasLt's candidates, and where C is a row or a column gemv and
/// dot. `then` is done after each of them, where it is not empty; `what` is added to their names.
template <class Out, class In>
void add_vendor_products(trial& t, vendor_product<Out, In> p, const std::function<void()>& then,
                         const std::string& what, bool is_checked);

}  // namespace heddle::bench::cliffs
