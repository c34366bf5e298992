// The headers of nearly all tests. Each test still includes what it needs: this only saves parsing it again.

#include "tests/support/gpu.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/numeric.hpp"
#include <heddle/heddle.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <ostream>
#include <random>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>
