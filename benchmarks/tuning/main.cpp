#include "benchmarks/tuning/cases.hpp"
#include "benchmarks/tuning/fit.hpp"
#include "benchmarks/tuning/numbers.hpp"
#include "benchmarks/tuning/rows.hpp"
#include "kernels/matmul/cost/h100.hpp"
#include "kernels/matmul/cost/h200.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

// How matmul's tables of costs come about: docs/tune-matmul.md.
namespace heddle::bench::tuning {
namespace {

struct request {
    std::vector<std::string> records;
    std::string card = "h100", output;
    std::uint64_t seed = 1;
    bool check = false;
};

struct summary {
    std::size_t products = 0, within = 0;
    double logarithms = 0, distances = 0;

    void add(const timed_product& of) {
        const chosen chosen = choose(of);
        const choice& best = *chosen.taken;
        ++products;
        within += is_within_target(of, best) ? 1 : 0;
        logarithms += std::log(best.measured_us / of.best_us);
        distances += chosen.distance;
    }
    [[nodiscard]] std::string text() const {
        const auto count = static_cast<double>(std::max<std::size_t>(1, products));
        return fmt::format(
            "{:4} products, {:.4f} of the best's time, {:5.1f} % within 2 % or 0.3 us, predictions off by "
            "{:.0f} %",
            products, std::exp(logarithms / count), 100 * static_cast<double>(within) / count,
            100 * (std::exp(distances / count) - 1));
    }
};

using products = std::vector<const timed_product*>;

summary print(const char* what, const products& of, bool by_type) {
    summary all;
    std::map<std::string, summary> types;
    for (const timed_product* each : of) {
        all.add(*each);
        types[each->type].add(*each);
    }
    fmt::print("{:24} {}\n", what, all.text());
    if (by_type)
        for (const auto& [type, summary] : types) fmt::print("  {:22} {}\n", type, summary.text());
    return all;
}

/// The worst first. Whether all are within the target.
bool check(const products& all) {
    products off;
    for (const timed_product* each : all)
        if (!is_within_target(*each, *choose(*each).taken)) off.push_back(each);
    std::ranges::stable_sort(off, std::greater{}, [](const timed_product* of) {
        return choose(*of).taken->measured_us / of->best_us;
    });
    for (const timed_product* each : off) {
        const choice& taken = *choose(*each).taken;
        const choice& best = *std::ranges::min_element(each->choices, {}, &choice::measured_us);
        const auto predicted = [&](const choice& of) {
            return plan_of(each->problem, each->device, of.kernel).us;
        };
        fmt::print("{:5.2f}  {} {:.1f} us (predicted {:.1f}), best {} {:.1f} us ({:.1f})  {}  {}\n",
                   taken.measured_us / best.measured_us, taken.kernel, taken.measured_us, predicted(taken),
                   best.kernel, best.measured_us, predicted(best), each->words, each->name);
    }
    (void)print("all", all, true);
    return off.empty();
}

/// Of `grouped` no products are drawn: a tile costs what it does in `persistent`.
void set_costs_of_groups(kernels::matmul::costs& all) {
    constexpr std::string_view grouped = "grouped", persistent = "persistent";
    for (kernels::matmul::kernel_cost& cost : all.kernels) {
        if (!cost.kernel.starts_with(grouped)) continue;
        const std::string other = fmt::format("{}{}", persistent, cost.kernel.substr(grouped.size()));
        const std::string_view name = cost.kernel;
        cost = *std::ranges::find(all.kernels, other, &kernels::matmul::kernel_cost::kernel);
        cost.kernel = name;
    }
}

/// The numbers of `from`, fitted to these.
void fit_from(const kernels::matmul::costs& from, const products& to, const std::vector<row>& rows) {
    current = from;
    fit(to, rows);
    set_costs_of_groups(current);
}

std::string text_of(const std::string& file) {
    std::ifstream stream(file);
    if (!stream) throw std::runtime_error(fmt::format("cannot read {}", file));
    return {std::istreambuf_iterator(stream), {}};
}

void tune(const request& r, const products& all) {
    const kernels::matmul::costs stands = current;
    std::vector<row> rows = rows_of_benchmarks(all.front()->device);
    std::erase_if(rows, [&](const row& row) {
        return std::ranges::any_of(all, [&](const timed_product* p) { return p->problem == row.problem; });
    });
    (void)print("as it stands", all, true);

    products fitted = all;
    std::ranges::shuffle(fitted, std::mt19937_64(r.seed));
    const products held_out(fitted.begin() + static_cast<std::ptrdiff_t>(fitted.size() / 2), fitted.end());
    fitted.resize(fitted.size() - held_out.size());
    fmt::print("\nto one half, by seed {}\n", r.seed);
    (void)print("fitted, before", fitted, false);
    (void)print("held out, before", held_out, false);
    fit_from(stands, fitted, rows);
    (void)print("fitted, after", fitted, false);
    (void)print("held out, after", held_out, false);

    fmt::print("\nto all\n");
    fit_from(stands, all, rows);
    (void)print("fitted to all", all, true);
    for (const row& row : rows)
        if (!is_as_before(row))
            fmt::print("changed, and not measured: {}: {}, now {}\n", row.name, row.kernel, kernel_of(row));

    const std::string comment = fmt::format(
        "/// Made by scripts/tune-matmul, which fits these numbers to the times of drawn products on {}: "
        "docs/tune-matmul.md.\n",
        r.card);
    const std::string text = header_with(text_of(r.output), r.card, current, comment);
    std::ofstream file(r.output);
    if (!(file << text).flush()) throw std::runtime_error(fmt::format("cannot write {}", r.output));
}

int run(int count, char** arguments) {
    request r;
    CLI::App app("Fits the costs that matmul chooses by to measured times, or checks them.", "tune-matmul");
    app.add_option("record", r.records, "of heddle-bench cliffs --choices --only matmul")->required();
    app.add_option("--card", r.card, "whose table it is")->check(CLI::IsMember({"h100", "h200"}));
    app.add_option("--seed", r.seed, "says which half of the products is held out");
    app.add_option("--output", r.output, "the header, whose table is replaced");
    app.add_flag("--check", r.check,
                 "only say what the table that stands loses; exits with 1 if any product is off");
    CLI11_PARSE(app, count, arguments);

    current = r.card == "h100" ? kernels::matmul::h100 : kernels::matmul::h200;
    std::vector<timed_product> read;
    for (const std::string& record : r.records)
        std::ranges::move(read_products(record), std::back_inserter(read));
    products all;
    for (const timed_product& each : read) all.push_back(&each);
    if (r.check) return check(all) ? 0 : 1;
    if (r.output.empty()) throw std::runtime_error("--output is missing");
    tune(r, all);
    return 0;
}

}  // namespace
}  // namespace heddle::bench::tuning

int main(int count, char** arguments) {
    try {
        return heddle::bench::tuning::run(count, arguments);
    } catch (const std::exception& error) {
        fmt::print(stderr, "tune-matmul: {}\n", error.what());
        return 2;
    }
}
