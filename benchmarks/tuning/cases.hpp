#pragma once

#include "kernels/matmul/cost/cost.hpp"
#include "kernels/matmul/facts.hpp"
#include <heddle/device.hpp>
#include <heddle/matmul.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::bench::tuning {

/// The costs that plans of this program are made with.
extern kernels::matmul::costs current;

/// A kernel that `automatic` chooses from.
struct choice {
    std::string_view kernel;  ///< one of matmul_kernels()
    double measured_us = 0;
    double predicted_us = 0;  ///< by `current`, with what is measured of an empty kernel
};

/// A product of which all choices were timed.
struct timed_product {
    std::string name, words;
    device_traits device;
    matmul_problem problem;
    std::vector<choice> choices = {};
    double best_us = 0;

    void predict(choice& each) const;
    /// The choice that is predicted to be the fastest.
    const choice& taken() const;
    double lost() const { return taken().measured_us / best_us - 1; }
};

/// Those of a record of `heddle-bench cliffs --choices`.
/// @throws std::runtime_error  no such record
std::vector<timed_product> read_products(const std::filesystem::path& record);

}  // namespace heddle::bench::tuning
