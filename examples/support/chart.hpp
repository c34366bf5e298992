#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace examples {

/// Values at 1, 2, 3, ..., joined by a line. Values that are not finite are left out.
struct chart_line {
    std::string name;
    std::vector<double> values;
};

/// Lines with a common axis of values, over an axis of numbers from 1 on.
struct chart_panel {
    std::string title;
    std::string x_title;
    std::vector<chart_line> lines;
};

/// Writes the panels side by side, as SVG.
/// @throws std::runtime_error  names the file and the error
void write_chart(const std::filesystem::path& file, std::span<const chart_panel> panels);

}  // namespace examples
