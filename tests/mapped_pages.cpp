#include "tests/support/gpu.hpp"
#include "tests/support/mapped_buffer.hpp"
#include "tests/support/norm.hpp"
#include "tests/support/numeric.hpp"
#include "tests/support/random.hpp"
#include "tests/support/softmax.hpp"
#include <heddle/batched_matmul.hpp>
#include <heddle/conv.hpp>
#include <heddle/elementwise.hpp>
#include <heddle/gaussian_blur.hpp>
#include <heddle/histogram.hpp>
#include <heddle/image_filter.hpp>
#include <heddle/matmul.hpp>
#include <heddle/matrix_reduce.hpp>
#include <heddle/norm.hpp>
#include <heddle/planes.hpp>
#include <heddle/pool.hpp>
#include <heddle/reduce.hpp>
#include <heddle/scan.hpp>
#include <heddle/softmax.hpp>
#include <heddle/stream.hpp>
#include <heddle/transpose.hpp>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

/// Operands at the first or the last bytes of mapped pages: whatever a kernel reads or writes outside of them there is an
/// illegal address. It ends the context, so that all tests after the one that met it fail too: the first is the one to look at.
namespace heddle {
namespace {

using test::page_edge;
using test::random_elements;

/// The operands of one call, each in memory of its own: at an edge of mapped pages, or in the middle of an ordinary
/// allocation at the same distance from a multiple of 256 bytes.
class operands {
  public:
    operands(page_edge edge, bool is_ordinary) : edge_(edge), is_ordinary_(is_ordinary) {}
    operands(const operands&) = delete;
    operands& operator=(const operands&) = delete;
    ~operands() {
        for (std::byte* memory : ordinary_) (void)cudaFree(memory);
    }

    template <class T>
    T* of(const std::vector<T>& elements) {
        const auto bytes = elements.size() * sizeof(T);
        std::byte* const data = allocate(static_cast<std::int64_t>(bytes));
        check(cudaMemcpy(data, elements.data(), bytes, cudaMemcpyDefault));
        check(cudaDeviceSynchronize());  // no other stream waits for a copy from pageable memory
        return reinterpret_cast<T*>(data);
    }

    /// An output; its bytes are the same in each run at first.
    template <class T>
    T* result(std::int64_t size) {
        T* const data = of(std::vector<T>(static_cast<std::size_t>(size)));
        results_.push_back({reinterpret_cast<std::byte*>(data), static_cast<std::size_t>(size) * sizeof(T)});
        return data;
    }

    std::vector<std::vector<std::byte>> download() const {
        std::vector<std::vector<std::byte>> all;
        for (const auto& [data, bytes] : results_) {
            all.emplace_back(bytes);
            check(cudaMemcpy(all.back().data(), data, bytes, cudaMemcpyDefault));
        }
        return all;
    }

  private:
    std::byte* allocate(std::int64_t bytes) {
        if (!is_ordinary_)
            return mapped_.emplace_back(std::make_unique<test::mapped_buffer>(bytes, edge_))->data();
        constexpr std::int64_t alignment = 256, margin = 4096;
        std::byte* memory = nullptr;
        check(cudaMalloc(reinterpret_cast<void**>(&memory), static_cast<std::size_t>(bytes + 2 * margin)));
        ordinary_.push_back(memory);
        const std::int64_t past = edge_ == page_edge::begin ? 0 : (alignment - bytes % alignment) % alignment;
        return memory + margin + past;
    }

    struct output {
        std::byte* data;
        std::size_t bytes;
    };

    page_edge edge_;
    bool is_ordinary_;
    std::vector<std::unique_ptr<test::mapped_buffer>> mapped_;
    std::vector<std::byte*> ordinary_;
    std::vector<output> results_;
};

/// A matrix of rows x cols in as few elements as it can have.
constexpr std::int64_t extent(std::int64_t rows, std::int64_t row_stride, std::int64_t cols) {
    return (rows - 1) * row_stride + cols;
}

class mapped_pages_test : public test::gpu_test {
  protected:
    void SetUp() override {
        gpu_test::SetUp();
        if (!IsSkipped()) stream_.emplace();
    }

