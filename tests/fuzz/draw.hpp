#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Random cases, each of which follows from a seed. Pure.
namespace heddle::fuzz {

/// The limits of a case: the device memory of its operands, its operations, and its largest extent over its least.
inline constexpr double most_bytes = 2e9;
inline constexpr double most_operations = 2e12;
inline constexpr double most_ratio = 1e6;

/// The name of a case, as matmul:12345:17, which determines all draws.
struct case_id {
    std::string family;
    std::uint64_t seed = 0;
    std::uint64_t index = 0;

    bool operator==(const case_id&) const = default;
};

std::string to_string(const case_id& id);
std::optional<case_id> parse_case_id(std::string_view text);

/// A third of the extents are of each kind.
enum class extent_kind { odd, multiple_of_8, power_of_two };

/// The layout of a matrix in memory. Lines are its rows, or the columns of a column-major one.
struct placement {
    std::int64_t offset = 0;   ///< elements off an aligned address
    std::int64_t padding = 0;  ///< elements after each line
    std::int64_t step = 1;     ///< elements between neighbours in a line
    bool column_major = false;

    bool operator==(const placement&) const = default;
    [[nodiscard]] bool is_dense() const { return padding == 0 && step == 1; }
};

/// A product of extents, at most 2^60, which exceeds any memory.
std::int64_t bounded_product(std::int64_t a, std::int64_t b);

/// The elements of a matrix with its gaps, at most 2^60.
std::int64_t span_of(const placement& p, std::int64_t rows, std::int64_t cols);

/// In words, each after a comma: ", at 1, padding 3". Empty for a dense row-major matrix.
std::string to_string(const placement& p);

/// Whether extents are within a case's limits. If some extents are not, larger ones are not either.
using fits_function = std::function<bool(std::span<const std::int64_t>)>;

/// The differences of another draw of the same case.
struct variation {
    std::optional<std::size_t> type;
    std::vector<std::int64_t> extents;
    bool is_aligned = false;  ///< operands have no offsets, gaps and steps
};

/// Draws from std::mt19937_64, whose numbers the standard fixes. It computes with integers, products, quotients and
/// square roots alone, which IEEE 754 rounds alike everywhere. So a case is the same on every machine.
class drawing {
  public:
    explicit drawing(const case_id& id, variation other = {});

    std::uint64_t bits() { return generator_(); }
    /// Uniform in [low, high].
    std::int64_t integer(std::int64_t low, std::int64_t high);
    /// Uniform among 0 to count - 1.
    std::size_t index(std::size_t count);
    /// The number of the case's type, drawn once among the `count` types of its family.
    std::size_t type(std::size_t count);
    /// The number of types of its family.
    [[nodiscard]] std::size_t types() const { return types_; }
    bool one_in(std::int64_t n) { return integer(1, n) == 1; }
    template <class T>
    T one_of(std::initializer_list<T> values) {
        return values.begin()[index(values.size())];
    }

    /// Log-uniform in [low, high), which are positive.
    double log_uniform(double low, double high);
    /// Log-uniform in [low, high], of this kind; of any kind where the range has none.
    std::int64_t extent(std::int64_t low, std::int64_t high, extent_kind kind);
    /// Log-uniform, drawn in random order, each up to the largest that fits. The ratio of the largest to the smallest
    /// is drawn first, up to most_ratio; below 2 all are equal. Half of all cases have extents of one kind.
    std::vector<std::int64_t> extents(std::size_t count, const fits_function& fits);

    /// Row-major, or either order where allowed. Some are not aligned, some padded. One in `strided` has a step.
    placement lie(bool may_be_column_major, std::int64_t strided = 16);
    /// The same for a vector: an offset and a step.
    placement vector_lie(std::int64_t strided = 8);

  private:
    std::mt19937_64 generator_;
    variation other_;
    std::size_t types_ = 1;
};

}  // namespace heddle::fuzz
