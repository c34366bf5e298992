#pragma once

#include "benchmarks/cliffs/case.hpp"
#include "benchmarks/cliffs/operands.hpp"
#include "benchmarks/cliffs/reference.hpp"
#include "tests/bounds/approximate.hpp"

/// The files of families share how cases are drawn, and how results are checked.
namespace heddle::bench::cliffs {

/// For drawing::lie(): no operand has a step.
inline constexpr std::int64_t never = std::int64_t{1} << 40;

using extents_view = std::span<const std::int64_t>;

/// A product of extents, as a real number.
inline double product_of(extents_view extents) {
    double result = 1;
    for (const std::int64_t extent : extents) result *= static_cast<double>(extent);
    return result;
}
inline double product_of(std::initializer_list<std::int64_t> extents) {
    return product_of(extents_view(extents.begin(), extents.size()));
}

/// Draws a case of `count` extents within the limits. `memory` returns its bytes, `operations` those of a call.
template <class Memory, class Operations>
drawn_case draw_case_of(drawing& d, std::size_t count, Memory memory, Operations operations) {
    drawn_case c;
    c.extents = d.extents(
        count, [&](extents_view e) { return operations(e) <= most_operations && memory(e) <= most_bytes; });
    c.memory = memory(c.extents);
    c.operations = operations(c.extents);
    return c;
}
/// The same, where a call has as many operations as the product of the extents.
template <class Memory>
drawn_case draw_case_of(drawing& d, std::size_t count, Memory memory) {
    return draw_case_of(d, count, memory, [](extents_view e) { return product_of(e); });
}

/// An operand's layout. A case need not have the operand.
struct named_placement {
    const char* name;
    placement lie;
    bool is_there = true;
};

/// Names the operands that are not dense: "; dx, padding 3".
inline std::string words_of_placements(std::initializer_list<named_placement> operands) {
    std::string words;
    for (const auto& [name, lie, is_there] : operands)
        if (is_there && lie != placement{}) words += fmt::format("; {}{}", name, to_string(lie));
    return words;
}

/// The elements of matrices of one shape with their gaps.
inline double spans_of(std::int64_t rows, std::int64_t cols,
                       std::initializer_list<std::pair<placement, bool>> lies_and_whether_there) {
    double elements = 0;
    for (const auto& [lie, is_there] : lies_and_whether_there)
        if (is_there) elements += static_cast<double>(span_of(lie, rows, cols));
    return elements;
}

template <class Operation, std::size_t count>
std::string_view name_of(const std::string_view (&names)[count], Operation operation) {
    return names[static_cast<std::size_t>(operation)];
}

/// The row, or the column, of each place.
template <class T>
std::vector<line> rows_of(const matrix_view<T>& m, const std::vector<place>& places) {
    std::vector<line> lines;
    for (const place& at : places) lines.push_back(row_of(m, at.row));
    return lines;
}
template <class T>
std::vector<line> columns_of(const matrix_view<T>& m, const std::vector<place>& places) {
    std::vector<line> lines;
    for (const place& at : places) lines.push_back(column_of(m, at.col));
    return lines;
}

/// The expected elements at some places of a result, and the bounds of their errors.
struct expected_places {
    std::vector<place> places;
    std::vector<double> values{}, bounds{};

    void add(double value, double bound) {
        values.push_back(value);
        bounds.push_back(bound);
    }
    void add(const bounds::approximate& of) { add(of.value, of.bound); }
    /// What is wrong with the result of this name. Where the result was poisoned it also looks between the elements.
    template <class T>
    [[nodiscard]] std::string wrong(std::string_view name, operand<T>& result, double slack) const {
        std::string what = mismatch(result.view(), places, values, bounds, slack);
        if (what.empty() && !result.is_drawn()) what = result.changed_gap();
        return what.empty() ? what : fmt::format("{}: {}", name, what);
    }
    /// The same. Nothing is wrong with a result that the case does not have.
    template <class T>
    [[nodiscard]] std::string wrong(std::string_view name, std::optional<operand<T>>& result,
                                    double slack) const {
        return result ? wrong(name, *result, slack) : std::string();
    }
};

/// The trial of a call on `operands`, which has one result(): an operand of its own, or an input in whose place it lies.
template <class Operands>
trial trial_of(const std::shared_ptr<Operands>& operands, const char* name, const expected_places& expected,
               std::function<void()> call) {
    return {.reset = [=] { operands->result().reset(); },
            .call = std::move(call),
            .is_in_place = operands->result().is_drawn(),
            .wrong = [=](double slack) { return expected.wrong(name, operands->result(), slack); }};
}

/// The first text that is not empty.
inline std::string first_wrong(std::initializer_list<std::string> all) {
    const auto found = std::ranges::find_if(all, [](const std::string& wrong) { return !wrong.empty(); });
    return found == all.end() ? std::string() : *found;
}

/// The number of columns for which bounds are computed. A bound for more columns would be too loose to tell anything.
inline std::int64_t counted_columns(std::int64_t cols) {
    return std::min(cols, std::int64_t{1} << 24);
}

}  // namespace heddle::bench::cliffs
