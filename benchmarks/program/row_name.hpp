#pragma once

#include "benchmarks/support/headers.hpp"

namespace heddle::bench {

/// The parts of <op>/<dtype>/<shape>/<library>[:<rung>][/hot], which are those of a registered row's name.
struct row_name {
    std::string_view operation;
    std::string_view type;
    std::string_view shape;
    std::string_view library;
    std::string_view rung;  ///< empty for the plain call
    bench::temperature temperature;
};

row_name parts_of(const registered_row& row);

/// Whether it is a library of the CPU: host, openblas, opencv.
bool is_on_cpu(std::string_view library);
/// A library of others on the GPU that computes the same: neither heddle's nor a copy or a bare launch.
bool is_vendor(std::string_view library);

}  // namespace heddle::bench
