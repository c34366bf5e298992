#pragma once

#include "benchmarks/cliffs/images.hpp"
#include "benchmarks/cliffs/vendor_functions.hpp"

namespace heddle::bench::cliffs {

enum class filter_operation { separable_convolution, box_blur, sobel_x, sobel_y, sobel_magnitude, laplacian };
/// To is From; for sobel and laplacian it is float.
template <class From, class To>
struct filter_problem {
    filter_operation op = filter_operation::box_blur;
    image_shape images;
    window_radius radius = 1;  ///< of separable_convolution and box_blur
    std::uint64_t seed = 0;

    [[nodiscard]] bool is_stencil() const {
        return op != filter_operation::box_blur && op != filter_operation::separable_convolution;
    }
    [[nodiscard]] image_filter_options options() const { return {.border = images.border}; }
};

/// Taps of either sign.
inline std::vector<float> drawn_taps(std::int64_t radius, std::uint64_t seed) {
    std::vector<float> taps;
    for (std::int64_t i = 0; i < 2 * radius + 1; ++i) {
        seed = seed * 6364136223846793005 + 1442695040888963407;
        taps.push_back(static_cast<float>(static_cast<std::int32_t>(seed >> 40) - (1 << 23)) /
                       static_cast<float>(1 << 23));
    }
    return taps;
}

template <class From, class To>
struct filter_operands : image_operands<From, To> {
    std::vector<float> taps_x, taps_y;

    explicit filter_operands(const filter_problem<From, To>& p)
        : image_operands<From, To>(p.images, p.seed),
          taps_x(drawn_taps(p.radius.x, p.seed)),
          taps_y(drawn_taps(p.radius.y, p.seed + 1)) {}
};

#if HEDDLE_HAS_NPP
template <class T>
void add_npp_box(trial& t, const filter_problem<T, T>& p, const std::shared_ptr<filter_operands<T, T>>& o) {
    t.add_peer(
        npp_name("npp box", p.images),
        [&] {
            need_whole_pixels(p.images);
            const auto function = npp_box_function<T>(p.images.channels);
            const NppiSize window{narrow(2 * p.radius.x + 1), narrow(2 * p.radius.y + 1)};
            const NppiPoint middle{narrow(p.radius.x), narrow(p.radius.y)};
            return [=] {
                o->each([&](image_view<const T> source, image_view<T> destination) {
                    check(function(source.data, npp_step(source), npp_size(source), {0, 0}, destination.data,
                                   npp_step(destination), npp_size(destination), window, middle,
                                   NPP_BORDER_REPLICATE, npp_context()));
                });
            };
        },
        p.images.border == border::replicate);
}

/// NPP's results of bytes are int16, of images with one channel only. Its horizontal Sobel is the derivative along y, and
/// its Laplacian has eight neighbours. Both derivatives stand for the magnitude. So no result is compared.
template <class From>
void add_npp_stencil(trial& t, const filter_problem<From, float>& p,
                     const std::shared_ptr<filter_operands<From, float>>& o) {
    constexpr bool of_bytes = std::is_same_v<From, std::uint8_t>;
    using result = std::conditional_t<of_bytes, std::int16_t, float>;
    const std::int64_t channels = p.images.channels;
    const auto add = [&](auto... functions) {
        return [=] {
            o->each([&](image_view<const From> source, image_view<float> destination) {
                const image_view<result> to{reinterpret_cast<result*>(destination.data), source.width,
                                            source.height, source.channels, destination.row_stride};
                (functions(source, to), ...);
            });
        };
    };
    const auto filter = [](auto* function, auto... mask) {
        return [=](const auto& source, const auto& to) {
            check(function(source.data, npp_step(source), npp_size(source), {0, 0}, to.data, npp_step(to),
                           npp_size(to), mask..., NPP_BORDER_REPLICATE, npp_context()));
        };
    };
    const auto add_all = [&](auto make_x, auto make_y, auto make_laplacian) {
        t.add_peer(
            npp_name(of_bytes ? "npp, int16" : "npp", p.images),
            [&]() -> std::function<void()> {
                need_whole_pixels(p.images);
                if (p.op == filter_operation::sobel_x) return add(make_x());
                if (p.op == filter_operation::sobel_y) return add(make_y());
                if (p.op == filter_operation::laplacian) return add(make_laplacian());
                return add(make_x(), make_y());
            },
            false);
    };
    if constexpr (of_bytes) {
        const auto of = [channels, filter](const auto& function) {
            return [&function, channels, filter] {
                if (channels != 1) throw unsupported("several channels");
                return filter(static_cast<std::remove_reference_t<decltype(*+function)>*>(function),
                              NPP_MASK_SIZE_3_X_3);
            };
        };
        add_all(of(nppiFilterSobelVertBorder_8u16s_C1R_Ctx), of(nppiFilterSobelHorizBorder_8u16s_C1R_Ctx),
                of(nppiFilterLaplaceBorder_8u16s_C1R_Ctx));
    } else {
        add_all([=] { return filter(nppiFilterSobelVertBorder_32f_of(channels)); },
                [=] { return filter(nppiFilterSobelHorizBorder_32f_of(channels)); },
                [=] { return filter(nppiFilterLaplaceBorder_32f_of(channels), NPP_MASK_SIZE_3_X_3); });
    }
}

#endif

}  // namespace heddle::bench::cliffs
