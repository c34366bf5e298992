#include "benchmarks/support/receptive_field.hpp"

namespace heddle::bench {
namespace {

receptive_fields fields_of(const conv_shape& s, const receptive_fields& input) {
    const conv_geometry& g = s.geometry;
    return {input.y.of_layer(s.filter_height, g.stride.y, g.dilation.y),
            input.x.of_layer(s.filter_width, g.stride.x, g.dilation.x)};
}

receptive_fields fields_of(const pool_shape& s, const receptive_fields& input) {
    const pool_geometry& g = s.geometry;
    return {input.y.of_layer(g.window.y, g.stride.y, 1), input.x.of_layer(g.window.x, g.stride.x, 1)};
}

}  // namespace

double receptive_field::effective_size() const {
    return std::min(size, 4 * std::sqrt(variance));
}

receptive_field receptive_field::of_layer(std::int64_t taps, std::int64_t stride,
                                          std::int64_t dilation) const {
    const auto k = static_cast<double>(taps);
    const double step = jump * static_cast<double>(dilation);
    return {jump * static_cast<double>(stride), size + (k - 1) * step,
            variance + (k * k - 1) / 12 * step * step};
}

std::vector<receptive_fields> receptive_fields_of(const std::vector<layer>& layers) {
    std::vector<receptive_fields> all;
    for (const layer& layer : layers) {
        const receptive_fields input =
            layer.input < 0 ? receptive_fields{} : all[static_cast<std::size_t>(layer.input)];
        all.push_back(std::visit([&](const auto& shape) { return fields_of(shape, input); }, layer.shape));
    }
    return all;
}

}  // namespace heddle::bench
