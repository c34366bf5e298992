#include "benchmarks/tuning/cases.hpp"
#include "benchmarks/tuning/fit.hpp"
#include "kernels/matmul/cost/h100.hpp"
#include "kernels/matmul/cost/h200.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

// How matmul's costs come about: docs/tune-matmul.md.
namespace heddle::bench::tuning {
namespace {

using kernels::matmul::row_cost;
using products = std::vector<timed_product>;

/// With three digits, and an exponent as one writes it.
std::string text(double value) {
    std::string result = fmt::format("{:.3g}", value);
    if (const auto at = result.find("e+0"); at != std::string::npos) result.erase(at + 1, 2);
    return result;
}

/// Without the last members, where they are as they begin.
std::string text(const row_cost& c) {
    std::string result =
        fmt::format("{{\"{}\", {}, {}, {}", c.row, text(c.start_us), text(c.around_us), text(c.step_us));
    if (c.alone_us != 0 || c.of_memory_rate != 1) result += ", " + text(c.alone_us);
    if (c.of_memory_rate != 1) result += ", " + text(c.of_memory_rate);
    return result + "}";
}

/// Writes `current` into a header, in the place of the card's costs.
void write(const std::string& path, const std::string& card) {
    std::ifstream from(path);
    std::string header{std::istreambuf_iterator<char>(from), {}};
    const std::string head = fmt::format("inline constexpr costs {} = ", card);
    const std::size_t first = header.find(head), end = header.find("\n}", first);
    if (end == header.npos) throw std::runtime_error(fmt::format("{} has no costs of {}", path, card));
    std::string members = "    // start_us, around_us, step_us, alone_us, of_memory_rate\n    .rows = {{\n";
    for (const row_cost& row : current.rows) members += fmt::format("        {},\n", text(row));
    members += "    }},\n";
    for (const auto& [name, member] : members_of_card)
        members += fmt::format("    .{} = {},\n", name, text(current.*member));
    header.replace(first, header.find('\n', end + 1) - first, fmt::format("{}{{\n{}}};", head, members));
    std::ofstream file(path);
    if (!(file << header).flush()) throw std::runtime_error(fmt::format("cannot write {}", path));
}

/// The worst first.
void print_off(products& all) {
    constexpr double least = 0.1;
    std::ranges::sort(all, std::greater{}, &timed_product::lost);
    for (const timed_product& of : all) {
        if (of.lost() < least) break;
        const choice& taken = of.taken();
        const choice& best = *std::ranges::min_element(of.choices, {}, &choice::measured_us);
        fmt::print("{:5.2f}  {} {:.1f} us (predicted {:.1f}), best {} {:.1f} us ({:.1f})  {}  {}\n",
                   1 + of.lost(), taken.kernel, taken.measured_us, taken.predicted_us, best.kernel,
                   best.measured_us, best.predicted_us, of.words, of.name);
    }
}

products joined(const std::vector<products>& records, std::size_t without) {
    products all;
    for (std::size_t i = 0; i < records.size(); ++i)
        if (i != without) std::ranges::copy(records[i], std::back_inserter(all));
    return all;
}

int run(int count, char** arguments) {
    std::vector<std::string> paths;
    std::string card = "h200", output;
    CLI::App app("Fits the costs that matmul chooses by to measured times, or checks them.", "tune-matmul");
    app.add_option("record", paths, "of heddle-bench cliffs --choices --only matmul")->required();
    app.add_option("--card", card, "whose costs they are")->check(CLI::IsMember({"h100", "h200"}));
    app.add_option("--output", output, "the header to write; without, the costs that stand are checked");
    CLI11_PARSE(app, count, arguments);

    const kernels::matmul::costs stands = card == "h100" ? kernels::matmul::h100 : kernels::matmul::h200;
    current = stands;
    std::vector<products> records;
    for (const std::string& path : paths) records.push_back(read_products(path));
    products all = joined(records, records.size());
    print_losses("as it stands", all);
    if (output.empty()) {
        print_off(all);
        return 0;
    }
    products unseen;
    for (std::size_t i = 0; records.size() > 1 && i < records.size(); ++i) {
        current = stands;
        products seen = joined(records, i);
        fit(seen);
        predict(records[i]);
        std::ranges::copy(records[i], std::back_inserter(unseen));
    }
    if (!unseen.empty()) print_losses("fitted to the others", unseen);
    current = stands;
    fit(all);
    print_losses("fitted to all", all);
    write(output, card);
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
