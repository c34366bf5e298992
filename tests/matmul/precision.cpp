#include "tests/matmul/rungs.hpp"

#include <heddle_baselines.hpp>

#if HEDDLE_HAS_CUBLAS
#include <cublas_v2.h>

namespace heddle::test {
namespace {

class cublas {
  public:
    explicit cublas(const stream& on) {
        EXPECT_EQ(cublasCreate(&handle_), CUBLAS_STATUS_SUCCESS);
        EXPECT_EQ(cublasSetStream(handle_, on.get()), CUBLAS_STATUS_SUCCESS);
    }
    ~cublas() { EXPECT_EQ(cublasDestroy(handle_), CUBLAS_STATUS_SUCCESS); }
    cublas(const cublas&) = delete;
    cublas& operator=(const cublas&) = delete;

    // Row-major C = A B, of matrices without gaps, is column-major C^T = B^T A^T.
    void multiply(const shape& s, const float* a, const float* b, float* c) {
        const float one = 1, zero = 0;
        ASSERT_EQ(cublasSgemm_64(handle_, CUBLAS_OP_N, CUBLAS_OP_N, s.n, s.m, s.k, &one, b, s.n, a, s.k,
                                 &zero, c, s.n),
                  CUBLAS_STATUS_SUCCESS);
    }

