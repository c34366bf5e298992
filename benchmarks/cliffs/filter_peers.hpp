#pragma once

#include "benchmarks/cliffs/filter_operands.hpp"
#include "benchmarks/cliffs/vendor_functions.hpp"

#include <heddle_baselines.hpp>

#if HEDDLE_HAS_NPP

namespace heddle::bench::cliffs {

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

}  // namespace heddle::bench::cliffs

#endif
