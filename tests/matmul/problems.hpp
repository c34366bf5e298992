#pragma once

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

// Problems and devices without memory or a GPU: what is asked of pure functions.
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
            .shared_memory_per_block_optin = shared_kibibytes * 1024};
}

inline const device_traits turing = described_device("7.5", 7, 5, 40, 64);
inline const device_traits ampere = described_device("8.0", 8, 0, 108, 163);
inline const device_traits hopper = described_device("9.0", 9, 0, 132, 227);
inline const device_traits blackwell = described_device("10.0", 10, 0, 148, 227);

/// How the elements of A and B lie.
enum class place {
    along_k,   ///< the tensor memory accelerator can fetch both, and one of them along k
    across_k,  ///< the same, but neither of them along k
    odd,       ///< side by side, at any address
    apart      ///< not side by side
};

/// What a test says of a product. Here alone it becomes a matmul_problem.
struct product {
    std::int64_t m = 0, n = 0, k = 0;
    element_type operands = element_type::f32;
    heddle::precision precision = heddle::precision::fp32;
    test::place place = place::along_k;
    bool has_workspace = false;
    bool has_epilogue = false;
    bool stores_operand_type = true;
    std::int64_t batches = 1;

    operator matmul_problem() const {
        constexpr std::int64_t most_of_tensor_maps = std::numeric_limits<std::int32_t>::max() - 1024;
        matmul_problem problem{m, n, k, operands};
        problem.precision = precision;
        problem.countable_by_int = std::max({m, n, k}) <= most_of_tensor_maps;
        problem.unit_stride = place != place::apart;
        problem.tensor_maps = place <= place::across_k && problem.countable_by_int;
        problem.along_k = place == place::along_k && problem.countable_by_int;
        problem.has_workspace = has_workspace;
        problem.has_epilogue = has_epilogue;
        problem.stores_operand_type = stores_operand_type;
        problem.batches = batches;
        return problem;
    }
};

/// The problem of a call with these arguments, of which none is empty.
template <class Out, class In>
matmul_problem problem_of(const matrix_view<In>& a, const matrix_view<In>& b, const matrix_view<Out>& c,
                          const matmul_options& options, bool has_epilogue = false) {
    const auto is_contiguous = [](const auto& m) {
        return m.col_stride == 1 || m.row_stride == 1 || m.cols <= 1 || m.rows <= 1;
    };
    const auto has_tensor_rows = [](const auto& m) {
        constexpr std::int64_t alignment = 16;
        return (m.cols <= 1 || m.col_stride == 1) &&
               reinterpret_cast<std::uintptr_t>(m.data) % alignment == 0 &&
               (m.rows <= 1 || m.row_stride * std::int64_t{sizeof(In)} % alignment == 0);
    };
    const bool a_has_rows = has_tensor_rows(a), b_has_columns = has_tensor_rows(transposed(b));
    const bool are_aligned =
        (a_has_rows || has_tensor_rows(transposed(a))) && (b_has_columns || has_tensor_rows(b));
    // Where C lies in columns, its transpose is computed.
    const bool is_turned = c.rows > 1 && c.cols > 1 && c.col_stride > c.row_stride;
    product p{is_turned ? c.cols : c.rows, is_turned ? c.rows : c.cols, a.cols, element_type_of<In>,
              options.precision};
    p.place = !(is_contiguous(a) && is_contiguous(b)) ? place::apart
              : !are_aligned                          ? place::odd
              : a_has_rows || b_has_columns           ? place::along_k
                                                      : place::across_k;
    p.has_workspace = !options.workspace.empty();
    p.has_epilogue = has_epilogue;
    p.stores_operand_type = std::is_same_v<In, Out>;
    return p;
}

/// The rungs for operands of a type, and `automatic`.
inline std::vector<matmul_algorithm> every_rung(element_type operands) {
    std::vector<matmul_algorithm> all(matmul_algorithms(operands).begin(), matmul_algorithms(operands).end());
    all.push_back(matmul_algorithm::automatic);
    return all;
}

// Parameters of test suites.

inline auto rungs_that(element_type operands, const std::function<bool(matmul_algorithm)>& condition) {
    std::vector<matmul_algorithm> fit = every_rung(operands);
    std::erase_if(fit, std::not_fn(condition));
    return testing::ValuesIn(fit);
}

/// The rungs that can run such a product on a Hopper device.
inline auto rungs_that_run(const product& p) {
    return rungs_that(p.operands, [&](auto rung) { return why_not(rung, p, hopper).empty(); });
}

inline std::string name_of_rung(const testing::TestParamInfo<matmul_algorithm>& tested) {
    return std::string(to_string(tested.param));
}

}  // namespace test
}  // namespace heddle
