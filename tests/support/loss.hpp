#pragma once

#include "tests/bounds/loss.hpp"

namespace heddle::test {

using bounds::expected_cross_entropy;
using bounds::expected_squared_error;
using bounds::loss_steps_of;

}  // namespace heddle::test
