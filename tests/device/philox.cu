#include "kernels/device/launch.hpp"
#include "kernels/device/philox.cuh"
#include "tests/support/gpu.hpp"
#include "tests/support/guarded.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace heddle::kernels {
namespace {

__global__ void encrypt(philox_block counter, philox_keys keys, std::uint32_t* words) {
    const philox_block block = philox4x32(counter, keys);
    for (int i = 0; i < 4; ++i) words[i] = block.words[i];
}

class device_philox : public test::gpu_test {};

/// The expected answers are those of the authors' library, Random123.
TEST_F(device_philox, gives_the_known_answers) {
    struct known {
        philox_block counter;
        std::uint64_t key;
        std::vector<std::uint32_t> answer;
    };
    constexpr std::uint32_t ones = 0xffffffff;
    const known all[] = {
        {{{0, 0, 0, 0}}, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{{ones, ones, ones, ones}}, ~std::uint64_t{0}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
         0x299f31d0a4093822,
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (const auto& [counter, key, answer] : all) {
        test::guarded<std::uint32_t> words(4);
        launch({.blocks = {1}, .threads = {1}}, encrypt, counter, philox_keys(key), words.data());
        EXPECT_EQ(words.download(), answer);
    }
}

}  // namespace
}  // namespace heddle::kernels