  private:
    cublasHandle_t handle_ = nullptr;
};

/// Sides of C. With the large one, cublasSgemm has tiles for the whole device and adds k products one after another.
/// With the small one it splits k.
constexpr std::int64_t large_side = 1024;
constexpr std::int64_t small_side = 64;
constexpr std::int64_t checked_rows = 16;

/// By Box and Muller: each pair of uniform numbers gives a pair. The size is even.
std::vector<float> normal(std::int64_t size) {
    std::vector<float> elements = random_elements<float>(size, 0x1p-24, 1);
    for (std::size_t i = 0; i < elements.size(); i += 2) {
        const float radius = std::sqrt(-2 * std::log(elements[i]));
        const float angle = 6.2831853f * elements[i + 1];
        elements[i] = radius * std::cos(angle);
        elements[i + 1] = radius * std::sin(angle);
    }
    return elements;
}

template <class Factor>
std::vector<float> scaled(std::vector<float> elements, Factor factor) {
    for (std::size_t i = 0; i < elements.size(); ++i)
        elements[i] = static_cast<float>(elements[i] * factor(static_cast<std::int64_t>(i)));
    return elements;
}

/// A (side x k) and B (k x side).
struct elements {
    std::vector<float> a, b;
};

struct distribution {
    const char* name;
    elements (*make)(std::int64_t side, std::int64_t k);
};

void PrintTo(const distribution& d, std::ostream* out) {
    *out << d.name;
}

constexpr std::array distributions = {
    distribution{"normal",
                 [](std::int64_t side, std::int64_t k) {
                     return elements{normal(side * k), normal(k * side)};
                 }},
    distribution{
        "uniform",
        [](std::int64_t side, std::int64_t k) {
            return elements{random_elements<float>(side * k, 0, 1), random_elements<float>(k * side, 0, 1)};
        }},
    distribution{"lognormal",
                 [](std::int64_t side, std::int64_t k) {
                     const auto of = [](std::int64_t size) {
                         std::vector<float> elements = normal(size);
                         for (float& x : elements) x = std::exp(3 * x);
                         return elements;
                     };
                     return elements{of(side * k), of(k * side)};
                 }},
    distribution{"scaled_rows",
                 [](std::int64_t side, std::int64_t k) {
                     std::vector<double> factors;
                     for (std::int64_t row = 0; row < side; ++row)
                         factors.push_back(std::pow(
                             10, -20 + 40 * static_cast<double>(row) / static_cast<double>(side - 1)));
                     return elements{
                         scaled(normal(side * k),
                                [&](std::int64_t i) { return factors[static_cast<std::size_t>(i / k)]; }),
                         normal(k * side)};
                 }},
    distribution{"cancelling_pairs",
                 [](std::int64_t side, std::int64_t k) {
                     elements result{normal(side * k), normal(k * side)};
                     for (std::int64_t i = 0; i < side; ++i)
                         for (std::int64_t j = 1; j < k; j += 2) {
                             const auto at = [](std::int64_t place) {
                                 return static_cast<std::size_t>(place);
                             };
                             result.a[at(i * k + j)] = -result.a[at(i * k + j - 1)];
                             result.b[at(j * side + i)] =
                                 result.b[at((j - 1) * side + i)] * (1 + 1e-3f * result.b[at(j * side + i)]);
                         }
                     return result;
                 }},
    distribution{"tiny",  // products are near the smallest normal number
                 [](std::int64_t side, std::int64_t k) {
                     const auto tiny = [](std::int64_t) { return 0x1p-61; };
                     return elements{scaled(normal(side * k), tiny), scaled(normal(k * side), tiny)};
                 }},
    distribution{
        "large_ones_apart",  // in every 64 along k one in A, another in B
        [](std::int64_t side, std::int64_t k) {
            return elements{
                scaled(normal(side * k), [k](std::int64_t i) { return i % k % 64 == 0 ? 0x1p20 : 1; }),
                scaled(normal(k * side), [side](std::int64_t i) { return i / side % 64 == 1 ? 0x1p20 : 1; })};
        }},
    distribution{"near_overflow",
                 [](std::int64_t side, std::int64_t k) {
                     const double large = 0x1p62 / std::sqrt(static_cast<double>(k));
                     return elements{scaled(normal(side * k), [=](std::int64_t) { return large; }),
                                     scaled(normal(k * side), [](std::int64_t) { return 0x1p60; })};
                 }},
};

/// A product of checked_rows rows of A, spread over all rows, in float64.
class sampled_reference {
  public:
    sampled_reference(const std::vector<float>& of_a, const std::vector<float>& b, std::int64_t side,
                      std::int64_t k)
        : side_(side),
          exact_({checked_rows, side, k}, rows_of(of_a, k), b,
                 std::vector<float>(static_cast<std::size_t>(checked_rows * side)), 1, 0),
          norms_of_rows_(checked_rows),
          norms_of_cols_(static_cast<std::size_t>(side)) {
        const std::vector<float> a = rows_of(of_a, k);
        for (std::size_t i = 0; i < a.size(); ++i)
            norms_of_rows_[i / static_cast<std::size_t>(k)] += square(a[i]);
        for (auto row = b.begin(); row != b.end(); row += side)
            for (std::int64_t col = 0; col < side; ++col)
                norms_of_cols_[static_cast<std::size_t>(col)] += square(row[col]);
        for (double& norm : norms_of_rows_) norm = std::sqrt(norm);
        for (double& norm : norms_of_cols_) norm = std::sqrt(norm);
    }

    struct error {
        double frobenius;  ///< relative to the norm of the exact product
        double mean;       ///< the root mean square of errors relative to their sums of magnitudes
        double largest;    ///< the largest of these errors
        double normwise;   ///< the largest relative to the norms of the row of A and the column of B
    };

    [[nodiscard]] error error_of(const std::vector<float>& c) const {
        const std::vector<float> actual = rows_of(c, side_);
        double squares = 0, of_exact = 0, relative_squares = 0, largest = 0, normwise = 0;
        const auto raise = [](double& most, double off, double scale) {  // keeps a NaN
            if (!std::isnan(most) && !(off <= most * scale)) most = off / scale;
        };
        for (std::size_t i = 0; i < actual.size(); ++i) {
            const double off = double{actual[i]} - exact_.value[i];
            squares += off * off;
            of_exact += exact_.value[i] * exact_.value[i];
            relative_squares += off * off / (exact_.magnitude[i] * exact_.magnitude[i]);
            raise(largest, std::abs(off), exact_.magnitude[i]);
            const double norms = norms_of_rows_[i / static_cast<std::size_t>(side_)] *
                                 norms_of_cols_[i % static_cast<std::size_t>(side_)];
            raise(normwise, std::abs(off), norms);
        }
        return {std::sqrt(squares / of_exact),
                std::sqrt(relative_squares / static_cast<double>(actual.size())), largest, normwise};
    }

