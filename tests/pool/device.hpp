#pragma once

#include "tests/pool/operands.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/watchdog.hpp"
#include <heddle/device.hpp>
#include <heddle/pool.hpp>
#include <heddle/stream.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::test {

/// check(options) of each rung, and `automatic`, in each of its variants, until one fails.
template <class Check>
void for_every_pool_plan(pool_options options, Check check) {
    std::vector<pool_algorithm> rungs(pool_algorithms().begin(), pool_algorithms().end());
    rungs.push_back(pool_algorithm::automatic);
    for (const pool_algorithm rung : rungs) {
        std::vector<std::string_view> variants(pool_variants(rung).begin(), pool_variants(rung).end());
        variants.emplace_back();
        for (const std::string_view variant : variants) {
            options.algorithm = rung;
            options.variant = variant;
            SCOPED_TRACE(std::string(to_string(rung)) + ", variant '" + std::string(variant) + "'");
            ASSERT_NO_FATAL_FAILURE(check(options));
        }
    }
}

template <class T>
class pool_device : public gpu_test {
  protected:
    void SetUp() override {
        gpu_test::SetUp();
        if (is_set_up()) stream.emplace();
    }

    void check(pool_operands<T>& p) {
        for (const pool_mode mode : pool_modes) {
            SCOPED_TRACE(text(p.s) + ", mode " + std::to_string(static_cast<int>(mode)));
            const pool_reference expected(p.s, p.xs, mode);
            for_every_pool_plan({.mode = mode, .geometry = p.s.geometry}, [&](const pool_options& with) {
                p.poison_output();
                pool<T>(p.input.tensor(), p.output.tensor(), *stream, with);
                synchronize(*stream, std::string(to_string(with.algorithm)) + " " + text(p.s));
                ASSERT_NO_FATAL_FAILURE(p.expect_close(expected));
            });
        }
    }
    void check(const pool_shape& s, const tensor_gaps& of_input = {}, const tensor_gaps& of_output = {}) {
        pool_operands<T> p(s, of_input, of_output);
        check(p);
    }

    std::optional<heddle::stream> stream;
};

}  // namespace heddle::test
