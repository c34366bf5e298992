#include "examples/support/chart.hpp"

#include "examples/support/file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>

namespace examples {
namespace {

// In pixels: a panel, and in it the frame of the lines.
constexpr double panel_width = 400, panel_height = 300;
constexpr double left = 60, right = 385, top = 40, bottom = 250;
constexpr std::array<std::string_view, 4> colors = {"#1f6fb4", "#d1600a", "#2c8a3d", "#8a4fa3"};

/// An axis with steps of 1, 2 or 5 times a power of ten, between multiples of the step.
struct axis {
    double first = 0;
    double last = 1;
    double step = 1;

    /// About `ticks` steps cover the range from low to high.
    axis(double low, double high, int ticks) {
        const double rough = std::max(high - low, 1e-6) / ticks;
        const double power = std::pow(10, std::floor(std::log10(rough)));
        step = 10 * power;
        for (const double factor : {5, 2, 1})
            if (factor * power >= rough) step = factor * power;
        first = std::floor(low / step + 1e-6) * step;
        last = std::max(std::ceil(high / step - 1e-6), std::round(first / step) + 1) * step;
    }
    int count() const { return static_cast<int>(std::lround((last - first) / step)); }
    double tick(int i) const { return first + i * step; }
    /// 0 at the first, 1 at the last.
    double place(double value) const { return (value - first) / (last - first); }
};

axis values_of(const chart_panel& panel) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const chart_line& line : panel.lines)
        for (const double value : line.values)
            if (std::isfinite(value)) low = std::min(low, value), high = std::max(high, value);
    return low <= high ? axis(low, high, 5) : axis(0, 1, 5);
}

axis numbers_of(const chart_panel& panel) {
    std::size_t most = 2;
    for (const chart_line& line : panel.lines) most = std::max(most, line.values.size());
    axis numbers(1, static_cast<double>(most), 8);
    numbers.step = std::max(numbers.step, 1.0);
    numbers.first = 0;
    numbers.last = std::ceil(static_cast<double>(most) / numbers.step) * numbers.step;
    return numbers;
}

std::string panel_of(const chart_panel& panel, double x_offset) {
    std::string svg = fmt::format("<g transform=\"translate({:.0f} 0)\">\n", x_offset);
    const auto add = [&]<class... Values>(fmt::format_string<Values...> text, Values&&... values) {
        fmt::format_to(std::back_inserter(svg), text, std::forward<Values>(values)...);
        svg += '\n';
    };
    const axis values = values_of(panel), numbers = numbers_of(panel);
    const auto x = [&](double number) { return left + numbers.place(number) * (right - left); };
    const auto y = [&](double value) { return bottom - values.place(value) * (bottom - top); };

    add(R"(<text x="{}" y="24" font-weight="bold">{}</text>)", left, panel.title);
    const int digits = std::max(0, -static_cast<int>(std::floor(std::log10(values.step) + 1e-6)));
    for (int i = 0; i <= values.count(); ++i) {
        const double at = y(values.tick(i));
        add(R"(<path d="M{} {:.1f}H{}" stroke="#dddddd"/>)", left, at, right);
        add(R"(<text x="{}" y="{:.1f}" text-anchor="end">{:.{}f}</text>)", left - 6, at + 4, values.tick(i),
            digits);
    }
    for (int i = 0; i <= numbers.count(); ++i)
        add(R"(<text x="{:.1f}" y="{}" text-anchor="middle">{:.0f}</text>)", x(numbers.tick(i)), bottom + 18,
            numbers.tick(i));
    add(R"(<path d="M{} {}V{}H{}" fill="none" stroke="#444444"/>)", left, top, bottom, right);
    add(R"(<text x="{}" y="{}" text-anchor="end">{}</text>)", right, bottom + 36, panel.x_title);

    double legend = left;
    for (std::size_t l = 0; l < panel.lines.size(); ++l) {
        const chart_line& line = panel.lines[l];
        const std::string_view color = colors[l % colors.size()];
        std::string points, dots;
        for (std::size_t i = 0; i < line.values.size(); ++i) {
            if (!std::isfinite(line.values[i])) continue;
            const double px = x(static_cast<double>(i + 1)), py = y(line.values[i]);
            fmt::format_to(std::back_inserter(points), "{:.1f},{:.1f} ", px, py);
            fmt::format_to(std::back_inserter(dots), R"(<circle cx="{:.1f}" cy="{:.1f}" r="2.5"/>)", px, py);
        }
        add(R"(<polyline points="{}" fill="none" stroke="{}" stroke-width="2"/><g fill="{}">{}</g>)", points,
            color, color, dots);
        add(R"(<text x="{:.1f}" y="{}" fill="{}">{}</text>)", legend, bottom + 36, color, line.name);
        legend += 14 + 7 * static_cast<double>(line.name.size());
    }
    return svg + "</g>\n";
}

}  // namespace

void write_chart(const std::filesystem::path& file, std::span<const chart_panel> panels) {
    const double width = panel_width * static_cast<double>(panels.size());
    std::string svg = fmt::format(
        R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0:.0f}" height="{1:.0f}" viewBox="0 0 {0:.0f} {1:.0f}" )"
        R"(font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="white"/>)",
        width, panel_height);
    for (std::size_t i = 0; i < panels.size(); ++i)
        svg += panel_of(panels[i], panel_width * static_cast<double>(i));
    svg += "</svg>\n";
    file_handle stream = open_to_write(file);
    if (std::fwrite(svg.data(), 1, svg.size(), stream.get()) != svg.size()) fail(file, std::strerror(errno));
    close_written(std::move(stream), file);
}

}  // namespace examples
