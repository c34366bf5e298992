#pragma once

#include "tests/bounds/softmax.hpp"

namespace heddle::test {

using bounds::expected_softmax_gradient;
using bounds::softmax_gradient_depth;
using bounds::softmax_gradient_depth_on_host;

}  // namespace heddle::test
