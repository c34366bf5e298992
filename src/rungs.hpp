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

/// All that is read from the table of an operation's rungs: names, lists, choices, errors.
namespace heddle::detail {

/// The first word of a row's name.
constexpr std::string_view rung_of(std::string_view kernel) {
    return kernel.substr(0, kernel.find(' '));
}

/// Whether a row's name is `asked`, or begins with these words. All begin with none.
constexpr bool is_named(std::string_view kernel, std::string_view asked) {
    return kernel.starts_with(asked) &&
           (asked.empty() || kernel.size() == asked.size() || kernel[asked.size()] == ' ');
}

/// The enumerators of a table, in its order, each once: rows of one rung stand together.
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

/// Those of a rung, or of all for `automatic`.
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

/// All that is read from a table.
template <class Rung>
class rung_table {
  public:
    using algorithm = decltype(Rung::id);
    using problem = Rung::problem_type;

    template <std::size_t size>
    constexpr rung_table(const std::array<Rung, size>& rows, const char* enumeration)
        : rows_(rows), enumeration_(enumeration) {}

    /// "unknown" where the table has no such rung.
    constexpr std::string_view name_of(algorithm id) const {
        if (id == algorithm::automatic) return "automatic";
        const auto found = std::ranges::find(rows_, id, &Rung::id);
        return found == rows_.end() ? "unknown" : rung_of(found->name);
    }

    /// @throws invalid_argument  not an enumerator
    void require_known(const char* operation, const argument_name& name, algorithm id) const {
        require(name_of(id) != "unknown", operation, name, static_cast<int>(id), "an enumerator of {}",
                enumeration_);
    }

    /// Whether a kernel of the rung, or of any for `automatic`, has this name or begins with these words.
    bool has(algorithm id, std::string_view kernel) const {
        return std::ranges::any_of(rows_, [&](const Rung& row) { return is(row, id, kernel); });
    }

    /// @throws invalid_argument  no kernel of the rung begins so
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

    /// Why a rung cannot run a problem, as `unsupported` says it; empty where it can, and of `automatic`.
    std::string why_not(const char* operation, algorithm id, const problem& of, const device_traits& device,
                        std::string_view kernel = {}) const {
        const std::string_view lack = lack_of(id, of, device, kernel);
        if (lack.empty()) return {};
        return detail::format("{}: {} {}{}", operation, kernel.empty() ? name_of(id) : kernel, lack,
                              given(of, device));
    }

    /// Whether why_not() is empty, without a text that nobody reads.
    bool can_run(algorithm id, const problem& of, const device_traits& device,
                 std::string_view kernel = {}) const {
        return lack_of(id, of, device, kernel).empty();
    }

    /// Whether `automatic` may take the rung where it can run.
    bool may_take(algorithm id, const problem& of, const device_traits& device) const {
        return std::ranges::any_of(rows_,
                                   [&](const Rung& row) { return row.id == id && row.pays(of, device); });
    }

    /// What a call launches. `automatic` asks for all rows that pay. Of the rows that are asked for and can run it is the
    /// cheapest by plan.us, the first of those that cost the same; where plans have no such prediction, the last. Rows that
    /// pay come before others.
    /// @throws unsupported  none of them can run, as may be where there is no scratch memory
    planned<Rung> choose(const char* operation, algorithm id, const problem& of, const device_traits& device,
                         std::string_view kernel = {}) const {
        const bool is_automatic = id == algorithm::automatic && kernel.empty();
        auto best = choose_if([&](const Rung& row) { return is(row, id, kernel); }, is_automatic, of, device);
        if (!best && is_automatic)
            throw unsupported(
                detail::format("{}: without scratch memory no algorithm takes this problem on this device{}",
                               operation, given(of, device)));
        if (!best) throw unsupported(why_not(operation, id, of, device, kernel));
        return *std::move(best);
    }

    /// The same of the rows that is_asked(row), and of those that pay alone for `automatic`; nothing where none can run.
    template <class IsAsked>
    std::optional<planned<Rung>> choose_if(IsAsked is_asked, bool is_automatic, const problem& of,
                                           const device_traits& device) const {
        constexpr bool has_costs = requires(const Rung::plan_type& plan) {
            plan.us;
        };
        std::optional<planned<Rung>> best;
        bool best_pays = false;
        for (const Rung& row : rows_ | std::views::reverse) {
            if (!is_asked(row)) continue;
            const bool pays = row.pays(of, device);
            if ((is_automatic || best_pays) && !pays) continue;
            if (!has_costs && best && pays == best_pays) continue;
            if (!row.why_not(of, device).empty()) continue;
            planned<Rung> candidate{&row, row.plan(of, device)};
            if (!has_scratch(of) && takes_scratch(candidate.plan)) continue;
            if constexpr (has_costs)
                if (best && pays == best_pays && candidate.plan.us > best->plan.us) continue;
            best = std::move(candidate);
            if (!has_costs && pays) break;
            best_pays = pays;
        }
        return best;
    }

  private:
    // What problems say, and kernels/<op>/launch.hpp of plans, where any rung takes scratch memory.
    static bool has_scratch([[maybe_unused]] const problem& of) {
        if constexpr (requires { of.has_scratch; }) return of.has_scratch;
        return true;
    }
    static bool takes_scratch([[maybe_unused]] const Rung::plan_type& plan) {
        if constexpr (requires { scratch_bytes(plan); }) return scratch_bytes(plan) > 0;
        return false;
    }

    /// The end of an error's text.
    static std::string given(const problem& of, const device_traits& device) {
        facts values;
        if constexpr (has_facts<problem>) add_facts(values, of);
        values.add({fact("compute capability", detail::format("{}.{}", device.compute_capability_major,
                                                              device.compute_capability_minor))});
        return values.given();
    }

    /// What the first of a rung's rows lacks; empty where one of them can run.
    std::string_view lack_of(algorithm id, const problem& of, const device_traits& device,
                             std::string_view kernel) const {
        if (id == algorithm::automatic && kernel.empty()) return {};
        std::string_view reason;
        for (const Rung& row : rows_ | std::views::reverse) {
            if (!is(row, id, kernel)) continue;
            reason = lack_of(row, of, device);
            if (reason.empty()) return {};
        }
        return reason;
    }
    static std::string_view lack_of(const Rung& row, const problem& of, const device_traits& device) {
        const std::string_view reason = row.why_not(of, device);
        if (reason.empty() && !has_scratch(of) && takes_scratch(row.plan(of, device)))
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
