#include "benchmarks/support/layers.hpp"

namespace heddle::bench {
namespace {

/// One side of an image and of the windows on it.
struct side {
    std::int64_t extent, outputs, taps, stride, before, dilation;

    /// How many of the side's places a window meets.
    [[nodiscard]] std::int64_t met() const {
        std::vector<bool> is_met(static_cast<std::size_t>(extent));
        for (std::int64_t out = 0; out < outputs; ++out)
            for (std::int64_t tap = 0; tap < taps; ++tap) {
                const std::int64_t at = out * stride - before + tap * dilation;
                if (at >= 0 && at < extent) is_met[static_cast<std::size_t>(at)] = true;
            }
        return std::ranges::count(is_met, true);
    }
};

double bytes_of_one(std::string_view type) {
    return type == "f32" || type == "tf32" ? 4 : 2;
}

std::string images(std::int64_t count, std::int64_t height, std::int64_t width, std::int64_t channels) {
    return fmt::format("{}x{}x{}x{}", count, height, width, channels);
}

/// -s2, or -s2x1 where they differ; nothing where both are the usual one.
std::string pair(char name, std::int64_t y, std::int64_t x, std::int64_t usual) {
    if (y == usual && x == usual) return "";
    return y == x ? fmt::format("-{}{}", name, y) : fmt::format("-{}{}x{}", name, y, x);
}

std::string text(const conv_padding& p) {
    if (p.top == p.bottom && p.left == p.right) return pair('p', p.top, p.left, 0);
    return fmt::format("-p{}.{}.{}.{}", p.top, p.bottom, p.left, p.right);
}

/// Filters of size x size taps, padded so that steps of 1 keep the extents.
struct square {
    std::int64_t filters, size, stride = 1, groups = 1;
};

class builder {
  public:
    explicit builder(std::int64_t count) : count_(count) {}

    [[nodiscard]] std::int64_t channels() const { return channels_; }

    void conv(std::string name, const square& s) {
        const std::int64_t p = s.size / 2;
        add(std::move(name),
            conv_shape{
                count_, height_, width_, channels_, s.filters, s.size, s.size,
                conv_geometry{.stride = {s.stride, s.stride}, .padding = {p, p, p, p}, .groups = s.groups}});
    }

    void pool(std::string name, pool_mode mode, const pool_geometry& geometry) {
        add(std::move(name), pool_shape{count_, height_, width_, channels_, mode, geometry});
    }
    void global_average() { pool("average", pool_mode::average, {.window = {height_, width_}}); }

    /// A side branch: what follows reads `from` and is read by no layer after it.
    void projection(std::string name, const square& s, const builder& from) {
        builder branch = from;
        branch.layers_.clear();
        branch.conv(std::move(name), s);
        layers_.push_back(std::move(branch.layers_.front()));
    }

    std::vector<layer> layers() && { return std::move(layers_); }

  private:
    std::int64_t count_, height_ = 224, width_ = 224, channels_ = 3;
    std::int64_t last_ = -1;
    std::vector<layer> layers_;

