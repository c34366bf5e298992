#pragma once

#include "src/facts.hpp"
#include "src/format.hpp"
#include "src/require.hpp"
#include <heddle/device.hpp>
#include <heddle/error.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

/// The table of an operation's rungs, and all that is read from it: names, lists, choices, errors. docs/add-a-kernel.md adds a
/// row.
namespace heddle::detail {

/// A row: a kernel, or a rung that has one. Kernels of one rung stand together.
template <class Algorithm, class Problem, class Plan, class Arguments>
struct rung {
    using problem_type = Problem;
    using plan_type = Plan;

    Algorithm id;
    /// The rung's, and where it has several kernels, a space and the kernel's: "persistent 128x256".
    std::string_view name;
    /// What the rung needs and lacks, as an error says it after the rung's name; empty where it can run. Pure.
    std::string_view (*why_not)(const Problem&, const device_traits&);
    /// Whether `automatic` may take it where it can run. Pure.
    bool (*pays)(const Problem&, const device_traits&);
    /// How it does the problem: all that the launch needs to know beside the arguments. For a problem that it can run. Pure.
    Plan (*plan)(const Problem&, const device_traits&);
    void (*launch)(const Plan&, const Arguments&, cudaStream_t);
};

/// The first word of a row's name.
constexpr std::string_view rung_of(std::string_view kernel) {
    return kernel.substr(0, kernel.find(' '));
}

/// Whether a row's name is `asked`, or begins with these words. All begin with none.
constexpr bool is_named(std::string_view kernel, std::string_view asked) {
    return kernel.starts_with(asked) &&
           (asked.empty() || kernel.size() == asked.size() || kernel[asked.size()] == ' ');
}

/// One thing that rungs need of a problem, and how an error says that it lacks.
template <class Problem>
struct need {
    bool (*is_met)(const Problem&, const device_traits&);
    std::string_view text;

    constexpr std::string_view operator()(const Problem& problem, const device_traits& device) const {
        return is_met(problem, device) ? std::string_view() : text;
    }
};

/// A row's why_not where its rung needs all these, each a `need` or such a list itself: the first that is not met.
template <const auto&... all>
inline constexpr auto needs =
    []<class Problem>([[maybe_unused]] const Problem& problem, [[maybe_unused]] const device_traits& device) {
        static_assert(sizeof...(all) == 0 || has_facts<Problem>, "an error says what was given");
        std::string_view reason;
        static_cast<void>((... && (reason = all(problem, device)).empty()));
        return reason;
    };

/// For the kernels that are compiled for this architecture alone.
template <class Problem>
inline constexpr need<Problem> hopper{[](const Problem&, const device_traits& device) {
                                          return HEDDLE_COMPILED_FOR_90 != 0 &&
                                                 device.compute_capability_major == 9 &&
                                                 device.compute_capability_minor == 0;
                                      },
                                      "needs a device of compute capability 9.0, and heddle built for it"};

/// For rungs that are slow, and take no scratch memory.
inline constexpr auto without_scratch = [](const auto& problem, const auto&) { return !problem.has_scratch; };

/// For rungs that run any problem.
inline constexpr auto any_problem = needs<>;
inline constexpr auto always = [](const auto&, const auto&) { return true; };
inline constexpr auto never = [](const auto&, const auto&) { return false; };

/// The launch of a kernel that a build may lack, or that takes other arguments than the row's type. Where it cannot be called, the
/// row's why_not says so, and nothing comes here.
template <auto function, bool is_built>
inline constexpr auto launch_if = []<class Plan, class Arguments>([[maybe_unused]] const Plan& plan,
                                                                  [[maybe_unused]] const Arguments& arguments,
                                                                  [[maybe_unused]] cudaStream_t stream) {
    if constexpr (is_built &&
                  std::is_invocable_v<decltype(function), const Plan&, const Arguments&, cudaStream_t>)
        function(plan, arguments, stream);
    else
        throw std::logic_error("a kernel that is not compiled was chosen");
};

/// The enumerators of a table, in its order, each once.
template <const auto& table>
inline constexpr auto ids_of = [] {
    constexpr auto is_first = [](std::size_t i) {
        return std::ranges::none_of(table.begin(), table.begin() + i,
                                    [i](const auto& row) { return row.id == table[i].id; });
    };
    constexpr std::size_t count = [=] {
        std::size_t result = 0;
        for (std::size_t i = 0; i < table.size(); ++i) result += is_first(i) ? 1 : 0;
        return result;
    }();
    std::array<decltype(table[0].id), count> ids{};
    auto next = ids.begin();
    for (std::size_t i = 0; i < table.size(); ++i)
        if (is_first(i)) *next++ = table[i].id;
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

constexpr std::string_view name_of_kernel(std::string_view name) {
    return name;
}
constexpr std::string_view name_of_kernel(const auto& kernel) {
    return kernel.name;
}

/// The rows of a rung's kernels, in their order. `needs.operator()<kernel>()` is a row's why_not; `plan_kernel` takes the
/// kernel's place as its last argument.
template <class Rung, const auto& kernels, auto plan_kernel>
constexpr auto rows_of(decltype(Rung::id) id, auto needs, decltype(Rung::pays) pays,
                       decltype(Rung::launch) launch) {
    using problem = Rung::problem_type;
    return [&]<std::size_t... kernel>(std::index_sequence<kernel...>) {
        return std::array{Rung{
            id, name_of_kernel(kernels[kernel]), needs.template operator()<kernel>(), pays,
            [](const problem& of, const device_traits& device) { return plan_kernel(of, device, kernel); },
            launch}...};
    }
    (std::make_index_sequence<kernels.size()>());
}

/// Tables one after another.
template <class Row, std::size_t... sizes>
constexpr auto joined(const std::array<Row, sizes>&... tables) {
    std::array<Row, (sizes + ...)> all{};
    auto next = all.begin();
    ((next = std::ranges::copy(tables, next).out), ...);
    return all;
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
