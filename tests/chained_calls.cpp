#include "tests/support/gate.hpp"
#include "tests/support/headers.hpp"

/// Kernels of one stream overlap: one may begin, up to its wait, while the last blocks of the previous one still run.
/// Here, a call that reads or writes memory before that wait races with the previous call.
namespace heddle::test {
namespace {

/// The side of the square matrices and images. Products then have fewer blocks than the device can run at once, so
/// the next kernel starts at once. Filters, which are quicker, have several waves of blocks.
template <class T>
constexpr std::int64_t side = sizeof(T) == 1          ? 3072
                              : std::is_integral_v<T> ? 2304
                                                      : 1152;
template <class T>
constexpr std::int64_t size = side<T>* side<T>;

/// The memory that calls share besides their operands.
template <class T>
struct context {
    const T* weights;
    std::span<std::byte> workspace;
    cuda::stream_ref stream;
};

/// A call that reads `size` elements and writes as many, or fewer.
template <class T>
struct operation {
    std::string family;
    std::string name;
    std::function<void(const context<T>&, const T* from, T* to)> enqueue;
};

template <class T>
void add_products(std::vector<operation<T>>& all) {
    using matrix = matrix_view<const T>;
    const auto add = [&](const std::string& name, std::int64_t rows, matmul_options options,
                         std::int64_t depth = side<T>) {
        all.push_back({name, name, [=](const context<T>& c, const T* from, T* to) {
                           matmul_options here = options;
                           here.workspace = c.workspace;
                           matmul<T>(matrix{from, rows, depth}, matrix{c.weights, depth, depth},
                                     matrix_view<T>{to, rows, depth}, c.stream, here);
                       }});
    };
    for (const matmul_algorithm algorithm : matmul_algorithms(element_type_of<T>))
        add("matmul_" + std::string(to_string(algorithm)),
            algorithm == matmul_algorithm::vector   ? 1
            : algorithm == matmul_algorithm::skinny ? 8
                                                    : side<T>,
            {.algorithm = algorithm}, algorithm == matmul_algorithm::stream ? 64 : side<T>);
    if constexpr (std::is_same_v<T, float>) {
        add("matmul_of_16_rows_in_tf32", 16, {.precision = precision::tf32});
        add("matmul_in_tf32", side<T>, {.precision = precision::tf32});
    } else {
        all.push_back({"batched_matmul", "batched_matmul", [](const context<T>& c, const T* from, T* to) {
                           std::vector<matmul_operands<T>> products;
                           for (const std::int64_t first : {std::int64_t{0}, side<T> / 2})
                               products.push_back({{from + first * side<T>, side<T> / 2, side<T>},
                                                   {c.weights, side<T>, side<T>},
                                                   {to + first * side<T>, side<T> / 2, side<T>}});
                           batched_matmul<T>(products, c.stream, {.workspace = c.workspace});
                       }});
    }
}

/// Rungs of uint8 alone.
bool needs_tensor_cores(gaussian_blur_algorithm algorithm) {
    return to_string(algorithm).find("mma_x") != std::string_view::npos;
}

template <class T>
void add_blurs(std::vector<operation<T>>& all) {
    using image = image_view<const T>;
    const auto add = [&](const std::string& family, const char* of, std::int64_t channels, double sigma,
                         gaussian_blur_algorithm algorithm) {
        all.push_back({family, family + of, [=](const context<T>& c, const T* from, T* to) {
                           const std::int64_t width = side<T> / channels;
                           gaussian_blur<T>(image{from, width, side<T>, channels},
                                            image_view<T>{to, width, side<T>, channels}, sigma, c.stream,
                                            {.algorithm = algorithm, .workspace = c.workspace});
                       }});
    };
    for (const gaussian_blur_algorithm algorithm : gaussian_blur_algorithms()) {
        if (algorithm == gaussian_blur_algorithm::naive) continue;  // slow
        if (!std::is_same_v<T, std::uint8_t> && needs_tensor_cores(algorithm)) continue;

        const std::string name = "gaussian_blur_" + std::string(to_string(algorithm));
        if (algorithm == gaussian_blur_algorithm::decimated) {
            add(name, "", 1, 9, algorithm);
            continue;
        }
        // Small, medium and large windows have kernels of their own.
        add(name, "_of_little", 1, 0.6, algorithm);
        add(name, "_of_some", 1, 2, algorithm);
        add(name, "_of_much", 1, 5, algorithm);
        add(name, "_of_3_channels", 3, 2, algorithm);
    }
    all.push_back({"box_blur", "box_blur", [](const context<T>& c, const T* from, T* to) {
                       box_blur<T>(image{from, side<T>, side<T>}, image_view<T>{to, side<T>, side<T>}, 6,
                                   c.stream, {.workspace = c.workspace});
                   }});
}

template <class T>
std::vector<operation<T>> make_operations() {
    std::vector<operation<T>> all;
    if constexpr (!std::is_integral_v<T>) {
        add_products(all);
        all.push_back(
            {"sigmoid", "sigmoid", [](const context<T>& c, const T* from, T* to) {
                 sigmoid<T>(vector_view<const T>{from, size<T>}, vector_view<T>{to, size<T>}, c.stream);
             }});
        all.push_back(
            {"softmax", "softmax", [](const context<T>& c, const T* from, T* to) {
                 softmax<T>({from, side<T>, side<T>}, matrix_view<T>{to, side<T>, side<T>}, c.stream);
             }});
    }
    add_blurs(all);
    return all;
}

template <class T>
const std::vector<operation<T>>& operations() {
    static const auto all = make_operations<T>();
    return all;
}

template <class T>
std::vector<std::string> families() {
    std::vector<std::string> all;
    for (const operation<T>& each : operations<T>())
        if (all.empty() || all.back() != each.family) all.push_back(each.family);
    return all;
}

/// The operations of a family, each before every other and before itself.
template <class T>
class chained_calls : public stream_fixture, public testing::WithParamInterface<std::string> {
  protected:
    /// The first call's input is x and its output y. The second call has any two of the three buffers.
    struct chain {
        const char* name;
        int from, to;
    };

