#include "benchmarks/tuning/cases.hpp"

#include <CLI/CLI.hpp>

// How costs come about: docs/tune-costs.md.
namespace heddle::bench::tuning {
namespace {

using cases = std::vector<timed_case>;

/// With three digits, and an exponent as one writes it.
std::string text(double value) {
    std::string result = fmt::format("{:.3g}", value);
    if (const auto at = result.find("e+0"); at != std::string::npos) result.erase(at + 1, 2);
    return result;
}

/// Without the last numbers, where they are unused.
std::string text(const row_numbers& row) {
    std::string result = fmt::format("{{\"{}\"", row.name), unused;
    for (const number& each : row.of) {
        unused += ", " + text(*each.value);
        if (*each.value == each.unused) continue;
        result += unused;
        unused.clear();
    }
    return result + "}";
}

/// Writes the costs of now into a header, in the place of the card's.
void write(const operation& operation, const std::string& path, const std::string& card) {
    std::ifstream from(path);
    std::string header{std::istreambuf_iterator<char>(from), {}};
    const auto replace = [&](std::string_view head, std::string_view end, const std::string& by) {
        const std::size_t first = header.find(head), last = header.find(end, first);
        if (last == header.npos) throw std::runtime_error(fmt::format("{} has no costs of {}", path, card));
        header.replace(first + head.size(), last - first - head.size(), by);
    };
    std::string rows = "\n";
    for (const row_numbers& row : operation.rows()) rows += fmt::format("        {},\n", text(row));
    replace(".rows = {{", "    }},", rows);
    for (const card_number& each : operation.of_card())
        replace(fmt::format(".{} = ", each.name), ",", text(*each.value));
    std::ofstream file(path);
    if (!(file << header).flush()) throw std::runtime_error(fmt::format("cannot write {}", path));
}

/// The worst first.
void print_off(cases& all) {
    constexpr double least = 0.1;
    std::ranges::sort(all, std::greater{}, &timed_case::lost);
    for (const timed_case& of : all) {
        if (of.lost() < least) break;
        const choice& taken = of.taken();
        const choice& best = *std::ranges::min_element(of.choices, {}, &choice::measured_us);
        fmt::print("{:5.2f}  {} {:.1f} us (predicted {:.1f}), best {} {:.1f} us ({:.1f})  {}  {}\n",
                   1 + of.lost(), taken.kernel, taken.measured_us, taken.predicted_us, best.kernel,
                   best.measured_us, best.predicted_us, of.words, of.name);
    }
}

cases joined(const std::vector<cases>& records, std::size_t without) {
    cases all;
    for (std::size_t i = 0; i < records.size(); ++i)
        if (i != without) std::ranges::copy(records[i], std::back_inserter(all));
    return all;
}

int run(int count, char** arguments) {
    std::vector<std::string> paths;
    std::string name, card = "h200", output;
    CLI::App app("Fits the costs that an operation chooses by to measured times, or checks them.",
                 "tune-costs");
    app.add_option("operation", name, "matmul, conv or blur")
        ->required()
        ->check(CLI::IsMember({"matmul", "conv", "blur"}));
    app.add_option("record", paths, "of heddle-bench cliffs --choices")->required();
    app.add_option("--card", card, "whose costs they are");
    app.add_option("--output", output, "the header to write; without, the costs that stand are checked");
    CLI11_PARSE(app, count, arguments);

    const operation& operation = name == "matmul" ? matmul_operation
                                 : name == "conv" ? conv_operation
                                                  : blur_operation;
    if (std::ranges::find(operation.cards, card) == operation.cards.end())
        throw std::runtime_error(fmt::format("{} has no costs of {}", name, card));
    operation.begin(card);
    std::vector<cases> records;
    for (const std::string& path : paths) records.push_back(read_cases(operation, path));
    cases all = joined(records, records.size());
    print_losses("as it stands", all);
    if (output.empty()) {
        print_off(all);
        return 0;
    }
    cases unseen;
    for (std::size_t i = 0; records.size() > 1 && i < records.size(); ++i) {
        operation.begin(card);
        cases seen = joined(records, i);
        fit(operation, seen);
        predict(records[i]);
        std::ranges::copy(records[i], std::back_inserter(unseen));
    }
    if (!unseen.empty()) print_losses("fitted to the others", unseen);
    operation.begin(card);
    fit(operation, all);
    print_losses("fitted to all", all);
    write(operation, output, card);
    return 0;
}

}  // namespace
}  // namespace heddle::bench::tuning

int main(int count, char** arguments) {
    try {
        return heddle::bench::tuning::run(count, arguments);
    } catch (const std::exception& error) {
        fmt::print(stderr, "tune-costs: {}\n", error.what());
        return 2;
    }
}