  private:
    static double square(float x) { return double{x} * x; }
    [[nodiscard]] std::vector<float> rows_of(const std::vector<float>& matrix, std::int64_t cols) const {
        std::vector<float> result;
        for (std::int64_t row = 0; row < side_; row += side_ / checked_rows)
            result.insert(result.end(), matrix.begin() + row * cols, matrix.begin() + (row + 1) * cols);
        return result;
    }

    std::int64_t side_;
    reference exact_;
    std::vector<double> norms_of_rows_, norms_of_cols_;
};

struct comparison {
    sampled_reference::error ours, theirs;
};

/// Compares with cublasSgemm.
comparison compare(elements in, std::int64_t side, std::int64_t k, const matmul_options& options) {
    operands<float> p({side, side, k}, std::move(in.a), std::move(in.b));
    guarded<float> vendor(side, side, side);
    const stream stream;
    workspace scratch(p.workspace_bytes(stream, options), stream);
    matmul_options with = options;
    with.workspace = scratch;
    p.multiply(stream, with);
    cublas(stream).multiply(p.s, p.a.data(), p.b.data(), vendor.data());
    stream.synchronize();
    const sampled_reference exact(p.as, p.bs, side, k);
    return {exact.error_of(p.c.download()), exact.error_of(vendor.download())};
}

void record(const comparison& of) {
    using error = sampled_reference::error;
    for (const auto& [name, which] :
         {std::pair("frobenius", &error::frobenius), std::pair("mean", &error::mean),
          std::pair("largest", &error::largest), std::pair("normwise", &error::normwise)}) {
        testing::Test::RecordProperty(name, fmt::format("{:.2e}", of.ours.*which));
        testing::Test::RecordProperty(name + std::string("_of_cublas"),
                                      fmt::format("{:.2e}", of.theirs.*which));
    }
}

using drawn_from = testing::WithParamInterface<std::tuple<distribution, std::int64_t>>;

class matmul_precision : public matmul_on_hopper, public drawn_from {};

/// The largest of a thousand normal errors, or of sixteen thousand, differs from its mean by a tenth. Two of them
/// differ by this factor once in ten thousand times.
constexpr double luck = 1.5;

/// `precision::fp32` may have errors a tenth above cuBLAS's; `chance` is one more factor for the largest error.
void expect_as_exact_as_cublas(const distribution& of, std::int64_t side, std::int64_t k, double chance) {
    const comparison errors = compare(of.make(side, k), side, k, {});
    const auto& [ours, theirs] = errors;
    EXPECT_LE(ours.mean, 1.1 * theirs.mean);
    EXPECT_LE(ours.largest, chance * 1.1 * theirs.largest);
    // One element outweighs the others there, so its error varies by chance.
    if (std::string(of.name) != "lognormal") {
        EXPECT_LE(ours.frobenius, 1.1 * theirs.frobenius);
    }
    record(errors);
}

TEST_P(matmul_precision, is_that_of_cublas) {
    const auto& [of, k] = GetParam();
    // For shorter k, both add by FMAs; from there on, bf16x6 is more exact by more than chance.
    expect_as_exact_as_cublas(of, large_side, k, k < 512 ? luck : 1);
}

class precision_of_a_small_c : public matmul_precision {};

TEST_P(precision_of_a_small_c, is_that_of_cublas) {
    const auto& [of, k] = GetParam();
    expect_as_exact_as_cublas(of, small_side, k, luck);
}

/// The products left out, and the errors of the sums, relative to the norms (docs/accuracy.md).
double normwise_bound(std::int64_t k) {
    const auto terms = static_cast<double>(k);
    const double additions = 2.1 * 3 * (std::min(terms, 64.0) + 4) + std::ceil(terms / 64) + 6;
    return additions * 0x1p-24 + 0x1p-21 + 0x1p-35;
}

TEST_P(matmul_precision, of_fp16x3_keeps_to_its_bound) {
    const auto& [of, k] = GetParam();
    const comparison errors =
        compare(of.make(large_side, k), large_side, k,
                {.algorithm = matmul_algorithm::fp16x3, .precision = precision::fp32_normwise});
    const auto& [ours, theirs] = errors;
    EXPECT_LE(ours.normwise, normwise_bound(k));
    // Consecutive FMAs lose nothing of pairs that cancel.
    if (k >= 512 && std::string(of.name) != "cancelling_pairs") {
        EXPECT_LE(ours.normwise, luck * 1.1 * theirs.normwise);
    }
    record(errors);
}

class tf32x3_precision : public gpu_test, public drawn_from {};

/// The bound is a share of the sums of magnitudes (docs/accuracy.md).
TEST_P(tf32x3_precision, keeps_to_its_bound) {
    const auto& [of, k] = GetParam();
    const comparison errors =
        compare(of.make(large_side, k), large_side, k, {.algorithm = matmul_algorithm::tf32x3});
    const auto& [ours, theirs] = errors;
    EXPECT_LE(ours.largest, tf32x3_bound({large_side, large_side, k}, 1, 1));
    record(errors);
}

std::string parameter_name(const testing::TestParamInfo<matmul_precision::ParamType>& tested) {
    const auto& [of, k] = tested.param;
    return std::string(of.name) + "_" + std::to_string(k);
}

INSTANTIATE_TEST_SUITE_P(all, matmul_precision,
                         testing::Combine(testing::ValuesIn(distributions),
                                          testing::Values(16, 64, 512, 1024, 4096, 16384)),
                         parameter_name);
// Making the operands takes seconds.
INSTANTIATE_TEST_SUITE_P(large_k, matmul_precision,
                         testing::Combine(testing::ValuesIn(distributions), testing::Values(65536)),
                         parameter_name);

INSTANTIATE_TEST_SUITE_P(all, tf32x3_precision,
                         testing::Combine(testing::ValuesIn(distributions),
                                          testing::Values(128, 512, 4096, 16384)),
                         parameter_name);

// For shorter k, cublasSgemm adds smaller parts than heddle does (docs/accuracy.md).
INSTANTIATE_TEST_SUITE_P(all, precision_of_a_small_c,
                         testing::Combine(testing::ValuesIn(distributions),
                                          testing::Values(4096, 16384, 65536)),
                         parameter_name);

/// An element's bits below `resolution` may be lost, where elements are near it.
void expect_lost_below(double resolution, matmul_algorithm algorithm) {
    const shape s{64, 64, 256};
    operands<float> p(s, scaled(normal(s.m * s.k), [](std::int64_t) { return 0x1p-124; }),
                      random_elements<float>(s.k * s.n, -1, 1));
    p.multiply(stream(), {.algorithm = algorithm});
    const std::vector<float> actual = p.c.download();
    const reference exact = p.expected();
    const double lost = static_cast<double>(s.k) * resolution;
    for (std::size_t i = 0; i < actual.size(); ++i)
        ASSERT_LE(std::abs(double{actual[i]} - exact.value[i]), lost + 0x1p-16 * exact.magnitude[i]) << i;
}

/// Elements below 2^-110 have no room for bf16x6's last piece.
TEST_F(matmul_on_hopper, loses_what_is_below_2_to_the_minus_134_of_tiny_elements) {
    expect_lost_below(0x1p-134, matmul_algorithm::bf16x6);
}

/// And elements below 2^-113 none for tf32x3's.
TEST_F(matmul_device, loses_what_is_below_2_to_the_minus_136_of_tiny_elements) {
    expect_lost_below(0x1p-136, matmul_algorithm::tf32x3);
}

}  // namespace
}  // namespace heddle::test
#else
TEST(matmul_precision, is_that_of_cublas) {
    GTEST_SKIP() << "cuBLAS is not installed";
}
#endif
