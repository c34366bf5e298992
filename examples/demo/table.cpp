#include "examples/demo/table.hpp"

#include "examples/support/program.hpp"

#include <fmt/format.h>

namespace demo {
namespace {

constexpr auto line = "{:<14} {:<22} {:>11} {:>11} {:>6}  {:<26} {:>13}\n";

std::string time_text(double seconds) {
    return seconds < 1e-3 ? fmt::format("{:.2f} us", seconds * 1e6) : fmt::format("{:.3f} ms", seconds * 1e3);
}

}  // namespace

table::table() {
    examples::print(line, "operation", "size", "heddle", "vendor", "ratio", "vendor's call", "largest error");
}

void table::print(const row& row) {
    const auto& theirs = row.seconds.theirs;
    const bool is_right = row.error <= row.error_bound;
    all_right_ = all_right_ && is_right;
    examples::print(line, row.operation, row.shape, time_text(row.seconds.ours),
                    theirs ? time_text(*theirs) : "-",
                    theirs ? fmt::format("{:.2f}", *theirs / row.seconds.ours) : "-", theirs ? row.peer : "-",
                    fmt::format("{:.1e}{}", row.error, is_right ? "" : " WRONG"));
}

}  // namespace demo
