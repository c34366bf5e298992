#include "benchmarks/operation.hpp"
#include "benchmarks/support/npp.hpp"

namespace heddle::bench {
namespace {

struct shape {
    std::int64_t width;
    std::int64_t height;
    std::int64_t channels = 1;

    [[nodiscard]] std::int64_t elements() const { return width * height * channels; }
    /// Makes the view of an image.
    template <class T>
    [[nodiscard]] auto as_image() const {
        return [s = *this](T* data) { return image_view<T>{data, s.width, s.height, s.channels}; };
    }
};

template <class From, class To>
problem work(std::string_view filter, const shape& s, std::string_view window = "") {
    const auto elements = static_cast<double>(s.elements());
    return {fmt::format("{}/{}c{}/{}x{}{}", filter, dtype<From>, s.channels, s.width, s.height, window),
            sizeof(From) * elements, sizeof(To) * elements};
}

/// A source and a destination.
template <class From, class To>
auto filter_of(const problem& problem, const shape& s) {
    return row_case(problem, random_elements<From>(s.elements(), s.as_image<const From>()),
                    result_elements<To>(s.elements(), s.as_image<To>()));
}

/// The rows of sobel and laplacian.
enum class stencil { sobel_x, sobel_y, sobel_magnitude, laplacian };
constexpr stencil all_stencils[] = {stencil::sobel_x, stencil::sobel_y, stencil::sobel_magnitude,
                                    stencil::laplacian};
constexpr std::string_view names[] = {"sobel_x", "sobel_y", "sobel_magnitude", "laplacian"};
constexpr gradient gradients[] = {gradient::x, gradient::y, gradient::magnitude};

template <class From, class To>
auto stencil_of(stencil which, const shape& s) {
    return filter_of<From, To>(work<From, To>(names[static_cast<std::size_t>(which)], s), s);
}

template <class T>
void stencil_row(stencil which, const shape& s,
                 image_filter_algorithm algorithm = image_filter_algorithm::automatic) {
    stencil_of<T, float>(which, s).row(implementation(algorithm), cold, [=](auto from, auto to) {
        const image_filter_options options{.algorithm = algorithm};
        if (which == stencil::laplacian)
            laplacian<T>(from, to, stream(), options);
        else
            sobel<T>(from, to, gradients[static_cast<std::size_t>(which)], stream(), options);
    });
}

#if HEDDLE_HAS_NPP

/// NPP's results of bytes are int16, and heddle's are float: NPP writes half as much, as its rows declare. Its horizontal
/// Sobel is the derivative along y. Its laplacian has eight neighbours.
template <class From, class To>
void npp_stencil_row(stencil which, const shape& s) {
    if (which == stencil::sobel_magnitude || s.channels != 1) return;
    stencil_of<From, To>(which, s).row("npp", cold, [which](auto from, auto to) {
        const bool is_laplacian = which == stencil::laplacian, is_x = which == stencil::sobel_x;
        constexpr auto mask = NPP_MASK_SIZE_3_X_3;
        if constexpr (std::is_same_v<From, float>) {
            if (is_laplacian) return npp_filter(nppiFilterLaplaceBorder_32f_C1R_Ctx, from, to, mask);
            npp_filter(is_x ? nppiFilterSobelVertBorder_32f_C1R_Ctx : nppiFilterSobelHorizBorder_32f_C1R_Ctx,
                       from, to);
        } else {
            npp_filter(is_laplacian ? nppiFilterLaplaceBorder_8u16s_C1R_Ctx
                       : is_x       ? nppiFilterSobelVertBorder_8u16s_C1R_Ctx
                                    : nppiFilterSobelHorizBorder_8u16s_C1R_Ctx,
                       from, to, mask);
        }
    });
}

#endif

template <class T>
auto window_of(std::string_view filter, const shape& s, std::int64_t radius) {
    return filter_of<T, T>(work<T, T>(filter, s, fmt::format("-r{}", radius)), s);
}

template <class T>
void box_rows(const shape& s, std::int64_t radius) {
    const auto of = window_of<T>("box_blur", s, radius);
    of.prepared_row("heddle", cold, [s, radius](auto from, auto to) {
        const image_filter_problem described{.width = s.width,
                                             .height = s.height,
                                             .channels = s.channels,
                                             .radius = radius,
                                             .type = pixel_type_of<T>};
        const std::int64_t bytes = image_filter_workspace_bytes(described, traits_of(current_device()));
        return [=, memory = workspace(bytes, stream())]() mutable {
            box_blur<T>(from, to, radius, stream(), {.workspace = memory});
        };
    });
#if HEDDLE_HAS_NPP
    of.prepared_row("npp", cold, [radius](auto from, auto to) {
        const int middle = static_cast<int>(radius), n = 2 * middle + 1;
        return [=, function = npp_box_function<T>(from.channels)] {
            npp_filter(function, from, to, NppiSize{n, n}, NppiPoint{middle, middle});
        };
    });
#endif
}

/// Two passes have a multiplication and an addition for each tap.
void convolution_row(const shape& s, std::int64_t radius) {
    auto of = window_of<float>("separable_convolution", s, radius);
    of.problem.operations = 4.0 * static_cast<double>((2 * radius + 1) * s.elements());
    of.problem.unit = unit::ffma;
    of.prepared_row("heddle", cold, [radius](auto from, auto to) {
        return [=, taps = random_on_host<float>(2 * radius + 1)] {
            separable_convolution(from, to, taps, taps, stream());
        };
    });
}

template <class T>
void stencils(const shape& s) {
    for (const stencil which : all_stencils) {
        stencil_row<T>(which, s);
#if HEDDLE_HAS_NPP
        if constexpr (std::is_same_v<T, float>) npp_stencil_row<float, float>(which, s);
        if constexpr (std::is_same_v<T, std::uint8_t>) npp_stencil_row<std::uint8_t, std::int16_t>(which, s);
#endif
    }
}

/// Adds the ladder and the CPU too.
template <class T>
void all_of() {
    constexpr shape small{1920, 1080}, large{4096, 4096};
    for (const shape& s : {small, large}) stencils<T>(s);
    for (const auto algorithm : image_filter_algorithms()) stencil_row<T>(stencil::sobel_x, large, algorithm);
    stencil_of<T, float>(stencil::sobel_x, small).host_row("host", [](auto from, auto to) {
        host::sobel<T>(from, to, gradient::x);
    });
}

template <class T>
void boxes() {
    constexpr shape small{1920, 1080};
    for (const std::int64_t radius : {1, 5, 15, 50}) box_rows<T>({4096, 4096}, radius);
    for (const std::int64_t radius : {1, 15}) box_rows<T>({4096, 4096, 4}, radius);
    box_rows<T>(small, 5);
    window_of<T>("box_blur", small, 5).host_row("host", [](auto from, auto to) {
        host::box_blur<T>(from, to, 5);
    });
}

}  // namespace

void register_image_filter() {
    all_of<float>();
    all_of<std::uint8_t>();
    stencils<half>({4096, 4096});
    stencils<std::uint8_t>({4096, 4096, 3});
    boxes<float>();
    boxes<std::uint8_t>();
    for (const std::int64_t radius : {1, 5, 15}) convolution_row({4096, 4096}, radius);
}

}  // namespace heddle::bench
