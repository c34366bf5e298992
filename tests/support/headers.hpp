#pragma once

// The headers of nearly all tests: a test includes them as one, and they are precompiled.

#include "tests/support/gpu.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/guarded_workspace.hpp"
#include "tests/support/kernels.hpp"
#include "tests/support/numeric.hpp"
#include "tests/support/provoked.hpp"
#include "tests/support/random.hpp"
#include "tests/support/rows.hpp"
#include <heddle/heddle.hpp>

#include <cuda/stream_ref>
#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <ostream>
#include <random>
#include <set>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>
