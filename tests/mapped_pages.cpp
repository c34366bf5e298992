#include "tests/support/mapped_pages.hpp"

#include "tests/support/loss.hpp"
#include "tests/support/norm.hpp"
#include "tests/support/numeric.hpp"
#include "tests/support/random.hpp"
#include "tests/support/softmax.hpp"
#include <heddle/batched_matmul.hpp>
#include <heddle/elementwise.hpp>
#include <heddle/histogram.hpp>
#include <heddle/loss.hpp>
#include <heddle/matmul.hpp>
#include <heddle/matrix_reduce.hpp>
#include <heddle/norm.hpp>
#include <heddle/optimizer.hpp>
#include <heddle/random.hpp>
#include <heddle/reduce.hpp>
#include <heddle/scan.hpp>
#include <heddle/softmax.hpp>
#include <heddle/stream.hpp>
#include <heddle/transpose.hpp>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace heddle {
namespace {

using test::extent, test::mapped_pages_test, test::of_rung, test::operands, test::random_elements,
    test::rung_name, test::values_in;

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
        check(std::to_string(size) + ", the output an element on", [&](operands& o) {
            add<T>(vector_view<const T>{o.of(xs), size}, vector_view<const T>{o.of(ys), size},
                   vector_view<T>{o.template result<T>(size + 3) + 1, size}, s, options);
            sigmoid<T>(vector_view<const T>{o.of(xs), size},
                       vector_view<T>{o.template result<T>(size + 3) + 1, size}, s, options);
        });
    }
    for (const matrix_shape& m : matrices) {
        const auto xs = random_elements<T>(extent(m.rows, m.row_stride, m.cols));
        const auto of_cols = random_elements<T>(m.cols), of_rows = random_elements<T>(m.rows),
                   of_one = random_elements<T>(1);
        check(text(m) + ", with a row, a column and an element", [&](operands& o) {
            const matrix_view<const T> x{o.of(xs), m.rows, m.cols, m.row_stride};
            const auto row = as_rows(vector_view<const T>{o.of(of_cols), m.cols}, m.rows);
            const auto column = as_columns(vector_view<const T>{o.of(of_rows), m.rows}, m.cols);
            const matrix_view<const T> element{o.of(of_one), m.rows, m.cols, 0, 0};
            const auto result = [&] {
                const std::int64_t size = extent(m.rows, m.row_stride, m.cols);
                return matrix_view<T>{o.template result<T>(size), m.rows, m.cols, m.row_stride};
            };
            add<T>(x, row, result(), s, options);
            multiply<T>(column, x, result(), s, options);
            subtract<T>(element, x, result(), s, options);
            fused_multiply_add<T>(x, column, row, result(), s, options);
            relu<T>(column, result(), s, options);
        });
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

using mapped_random = of_rung<random_algorithm>;
INSTANTIATE_TEST_SUITE_P(all, mapped_random, values_in(random_algorithms()), rung_name);

TEST_P(mapped_random, keeps_to_its_operands) {
    const random_options options{GetParam()};
    for (const std::int64_t size : sizes) {
        const auto xs = random_elements<half>(size);
        const std::vector<std::uint64_t> offset{3};
        EXPECT_TRUE(check_edges(std::to_string(size), [&](operands& o) {
            const philox generator{.seed = 1, .device_offset = o.of(offset)};
            random_uniform<float>(vector_view<float>{o.result<float>(size), size}, 0, 1, generator, *stream_,
                                  options);
            random_bernoulli<std::uint8_t>(vector_view<std::uint8_t>{o.result<std::uint8_t>(size), size}, 0.5,
                                           generator, *stream_, options);
            dropout<half>(vector_view<const half>{o.of(xs), size},
                          vector_view<half>{o.result<half>(size), size}, 0.5, generator, *stream_, options);
            random_permutation({o.result<std::int32_t>(size), size}, generator, *stream_);
        }));
    }
    for (const matrix_shape& m : matrices) {
        const std::int64_t size = extent(m.rows, m.row_stride, m.cols);
        const auto xs = random_elements<half>(size);
        EXPECT_TRUE(check_edges(text(m), [&](operands& o) {
            dropout<half>(matrix_view<const half>{o.of(xs), m.rows, m.cols, m.row_stride},
                          matrix_view<half>{o.result<half>(size), m.rows, m.cols, m.row_stride}, 0.5, {},
                          *stream_, options);
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

using mapped_optimizer = of_rung<optimizer_algorithm>;
INSTANTIATE_TEST_SUITE_P(all, mapped_optimizer, values_in(optimizer_algorithms()), rung_name);

TEST_P(mapped_optimizer, keeps_to_its_operands) {
    const auto check_type = [&]<class T>(T) {
        for (const std::int64_t size : sizes) {
            const auto gradients = random_elements<T>(size);
            EXPECT_TRUE(this->check_edges(std::to_string(size), [&](operands& o) {
                const parameter<T> p{o.result<float>(size), o.result<T>(size),     o.of(gradients),
                                     o.result<float>(size), o.result<float>(size), size};
                adamw<T>(std::span(&p, 1), *this->stream_, {.algorithm = this->GetParam()});
                gradient_norm<T>(std::span(&p, 1), o.result<float>(1), *this->stream_);
            }));
        }
    };
    check_type(float{});
    check_type(half{});
}

using mapped_softmax_gradient = of_rung<softmax_gradient_algorithm>;
INSTANTIATE_TEST_SUITE_P(all, mapped_softmax_gradient, values_in(softmax_gradient_algorithms()), rung_name);

TEST_P(mapped_softmax_gradient, keeps_to_its_operands) {
    const auto check_type = [&]<class T>(T) {
        for (const matrix_shape& m : matrices) {
            const std::int64_t size = extent(m.rows, m.row_stride, m.cols);
            const auto ys = random_elements<T>(size), dys = random_elements<T>(size);
            EXPECT_TRUE(this->check_edges(text(m), [&](operands& o) {
                softmax_gradient<T>({o.of(ys), m.rows, m.cols, m.row_stride},
                                    {o.of(dys), m.rows, m.cols, m.row_stride},
                                    matrix_view<T>{o.result<T>(size), m.rows, m.cols, m.row_stride},
                                    *this->stream_, {.algorithm = this->GetParam()});
            }));
        }
    };
    check_type(float{});
    check_type(half{});
}

using mapped_norm_gradient = of_rung<norm_gradient_algorithm>;
INSTANTIATE_TEST_SUITE_P(all, mapped_norm_gradient, values_in(norm_gradient_algorithms()), rung_name);

TEST_P(mapped_norm_gradient, keeps_to_its_operands) {
    const auto check_type = [&]<class T>(T) {
        for (const matrix_shape& m : matrices) {
            const std::int64_t size = extent(m.rows, m.row_stride, m.cols);
            const auto xs = random_elements<T>(size), dys = random_elements<T>(size),
                       gammas = random_elements<T>(m.cols);
            const bool ran = this->check_edges(text(m), [&](operands& o) {
                layer_norm_gradient<T>({o.of(xs), m.rows, m.cols, m.row_stride}, {o.of(gammas), m.cols},
                                       {o.of(dys), m.rows, m.cols, m.row_stride},
                                       {o.result<T>(size), m.rows, m.cols, m.row_stride},
                                       {o.result<T>(m.cols), m.cols}, {o.result<T>(m.cols), m.cols},
                                       *this->stream_, {.algorithm = this->GetParam()});
            });
            const norm_gradient_problem problem{
                .rows = m.rows, .cols = m.cols, .element_bytes = sizeof(T), .in_packets = false};
            EXPECT_EQ(ran, why_not(this->GetParam(), problem, traits_of(current_device())).empty());
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

using mapped_loss = of_rung<loss_algorithm>;
INSTANTIATE_TEST_SUITE_P(all, mapped_loss, values_in(loss_algorithms()), rung_name);

TEST_P(mapped_loss, keeps_to_its_operands) {
    const auto check_type = [&]<class T>(T) {
        for (const matrix_shape& m : matrices) {
            const std::int64_t size = extent(m.rows, m.row_stride, m.cols);
            const auto xs = random_elements<T>(size), ts = random_elements<T>(size);
            const auto labels = random_elements<std::int32_t>(m.rows, -1, static_cast<double>(m.cols));
            const loss_algorithm algorithm = this->GetParam();
            const matrix_view<T> shape{nullptr, m.rows, m.cols, m.row_stride};
            const bool ran = this->check_edges(text(m), [&](operands& o) {
                const auto result = [&] {
                    return matrix_view<T>{o.result<T>(size), m.rows, m.cols, m.row_stride};
                };
                const auto loss = [&] { return vector_view<float>{o.result<float>(m.rows), m.rows}; };
                const matrix_view<const T> x{o.of(xs), m.rows, m.cols, m.row_stride};
                const vector_view<const std::int32_t> label{o.of(labels), m.rows};
                cross_entropy<T>(x, label, loss(), result(), *this->stream_, {.algorithm = algorithm});
                mean_squared_error<T>(x, {o.of(ts), m.rows, m.cols, m.row_stride}, loss(), result(),
                                      *this->stream_, {.algorithm = algorithm});
                label_hits<T>(x, label, {o.result<std::int32_t>(m.rows), m.rows}, *this->stream_);
            });
            EXPECT_EQ(ran, test::takes(algorithm, shape, shape));
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

}  // namespace
}  // namespace heddle
