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

/// Cases that nobody listed: what each is follows from a seed. Pure.
namespace heddle::fuzz {

/// The limits of a case: the device memory of its operands, its operations, and the largest of its extents over the smallest.
inline constexpr double most_bytes = 2e9;
inline constexpr double most_operations = 2e12;
inline constexpr double most_ratio = 1e6;

/// The name of a case, as matmul:12345:17. All that is drawn follows from it.
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

/// How a matrix lies in memory. Lines are its rows, or the columns of a column-major one.
struct placement {
    std::int64_t offset = 0;   ///< elements off an aligned address
    std::int64_t padding = 0;  ///< elements after each line
    std::int64_t step = 1;     ///< elements from one of a line to the next
    bool column_major = false;

    bool operator==(const placement&) const = default;
    [[nodiscard]] bool is_dense() const { return padding == 0 && step == 1; }
};

/// A product of extents; at most 2^60, which is more than anything has.
std::int64_t bounded_product(std::int64_t a, std::int64_t b);

/// The elements that a matrix takes, its gaps included; at most 2^60.
std::int64_t span_of(const placement& p, std::int64_t rows, std::int64_t cols);

/// In words, each with a comma before it: ", at 1, padding 3". Empty where it is dense and row-major.
std::string to_string(const placement& p);

/// Whether extents keep to a case's limits; larger ones never do where smaller ones do not.
using fits_function = std::function<bool(std::span<const std::int64_t>)>;

/// What another draw of the same case has of its own.
struct variation {
    std::optional<std::size_t> type;
    std::vector<std::int64_t> extents;
    bool is_aligned = false;  ///< operands lie without offsets, gaps and steps
};

/// Draws from std::mt19937_64, whose numbers the standard fixes, and computes with integers, products, quotients and square
/// roots alone, which IEEE 754 rounds alike everywhere: the same case on every machine.
class drawing {
  public:
    explicit drawing(const case_id& id, variation other = {});

    std::uint64_t bits() { return generator_(); }
    /// Uniform in [low, high].
    std::int64_t integer(std::int64_t low, std::int64_t high);
    /// Uniform among 0 to count - 1.
    std::size_t index(std::size_t count);
    /// The number of the case's type, drawn once, among so many that its family has.
    std::size_t type(std::size_t count);
    /// How many types its family has.
    [[nodiscard]] std::size_t types() const { return types_; }
    bool one_in(std::int64_t n) { return integer(1, n) == 1; }
    template <class T>
    T one_of(std::initializer_list<T> values) {
        return values.begin()[index(values.size())];
    }

    /// Log-uniform in [low, high), which are positive.
    double log_uniform(double low, double high);
    /// Log-uniform in [low, high], of this kind; of any, where none there is.
    std::int64_t extent(std::int64_t low, std::int64_t high, extent_kind kind);
    /// Log-uniform, one after the other in any order, each up to what fits. The largest is at most so many times the smallest
    /// as is drawn first, up to most_ratio; below 2 all are equal. Half of all cases have extents of one kind.
    std::vector<std::int64_t> extents(std::size_t count, const fits_function& fits);

    /// Row-major or not, where that is asked for; some off an aligned address, some padded. One in `strided` has a step.
    placement lie(bool may_be_column_major, std::int64_t strided = 16);
    /// The same of a vector: an offset and a step.
    placement vector_lie(std::int64_t strided = 8);

  private:
    std::mt19937_64 generator_;
    variation other_;
    std::size_t types_ = 1;
};

}  // namespace heddle::fuzz
