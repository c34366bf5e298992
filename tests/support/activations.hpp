#pragma once

#include "tests/bounds/activations.hpp"

namespace heddle::test {

using bounds::activated;

}  // namespace heddle::test
