#pragma once

#include "kernels/conv/plan/layout.hpp"
#include "kernels/conv/plan/plan.hpp"
#include "kernels/conv/plan/windows.hpp"
#include "kernels/device/grid.hpp"
#include <heddle/conv.hpp>

#include <algorithm>
#include <cstdint>

/// How `kn2row` stores the shares of pixels in outputs. Pure.
namespace heddle::kernels::conv {

inline constexpr std::int64_t share_bytes = 4;  ///< of a share, which is a float

/// The taps of all filters; a pixel has a share for each of them.
constexpr std::int64_t all_taps(const conv_problem& p) {
    return p.filters.count * p.filters.height * p.filters.width;
}

/// The elements from one pixel's shares to those of the next, which begin at a multiple of 16 bytes.
constexpr std::int64_t share_stride(std::int64_t taps) {
    constexpr std::int64_t together = 4;
    return divide_up(taps, together) * together;
}

/// The bytes of an image's shares, if shares_fit() holds.
constexpr std::int64_t kn2row_image_bytes(const conv_problem& p) {
    return p.input.height * p.input.width * share_stride(all_taps(p)) * share_bytes;
}

/// A part has as many images as have shares of this size, but at least one.
inline constexpr std::int64_t kn2row_part_bytes = 256 << 20;
/// The most that the shares of one image may have.
inline constexpr std::int64_t kn2row_most_bytes = std::int64_t{1} << 30;

constexpr bool shares_fit(const conv_problem& p) {
    constexpr std::int64_t most_shares = kn2row_most_bytes / share_bytes;
    constexpr auto most = static_cast<double>(most_shares);
    const double taps = static_cast<double>(p.filters.count) * static_cast<double>(p.filters.height) *
                        static_cast<double>(p.filters.width);
    const auto pixels = static_cast<double>(p.input.height) * static_cast<double>(p.input.width);
    return pixels > 0 && taps <= most && static_cast<double>(share_stride(all_taps(p))) * pixels <= most;
}

/// The operands that the product reads as copies: those of 16 bits and of TF32 that the tensor memory accelerator cannot
/// address.
constexpr operand_copies copies_for_shares(const conv_problem& p) {
    const auto is_copied = [&](const tensor_layout& t) {
        const bool is_of_tensor_cores = p.operands != element_type::f32 || p.precision == precision::tf32;
        return is_of_tensor_cores && !has_boxes(t) && can_be_copied(t);
    };
    return {.input = is_copied(p.input), .filters = is_copied(p.filters)};
}

}  // namespace heddle::kernels::conv
