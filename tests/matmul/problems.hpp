#pragma once

#include "tests/support/kernels.hpp"
#include <heddle/device.hpp>
#include <heddle/matmul.hpp>
#include <heddle/types.hpp>
#include <heddle/view.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <ostream>
#include <string>
#include <type_traits>
#include <vector>

// Problems and devices for pure functions, without memory or a GPU.
namespace heddle {

inline void PrintTo(matmul_algorithm algorithm, std::ostream* out) {
    *out << to_string(algorithm);
}

namespace test {

inline device_traits described_device(const char* name, int major, int minor, int sm_count,
                                      std::size_t shared_kibibytes) {
    return {.name = name,
            .compute_capability_major = major,
            .compute_capability_minor = minor,
            .sm_count = sm_count,
            .max_threads_per_sm = 2048,
            .registers_per_sm = 65536,
            .shared_memory_per_sm = (shared_kibibytes + 1) * 1024,
            .shared_memory_per_block = 48 * 1024,
            .shared_memory_per_block_optin = shared_kibibytes * 1024,
            .l2_bytes = std::size_t{50} << 20};
}

inline const device_traits turing = described_device("7.5", 7, 5, 40, 64);
inline const device_traits ampere = described_device("8.0", 8, 0, 108, 163);
inline const device_traits hopper = described_device("NVIDIA H200", 9, 0, 132, 227);
inline const device_traits blackwell = described_device("10.0", 10, 0, 148, 227);

/// The layout of the elements of A and B.
enum class place {
    along_k,   ///< the tensor memory accelerator can fetch both, and one of them along k
    across_k,  ///< it can fetch both, and neither of them along k
    odd,       ///< contiguous, at any address
    apart      ///< not contiguous
};

/// The description of a product in tests, which becomes a matmul_problem here alone.
struct product {
    std::int64_t m = 0, n = 0, k = 0;
    element_type operands = element_type::f32;
    heddle::precision precision = heddle::precision::fp32;
    test::place place = place::along_k;
    bool has_scratch = false;
    bool has_epilogue = false;
    bool stores_operand_type = true;
    std::int64_t batches = 1;

    // The same product otherwise.
    product at(test::place p) const { return changed(&product::place, p); }
    product in(heddle::precision p) const { return changed(&product::precision, p); }
    product with_scratch() const { return changed(&product::has_scratch, true); }
    product of(std::int64_t count) const { return changed(&product::batches, count); }
    template <class T>
    product changed(T product::*member, std::type_identity_t<T> value) const {
        product other = *this;
        other.*member = value;
        return other;
    }

    operator matmul_problem() const {
        const std::int64_t bytes = operands == element_type::f32 ? 4 : 2;
        const auto lies = [=, this](std::int64_t rows, std::int64_t cols, bool is_transposed) {
            constexpr std::int64_t countable = std::int64_t{1} << 60;
            const std::int64_t packet = 16 / bytes, line = std::min(is_transposed ? rows : cols, countable);
            const std::int64_t step = place == place::apart ? 2 : 1;
            const std::int64_t stride = (line + packet - 1) / packet * packet * step;
            return is_transposed ? matrix_layout{rows, cols, step, stride, bytes}
                                 : matrix_layout{rows, cols, stride, step, bytes};
        };
        matmul_problem problem{.a = lies(m, k, place == place::across_k),
                               .b = lies(k, n, false),
                               .c = lies(m, n, false),
                               .operands = operands,
                               .result = stores_operand_type ? operands : element_type::f32,
                               .batches = batches,
                               .has_epilogue = has_epilogue,
                               .has_scratch = has_scratch,
                               .precision = precision};
        if (place == place::odd) problem.a.offset = problem.b.offset = bytes;
        if (batches > 1) {  // one behind the other
            problem.a_stride = std::max(m * problem.a.row_stride, k * problem.a.col_stride);
            problem.b_stride = k * problem.b.row_stride;
            problem.c_stride = m * problem.c.row_stride;
        }
        return problem;
    }
};

inline std::ostream& operator<<(std::ostream& out, const product& p) {
    return out << p.m << " x " << p.n << " x " << p.k << ", type " << static_cast<int>(p.operands)
               << ", precision " << to_string(p.precision) << ", place " << static_cast<int>(p.place)
               << ", scratch memory " << p.has_scratch << ", epilogue " << p.has_epilogue
               << ", stores operands' type " << p.stores_operand_type << ", " << p.batches << " batches";
}

/// The problem of a call with these arguments.
template <class Out, class In>
matmul_problem problem_of(const matrix_view<In>& a, const matrix_view<In>& b, const matrix_view<Out>& c,
                          const matmul_options& options, bool has_epilogue = false) {
    matmul_problem problem = matmul_problem_of<Out, std::remove_const_t<In>>(a, b, c, options);
    problem.has_epilogue = has_epilogue;
    return problem;
}

/// The rungs for operands of a type, and `automatic`.
inline std::vector<matmul_algorithm> every_rung(element_type operands) {
    return with_automatic(matmul_algorithms(operands));
}

/// m and n are 16, or one of them is 1 for `vector`: a product that every rung can run.
inline product small_product(matmul_algorithm rung, element_type operands) {
    return {.m = 16,
            .n = rung == matmul_algorithm::vector ? 1 : 16,
            .k = 16,
            .operands = operands,
            .has_scratch = true};
}

// Parameters of test suites.

inline auto rungs_that(element_type operands, const std::function<bool(matmul_algorithm)>& condition) {
    std::vector<matmul_algorithm> fit = every_rung(operands);
    std::erase_if(fit, std::not_fn(condition));
    return testing::ValuesIn(fit);
}

inline std::string name_of_rung(const testing::TestParamInfo<matmul_algorithm>& tested) {
    return std::string(to_string(tested.param));
}

}  // namespace test
}  // namespace heddle
