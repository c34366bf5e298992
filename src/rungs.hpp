#pragma once

#include "src/format.hpp"
#include "src/require.hpp"
#include "src/rung_rows.hpp"
#include <heddle/device.hpp>
#include <heddle/error.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <utility>

/// Queries of the table of an operation's rungs: names, lists, choices and errors.
namespace heddle::detail {

/// The first word of a row's name.
constexpr std::string_view rung_of(std::string_view kernel) {
    return kernel.substr(0, kernel.find(' '));
}

/// Whether a row's name is `asked` or begins with its words. An empty `asked` matches every row.
constexpr bool is_named(std::string_view kernel, std::string_view asked) {
    return kernel.starts_with(asked) &&
           (asked.empty() || kernel.size() == asked.size() || kernel[asked.size()] == ' ');
}

/// The enumerators of a table, each once and in its order. Rows of one rung must be adjacent.
template <const auto& table>
inline constexpr auto ids_of = [] {
    constexpr auto each_once = [] {
        std::array<decltype(table[0].id), table.size()> ids{};
        std::ranges::transform(table, ids.begin(), [](const auto& row) { return row.id; });
        return std::pair(ids, std::ranges::unique(ids).begin() - ids.begin());
    };
    std::array<decltype(table[0].id), static_cast<std::size_t>(each_once().second)> ids{};
    std::ranges::copy_n(each_once().first.begin(), ids.size(), ids.begin());
    return ids;
}();

/// The names of all rows of a table, in its order.
template <const auto& table>
inline constexpr auto names_of = [] {
    std::array<std::string_view, table.size()> all;
    std::ranges::transform(table, all.begin(), [](const auto& row) { return row.name; });
    return all;
}();

/// The names of a rung's rows, or of all rows for `automatic`.
template <const auto& table>
constexpr std::span<const std::string_view> kernels_of(decltype(table[0].id) id) {
    if (id == decltype(id)::automatic) return names_of<table>;
    const auto is_one = [id](const auto& row) { return row.id == id; };
    const auto count = static_cast<std::size_t>(std::ranges::count_if(table, is_one));
    const auto first = static_cast<std::size_t>(std::ranges::find_if(table, is_one) - table.begin());
    return std::span(names_of<table>).subspan(first, count);
}

/// A rung, and its plan for a problem.
template <class Rung>
struct planned {
    const Rung* rung;
    Rung::plan_type plan;
};

/// A table of rungs.
template <class Rung>
class rung_table {
  public:
    using algorithm = decltype(Rung::id);
    using problem = Rung::problem_type;

    template <std::size_t size>
    constexpr rung_table(const std::array<Rung, size>& rows, const char* enumeration)
        : rows_(rows), enumeration_(enumeration) {}

    /// The rung's name, or "unknown" if the table has no such rung.
    constexpr std::string_view name_of(algorithm id) const {
        if (id == algorithm::automatic) return "automatic";
        const auto found = std::ranges::find(rows_, id, &Rung::id);
        return found == rows_.end() ? "unknown" : rung_of(found->name);
    }

    /// @throws invalid_argument  `id` is not an enumerator
    void require_known(const char* operation, const argument_name& name, algorithm id) const {
        require(name_of(id) != "unknown", operation, name, static_cast<int>(id), "an enumerator of {}",
                enumeration_);
    }

    /// Whether a kernel of the rung (of any rung for `automatic`) has this name or begins with its words.
    bool has(algorithm id, std::string_view kernel) const {
        return std::ranges::any_of(rows_, [&](const Rung& row) { return is(row, id, kernel); });
    }

    /// @throws invalid_argument  no kernel of the rung has this name or begins with its words
    void require_kernel(const char* operation, const argument_name& name, algorithm id,
                        std::string_view kernel) const {
        if (has(id, kernel)) [[likely]]
            return;
        std::string names;
        for (const Rung& row : rows_)
            if (id == algorithm::automatic || row.id == id)
                names += detail::format("{}{}", names.empty() ? "" : ", ", row.name);
        require(false, operation, name, kernel, "one of {}", names);
    }

    /// Why a rung cannot run a problem, as the text of `unsupported`. Empty if it can, and for `automatic`.
    std::string why_not(const char* operation, algorithm id, const problem& p, const device_traits& device,
                        std::string_view kernel = {}) const {
        const std::string_view lack = lack_of(id, p, device, kernel);
        if (lack.empty()) return {};
        return detail::format("{}: {} {}{}", operation, kernel.empty() ? name_of(id) : kernel, lack,
                              given(p, device));
    }

