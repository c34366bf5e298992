#pragma once

#include "tests/bounds/numbers.hpp"
#include "tests/fuzz/matrices.hpp"

#include <bit>

/// The common parts of operations on the rows of matrices.
namespace heddle::fuzz {

using bounds::u;

inline std::vector<field> matrix_fields(std::vector<field> fields) {
    return with_numbers(std::move(fields), "rows cols offset=0 padding=0 step seed=0");
}

inline void draw_matrix(drawing& d, problem& p) {
    const auto shape = draw_shape(d, 2, 1 << 17);
    p.set({{"rows", shape[0]}, {"cols", shape[1]}});
    const placement at = d.lie(false, 8);
    p.set(
        {{"offset", at.offset}, {"padding", at.padding}, {"step", at.step}, {"seed", d.integer(0, 1 << 30)}});
    p.draw_words(d);
}

/// Log-uniform; half are beside a power of two, or three times one, as lanes, blocks, clusters and tiles hold.
inline std::int64_t draw_extent(drawing& d, std::int64_t most) {
    const auto drawn = static_cast<std::int64_t>(d.log_uniform(1, static_cast<double>(most) + 1));
    if (drawn < 2 || d.one_in(2)) return drawn;
    const auto power = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(drawn)));
    const std::int64_t border = d.one_in(4) ? power + power / 2 : power;
    return std::max<std::int64_t>(border + d.one_of<std::int64_t>({-8, -1, 0, 0, 1, 8}), 1);
}

inline std::vector<field> row_fields(std::initializer_list<std::string> matrices, std::vector<field> fields) {
    for (const char* const name : {"rows", "cols"}) fields.push_back({name});
    fields.push_back({"seed", 0});
    return fields_of(matrices, std::move(fields));
}

/// Each kind of plan is drawn equally often, from rows for a lane to rows that no cluster holds. Some have a long row
/// for each multiprocessor, all dense. A third of the others have dense matrices, and a third row-major ones.
inline void draw_rows(drawing& d, problem& p, std::initializer_list<const char*> matrices,
                      std::int64_t longest = 1 << 19) {
    p.draw_words(d);
    const bool fills_device = d.one_in(16);
    if (fills_device) {
        p.set({{"rows", d.integer(132, 200)}, {"cols", 8 * d.integer(1025, d.one_in(8) ? 4096 : 2048)}});
    } else if (d.one_in(4)) {
        const auto shape = draw_shape(d, 2, 1 << 17);
        p.set({{"rows", shape[0]}, {"cols", shape[1]}});
    } else {
        const std::int64_t cols = draw_extent(d, longest);
        p.set({{"rows", draw_extent(d, std::max<std::int64_t>((1 << 18) / cols, 1))}, {"cols", cols}});
    }
    constexpr std::int64_t never = 1 << 30;
    const std::size_t kind = fills_device ? 0 : d.index(3);
    for (const char* const matrix : matrices)
        set_matrix(p, matrix, kind == 0 ? placement{} : d.lie(kind == 2, kind == 2 ? 8 : never));
    p.set("seed", d.integer(0, 1 << 30));
}

/// The same with vectors of one element for each row, or each column.
inline std::vector<field> row_fields(std::initializer_list<std::string> matrices,
                                     std::initializer_list<std::string> vectors, std::vector<field> fields) {
    for (const std::string& vector : vectors) {
        fields.push_back({vector + "_offset", 0});
        fields.push_back({vector + "_step"});
    }
    return row_fields(matrices, std::move(fields));
}
inline void draw_vectors(drawing& d, problem& p, std::initializer_list<std::string> vectors) {
    for (const std::string& vector : vectors) {
        p.set({{vector + "_offset", d.integer(0, 3)}, {vector + "_step", d.integer(1, 3)}});
    }
}
inline lattice vector_of(const problem& p, const std::string& vector, std::int64_t size) {
    return lie({size}, p[vector + "_offset"], 0, p[vector + "_step"]);
}

/// Every kind of values, and `extreme`.
inline const std::vector<std::string_view> values_of_rows = {"uniform", "integers", "cancelling", "spread",
                                                             "tiny",    "special",  "extreme"};

