#pragma once

#include "tests/support/headers.hpp"

namespace heddle::test {

using scan_types = testing::Types<double, float, std::int32_t, std::int64_t>;

enum class scan_kind { inclusive, exclusive };

/// Integers have their whole range, so that sums wrap.
template <class T>
std::vector<T> elements(std::int64_t size) {
    constexpr double limit = std::is_integral_v<T> ? (sizeof(T) == 8 ? 0x1p62 : 0x1p30) : 1;
    return random_elements<T>(size, -limit, limit);
}

/// Passes where every y is the sum of the x up to its own. Integers agree modulo their range, floating-point within
/// `depth` roundings (Higham, "Accuracy and Stability of Numerical Algorithms", section 4.2), for finite x.
template <class T>
testing::AssertionResult are_sums(const std::vector<T>& y, const std::vector<T>& x, std::int64_t depth) {
    if (x.size() != y.size()) return testing::AssertionFailure() << "sizes disagree";
    const long double du = static_cast<long double>(depth) * unit_roundoff<T>();
    std::conditional_t<std::is_integral_v<T>, std::uint64_t, long double> sum = 0;
    long double magnitude = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        bool is_right = false;
        if constexpr (std::is_integral_v<T>) {
            sum += static_cast<std::uint64_t>(x[i]);
            is_right = y[i] == static_cast<T>(sum);
        } else {
            sum += x[i], magnitude += std::abs(x[i]);
            const long double relative = du / (1 - du) + static_cast<long double>(i + 1) * 0x1p-64L;
            is_right = std::abs(y[i] - sum) <= relative * magnitude;
        }
        if (!is_right)
            return testing::AssertionFailure() << "y[" << i << "] is " << y[i] << ", expected " << sum;
    }
    return testing::AssertionSuccess();
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

class scan_test : public stream_fixture {
  protected:
    template <class T>
    static std::int64_t workspace_bytes(std::int64_t size, scan_algorithm algorithm) {
        return scan_workspace_bytes({{size, 1, sizeof(T)}, {size, 1, sizeof(T)}}, traits_of(current_device()),
                                    algorithm);
    }
    template <class T>
    static std::int64_t depth(std::int64_t size, scan_algorithm algorithm) {
        return scan_depth({{size, 1, sizeof(T)}, {size, 1, sizeof(T)}}, traits_of(current_device()),
                          algorithm);
    }

    template <class T>
    void run(scan_kind kind, vector_view<const T> x, vector_view<T> y, const scan_options& options = {}) {
        if (kind == scan_kind::inclusive)
            inclusive_scan<T>(x, y, *stream, options);
        else
            exclusive_scan<T>(x, y, *stream, options);
    }

    /// The scan of x, copied to the host; the device is idle after it.
    template <class T>
    std::vector<T> scan_of(scan_kind kind, vector_view<const T> x, const scan_options& options = {}) {
        guarded<T> y(x.size);
        run<T>(kind, x, y.vector(), options);
        stream->synchronize();
        EXPECT_TRUE(y.canaries_alive());
        return y.download();
    }
};

}  // namespace heddle::test
