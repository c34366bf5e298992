#include "benchmarks/cliffs/case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace heddle::bench::cliffs {

// Each is in the file of its name.
drawn_case draw_elementwise(drawing&), draw_reduce(drawing&), draw_rows(drawing&), draw_scan(drawing&),
    draw_histogram(drawing&), draw_transpose(drawing&), draw_matmul(drawing&), draw_blur(drawing&),
    draw_filters(drawing&), draw_conv(drawing&);

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
        {"conv", draw_conv},
    };
    return table;
}

const family* family_named(std::string_view name) {
    const auto found = std::ranges::find(families(), name, &family::name);
    return found == families().end() ? nullptr : &*found;
}

namespace {

const family& family_of(const case_id& id) {
    const family* const of = family_named(id.family);
    if (of == nullptr) throw std::invalid_argument(fmt::format("there is no family {}", id.family));
    return *of;
}

/// A case in words, but for its type.
std::string without_type(const std::string& words) {
    constexpr std::string_view types[] = {"u8",  "u16", "i32",  "i64",  "f16",    "bf16",  "f32",
                                          "f64", "to",  "fp32", "tf32", "fp16x3", "bf16x6"};
    std::string result, word;
    for (std::istringstream all(words); all >> word;) {
        std::erase(word, ',');
        if (std::ranges::find(types, word) == std::end(types)) result += word + ' ';
    }
    return result;
}

}  // namespace

drawn_case draw_case(const case_id& id) {
    drawing d(id);
    return family_of(id).draw(d);
}

std::vector<drawn_case> draw_types(const case_id& id) {
    drawing first(id);
    const family& of = family_of(id);
    const drawn_case drawn = of.draw(first);
    std::vector<drawn_case> same;
    for (std::size_t type = 0; type < first.types(); ++type) {
        drawing d(id, {type, drawn.extents});
        drawn_case other = of.draw(d);
        if (without_type(other.words) == without_type(drawn.words)) same.push_back(std::move(other));
    }
    return same;
}

}  // namespace heddle::bench::cliffs