/// Extreme rows are one number, or have it at each third place, or fall to underflow, or are random; up to two
/// elements are others. Many elements are equal, and many are infinite.
template <class T>
std::vector<T> draw_row_values(const problem& p, std::uint64_t seed) {
    const std::int64_t rows = p["rows"], cols = p["cols"];
    const bool is_extreme = p.word("values") == "extreme";
    auto drawn = draw_values<T>(is_extreme ? values::uniform : kind_of(p), rows * cols, seed);
    if (!is_extreme || cols == 0) return drawn;
    constexpr float infinity = std::numeric_limits<float>::infinity();
    drawing d({"extreme", seed, 0});
    const auto number = [&] {
        return static_cast<T>(
            d.one_of<float>({0, -0.0f, 2.5f, 1e-7f, 30000, -30000, infinity, -infinity, std::nanf("")}));
    };
    for (auto row = drawn.begin(); row != drawn.end(); row += cols) {
        const T all = number();
        const std::size_t kind = d.index(4);
        for (std::int64_t i = 0; i < cols; ++i) {
            if (kind == 0 || (kind == 1 && i % 3 == 0)) row[i] = all;
            if (kind == 2) row[i] = static_cast<T>(-0.1f * static_cast<float>(i % 1200));
        }
        for (std::int64_t others = d.integer(0, 2); others > 0; --others)
            row[d.integer(0, cols - 1)] = number();
    }
    return drawn;
}

/// The fields that norms and their gradients share. Around a centre, a variance that is a difference of squares is
/// lost. Tiny values are all equal there.
inline std::vector<field> norm_fields(std::initializer_list<std::string> matrices,
                                      std::vector<std::string_view> epsilons, std::vector<field> fields) {
    fields.insert(fields.end(), {{"epsilon", 0, std::move(epsilons)}, {"centre", 0, {"0", "100", "-1000"}}});
    return row_fields(matrices, {"parameter"}, std::move(fields));
}
inline void draw_norm(drawing& d, problem& p, std::initializer_list<const char*> matrices) {
    draw_rows(d, p, matrices);
    const placement of_parameters = d.vector_lie();
    p.set({{"parameter_offset", of_parameters.offset}, {"parameter_step", of_parameters.step}});
}
inline float epsilon_of(const problem& p) {
    constexpr float epsilons[] = {1e-5f, 0.5f, 1e-12f};
    return epsilons[p["epsilon"]];
}
inline lattice parameter_of(const problem& p, bool is_there) {
    return vector_of(p, "parameter", is_there ? p["cols"] : 0);
}
template <class T>
std::vector<T> draw_norm_values(const problem& p, std::uint64_t seed) {
    constexpr float centres[] = {0, 100, -1000};
    auto drawn = draw_values<T>(kind_of(p), p["rows"] * p["cols"], seed);
    if (p["centre"] != 0)
        for (T& x : drawn) x = static_cast<T>(static_cast<float>(x) + centres[p["centre"]]);
    return drawn;
}

inline lattice matrix_of(const problem& p) {
    return lie({p["rows"], p["cols"]}, p["offset"], p["padding"], p["step"]);
}
/// The lines are the matrix's rows, or its columns.
inline lattice ordered_matrix(const problem& p) {
    if (p.word("order") == "row_major") return matrix_of(p);
    const lattice turned = lie({p["cols"], p["rows"]}, p["offset"], p["padding"], p["step"]);
    return {{p["rows"], p["cols"]}, {turned.strides[1], turned.strides[0]}, turned.offset};
}
inline lattice dense(std::int64_t rows, std::int64_t cols) {
    return lie({rows, cols}, 0, 0, 1);
}
inline lattice vector_of(std::int64_t size) {
    return lie({size}, 0, 0, 1);
}

/// A row of elements in double.
template <class T>
std::vector<double> row_of(const std::vector<T>& elements, std::int64_t row, std::int64_t cols) {
    std::vector<double> result(static_cast<std::size_t>(cols));
    for (std::size_t j = 0; j < result.size(); ++j)
        result[j] = to_double(elements[static_cast<std::size_t>(row * cols) + j]);
    return result;
}

/// The expected result and its bound at each place of a matrix.
struct expectation {
    std::vector<double> values, bounds;

    void add(double value, double bound) {
        values.push_back(value);
        bounds.push_back(bound);
    }
    template <class T>
    [[nodiscard]] std::string mismatch(std::string_view name, const std::vector<T>& actual) const {
        return fuzz::mismatch(name, actual, values, bounds);
    }
};

}  // namespace heddle::fuzz
