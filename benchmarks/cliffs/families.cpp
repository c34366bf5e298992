#include "benchmarks/cliffs/case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace heddle::bench::cliffs {

// Each is in the file of its name.
drawn_case draw_elementwise(drawing&), draw_reduce(drawing&), draw_rows(drawing&), draw_scan(drawing&),
    draw_histogram(drawing&), draw_transpose(drawing&), draw_matmul(drawing&), draw_blur(drawing&),
    draw_filters(drawing&);

std::span<const family> families() {
    static constexpr family table[] = {
        {"elementwise", draw_elementwise},
        {"reduce", draw_reduce},
        {"rows", draw_rows},
        {"scan", draw_scan},
        {"histogram", draw_histogram},
        {"transpose", draw_transpose},
        {"matmul", draw_matmul},
        {"blur", draw_blur},
        {"filters", draw_filters},
    };
    return table;
}

const family* family_named(std::string_view name) {
    const auto found = std::ranges::find(families(), name, &family::name);
    return found == families().end() ? nullptr : &*found;
}

drawn_case draw_case(const case_id& id) {
    const family* const of = family_named(id.family);
    if (of == nullptr) throw std::invalid_argument(fmt::format("there is no family {}", id.family));
    drawing d(id);
    return of->draw(d);
}

}  // namespace heddle::bench::cliffs
