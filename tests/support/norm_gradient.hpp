#pragma once

#include "tests/support/norm.hpp"

namespace heddle::test {

using bounds::expected_norm_gradient;
using bounds::norm_gradient_column_depth;
using bounds::norm_gradient_depth;

}  // namespace heddle::test