    /// `call` enqueues an operation on operands that it takes from what it is given. At both edges it comes to an end, with the
    /// bits that it gives in ordinary memory. False where it throws unsupported.
    template <class Call>
    bool check_edges(const std::string& what, Call call) {
        SCOPED_TRACE(what);
        for (const page_edge edge : {page_edge::begin, page_edge::end}) {
            SCOPED_TRACE(edge == page_edge::begin ? "from a page's first byte" : "to a page's last byte");
            operands ordinary(edge, true), mapped(edge, false);
            try {
                call(ordinary);
            } catch (const unsupported&) {
                return false;
            }
            call(mapped);
            stream_->synchronize();
            EXPECT_EQ(mapped.download(), ordinary.download());
        }
        return true;
    }

    std::optional<stream> stream_;
};

template <class Algorithm>
class of_rung : public mapped_pages_test, public testing::WithParamInterface<Algorithm> {};

const auto rung_name = [](const auto& info) { return std::string(to_string(info.param)); };

template <class Algorithms>
auto values_in(const Algorithms& algorithms) {
    return testing::ValuesIn(algorithms.begin(), algorithms.end());
}

/// Sizes of vectors: a tile's and around it, and odd ones.
constexpr std::int64_t sizes[] = {1, 7, 255, 256, 1000, 1024, 4096, 4099, 65536, 100003, 1 << 20};

/// A matrix has these rows and columns, and so many elements from a row to the next.
struct matrix_shape {
    std::int64_t rows, cols, row_stride;
};
constexpr matrix_shape matrices[] = {{1, 1, 1},         {5, 7, 7},         {64, 64, 64},
                                     {129, 33, 33},     {32, 257, 264},    {1000, 3, 3},
                                     {128, 256, 256},   {3, 4096, 4096},   {7, 1001, 1003},
                                     {3, 20000, 20000}, {2, 40001, 40004}, {2, 140001, 140001}};

std::string text(const matrix_shape& s) {
    return std::to_string(s.rows) + "x" + std::to_string(s.cols) + ", stride " + std::to_string(s.row_stride);
}

using mapped_elementwise = of_rung<elementwise_algorithm>;
INSTANTIATE_TEST_SUITE_P(all, mapped_elementwise, values_in(elementwise_algorithms()), rung_name);

template <class T, class Check>
void check_elementwise(Check check, const stream& s, const elementwise_options& options) {
    for (const std::int64_t size : sizes) {
        const auto xs = random_elements<T>(size), ys = random_elements<T>(size),
                   zs = random_elements<T>(size);
        check(std::to_string(size), [&](operands& o) {
            fused_multiply_add<T>(vector_view<const T>{o.of(xs), size}, vector_view<const T>{o.of(ys), size},
                                  vector_view<const T>{o.of(zs), size},
                                  vector_view<T>{o.template result<T>(size), size}, s, options);
        });
    }
    for (const matrix_shape& m : matrices) {
        const auto xs = random_elements<T>(extent(m.rows, m.row_stride, m.cols));
        check(text(m), [&](operands& o) {
            sigmoid<T>(matrix_view<const T>{o.of(xs), m.rows, m.cols, m.row_stride},
                       matrix_view<T>{o.template result<T>(m.rows * m.cols), m.rows, m.cols}, s, options);
        });
    }
}

TEST_P(mapped_elementwise, keeps_to_its_operands) {
    const auto check = [&](const std::string& what, auto call) {
        EXPECT_TRUE(this->check_edges(what, call));
    };
    check_elementwise<float>(check, *stream_, {.algorithm = GetParam()});
    check_elementwise<half>(check, *stream_, {.algorithm = GetParam()});
    check_elementwise<double>(check, *stream_, {.algorithm = GetParam()});
}

using mapped_reduce = of_rung<reduce_algorithm>;
INSTANTIATE_TEST_SUITE_P(all, mapped_reduce, values_in(reduce_algorithms()), rung_name);

TEST_P(mapped_reduce, keeps_to_its_operands) {
    const reduce_options options{.algorithm = GetParam()};
    for (const std::int64_t size : sizes) {
        const auto xs = random_elements<float>(size), ys = random_elements<float>(size);
        const auto halves = random_elements<half>(size);
        const std::string what = std::to_string(size);
        EXPECT_TRUE(check_edges(what, [&](operands& o) {
            sum<float>({o.of(xs), size}, o.result<float>(1), *stream_, options);
            sum<half>({o.of(halves), size}, o.result<float>(1), *stream_, options);
            max<float>({o.of(xs), size}, o.result<float>(1), *stream_, options);
        }));
        if (GetParam() != reduce_algorithm::vectorized) {
            EXPECT_TRUE(check_edges(what + ", every second", [&](operands& o) {
                sum<float>({o.of(xs), (size + 1) / 2, 2}, o.result<float>(1), *stream_, options);
            }));
        }
        if (GetParam() != reduce_algorithm::single_pass) continue;
        EXPECT_TRUE(check_edges(what, [&](operands& o) {
            dot<float>({o.of(xs), size}, {o.of(ys), size}, o.result<float>(1), *stream_, options);
            argmax<half>({o.of(halves), size}, o.result<std::int64_t>(1), *stream_, options);
            norm2<float>({o.of(xs), size}, o.result<float>(1), *stream_, options);
        }));
    }
}

using mapped_matrix_reduce = of_rung<matrix_reduce_algorithm>;
INSTANTIATE_TEST_SUITE_P(all, mapped_matrix_reduce, values_in(matrix_reduce_algorithms()), rung_name);

TEST_P(mapped_matrix_reduce, keeps_to_its_operands) {
    const matrix_reduce_options options{.algorithm = GetParam()};
    const auto check_type = [&]<class T>(T) {
        for (const matrix_shape& m : matrices) {
            const auto xs = random_elements<T>(extent(m.rows, m.row_stride, m.cols));
            EXPECT_TRUE(this->check_edges(text(m), [&](operands& o) {
                const matrix_view<const T> x{o.of(xs), m.rows, m.cols, m.row_stride};
                row_sum<T>(x, {o.result<float>(m.rows), m.rows}, *this->stream_, options);
                row_argmax<T>(x, {o.result<std::int64_t>(m.rows), m.rows}, *this->stream_, options);
                row_variance<T>(x, {o.result<float>(m.rows), m.rows}, *this->stream_, options);
                column_max<T>(x, {o.result<T>(m.cols), m.cols}, *this->stream_, options);
                column_variance<T>(x, {o.result<float>(m.cols), m.cols}, *this->stream_, options);
            }));
        }
    };
    check_type(float{});
    check_type(half{});
}

using mapped_scan = of_rung<scan_algorithm>;
INSTANTIATE_TEST_SUITE_P(all, mapped_scan, values_in(scan_algorithms()), rung_name);

TEST_P(mapped_scan, keeps_to_its_operands) {
    const scan_options options{.algorithm = GetParam()};
    for (const std::int64_t size : sizes) {
        const auto xs = random_elements<float>(size);
        const auto longs = random_elements<std::int64_t>(size, -9, 9);
        EXPECT_TRUE(check_edges(std::to_string(size), [&](operands& o) {
            inclusive_scan<std::int64_t>({o.of(longs), size}, {o.result<std::int64_t>(size), size}, *stream_,
                                         options);
            exclusive_scan<float>({o.of(xs), size}, {o.result<float>(size), size}, *stream_, options);
        }));
    }
}

using mapped_histogram = of_rung<histogram_algorithm>;
INSTANTIATE_TEST_SUITE_P(all, mapped_histogram, values_in(histogram_algorithms()), rung_name);

TEST_P(mapped_histogram, keeps_to_its_operands) {
    for (const std::int64_t size : sizes) {
        const auto bytes = random_elements<std::uint8_t>(size, 0, 255);
        const auto floats = random_elements<float>(size, 0, 1);
        EXPECT_TRUE(check_edges(std::to_string(size), [&](operands& o) {
            histogram({o.of(bytes), size}, {o.result<std::int64_t>(256), 256}, *stream_,
                      {.algorithm = GetParam()});
            histogram({o.of(floats), size}, 0, 1, {o.result<std::int64_t>(101), 101}, *stream_,
                      {.algorithm = GetParam()});
        }));
    }
}

using mapped_softmax = of_rung<softmax_algorithm>;
INSTANTIATE_TEST_SUITE_P(all, mapped_softmax, values_in(softmax_algorithms()), rung_name);

TEST_P(mapped_softmax, keeps_to_its_operands) {
    const auto check_type = [&]<class T>(T) {
        for (const matrix_shape& m : matrices) {
            const std::int64_t size = extent(m.rows, m.row_stride, m.cols);
            const auto xs = random_elements<T>(size);
            const matrix_view<T> shape{nullptr, m.rows, m.cols, m.row_stride};
            const bool ran = this->check_edges(text(m), [&](operands& o) {
                softmax<T>({o.of(xs), m.rows, m.cols, m.row_stride},
                           matrix_view<T>{o.result<T>(size), m.rows, m.cols, m.row_stride}, *this->stream_,
                           {.algorithm = this->GetParam()});
            });
            EXPECT_EQ(ran, test::takes(this->GetParam(), shape, shape));
        }
    };
    check_type(float{});
    check_type(half{});
}

using mapped_norm = of_rung<norm_algorithm>;
INSTANTIATE_TEST_SUITE_P(all, mapped_norm, values_in(norm_algorithms()), rung_name);

TEST_P(mapped_norm, keeps_to_its_operands) {
    const auto check_type = [&]<class T>(T) {
        for (const matrix_shape& m : matrices) {
            const std::int64_t size = extent(m.rows, m.row_stride, m.cols);
            const auto xs = random_elements<T>(size), gammas = random_elements<T>(m.cols),
                       betas = random_elements<T>(m.cols);
            const norm_options options{.algorithm = this->GetParam()};
            const matrix_view<T> shape{nullptr, m.rows, m.cols, m.row_stride};
            const vector_view<T> parameters{nullptr, m.cols};
            const bool ran = this->check_edges(text(m), [&](operands& o) {
                layer_norm<T>(
                    {o.of(xs), m.rows, m.cols, m.row_stride}, {o.of(gammas), m.cols}, {o.of(betas), m.cols},
                    matrix_view<T>{o.result<T>(size), m.rows, m.cols, m.row_stride}, *this->stream_, options);
                rms_norm<T>({o.of(xs), m.rows, m.cols, m.row_stride}, {o.of(gammas), m.cols},
                            matrix_view<T>{o.result<T>(size), m.rows, m.cols, m.row_stride}, *this->stream_,
                            options);
            });
            EXPECT_EQ(ran, test::takes(options.algorithm, shape, parameters, parameters, shape));
        }
    };
    check_type(float{});
    check_type(half{});
}

using mapped_transpose = of_rung<transpose_algorithm>;
INSTANTIATE_TEST_SUITE_P(all, mapped_transpose, values_in(transpose_algorithms()), rung_name);

TEST_P(mapped_transpose, keeps_to_its_operands) {
    const auto check_type = [&]<class T>(T) {
        for (const matrix_shape& m : matrices) {
            const auto xs = random_elements<T>(extent(m.rows, m.row_stride, m.cols), 0, 255);
            EXPECT_TRUE(this->check_edges(text(m), [&](operands& o) {
                transpose<T>({o.of(xs), m.rows, m.cols, m.row_stride},
                             matrix_view<T>{o.result<T>(m.rows * m.cols), m.cols, m.rows}, *this->stream_,
                             {.algorithm = this->GetParam()});
            }));
        }
    };
    check_type(std::uint8_t{});
    check_type(half{});
    check_type(float{});
    check_type(double{});
}

struct product {
    std::int64_t m, n, k;
};
constexpr product products[] = {{1, 1, 1},       {128, 128, 64},   {256, 256, 256}, {129, 65, 33},
                                {257, 511, 129}, {136, 264, 72},   {1, 1024, 1024}, {16, 512, 512},
                                {64, 64, 1000},  {512, 1024, 128}, {8, 512, 1001},  {384, 640, 2048}};

template <class T, class Check>
int count_products(Check check, const stream& s, matmul_algorithm algorithm) {
    int ran = 0;
    for (const auto& [m, n, k] : products)
        for (const bool is_b_transposed : {false, true})
            for (const std::int64_t padding : {0, 8, 3}) {
                const std::int64_t b_rows = is_b_transposed ? n : k, b_cols = is_b_transposed ? k : n;
                const std::int64_t down_a = k + padding, down_b = b_cols + padding, down_c = n + padding;
                const auto as = random_elements<T>(extent(m, down_a, k));
                const auto bs = random_elements<T>(extent(b_rows, down_b, b_cols));
                const std::string what = std::to_string(m) + "x" + std::to_string(n) + "x" +
                                         std::to_string(k) + (is_b_transposed ? ", b transposed" : "") +
                                         ", padding " + std::to_string(padding);
                ran +=
                    check(
                        what,
                        [&](operands& o) {
                            const matrix_view<const T> b{o.of(bs), b_rows, b_cols, down_b};
                            const matrix_view<const T> a{o.of(as), m, k, down_a};
                            const matrix_view<const T> right = is_b_transposed ? transposed(b) : b;
                            const matrix_view<T> c{o.template result<T>(extent(m, down_c, n)), m, n, down_c};
                            matmul_options options{.algorithm = algorithm};
                            const std::int64_t scratch =
                                (matmul_workspace_bytes<T>(a, right, c, s, options) + 15) / 16 * 16;
                            if (scratch > 0)
                                options.workspace = {
                                    o.of(std::vector<std::byte>(static_cast<std::size_t>(scratch))),
                                    static_cast<std::size_t>(scratch)};
                            matmul<T>(a, right, c, s, options);
                        })
                        ? 1
                        : 0;
            }
    return ran;
}

using mapped_matmul_f32 = of_rung<matmul_algorithm>;
INSTANTIATE_TEST_SUITE_P(all, mapped_matmul_f32, values_in(matmul_algorithms(element_type::f32)), rung_name);

/// Every rung takes at least the shapes whose rows begin at multiples of 16 bytes.
TEST_P(mapped_matmul_f32, keeps_to_its_operands) {
    const auto check = [&](const std::string& what, auto call) { return this->check_edges(what, call); };
    const int ran = count_products<float>(check, *stream_, GetParam());
    if (!test::has_warpgroups() && ran == 0) GTEST_SKIP() << "needs compute capability 9.0";
    EXPECT_GT(ran, 0);
}

class mapped_matmul_16_bit : public of_rung<matmul_algorithm> {};
INSTANTIATE_TEST_SUITE_P(all, mapped_matmul_16_bit, values_in(matmul_algorithms(element_type::f16)),
                         rung_name);

TEST_P(mapped_matmul_16_bit, keeps_to_its_operands) {
    const auto check = [&](const std::string& what, auto call) { return this->check_edges(what, call); };
    const int ran = count_products<half>(check, *stream_, GetParam());
    if (!test::has_warpgroups() && ran == 0) GTEST_SKIP() << "needs compute capability 9.0";
    EXPECT_GT(ran, 0);
    EXPECT_GT(count_products<bfloat16>(check, *stream_, GetParam()), 0);
}

using mapped_batched_matmul = mapped_pages_test;

TEST_F(mapped_batched_matmul, keeps_to_its_operands) {
    const auto check_type = [&]<class T>(T) {
        for (const auto& [m, n, k] : products) {
            constexpr std::int64_t count = 3;
            const auto as = random_elements<T>(count * m * k), bs = random_elements<T>(count * k * n);
            const std::string what = std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k);
            EXPECT_TRUE(this->check_edges(what, [&](operands& o) {
                batched_matmul<T>({{o.of(as), m, k}, count, m * k}, {{o.of(bs), k, n}, count, k * n},
                                  batch_view<T>{{o.result<T>(count * m * n), m, n}, count, m * n},
                                  *this->stream_);
            }));
            EXPECT_TRUE(this->check_edges(what + ", a list", [&](operands& o) {
                std::vector<matmul_operands<T>> list;
                for (int i = 0; i < 3; ++i)
                    list.push_back({{o.of(std::vector<T>(as.begin(), as.begin() + m * k)), m, k},
                                    {o.of(std::vector<T>(bs.begin(), bs.begin() + k * n)), k, n},
                                    {o.result<T>(m * n), m, n}});
                batched_matmul<T>(list, *this->stream_);
            }));
        }
    };
    check_type(float{});
    check_type(half{});
    check_type(bfloat16{});
}

/// An image has this width and height, these channels, and so many values from a row to the next.
struct image_shape {
    std::int64_t width, height, channels, row_stride;
};
constexpr image_shape images[] = {
    {1, 1, 1, 1},       {128, 64, 1, 128}, {97, 61, 1, 97},    {97, 61, 3, 291},   {256, 128, 4, 1024},
    {320, 200, 3, 960}, {333, 77, 1, 336}, {640, 480, 1, 640}, {512, 300, 1, 528}, {1001, 130, 2, 2003}};

std::string text(const image_shape& s) {
    return std::to_string(s.width) + "x" + std::to_string(s.height) + "x" + std::to_string(s.channels) +
           ", stride " + std::to_string(s.row_stride);
}

using mapped_conv = of_rung<conv_algorithm>;
INSTANTIATE_TEST_SUITE_P(all, mapped_conv, values_in(conv_algorithms()), rung_name);

TEST_P(mapped_conv, keeps_to_its_operands) {
    struct shape {
        std::int64_t channels, outputs, side, groups;
    };
    constexpr std::int64_t count = 2, height = 7, width = 9;
    const auto check_type = [&]<class T>(T) {
        for (const auto& [channels, outputs, side, groups] : {shape{3, 5, 3, 1},
                                                              {8, 64, 1, 1},
                                                              {64, 128, 3, 1},
                                                              {33, 66, 3, 3},
                                                              {24, 24, 5, 24},
                                                              {132, 132, 3, 132},
                                                              {9, 9, 3, 9}}) {
            const conv_options options{.geometry = {.padding = {1, 1, 1, 1}, .groups = groups},
                                       .algorithm = this->GetParam()};
            const std::int64_t p = conv_output_height(height, side, options.geometry),
                               q = conv_output_width(width, side, options.geometry);
            const auto xs = random_elements<T>(count * height * width * channels);
            const auto ws = random_elements<T>(outputs * side * side * channels / groups);
            this->check_edges(std::to_string(channels) + " to " + std::to_string(outputs), [&](operands& o) {
                conv<T>({o.of(xs), count, height, width, channels},
                        {o.of(ws), outputs, side, side, channels / groups},
                        tensor_view<T>{o.result<T>(count * p * q * outputs), count, p, q, outputs},
                        *this->stream_, options);
            });
        }
    };
    check_type(float{});
    check_type(half{});
}

using mapped_pool = of_rung<pool_algorithm>;
INSTANTIATE_TEST_SUITE_P(all, mapped_pool, values_in(pool_algorithms()), rung_name);

TEST_P(mapped_pool, keeps_to_its_operands) {
    constexpr std::int64_t count = 2, height = 7, width = 9;
    const auto check_type = [&]<class T>(T) {
        for (const std::int64_t channels : {3, 8, 33, 72})
            for (const pool_geometry& g :
                 {pool_geometry{{3, 3}, {2, 2}, {1, 1, 1, 1}}, pool_geometry{{height, width}}}) {
                const std::int64_t p = pool_output_height(height, g), q = pool_output_width(width, g);
                const auto xs = random_elements<T>(count * height * width * channels);
                this->check_edges(std::to_string(channels) + " channels", [&](operands& o) {
                    pool<T>({o.of(xs), count, height, width, channels},
                            tensor_view<T>{o.result<T>(count * p * q * channels), count, p, q, channels},
                            *this->stream_, {.geometry = g, .algorithm = this->GetParam()});
                });
            }
    };
    check_type(float{});
    check_type(half{});
}

using mapped_planes = mapped_pages_test;

TEST_F(mapped_planes, keep_to_their_operands) {
    constexpr std::int64_t count = 2, height = 7, width = 9;
    const auto check_type = [&]<class T>(T) {
        for (const std::int64_t channels : {3, 17, 64, 130}) {
            const auto xs = random_elements<T>(count * height * width * channels);
            check_edges(std::to_string(channels) + " channels", [&](operands& o) {
                to_nhwc<T>({o.of(xs), count, channels, height, width},
                           {o.result<T>(count * height * width * channels), count, height, width, channels},
                           *stream_);
                to_nchw<T>({o.of(xs), count, height, width, channels},
                           {o.result<T>(count * height * width * channels), count, channels, height, width},
                           *stream_);
            });
        }
    };
    check_type(float{});
    check_type(half{});
}

using mapped_gaussian_blur = of_rung<gaussian_blur_algorithm>;
INSTANTIATE_TEST_SUITE_P(all, mapped_gaussian_blur, values_in(gaussian_blur_algorithms()), rung_name);

TEST_P(mapped_gaussian_blur, keeps_to_its_operands) {
    int ran = 0;
    const auto check_type = [&]<class T>(T) {
        for (const image_shape& s : images)
            for (const double sigma : {0.8, 2.5, 9.0})
                for (const border kind : {border::replicate, border::wrap}) {
                    const std::int64_t values = s.width * s.channels;
                    const std::int64_t size = extent(s.height, s.row_stride, values);
                    const auto xs = random_elements<T>(size, 0, 255);
                    const std::string what = text(s) + ", sigma " + std::to_string(sigma);
                    const gaussian_blur_options options{.border = kind, .algorithm = this->GetParam()};
                    ran += this->check_edges(what,
                                             [&](operands& o) {
                                                 gaussian_blur<T>(
                                                     image_view<const T>{o.of(xs), s.width, s.height,
                                                                         s.channels, s.row_stride},
                                                     image_view<T>{o.result<T>(size), s.width, s.height,
                                                                   s.channels, s.row_stride},
                                                     sigma, *this->stream_, options);
                                             })
                               ? 1
                               : 0;
                }
    };
    check_type(std::uint8_t{});
    check_type(std::uint16_t{});
    check_type(half{});
    check_type(float{});
    if (!test::has_warpgroups() && ran == 0) GTEST_SKIP() << "needs compute capability 9.0";
    EXPECT_GT(ran, 0);
}

using mapped_image_filter = of_rung<image_filter_algorithm>;
INSTANTIATE_TEST_SUITE_P(all, mapped_image_filter, values_in(image_filter_algorithms()), rung_name);

TEST_P(mapped_image_filter, keeps_to_its_operands) {
    int ran = 0;
    const auto check_type = [&]<class T>(T) {
        for (const image_shape& s : images)
            for (const border kind : {border::replicate, border::wrap}) {
                const std::int64_t size = extent(s.height, s.row_stride, s.width * s.channels);
                const auto xs = random_elements<T>(size, 0, 255);
                const image_filter_options options{.border = kind, .algorithm = this->GetParam()};
                const auto source = [&](operands& o) {
                    return image_view<const T>{o.of(xs), s.width, s.height, s.channels, s.row_stride};
                };
                const auto result = [&]<class Out>(operands& o, Out) {
                    return image_view<Out>{o.result<Out>(size), s.width, s.height, s.channels, s.row_stride};
                };
                const auto count = [&](const char* filter, auto call) {
                    if (this->check_edges(filter + (", " + text(s)), call)) ++ran;
                };
                count("box_blur", [&](operands& o) {
                    box_blur<T>(source(o), result(o, T{}), 3, *this->stream_, options);
                });
                count("sobel", [&](operands& o) {
                    sobel<T>(source(o), result(o, float{}), gradient::magnitude, *this->stream_, options);
                });
                count("laplacian", [&](operands& o) {
                    laplacian<T>(source(o), result(o, float{}), *this->stream_, options);
                });
                if constexpr (std::is_same_v<T, float>) {
                    const std::vector<float> taps = {0.25f, -1, 3, 0.5f, 0.125f};
                    count("separable_convolution", [&](operands& o) {
                        separable_convolution(source(o), result(o, float{}), taps, taps, *this->stream_,
                                              options);
                    });
                }
            }
    };
    check_type(std::uint8_t{});
    check_type(std::uint16_t{});
    check_type(half{});
    check_type(float{});
    EXPECT_GT(ran, 0);
}

}  // namespace
}  // namespace heddle
