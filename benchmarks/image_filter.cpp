#include "benchmarks/operations.hpp"
#include "benchmarks/support/npp.hpp"
#include "benchmarks/support/random.hpp"
#include "benchmarks/support/rows.hpp"
#include <heddle/buffer.hpp>
#include <heddle/device.hpp>
#include <heddle/host.hpp>
#include <heddle/image_filter.hpp>
#include <heddle/workspace.hpp>

#include <fmt/format.h>
#include <heddle_baselines.hpp>

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace heddle::bench {
namespace {

struct shape {
    std::int64_t width;
    std::int64_t height;
    std::int64_t channels = 1;

    [[nodiscard]] std::int64_t elements() const { return width * height * channels; }
};

template <class From, class To>
problem work(std::string_view filter, const shape& s, std::string_view window = "") {
    const auto elements = static_cast<double>(s.elements());
    return {fmt::format("{}/{}c{}/{}x{}{}", filter, dtype<From>, s.channels, s.width, s.height, window),
            sizeof(From) * elements, sizeof(To) * elements};
}

template <class T>
image_view<T> image(T* data, const shape& s) {
    return {data, s.width, s.height, s.channels};
}

/// `prepare` returns the call, which takes the source and the destination.
template <class From, class To, class Prepare>
void row(const problem& problem, const shape& s, std::string_view library, Prepare prepare) {
    device_row(problem, library, temperature::cold, [s, prepare] {
        return [s, call = prepare(), source = random_on_device<From>(s.elements()),
                destination = device_buffer<To>(s.elements(), stream())]() mutable {
            call(image<const From>(source.data(), s), image(destination.data(), s));
        };
    });
}

template <class From, class To, class Call>
void on_host(const problem& problem, const shape& s, Call call) {
    host_row(problem, "host", [s, call] {
        return [s, call, source = random_on_host<From>(s.elements()),
                destination = std::vector<To>(static_cast<std::size_t>(s.elements()))]() mutable {
            call(image<const From>(source.data(), s), image(destination.data(), s));
        };
    });
}

/// The names of sobel's and laplacian's rows, and the calls.
enum class stencil { sobel_x, sobel_y, sobel_magnitude, laplacian };

constexpr std::string_view name_of(stencil which) {
    switch (which) {
        case stencil::sobel_x:
            return "sobel_x";
        case stencil::sobel_y:
            return "sobel_y";
        case stencil::sobel_magnitude:
            return "sobel_magnitude";
        case stencil::laplacian:
            return "laplacian";
    }
    return "";
}

constexpr gradient gradient_of(stencil which) {
    return which == stencil::sobel_x   ? gradient::x
           : which == stencil::sobel_y ? gradient::y
                                       : gradient::magnitude;
}

template <class T>
void stencil_row(stencil which, const shape& s,
                 image_filter_algorithm algorithm = image_filter_algorithm::automatic) {
    row<T, float>(work<T, float>(name_of(which), s), s, implementation(algorithm), [which, algorithm] {
        return [which, algorithm](auto source, auto destination) {
            const image_filter_options options{.algorithm = algorithm};
            if (which == stencil::laplacian)
                laplacian<T>(source, destination, stream(), options);
            else
                sobel<T>(source, destination, gradient_of(which), stream(), options);
        };
    });
}

#if HEDDLE_HAS_NPP

/// NPP makes int16 of bytes, where heddle makes float: it writes half as much, as its rows declare. Its horizontal
/// Sobel is the derivative along y. Its laplacian has eight neighbours.
template <class From, class To>
void npp_stencil_row(stencil which, const shape& s) {
    if (which == stencil::sobel_magnitude || s.channels != 1) return;
    row<From, To>(work<From, To>(name_of(which), s), s, "npp", [which] {
        return [which](auto source, auto destination) {
            const auto call = [&](const auto& function, auto... mask) {
                check(function(source.data, npp_step(source), npp_size(source), {0, 0}, destination.data,
                               npp_step(destination), npp_size(destination), mask..., NPP_BORDER_REPLICATE,
                               npp_context()));
            };
            if constexpr (std::is_same_v<From, float>) {
                if (which == stencil::laplacian)
                    return call(nppiFilterLaplaceBorder_32f_C1R_Ctx, NPP_MASK_SIZE_3_X_3);
                call(which == stencil::sobel_x ? nppiFilterSobelVertBorder_32f_C1R_Ctx
                                               : nppiFilterSobelHorizBorder_32f_C1R_Ctx);
            } else {
                if (which == stencil::laplacian)
                    return call(nppiFilterLaplaceBorder_8u16s_C1R_Ctx, NPP_MASK_SIZE_3_X_3);
                call(which == stencil::sobel_x ? nppiFilterSobelVertBorder_8u16s_C1R_Ctx
                                               : nppiFilterSobelHorizBorder_8u16s_C1R_Ctx,
                     NPP_MASK_SIZE_3_X_3);
            }
        };
    });
}

template <class T>
auto npp_box_function(std::int64_t channels) {
    const auto of_channels = [channels](const auto& one, const auto& three, const auto& four) {
        return channels == 1 ? +one : channels == 3 ? +three : +four;
    };
    if constexpr (std::is_same_v<T, float>)
        return of_channels(nppiFilterBoxBorder_32f_C1R_Ctx, nppiFilterBoxBorder_32f_C3R_Ctx,
                           nppiFilterBoxBorder_32f_C4R_Ctx);
    else
        return of_channels(nppiFilterBoxBorder_8u_C1R_Ctx, nppiFilterBoxBorder_8u_C3R_Ctx,
                           nppiFilterBoxBorder_8u_C4R_Ctx);
}

#endif

template <class T>
problem window_work(std::string_view filter, const shape& s, std::int64_t radius) {
    return work<T, T>(filter, s, fmt::format("-r{}", radius));
}

template <class T>
void box_rows(const shape& s, std::int64_t radius) {
    const problem problem = window_work<T>("box_blur", s, radius);
    row<T, T>(problem, s, "heddle", [s, radius] {
        const image_filter_problem described{.width = s.width,
                                             .height = s.height,
                                             .channels = s.channels,
                                             .radius = radius,
                                             .type = pixel_type_of<T>};
        const std::int64_t bytes = image_filter_workspace_bytes(described, traits_of(current_device()));
        return [radius, scratch = workspace(bytes, stream())](auto source, auto destination) mutable {
            box_blur<T>(source, destination, radius, stream(), {.workspace = scratch});
        };
    });
#if HEDDLE_HAS_NPP
    row<T, T>(problem, s, "npp", [s, radius] {
        return [n = static_cast<int>(2 * radius + 1), middle = static_cast<int>(radius),
                function = npp_box_function<T>(s.channels)](auto source, auto destination) {
            check(function(source.data, npp_step(source), npp_size(source), {0, 0}, destination.data,
                           npp_step(destination), npp_size(destination), {n, n}, {middle, middle},
                           NPP_BORDER_REPLICATE, npp_context()));
        };
    });
#endif
}

/// Two passes, a multiply and an add for each tap.
void convolution_row(const shape& s, std::int64_t radius) {
    problem problem = window_work<float>("separable_convolution", s, radius);
    problem.operations = 4.0 * static_cast<double>((2 * radius + 1) * s.elements());
    problem.unit = unit::ffma;
    row<float, float>(problem, s, "heddle", [radius] {
        return [taps = random_on_host<float>(2 * radius + 1)](auto source, auto destination) {
            separable_convolution(source, destination, taps, taps, stream());
        };
    });
}

template <class T>
void stencils(const shape& s) {
    for (const stencil which :
         {stencil::sobel_x, stencil::sobel_y, stencil::sobel_magnitude, stencil::laplacian}) {
        stencil_row<T>(which, s);
#if HEDDLE_HAS_NPP
        if constexpr (std::is_same_v<T, float>) npp_stencil_row<float, float>(which, s);
        if constexpr (std::is_same_v<T, std::uint8_t>) npp_stencil_row<std::uint8_t, std::int16_t>(which, s);
#endif
    }
}

/// With the ladder and the host.
template <class T>
void all_of() {
    for (const shape& s : {shape{1920, 1080}, {4096, 4096}}) stencils<T>(s);
    for (const auto algorithm : image_filter_algorithms())
        stencil_row<T>(stencil::sobel_x, {4096, 4096}, algorithm);
    on_host<T, float>(
        work<T, float>(name_of(stencil::sobel_x), {1920, 1080}), {1920, 1080},
        [](auto source, auto destination) { host::sobel<T>(source, destination, gradient::x); });
}

template <class T>
void boxes() {
    for (const std::int64_t radius : {1, 5, 15, 50}) box_rows<T>({4096, 4096}, radius);
    for (const std::int64_t radius : {1, 15}) box_rows<T>({4096, 4096, 4}, radius);
    box_rows<T>({1920, 1080}, 5);
    on_host<T, T>(window_work<T>("box_blur", {1920, 1080}, 5), {1920, 1080},
                  [](auto source, auto destination) { host::box_blur<T>(source, destination, 5); });
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
