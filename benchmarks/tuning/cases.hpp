#pragma once

#include <heddle/device.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::bench::tuning {

/// A number of the costs that the plans of this program are made with.
struct number {
    double* value;
    std::optional<double> unused{};  ///< what it is where its row has no need of it: then it stays so
};

/// The numbers of a row, in the order of its struct: the first is its start.
struct row_numbers {
    std::string_view name;
    std::vector<number> of;
};

struct card_number {
    std::string_view name;
    double* value;
};

/// By the costs of now. Takes a kernel's name.
using plan_us = std::function<double(std::string_view kernel)>;

/// An operation that chooses by costs, kernels/<name>/cost/<card>.hpp.
struct operation {
    std::string_view name;  ///< of its family in `heddle-bench cliffs`
    std::vector<std::string_view> cards;
    void (*begin)(std::string_view card);  ///< with the costs that stand
    std::vector<row_numbers> (*rows)();
    std::vector<card_number> (*of_card)() = [] { return std::vector<card_number>{}; };
    /// `problem` is of a record of `heddle-bench cliffs --choices`.
    plan_us (*plans_of)(const nlohmann::json& problem, const device_traits& device);
};
extern const operation matmul_operation, conv_operation, blur_operation;

/// A kernel that `automatic` chooses from.
struct choice {
    std::string kernel;
    double measured_us = 0;
    double predicted_us = 0;
};

/// A problem of which all choices were timed.
struct timed_case {
    std::string name, words;
    plan_us us;
    std::vector<choice> choices = {};
    double best_us = 0;

    void predict(choice& each) const { each.predicted_us = us(each.kernel); }
    /// The choice that is predicted to be the fastest.
    const choice& taken() const;
    double lost() const { return taken().measured_us / best_us - 1; }
};

/// Those of an operation in a record of `heddle-bench cliffs --choices`.
/// @throws std::runtime_error  no such record
std::vector<timed_case> read_cases(const operation& operation, const std::filesystem::path& record);

/// Changes the operation's costs number by number, as long as that makes what is lost smaller (coordinate descent).
void fit(const operation& operation, std::span<timed_case> to);

/// Predicts all choices by the costs of now.
void predict(std::span<timed_case> cases);

/// What choices lose over the best, and how far predictions are off.
void print_losses(std::string_view title, std::span<const timed_case> of);

}  // namespace heddle::bench::tuning

/// Defines costs_of() of an operation in place of the library's. The program changes `current`, at first an H200's costs.
#define HEDDLE_CHANGEABLE_COSTS(operation)        \
    namespace heddle::kernels::operation {        \
    namespace {                                   \
    costs current = h200;                         \
    }                                             \
    const costs& costs_of(const device_traits&) { \
        return current;                           \
    }                                             \
    }