    template <class Shape>
    void add(std::string name, const Shape& s) {
        layers_.push_back({std::move(name), s, last_});
        last_ = std::ssize(layers_) - 1;
        height_ = s.output_height();
        width_ = s.output_width();
        if constexpr (std::is_same_v<Shape, conv_shape>) channels_ = s.filters;
    }
};

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

std::string text(const conv_shape& s) {
    const conv_geometry& g = s.geometry;
    return images(s.count, s.height, s.width, s.channels) +
           fmt::format("-k{}-{}x{}", s.filters, s.filter_height, s.filter_width) +
           pair('s', g.stride.y, g.stride.x, 1) + text(g.padding) + pair('d', g.dilation.y, g.dilation.x, 1) +
           (g.groups == 1 ? "" : fmt::format("-g{}", g.groups));
}

std::string text(const pool_shape& s) {
    const pool_geometry& g = s.geometry;
    const std::string of_images = images(s.count, s.height, s.width, s.channels);
    if (s.is_global()) return of_images;
    return of_images + fmt::format("-{}x{}", g.window.y, g.window.x) + pair('s', g.stride.y, g.stride.x, 1) +
           text(g.padding);
}

problem problem_of(const conv_shape& s, std::string_view type) {
    const conv_geometry& g = s.geometry;
    const std::int64_t rows =
        side{s.height, s.output_height(), s.filter_height, g.stride.y, g.padding.top, g.dilation.y}.met();
    const std::int64_t cols =
        side{s.width, s.output_width(), s.filter_width, g.stride.x, g.padding.left, g.dilation.x}.met();
    const std::int64_t read = s.count * rows * cols * s.channels + s.filters_size() + s.filters;
    const std::int64_t terms = s.filter_height * s.filter_width * (s.channels / g.groups);
    problem result{fmt::format("conv/{}/{}", type, text(s)), bytes_of_one(type) * static_cast<double>(read),
                   bytes_of_one(type) * static_cast<double>(s.output_size()),
                   2 * static_cast<double>(s.output_size()) * static_cast<double>(terms)};
    if (g.groups == s.channels && g.groups > 1) return result;
    result.set_unit_of_products(type);
    return result;
}

problem problem_of(const pool_shape& s, std::string_view type) {
    const pool_geometry& g = s.geometry;
    const std::int64_t rows =
        side{s.height, s.output_height(), g.window.y, g.stride.y, g.padding.top, 1}.met();
    const std::int64_t cols =
        side{s.width, s.output_width(), g.window.x, g.stride.x, g.padding.left, 1}.met();
    const std::string name = fmt::format("{}{}", s.is_global() ? "global_" : "",
                                         s.mode == pool_mode::max ? "max_pool" : "average_pool");
    if (type == "tf32") type = "f32";
    return {fmt::format("{}/{}/{}", name, type, text(s)),
            bytes_of_one(type) * static_cast<double>(s.count * rows * cols * s.channels),
            bytes_of_one(type) * static_cast<double>(s.output_size())};
}

std::vector<layer> resnet50(std::int64_t count) {
    builder net(count);
    net.conv("conv1", {64, 7, 2});
    net.pool("pool1", pool_mode::max, {.window = {3, 3}, .stride = {2, 2}, .padding = {1, 1, 1, 1}});
    std::int64_t width = 64;
    int stage = 2;
    for (const int blocks : {3, 4, 6, 3}) {
        for (int block = 1; block <= blocks; ++block) {
            const std::string name = fmt::format("conv{}_{}", stage, block);
            const std::int64_t stride = stage > 2 && block == 1 ? 2 : 1;
            const builder before = net;
            net.conv(name + "a", {width, 1});
            net.conv(name + "b", {width, 3, stride});
            net.conv(name + "c", {4 * width, 1});
            if (block == 1) net.projection(name + "p", {4 * width, 1, stride}, before);
        }
        width *= 2;
        ++stage;
    }
    net.global_average();
    return std::move(net).layers();
}

std::vector<layer> vgg16(std::int64_t count) {
    builder net(count);
    std::int64_t filters = 64;
    int stage = 1;
    for (const int convolutions : {2, 2, 3, 3, 3}) {
        for (int i = 1; i <= convolutions; ++i) net.conv(fmt::format("conv{}_{}", stage, i), {filters, 3});
        net.pool(fmt::format("pool{}", stage), pool_mode::max, {.window = {2, 2}, .stride = {2, 2}});
        filters = std::min<std::int64_t>(2 * filters, 512);
        ++stage;
    }
    return std::move(net).layers();
}

std::vector<layer> efficientnet_lite0(std::int64_t count) {
    struct stage {
        std::int64_t size, stride, expansion, filters;
        int blocks;
    };
    constexpr stage stages[] = {{3, 1, 1, 16, 1},  {3, 2, 6, 24, 2},  {5, 2, 6, 40, 2}, {3, 2, 6, 80, 3},
                                {5, 1, 6, 112, 3}, {5, 2, 6, 192, 4}, {3, 1, 6, 320, 1}};
    builder net(count);
    net.conv("stem", {32, 3, 2});
    int number = 1;
    for (const stage& s : stages) {
        for (int block = 1; block <= s.blocks; ++block) {
            const std::string name = fmt::format("block{}_{}", number, block);
            if (s.expansion > 1) net.conv(name + "_expand", {s.expansion * net.channels(), 1});
            net.conv(name + "_depthwise",
                     {net.channels(), s.size, block == 1 ? s.stride : 1, net.channels()});
            net.conv(name + "_project", {s.filters, 1});
        }
        ++number;
    }
    net.conv("head", {1280, 1});
    net.global_average();
    return std::move(net).layers();
}

std::span<const network> networks() {
    static constexpr network table[] = {
        {"resnet50", resnet50}, {"vgg16", vgg16}, {"efficientnet-lite0", efficientnet_lite0}};
    return table;
}

std::vector<conv_shape> distinct_convolutions(const std::vector<layer>& layers) {
    std::vector<conv_shape> result;
    for (const layer& layer : layers)
        if (const auto* const shape = std::get_if<conv_shape>(&layer.shape))
            if (std::ranges::find(result, *shape) == result.end()) result.push_back(*shape);
    return result;
}

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
