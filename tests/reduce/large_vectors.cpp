#include "tests/reduce/reduce_test.hpp"

namespace heddle::test {
namespace {

/// Large x goes through rings in shared memory: 8.65 MB a round on 132 multiprocessors. Exact, so that an element that
/// is taken twice or not at all shows.
class reduce_rings : public reduce_test {
  protected:
    void check_integers(std::int64_t size) {
        const auto xs = elements<std::int32_t>(size);
        std::int64_t sum = 0, nonzero = 0;
        for (const std::int32_t x : xs) {
            sum += x;
            nonzero += x != 0 ? 1 : 0;
        }
        guarded<std::int32_t> x(1, size, 0, 1);
        x.upload(xs);
        guarded<std::int64_t> count(1);
        for (int i = 0; i < 10; ++i) {
            ASSERT_EQ(sum_of<std::int32_t>(x.vector(), {}), sum);
            count_nonzero<std::int32_t>(x.vector(), count.data(), *stream);
            ASSERT_EQ(count.download()[0], nonzero);
        }
    }
};

TEST_F(reduce_rings, are_filled_again) {
    check_integers(15'250'007);  // seven rounds
}

// Eighteen rounds: a thread's chain of sums is cut after sixteen.
TEST_F(reduce_rings, are_cut) {
    check_integers(37'500'011);
}

TEST_F(reduce_rings, find_a_peak_anywhere) {
    constexpr std::int64_t size = 37'500'011, round = 132 * 2 * 2048 * 4;
    device_buffer<float> x(size, *stream);
    fill_bytes(x, std::byte{0}, *stream);
    guarded<std::int64_t> place(1);
    const auto set = [&](std::int64_t i, float value) {
        check(cudaMemcpyAsync(x.data() + i, &value, sizeof(value), cudaMemcpyDefault, stream->get()));
        stream->synchronize();
    };
    const auto argmax_of_all = [&] {
        argmax<float>(x, place.data(), *stream);
        return place.download()[0];
    };
    EXPECT_EQ(argmax_of_all(), 0);
    set(size - 2, 1);  // outside the tiles, and of equals the last
    EXPECT_EQ(argmax_of_all(), size - 2);
    for (const std::int64_t i :
         {size - 1000, 17 * round + 5, 16 * round, 16 * round - 1, 15 * round + round / 2, 3 * round + 7,
          2 * round - 1, round / 3, std::int64_t{0}}) {
        set(i, 1);
        EXPECT_EQ(argmax_of_all(), i);
    }
}

class large_reduce : public reduce_test {};

// The bound of docs/accuracy.md at 2^30 elements, of data of one sign, whose errors cancel least. The elements
// repeat with a period that is prime, so that the reference needs one of them alone.
TEST_F(large_reduce, keeps_its_bound_at_2_to_30_elements) {
    constexpr std::int64_t size = std::int64_t{1} << 30;
    constexpr std::int64_t period = 1000003;
    if (!has_free_memory(5 * (std::size_t{1} << 30))) GTEST_SKIP() << "needs 5 GiB of device memory";

    const auto xs = random_elements<float>(period, 0, 1);
    device_buffer<float> x(size, *stream);
    check(cudaMemcpyAsync(x.data(), xs.data(), sizeof(float) * period, cudaMemcpyDefault, stream->get()));
    for (std::int64_t filled = period; filled < size; filled *= 2)
        check(cudaMemcpyAsync(x.data() + filled, x.data(),
                              sizeof(float) * static_cast<std::size_t>(std::min(filled, size - filled)),
                              cudaMemcpyDefault, stream->get()));
    const reduce_reference<float> whole(xs), rest({xs.begin(), xs.begin() + size % period});
    const auto squares = [&](std::int64_t count) {
        long double sum = 0;
        for (std::int64_t i = 0; i < count; ++i) {
            const long double e = xs[static_cast<std::size_t>(i)];
            sum += e * e;
        }
        return sum;
    };
    reduce_reference<float> expected({});
    expected.sum = expected.magnitude = whole.sum * (size / period) + rest.sum;
    expected.sum_error = static_cast<long double>(period) * 0x1p-63L * expected.sum;
    const long double all_squares = squares(period) * (size / period) + squares(size % period);

    const vector_view<const float> view = x;
    for (const reduce_algorithm algorithm : with_automatic(reduce_algorithms())) {
        SCOPED_TRACE(to_string(algorithm));
        EXPECT_TRUE(expected.is_sum(sum_of(view, {.algorithm = algorithm}), depth(view, algorithm)));
    }
    const std::int64_t d = depth(view, reduce_algorithm::automatic);
    const auto relative = [&](std::int64_t roundings) {
        const double du = static_cast<double>(roundings) * unit_roundoff<float>();
        return du / (1 - du) + 0x1p-40;
    };
    const auto expect_near = [&](auto enqueue, long double exact, double bound) {
        guarded<float> result(1);
        enqueue(result.data());
        const auto e = static_cast<double>(exact);
        EXPECT_TRUE(is_within(double{result.download()[0]}, e, bound * e));
    };
    expect_near([&](float* result) { mean<float>(view, result, *stream); }, expected.sum / size,
                relative(d + 1));
    expect_near([&](float* result) { norm1<float>(view, result, *stream); }, expected.sum, relative(d));
    expect_near([&](float* result) { dot<float>(view, view, result, *stream); }, all_squares,
                relative(d + 1));
    expect_near([&](float* result) { norm2<float>(view, result, *stream); }, std::sqrt(all_squares),
                relative(1));
}

TEST_F(large_reduce, takes_more_than_2_to_31_elements) {
    constexpr std::int64_t size = (std::int64_t{1} << 31) + 9;
    if (!has_free_memory(5 * (std::size_t{1} << 30))) GTEST_SKIP() << "needs 5 GiB of device memory";

    device_buffer<half> x(size, *stream);
    fill_bytes(x, std::byte{0x3c}, *stream);
    const half low = half(-2.0f), high = half(3.0f), most = half(__half_raw{0x3c3c});
    check(cudaMemcpyAsync(x.data() + (size - 2), &low, sizeof(half), cudaMemcpyDefault, stream->get()));
    check(cudaMemcpyAsync(x.data() + (size - 1), &high, sizeof(half), cudaMemcpyDefault, stream->get()));
    reduce_reference<half> expected({low, high});
    expected.sum += static_cast<long double>(size - 2) * to_double(most);
    expected.magnitude += static_cast<long double>(size - 2) * to_double(most);
    const vector_view<const half> view = x;
    for (const reduce_algorithm algorithm : with_automatic(reduce_algorithms())) {
        SCOPED_TRACE(to_string(algorithm));
        const reduce_options options{.algorithm = algorithm};
        EXPECT_TRUE(expected.is_sum(sum_of(view, options), depth(view, algorithm)));
        EXPECT_TRUE(is_value(min_of(view, options), low));
        EXPECT_TRUE(is_value(max_of(view, options), high));
        const auto has = reduce_algorithms(reduce_operation::argmax);
        if (std::ranges::find(has, algorithm) != has.end()) {
            guarded<std::int64_t> places(3);
            argmin<half>(view, places.data(), *stream, options);
            argmax<half>(view, places.data() + 1, *stream, options);
            count_nonzero<half>(view, places.data() + 2, *stream, options);
            EXPECT_EQ(places.download(), (std::vector<std::int64_t>{size - 2, size - 1, size}));
        }
        if (algorithm == reduce_algorithm::vectorized) continue;
        // Three elements, the last of them beyond 2^31.
        const vector_view<const half> strided{x.data(), 3, (std::int64_t{1} << 30) + 4};
        EXPECT_TRUE(is_value(max_of(strided, options), high));
    }
}

}  // namespace
}  // namespace heddle::test