    /// Whether why_not() is empty. Makes no text.
    bool can_run(algorithm id, const problem& p, const device_traits& device,
                 std::string_view kernel = {}) const {
        return lack_of(id, p, device, kernel).empty();
    }

    /// Whether `automatic` may choose the rung if it can run.
    bool may_take(algorithm id, const problem& p, const device_traits& device) const {
        return std::ranges::any_of(rows_,
                                   [&](const Rung& row) { return row.id == id && row.pays(p, device); });
    }

    /// The row that a call launches, with its plan, of the requested rows that can run. `automatic` requests all rows
    /// that pay; otherwise rows that pay are preferred. Of these rows it is the cheapest by plan.us, the first of
    /// equally cheap ones. If plans have no `us`, it is the last row.
    /// @throws unsupported  no requested row can run; for `automatic`, this happens only without scratch memory
    planned<Rung> choose(const char* operation, algorithm id, const problem& p, const device_traits& device,
                         std::string_view kernel = {}) const {
        const bool is_automatic = id == algorithm::automatic && kernel.empty();
        auto best = choose_if([&](const Rung& row) { return is(row, id, kernel); }, is_automatic, p, device);
        if (!best && is_automatic)
            throw unsupported(
                detail::format("{}: without scratch memory no algorithm takes this problem on this device{}",
                               operation, given(p, device)));
        if (!best) throw unsupported(why_not(operation, id, p, device, kernel));
        return *std::move(best);
    }

    /// The same among rows with is_asked(row), and for `automatic` only among those that pay. Empty if none can run.
    template <class IsAsked>
    std::optional<planned<Rung>> choose_if(IsAsked is_asked, bool is_automatic, const problem& p,
                                           const device_traits& device) const {
        constexpr bool has_costs = requires(const Rung::plan_type& plan) {
            plan.us;
        };
        std::optional<planned<Rung>> best;
        bool best_pays = false;
        for (const Rung& row : rows_ | std::views::reverse) {
            if (!is_asked(row)) continue;
            const bool pays = row.pays(p, device);
            if ((is_automatic || best_pays) && !pays) continue;
            if (!has_costs && best && pays == best_pays) continue;
            if (!row.why_not(p, device).empty()) continue;
            planned<Rung> candidate{&row, row.plan(p, device)};
            if (!has_scratch(p) && takes_scratch(candidate.plan)) continue;
            if constexpr (has_costs)
                if (best && pays == best_pays && candidate.plan.us > best->plan.us) continue;
            best = std::move(candidate);
            if (!has_costs && pays) break;
            best_pays = pays;
        }
        return best;
    }

  private:
    // For operations with scratch memory: problems have has_scratch, and kernels/<op>/launch.hpp has scratch_bytes().
    static bool has_scratch([[maybe_unused]] const problem& p) {
        if constexpr (requires { p.has_scratch; }) return p.has_scratch;
        return true;
    }
    static bool takes_scratch([[maybe_unused]] const Rung::plan_type& plan) {
        if constexpr (requires { scratch_bytes(plan); }) return scratch_bytes(plan) > 0;
        return false;
    }

    /// The end of an error's text.
    static std::string given(const problem& p, const device_traits& device) {
        facts values;
        if constexpr (has_facts<problem>) add_facts(values, p);
        values.add({fact("compute capability", detail::format("{}.{}", device.compute_capability_major,
                                                              device.compute_capability_minor))});
        return values.given();
    }

    /// The unmet need of the first of a rung's rows; empty if one of them can run.
    std::string_view lack_of(algorithm id, const problem& p, const device_traits& device,
                             std::string_view kernel) const {
        if (id == algorithm::automatic && kernel.empty()) return {};
        std::string_view reason;
        for (const Rung& row : rows_ | std::views::reverse) {
            if (!is(row, id, kernel)) continue;
            reason = lack_of(row, p, device);
            if (reason.empty()) return {};
        }
        return reason;
    }
    static std::string_view lack_of(const Rung& row, const problem& p, const device_traits& device) {
        const std::string_view reason = row.why_not(p, device);
        if (reason.empty() && !has_scratch(p) && takes_scratch(row.plan(p, device)))
            return "needs scratch memory";
        return reason;
    }

    static bool is(const Rung& row, algorithm id, std::string_view kernel) {
        return (id == algorithm::automatic || row.id == id) && is_named(row.name, kernel);
    }

    std::span<const Rung> rows_;
    const char* enumeration_;
};

template <class Rung, std::size_t size>
rung_table(const std::array<Rung, size>&, const char*) -> rung_table<Rung>;

}  // namespace heddle::detail
