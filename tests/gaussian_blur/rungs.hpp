#pragma once

#include "tests/gaussian_blur/checks.hpp"
#include "tests/support/headers.hpp"
#include "tests/support/hopper.hpp"

namespace heddle::test {

/// What the tests of rungs are run with: one, or a kernel of it.
struct rung {
    gaussian_blur_algorithm which;
    std::string_view kernel;

    constexpr rung(gaussian_blur_algorithm chosen, std::string_view of_its = {})
        : which(chosen), kernel(of_its) {}
    constexpr operator gaussian_blur_algorithm() const { return which; }

    void choose_in(gaussian_blur_options& options) const {
        options.algorithm = which;
        options.kernel = kernel;
    }
    friend std::string name_of(const rung& of) {
        std::string name = text_of(of.which, of.kernel);
        std::ranges::replace(name, ' ', '_');
        return name;
    }
    friend void PrintTo(const rung& of, std::ostream* out) { *out << name_of(of); }
};

/// And `automatic`.
inline std::vector<rung> every_rung_by_its_plan() {
    std::vector<rung> all(gaussian_blur_algorithms().begin(), gaussian_blur_algorithms().end());
    all.emplace_back(algorithm::automatic);
    return all;
}

inline std::vector<rung> every_rung() {
    std::vector<rung> all{algorithm::automatic};
    for (const algorithm which : gaussian_blur_algorithms())
        for (const std::string_view kernel : kernels_to_ask(which, gaussian_blur_kernels(which)))
            all.emplace_back(which, kernel);
    return all;
}

class gaussian_blur_test : public stream_fixture {
  protected:
    /// Whether the rung takes the problem: one that does not refuses before it touches anything.
    template <class T>
    bool blur(const problem& p, image_batch_view<const T> sources,
              std::type_identity_t<image_batch_view<T>> destinations, gaussian_blur_options options,
              const rung& by) {
        by.choose_in(options);
        try {
            gaussian_blur<T>(sources, destinations, p.sigma, *stream, options);
        } catch (const unsupported& refusal) {
            EXPECT_TRUE(may_refuse(p, by)) << refusal.what();
            return false;
        }
        stream->synchronize();
        ++runs_;
        return true;
    }
    template <class T>
    implementation<T> on_device(const rung& by) {
        return {memory::device, by,
                [this, by](const problem& p, const image_batch_view<const T>& sources,
                           const image_batch_view<T>& destinations, const gaussian_blur_options& options) {
                    return blur<T>(p, sources, destinations, options, by);
                }};
    }

    static bool may_refuse(const problem& p, const rung& which) {
        if (!which.kernel.empty()) return true;
        const std::int64_t radius = std::max(p.radius.x, p.radius.y);
        if (which == algorithm::automatic || which == algorithm::separable) return false;
        if (which == algorithm::naive) return radius > 1000;
        if (which == algorithm::shared_memory || which == algorithm::fused) return radius > 100;
        return true;
    }
    int runs_ = 0;
};

class gaussian_blur_rung : public gaussian_blur_test, public testing::WithParamInterface<rung> {
  protected:
    template <class T>
    implementation<T> on_device() {
        return gaussian_blur_test::on_device<T>(GetParam());
    }
    /// Nobody may pass by refusing all; kernels take a few windows each.
    void expect_runs_of_bytes() const {
        const rung& which = GetParam();
        if (!which.kernel.empty() || which == algorithm::decimated) return;
        if (is_on_tensor_cores(which) && !has_warpgroups()) return;
        EXPECT_GT(runs_, 0);
    }
};

}  // namespace heddle::test
