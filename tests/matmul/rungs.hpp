#pragma once

#include "tests/matmul/operands.hpp"
#include "tests/matmul/problems.hpp"
#include "tests/support/gpu.hpp"
#include <heddle/device.hpp>
#include <heddle/matmul.hpp>
#include <heddle/stream.hpp>
#include <heddle/workspace.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

namespace heddle::test {

/// A test with a stream and a workspace.
class matmul_device : public stream_fixture {
  protected:
    void SetUp() override {
        stream_fixture::SetUp();
        if (is_set_up()) workspace_.emplace(std::int64_t{128} << 20, *stream);
    }

    std::optional<workspace> workspace_;
};

class matmul_on_hopper : public matmul_device {
  protected:
    void SetUp() override {
        matmul_device::SetUp();
        if (is_set_up() && !has_warpgroups()) GTEST_SKIP() << "is for Hopper";
    }
};

/// A test that is skipped where the device cannot run the rung.
class rung_test : public matmul_device, public testing::WithParamInterface<matmul_algorithm> {
  protected:
    explicit rung_test(element_type operands) : operands_(operands) {}

    void SetUp() override {
        matmul_device::SetUp();
        if (!is_set_up()) return;
        const std::string reason =
            why_not(GetParam(), small_product(GetParam(), operands_), traits_of(current_device()));
        if (!reason.empty()) GTEST_SKIP() << reason;
    }

    /// Adds a workspace for rungs that take one.
    matmul_options options(float alpha = 1, float beta = 0) { return {alpha, beta, GetParam(), *workspace_}; }

    /// Gives the shape a side and a depth that the rung takes.
    shape fitted(shape s) const {
        std::int64_t& shorter = s.m <= s.n ? s.m : s.n;
        constexpr std::int64_t thin = 40;  // three blocks of 16 rows
        const bool is_short = GetParam() == matmul_algorithm::skinny && operands_ == element_type::f32;
        if (is_short) shorter = std::min(shorter, thin);
        if (GetParam() == matmul_algorithm::vector) shorter = std::min<std::int64_t>(shorter, 1);
        if (GetParam() == matmul_algorithm::stream) s.k = std::min<std::int64_t>(s.k, 64);
        return s;
    }

  private:
    element_type operands_;
};

class matmul_rung : public rung_test {
  protected:
    matmul_rung() : rung_test(element_type::f32) {}
};

class matmul_16_bit : public rung_test {
  protected:
    matmul_16_bit() : rung_test(element_type::f16) {}
};

}  // namespace heddle::test
