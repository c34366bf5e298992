#include "benchmarks/tuning/cases.hpp"

namespace heddle::bench::tuning {
namespace {

/// A choice, of its problem.
using place = std::pair<timed_case*, choice*>;

/// A number, the choices whose predictions it changes, and their problems.
struct fitted {
    double* value;
    std::vector<place> changes;
    std::vector<timed_case*> problems;
};

void predict(std::span<const place> choices) {
    for (const auto& [of, each] : choices) of->predict(*each);
}

bool are_finite(std::span<const place> choices) {
    return std::ranges::all_of(choices, [](const place& p) { return std::isfinite(p.second->predicted_us); });
}

/// How far predictions are off, as a logarithm: those of good choices above all.
double distance(const timed_case& of) {
    constexpr double far = 1;
    double counted = 0, distances = 0;
    for (const choice& each : of.choices) {
        const double counts = of.best_us / std::min(each.measured_us, each.predicted_us);
        counted += counts;
        distances += counts * std::min(far, std::abs(std::log(each.predicted_us / each.measured_us)));
    }
    return distances / counted;
}

/// What is lost by a choice that is drawn by the predictions: the better one looks, the likelier. So a number that gains
/// nothing, but moves predictions to the right side, counts too.
double loss(const timed_case& of) {
    constexpr double width = 0.04, of_distance = 0.2;
    const double least = of.taken().predicted_us;
    double drawn = 0, lost = 0;
    for (const choice& each : of.choices) {
        const double weight = std::pow(each.predicted_us / least, -1 / width);
        drawn += weight;
        lost += weight * std::log(each.measured_us / of.best_us);
    }
    return lost / drawn + of_distance * distance(of);
}

double loss(std::span<timed_case* const> of) {
    double sum = 0;
    for (const timed_case* each : of) sum += loss(*each);
    return sum;
}

double rounded(double value) {
    return std::strtod(fmt::format("{:.3g}", value).c_str(), nullptr);
}

std::vector<place> places_of(std::span<timed_case> cases) {
    std::vector<place> all;
    for (timed_case& of : cases)
        for (choice& each : of.choices) all.emplace_back(&of, &each);
    return all;
}

fitted fitted_of(double* value, const std::vector<place>& changes) {
    fitted result{value, changes, {}};
    for (const auto& [of, each] : changes)
        if (result.problems.empty() || result.problems.back() != of) result.problems.push_back(of);
    return result;
}

/// The choices that a row's numbers change are those that its start changes.
std::vector<place> places_of(const row_numbers& row, const std::vector<place>& all) {
    double& start_us = *row.of.front().value;
    const double was = start_us;
    start_us += 1;
    std::vector<place> changes;
    for (const place& each : all) {
        const double before = each.second->predicted_us;
        predict(std::span(&each, 1));
        if (each.second->predicted_us != before) changes.push_back(each);
    }
    start_us = was;
    predict(changes);
    return changes;
}

std::vector<fitted> numbers_of(const operation& operation, const std::vector<place>& all) {
    std::vector<fitted> numbers;
    for (const row_numbers& row : operation.rows()) {
        const std::vector<place> changes = places_of(row, all);
        for (const number& each : row.of)
            if (*each.value != each.unused) numbers.push_back(fitted_of(each.value, changes));
    }
    for (const card_number& each : operation.of_card()) numbers.push_back(fitted_of(each.value, all));
    return numbers;
}

}  // namespace

void fit(const operation& operation, std::span<timed_case> to) {
    constexpr double least_gain = 0.01;  // of all problems together: less is chance
    constexpr int most_passes = 12;
    const std::vector<place> all = places_of(to);
    predict(all);
    const std::vector<fitted> numbers = numbers_of(operation, all);
    for (int pass = 0; pass < most_passes; ++pass) {
        double gained = 0;
        for (const fitted& each : numbers) {
            double& value = *each.value;
            const double was = value, before = loss(each.problems);
            double best = was, least = before;
            for (const double factor :
                 {0.0, 0.25, 0.5, 0.75, 0.9, 0.96, 0.99, 1.01, 1.04, 1.1, 1.3, 2.0, 4.0}) {
                value = rounded(was == 0 ? factor : was * factor);
                if (value == was) continue;
                predict(each.changes);
                if (!are_finite(each.changes)) continue;  // by a rate of 0
                if (const double lost = loss(each.problems); lost < least - least_gain) {
                    least = lost;
                    best = value;
                }
            }
            value = best;
            predict(each.changes);
            gained += before - least;
        }
        if (gained < 0.1) break;
    }
}

void predict(std::span<timed_case> cases) {
    predict(places_of(cases));
}

void print_losses(std::string_view title, std::span<const timed_case> of) {
    double logarithms = 0, distances = 0;
    for (const timed_case& each : of) {
        logarithms += std::log1p(each.lost());
        distances += distance(each);
    }
    const auto count = static_cast<double>(of.size());
    const auto mean = [=](double sum) { return 100 * std::expm1(sum / count); };
    const auto share_above = [&](double lost) {
        return 100 *
               static_cast<double>(std::ranges::count_if(of, [=](auto& p) { return p.lost() > lost; })) /
               count;
    };
    fmt::print(
        "{:20} {:4} problems lose {:.2f} %; more than 3 %: {:.1f} %, 10 %: {:.1f} %, 25 %: {:.1f} %; "
        "predictions are off by {:.1f} %\n",
        title, of.size(), mean(logarithms), share_above(0.03), share_above(0.1), share_above(0.25),
        mean(distances));
}

}  // namespace heddle::bench::tuning
