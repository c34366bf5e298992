#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace examples {

/// Values at 1, 2, 3, ..., joined by a line. One that is not finite is left out.
struct chart_line {
    std::string name;
    std::vector<double> values;
};

/// Lines with one axis of values, over one axis of numbers from 1 on.
struct chart_panel {
    std::string title;
    std::string x_title;
    std::vector<chart_line> lines;
};

/// The panels side by side, as SVG.
/// @throws std::runtime_error  naming the file and what is wrong with it
void write_chart(const std::filesystem::path& file, std::span<const chart_panel> panels);

}  // namespace examples
