#pragma once

#include "tests/support/gpu.hpp"
#include "tests/support/optimizer.hpp"
#include <heddle/optimizer.hpp>
#include <heddle/stream.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <vector>

namespace heddle::test {

inline std::vector<optimizer_algorithm> every_optimizer_algorithm() {
    std::vector<optimizer_algorithm> all(optimizer_algorithms().begin(), optimizer_algorithms().end());
    all.push_back(optimizer_algorithm::automatic);
    return all;
}

/// Sizes around every border: of packets, blocks and chunks.
inline std::vector<parameter_layout> mixed_parameters() {
    std::vector<parameter_layout> layouts;
    std::int64_t offset = 0;
    for (const std::int64_t count :
         {0, 1, 2, 3, 4, 5, 7, 0, 8, 255, 256, 1023, 1025, 4095, 4096, 4097, 8191, 12345})
        layouts.push_back(parameter_layout::alike(count, offset++ % 5));
    return layouts;
}

template <class Types>
class optimizer_test : public gpu_test {
  protected:
    void SetUp() override {
        gpu_test::SetUp();
        if (!IsSkipped()) stream.emplace();
    }

    /// A step of every optimizer by every rung: it is right, and all rungs give the same bits.
    void check(const std::vector<parameter_layout>& layouts) {
        using T = typename Types::value;
        using G = typename Types::gradient;
        guarded_list<T, G> list(layouts);
        for (optimizer_call call : optimizer_calls()) {
            SCOPED_TRACE(call.name);
            call.adam.step = 3;
            std::vector<float> first;
            for (const optimizer_algorithm algorithm : every_optimizer_algorithm()) {
                SCOPED_TRACE(to_string(algorithm));
                call.sgd.algorithm = call.adam.algorithm = algorithm;
                list.restart();
                const double scale =
                    call.kind == optimizer_kind::sgd ? call.sgd.gradient_scale : call.adam.gradient_scale;
                list.expect_step(call, call.adam.step, bounds::rounded(scale));
                enqueue<T, G>(call, list.views(), *stream);
                stream->synchronize();
                ASSERT_TRUE(list.is_as_expected(call.moments()));
                if (first.empty())
                    first = list.state();
                else
                    ASSERT_TRUE(are_same_bits(first, list.state()));
            }
        }
    }

    static bool are_same_bits(const std::vector<float>& a, const std::vector<float>& b) {
        return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
    }

    std::optional<heddle::stream> stream;
};

}  // namespace heddle::test
