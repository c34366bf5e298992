#include "benchmarks/cliffs/case.hpp"
#include "kernels/device/math.hpp"

namespace heddle::bench::cliffs {

// Each is in the file of its name, or of its parts' names.
drawn_case draw_elementwise(drawing&), draw_reduce(drawing&), draw_row_reduction(drawing&),
    draw_row_normalisation(drawing&), draw_scan(drawing&), draw_histogram(drawing&), draw_transpose(drawing&),
    draw_matmul(drawing&), draw_blur(drawing&), draw_filters(drawing&), draw_conv(drawing&),
    draw_pool(drawing&), draw_layer(drawing&), draw_layer_gradient(drawing&), draw_loss(drawing&),
    draw_norm_gradients(drawing&), draw_optimizer(drawing&), draw_random(drawing&);

/// A family of two halves.
template <auto first, auto second>
drawn_case draw_either(drawing& d) {
    return d.one_in(2) ? first(d) : second(d);
}

std::span<const family> families() {
    static constexpr family table[] = {
        {"elementwise", draw_elementwise},
        {"reduce", draw_reduce},
        {"rows", draw_either<draw_row_reduction, draw_row_normalisation>},
        {"scan", draw_scan},
        {"histogram", draw_histogram},
        {"transpose", draw_transpose},
        {"matmul", draw_matmul},
        {"blur", draw_blur},
        {"filters", draw_filters},
        {"conv", draw_conv},
        {"pool", draw_pool},
        {"linear", draw_either<draw_layer, draw_layer_gradient>},
        {"loss", draw_loss},
        {"norm_gradients", draw_norm_gradients},
        {"optimizer", draw_optimizer},
        {"random", draw_random},
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

std::vector<case_pair> draw_pairs(const case_id& id) {
    constexpr std::int64_t aligned = 16;  // elements
    drawing first(id);
    const family& of = family_of(id);
    const drawn_case drawn = of.draw(first);
    const auto other = [&](const variation& with) {
        drawing d(id, with);
        return of.draw(d);
    };
    std::vector<case_pair> pairs;
    for (std::size_t type = 0; type < first.types(); ++type) {
        drawn_case beside = other({type, drawn.extents});
        if (without_type(beside.words) != without_type(drawn.words)) continue;  // not of this type
        if (beside.bytes > drawn.bytes) pairs.push_back({drawn, beside});
        if (beside.bytes < drawn.bytes) pairs.push_back({beside, drawn});
    }

    std::vector<std::int64_t> fewer = drawn.extents, rounded = drawn.extents;
    std::int64_t& largest = *std::ranges::max_element(fewer);
    largest -= largest / 2 / aligned * aligned;
    if (fewer != drawn.extents) pairs.push_back({other({{}, fewer}), drawn});

    for (std::int64_t& extent : rounded) extent = kernels::round_up(extent, aligned);
    const drawn_case whole = other({{}, rounded, true});
    if (whole.words != drawn.words && whole.bytes < 1.1 * drawn.bytes) pairs.push_back({drawn, whole, 1.5});
    return pairs;
}

}  // namespace heddle::bench::cliffs
