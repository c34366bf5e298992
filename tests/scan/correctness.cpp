#include "tests/support/headers.hpp"
#include <heddle/host.hpp>

#include <omp.h>

namespace heddle::test {
namespace {

using scan_types = testing::Types<double, float, std::int32_t, std::int64_t>;

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

    /// The inclusive scan of x, copied to the host; the device is idle after it.
    template <class T>
    std::vector<T> scan_of(vector_view<const T> x, const scan_options& options) {
        guarded<T> y(x.size);
        inclusive_scan<T>(x, y.vector(), *stream, options);
        stream->synchronize();
        EXPECT_TRUE(y.canaries_alive());
        return y.download();
    }
};

template <class T>
class scan : public scan_test {};
TYPED_TEST_SUITE(scan, scan_types, type_names);

TYPED_TEST(scan, gives_the_same_bits_every_time) {
    const std::int64_t size = 3000017;
    guarded<TypeParam> x(size);
    x.upload(elements<TypeParam>(size));
    for (const scan_algorithm algorithm : with_automatic(scan_algorithms())) {
        SCOPED_TRACE(to_string(algorithm));
        workspace scratch(this->template workspace_bytes<TypeParam>(size, algorithm), *this->stream);
        const scan_options options{.algorithm = algorithm, .workspace = scratch};
        const vector_view<const TypeParam> view = x.vector();
        const auto first = this->scan_of(view, options);
        for (int i = 0; i < 10; ++i) ASSERT_TRUE(same_bits(this->scan_of(view, options), first));
    }
}

TYPED_TEST(scan, shares_one_workspace_with_other_operations) {
    const std::vector<std::int64_t> some_sizes = {5, 300007, 8193, 70001, 1000003};
    const auto xs = elements<TypeParam>(some_sizes.back());
    guarded<TypeParam> x(some_sizes.back()), total(1);
    guarded<sum_type<TypeParam>> sum_of_x(1);
    x.upload(xs);
    const device_traits& device = traits_of(current_device());
    std::int64_t bytes = reduce_workspace_bytes({.x = {some_sizes.back(), 1, sizeof(TypeParam)}}, device);
    for (const scan_algorithm algorithm : with_automatic(scan_algorithms()))
        bytes = std::max(bytes, this->template workspace_bytes<TypeParam>(some_sizes.back(), algorithm));
    guarded_workspace scratch(bytes);
    for (int round = 0; round < 2; ++round)
        for (const std::int64_t size : some_sizes)
            for (const scan_algorithm algorithm : with_automatic(scan_algorithms())) {
                SCOPED_TRACE(testing::Message() << size << ' ' << to_string(algorithm));
                const vector_view<const TypeParam> view{x.data(), size};
                sum<TypeParam>(x.vector(), sum_of_x.data(), *this->stream, {.workspace = scratch});
                const auto ys = this->scan_of(view, {.algorithm = algorithm, .workspace = scratch});
                ASSERT_TRUE(are_sums(ys, {xs.begin(), xs.begin() + size},
                                     this->template depth<TypeParam>(size, algorithm)));
            }
    EXPECT_TRUE(scratch.is_intact());
}

template <class T>
class scan_floating : public scan_test {};
using floating_types = testing::Types<double, float>;
TYPED_TEST_SUITE(scan_floating, floating_types, type_names);

TYPED_TEST(scan_floating, keeps_denormals_and_gives_positive_zeros) {
    const std::int64_t size = 10007;
    const TypeParam denormal = std::numeric_limits<TypeParam>::denorm_min();
    guarded<TypeParam> x(size);
    for (const scan_algorithm algorithm : with_automatic(scan_algorithms())) {
        SCOPED_TRACE(to_string(algorithm));
        const vector_view<const TypeParam> view = x.vector();
        // Multiples of one denormal are added without rounding.
        x.upload(std::vector<TypeParam>(size, denormal));
        const auto sums = this->scan_of(view, {.algorithm = algorithm});
        for (std::size_t i = 0; i < sums.size(); ++i)
            ASSERT_EQ(sums[i], denormal * static_cast<TypeParam>(i + 1)) << i;
        x.upload(std::vector<TypeParam>(size, TypeParam{-0.0}));
        for (const TypeParam y : this->scan_of(view, {.algorithm = algorithm})) {
            ASSERT_EQ(y, 0);
            ASSERT_FALSE(std::signbit(y));
        }
    }
}

class large_scan : public scan_test {};

/// Around 1024 tiles of packets, where the look-back reaches beyond one supergroup, and several of them.
TEST_F(large_scan, keeps_its_bound_on_positive_data) {
    for (const auto& [size, offset] : {std::pair<std::int64_t, std::int64_t>{8192 * 1024, 0},
                                       {8192 * 1024 + 1, 1},
                                       {8192 * 3300 + 5, 0}}) {
        SCOPED_TRACE(size);
        auto xs = random_elements<float>(1000003, 0, 1);
        const std::size_t period = xs.size();
        xs.resize(static_cast<std::size_t>(size));
        for (std::size_t i = period; i < xs.size(); ++i) xs[i] = xs[i - period];
        guarded<float> x(size, offset);
        x.upload(xs);
        for (const scan_algorithm algorithm : {scan_algorithm::reduce_then_scan, scan_algorithm::look_back}) {
            SCOPED_TRACE(to_string(algorithm));
            const auto ys = scan_of(vector_view<const float>(x.vector()), {.algorithm = algorithm});
            ASSERT_TRUE(are_sums(ys, xs, depth<float>(size, algorithm)));
        }
    }
}

TEST_F(large_scan, takes_more_than_2_to_31_elements) {
    constexpr std::int64_t size = (std::int64_t{1} << 31) + 9;
    if (!has_free_memory(10 * (std::size_t{1} << 30))) GTEST_SKIP() << "needs 10 GiB of device memory";

    device_buffer<std::int32_t> x(size, *stream);
    for (const scan_algorithm algorithm : {scan_algorithm::reduce_then_scan, scan_algorithm::look_back}) {
        SCOPED_TRACE(to_string(algorithm));
        fill_bytes(x, std::byte{1}, *stream);
        inclusive_scan<std::int32_t>(x, vector_view<std::int32_t>(x), *stream, {.algorithm = algorithm});
        for (const std::int64_t at : {std::int64_t{0}, size / 3, std::int64_t{1} << 31, size - 1}) {
            std::int32_t y = 0;
            stream->synchronize();
            check(cudaMemcpy(&y, x.data() + at, sizeof(y), cudaMemcpyDefault));
            EXPECT_EQ(static_cast<std::uint32_t>(y), static_cast<std::uint32_t>(at + 1) * 0x01010101u) << at;
        }
    }
}

template <class T>
class host_scan : public testing::Test {};
TYPED_TEST_SUITE(host_scan, scan_types, type_names);

TYPED_TEST(host_scan, does_not_depend_on_the_number_of_threads) {
    const auto xs = elements<TypeParam>(1000003);
    const auto scan_with = [&](int count) {
        omp_set_num_threads(count);
        std::vector<TypeParam> ys(xs.size());
        host::inclusive_scan<TypeParam>(vector_view{xs.data(), std::ssize(xs)},
                                        vector_view{ys.data(), std::ssize(ys)});
        return ys;
    };
    const int threads = omp_get_max_threads();
    const auto expected = scan_with(1);
    for (const int count : {2, 3, 7})
        EXPECT_TRUE(same_bits(scan_with(count), expected)) << count << " threads";
    omp_set_num_threads(threads);
}

}  // namespace
}  // namespace heddle::test
