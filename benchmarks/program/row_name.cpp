#include "benchmarks/program/row_name.hpp"

namespace heddle::bench {
namespace {

/// Takes what is before the separator off the text, or all of it.
std::string_view take(std::string_view& text, char separator) {
    const auto at = text.find(separator);
    const std::string_view first = text.substr(0, at);
    text = at == text.npos ? std::string_view{} : text.substr(at + 1);
    return first;
}

template <std::size_t N>
bool is_one_of(std::string_view text, const std::array<std::string_view, N>& all) {
    return std::ranges::find(all, text) != all.end();
}

}  // namespace

row_name parts_of(const registered_row& row) {
    row_name parts{};
    std::string_view problem = row.problem.name;
    std::string_view implementation = std::string_view(row.name).substr(problem.size() + 1);
    parts.operation = take(problem, '/');
    parts.type = take(problem, '/');
    parts.shape = problem;
    std::string_view library = take(implementation, '/');
    parts.temperature = row.temperature;
    parts.library = take(library, ':');
    parts.rung = library;
    return parts;
}

bool is_on_cpu(std::string_view library) {
    return is_one_of<3>(library, {"host", "openblas", "opencv"});
}

bool is_vendor(std::string_view library) {
    return !is_on_cpu(library) && !is_one_of<4>(library, {"heddle", "copy", "launch", "cuda"});
}

}  // namespace heddle::bench
