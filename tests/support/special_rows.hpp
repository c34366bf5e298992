#pragma once

#include "tests/support/random.hpp"
#include "tests/support/rows.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heddle::test {

/// Rows of every kind, in one matrix: what one row holds must not reach another.
template <class T>
std::vector<T> special_rows(std::int64_t cols) {
    const T low = -infinity<T>(), high = infinity<T>();
    const auto size = static_cast<std::size_t>(cols);
    const auto random = [&] { return random_elements<T>(cols, -3, 3); };
    std::vector<std::vector<T>> rows(14, std::vector<T>(size, low));
    rows[0] = random();
    // rows[1] is all -Inf
    rows[2] = random();
    rows[2][size / 2] = not_a_number<T>();
    rows[3][size - 1] = static_cast<T>(2.5f);  // all but one -Inf
    rows[4] = random();
    rows[4][0] = rows[4][size - 1] = high;
    rows[5].assign(size, high);
    rows[6] = random();
    for (std::size_t i = 0; i < size; i += 3) rows[6][i] = low;
    rows[7].assign(size, static_cast<T>(30000.0f));
    rows[8].assign(size, static_cast<T>(-30000.0f));
    rows[8][size / 3] = static_cast<T>(30000.0f);
    rows[9].assign(size, static_cast<T>(1e-7f));  // a denormal half
    for (std::size_t i = 0; i < size; ++i)
        rows[10][i] = static_cast<T>(-0.1f * static_cast<float>(i % 1200));  // down to results that underflow
    rows[11][0] = not_a_number<T>();
    rows[12].assign(size, not_a_number<T>());
    rows[13] = random();
    rows[13][size / 2] = high;
    rows[13][0] = low;

    std::vector<T> all;
    for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
    return all;
}

}  // namespace heddle::test