    void check_all() {
        const heddle::stream& s = *stream;
        for (auto& buffer : buffers_) buffer = device_buffer<T>(size<T>, s);
        for (auto& buffer : fresh_) buffer = random_buffer(-1, 1);
        weights_ = random_buffer(-0.05, 0.05);
        std::vector<std::int32_t> factors = random_elements<std::int32_t>(words, 0, 0x1p30);
        for (std::int32_t& factor : factors) factor |= 1;
        factors_ = device_buffer<std::int32_t>(words, s);
        sums_ = device_buffer<std::int64_t>(3, s);
        copy_and_wait(factors, factors_, s);
        workspace scratch(std::int64_t{256} << 20, s);
        const context<T> with{weights_.data(), scratch, s};
        int supported = 0;
        for (const operation<T>& first : operations<T>()) {
            if (first.family != GetParam() || !is_supported(first, with))
                continue;  // not a window of this rung
            ++supported;
            ASSERT_NO_FATAL_FAILURE(check_before_all(first, with));
        }
        if (supported == 0 && !has_warpgroups()) GTEST_SKIP() << "needs compute capability 9.0";
        ASSERT_GT(supported, 0);
    }

  private:
    void check_before_all(const operation<T>& first, const context<T>& with) {
        const heddle::stream& s = *stream;
        constexpr chain chains[] = {{"reads what the one before wrote", 1, 2},
                                    {"overwrites what the one before reads", 2, 0},
                                    {"overwrites what the one before wrote", 2, 1}};
        constexpr int repetitions = 3;
        for (const operation<T>& second : operations<T>()) {
            if (!is_supported(second, with)) continue;
            for (const auto& [name, from, to] : chains) {
                SCOPED_TRACE(first.name + ", then " + second.name + ", which " + name);
                const auto run = [&, from = from, to = to](bool waits) {
                    for (std::size_t i = 0; i < buffers_.size(); ++i) heddle::copy(fresh_[i], buffers_[i], s);
                    s.synchronize();
                    gate until_both_are_enqueued;
                    if (!waits) until_both_are_enqueued.hold(s);
                    first.enqueue(with, buffers_[0].data(), buffers_[1].data());
                    if (waits) s.synchronize();
                    second.enqueue(with, at(from), at(to));
                    until_both_are_enqueued.open();
                    s.synchronize();
                    return checksums();
                };
                const auto expected = run(true);
                for (int i = 0; i < repetitions; ++i) ASSERT_TRUE(run(false) == expected);
            }
        }
    }

    T* at(int buffer) { return buffers_[static_cast<std::size_t>(buffer)].data(); }

    device_buffer<T> random_buffer(double low, double high) {
        device_buffer<T> buffer(size<T>, *stream);
        const bool is_integral = std::is_integral_v<T>;
        copy_and_wait(random_elements<T>(size<T>, is_integral ? 0 : low, is_integral ? 255 : high), buffer,
                      *stream);
        return buffer;
    }

    bool is_supported(const operation<T>& operation, const context<T>& with) {
        try {
            operation.enqueue(with, fresh_[0].data(), at(1));
            stream->synchronize();
            return true;
        } catch (const unsupported&) {
            return false;
        }
    }

    /// Checksums of each buffer, modulo 2^64: words times random odd factors, so that a changed word shows.
    std::array<std::int64_t, 3> checksums() {
        for (std::size_t i = 0; i < buffers_.size(); ++i)
            dot<std::int32_t>({reinterpret_cast<const std::int32_t*>(buffers_[i].data()), words}, factors_,
                              sums_.data() + i, *stream);
        std::array<std::int64_t, 3> sums{};
        copy_and_wait(sums_, sums, *stream);
        return sums;
    }

    static constexpr std::int64_t words = size<T> * static_cast<std::int64_t>(sizeof(T)) / 4;
    std::array<device_buffer<T>, 3> buffers_, fresh_;
    device_buffer<T> weights_;
    device_buffer<std::int32_t> factors_;
    device_buffer<std::int64_t> sums_;
};

const auto family_name = [](const testing::TestParamInfo<std::string>& info) { return info.param; };

class chained_calls_f32 : public chained_calls<float> {};
class chained_calls_f16 : public chained_calls<half> {};
class chained_calls_u8 : public chained_calls<std::uint8_t> {};
class chained_calls_u16 : public chained_calls<std::uint16_t> {};
INSTANTIATE_TEST_SUITE_P(all, chained_calls_f32, testing::ValuesIn(families<float>()), family_name);
INSTANTIATE_TEST_SUITE_P(all, chained_calls_f16, testing::ValuesIn(families<half>()), family_name);
INSTANTIATE_TEST_SUITE_P(all, chained_calls_u8, testing::ValuesIn(families<std::uint8_t>()), family_name);
INSTANTIATE_TEST_SUITE_P(all, chained_calls_u16, testing::ValuesIn(families<std::uint16_t>()), family_name);

TEST_P(chained_calls_f32, wait_for_each_other) {
    check_all();
}
TEST_P(chained_calls_f16, wait_for_each_other) {
    check_all();
}
TEST_P(chained_calls_u8, wait_for_each_other) {
    check_all();
}
TEST_P(chained_calls_u16, wait_for_each_other) {
    check_all();
}

}  // namespace
}  // namespace heddle::test
