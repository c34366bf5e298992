#pragma once

#include "tests/gaussian_blur/checks.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/hopper.hpp"
#include <heddle/error.hpp>
#include <heddle/stream.hpp>

#include <string_view>
#include <tuple>

namespace heddle::test {

/// What the tests of rungs are run with: one, or a variant of it.
struct rung {
    gaussian_blur_algorithm which;
    std::string_view variant;

    constexpr rung(gaussian_blur_algorithm chosen, std::string_view kernel = {})
        : which(chosen), variant(kernel) {}
    constexpr operator gaussian_blur_algorithm() const { return which; }

    void choose_in(gaussian_blur_options& options) const {
        options.algorithm = which;
        options.variant = variant;
    }
    friend std::string name_of(const rung& of) {
        return std::string(to_string(of.which)) + (of.variant.empty() ? "" : "_") + std::string(of.variant);
    }
    friend void PrintTo(const rung& of, std::ostream* out) { *out << name_of(of); }
};
using rung_and_type = std::tuple<rung, pixel_type>;

inline std::string name_of(const rung_and_type& pair) {
    return name_of(std::get<rung>(pair)) + "_" + name_of(std::get<pixel_type>(pair));
}

/// And `automatic`.
inline std::vector<rung> every_rung_without_variants() {
    std::vector<rung> all(gaussian_blur_algorithms().begin(), gaussian_blur_algorithms().end());
    all.emplace_back(algorithm::automatic);
    return all;
}

inline std::vector<rung> every_rung() {
    std::vector<rung> all = every_rung_without_variants();
    for (const algorithm which : gaussian_blur_algorithms())
        for (const std::string_view variant : gaussian_blur_variants(which)) all.emplace_back(which, variant);
    return all;
}

/// Whether it takes this type: problems of it that each kernel has a window in.
inline bool takes_type(const rung& by, pixel_type type, const device_traits& device = hopper()) {
    return std::ranges::any_of(std::array{1, 7, 48}, [&](int radius) {
        const blur_sigma sigma = radius == 48 ? blur_sigma(12) : sigma_of(radius);
        return why_not(by, {.width = 512, .height = 512, .radius = radius, .sigma = sigma, .type = type},
                       device, by.variant)
            .empty();
    });
}

inline std::vector<rung_and_type> every_rung_and_type() {
    std::vector<rung_and_type> all;
    for (const rung& which : every_rung())
        for (const pixel_type type : pixel_types)
            if (takes_type(which, type)) all.emplace_back(which, type);
    return all;
}

class gaussian_blur_test : public gpu_test {
  protected:
    void SetUp() override {
        gpu_test::SetUp();
        if (is_set_up()) stream_.emplace();
    }

    /// Whether the rung takes the problem: one that does not refuses before it touches anything.
    template <class T>
    bool blur(const problem& p, image_batch_view<const T> sources,
              std::type_identity_t<image_batch_view<T>> destinations, gaussian_blur_options options,
              const rung& by) {
        by.choose_in(options);
        try {
            gaussian_blur<T>(sources, destinations, p.sigma, *stream_, options);
        } catch (const unsupported& refusal) {
            EXPECT_TRUE(may_refuse(p, by)) << refusal.what();
            return false;
        }
        stream_->synchronize();
        ++runs_;
        return true;
    }
    template <class T>
    implementation<T> on_device(const rung& by) {
        return {memory::device, by,
                [this, by](const problem& p, const image_batch_view<const T>& sources,
                           const image_batch_view<T>& destinations, const gaussian_blur_options& options) {
                    return blur<T>(p, sources, destinations, options, by);
                },
                !by.variant.empty()};
    }

    static bool may_refuse(const problem& p, const rung& which) {
        if (!which.variant.empty()) return true;
        const std::int64_t radius = std::max(p.radius.x, p.radius.y);
        if (which == algorithm::automatic || which == algorithm::separable) return false;
        if (which == algorithm::naive) return radius > 1000;
        if (which == algorithm::register_window) return p.radius.y > 16 || p.radius.x > 100;
        if (which == algorithm::shared_memory || which == algorithm::fused) return radius > 100;
        return true;
    }

    /// Nobody may pass by refusing all. (Of variants, each of which takes a few windows, drawn.cpp sees to that.)
    void expect_runs(pixel_type type, bool has_wide_windows, const rung& which) const {
        if (!which.variant.empty()) return;
        if (is_on_tensor_cores(which) && (type != pixel_type::u8 || has_wide_windows || !has_warpgroups()))
            return;
        if (which == algorithm::decimated && !has_wide_windows) return;
        if (which == algorithm::register_window && has_wide_windows) return;
        EXPECT_GT(runs_, 0);
    }

    std::optional<stream> stream_;
    int runs_ = 0;
};

class gaussian_blur_rung : public gaussian_blur_test, public testing::WithParamInterface<rung> {
  protected:
    template <class T>
    implementation<T> on_device() {
        return gaussian_blur_test::on_device<T>(GetParam());
    }
    template <class T>
    void run_and_check(const problem& p, layout how = layout::tight) {
        check_image(p, how, on_device<T>());
    }
    void expect_runs_of_bytes() const { expect_runs(pixel_type::u8, false, GetParam()); }
};

class gaussian_blur_rung_and_type : public gaussian_blur_test,
                                    public testing::WithParamInterface<rung_and_type> {
  protected:
    static rung which() { return std::get<rung>(GetParam()); }
    static pixel_type type() { return std::get<pixel_type>(GetParam()); }

    void takes_image(const problem& p, layout how) {
        with_type(type(), [&]<class T>() { check_image(p, how, on_device<T>(which())); });
    }
    /// Borders take turns, and layouts.
    void takes_image(const problem& p, std::size_t turn) {
        turn += with_type(type(), []<class T>() { return sizeof(T); });
        takes_image(p.with(borders[turn % borders.size()]), layouts[turn / borders.size() % layouts.size()]);
    }
    void takes_regions(const problem& p, layout how) {
        with_type(type(), [&]<class T>() { check_regions(p, how, on_device<T>(which())); });
    }
    void takes_batch(const problem& p, std::int64_t images, layout how) {
        with_type(type(), [&]<class T>() { check_batch(p, images, how, on_device<T>(which())); });
    }
    void expect_runs(bool has_wide_windows = false) const {
        gaussian_blur_test::expect_runs(type(), has_wide_windows, which());
    }
};

}  // namespace heddle::test
