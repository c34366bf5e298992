#include "kernels/device/tensor_map_limits.hpp"

#include "kernels/device/tensor_map.hpp"
#include "tests/support/headers.hpp"

// The last values that a tensor map takes, and the first that it refuses, by the driver's documentation.
namespace heddle::kernels {
namespace {

TEST(tensor_map_limits, of_addresses_are_multiples_of_16_bytes) {
    for (const std::int64_t alignment : {1, 2, 4, 8}) EXPECT_FALSE(is_tensor_address(alignment));
    for (const std::int64_t alignment : {16, 32, 256}) EXPECT_TRUE(is_tensor_address(alignment));
}

TEST(tensor_map_limits, of_strides_are_multiples_of_16_bytes_below_two_to_40) {
    constexpr std::int64_t end = std::int64_t{1} << 40;  // bytes
    for (const std::int64_t bytes : {1, 2, 4, 8, 16}) {
        const std::int64_t packet = 16 / bytes;
        EXPECT_TRUE(is_tensor_stride(0, bytes));
        EXPECT_TRUE(is_tensor_stride(packet, bytes));
        EXPECT_TRUE(is_tensor_stride(3 * packet, bytes));
        EXPECT_TRUE(is_tensor_stride(end / bytes - packet, bytes));
        EXPECT_FALSE(is_tensor_stride(end / bytes, bytes));
        EXPECT_FALSE(is_tensor_stride(std::int64_t{1} << 62, bytes));
        if (packet == 1) continue;
        EXPECT_FALSE(is_tensor_stride(1, bytes));
        EXPECT_FALSE(is_tensor_stride(packet - 1, bytes));
        EXPECT_FALSE(is_tensor_stride(packet + 1, bytes));
        EXPECT_TRUE(is_short_tensor_stride(end / bytes - 1, bytes));
        EXPECT_FALSE(is_tensor_stride(end / bytes - 1, bytes));
    }
}

TEST(tensor_map_limits, of_extents_leave_room_for_a_box_behind_the_last_coordinate) {
    EXPECT_LE(max_tensor_extent, std::int64_t{1} << 32);
    EXPECT_LE(max_tensor_extent + max_windows_at_once, INT32_MAX);
    EXPECT_LE(max_tensor_extent + max_box_side, INT32_MAX);
}

TEST(tensor_map_limits, of_boxes_are_256_elements_a_side_in_rows_of_whole_packets) {
    EXPECT_TRUE(is_tensor_box(1, 4, 4));
    EXPECT_TRUE(is_tensor_box(256, 256, 4));
    EXPECT_FALSE(is_tensor_box(257, 64, 2));
    EXPECT_FALSE(is_tensor_box(64, 264, 2));
    EXPECT_FALSE(is_tensor_box(0, 64, 2));
    EXPECT_FALSE(is_tensor_box(64, 0, 2));
    EXPECT_FALSE(is_tensor_box(64, 60, 2));
    EXPECT_TRUE(is_tensor_box(64, 60, 4));
    EXPECT_TRUE(is_window_box(1024, 64, 2));
    EXPECT_FALSE(is_window_box(1025, 64, 2));
    EXPECT_FALSE(is_window_box(0, 64, 2));
    EXPECT_FALSE(is_window_box(64, 72, 2));  // rows of 144 bytes
    EXPECT_FALSE(is_window_box(64, 20, 2));
}

TEST(tensor_map_limits, of_swizzled_rows_are_64_and_128_bytes) {
    for (const int bytes : {16, 48, 64}) EXPECT_EQ(swizzle_of_rows(bytes), 64) << bytes;
    for (const int bytes : {80, 128}) EXPECT_EQ(swizzle_of_rows(bytes), 128) << bytes;
    for (const int bytes : {144, 256, 1024}) EXPECT_EQ(swizzle_of_rows(bytes), 0) << bytes;
}

TEST(tensor_map_limits, of_windows_are_eight_bits_a_corner_and_steps_of_eight) {
    EXPECT_TRUE(is_window_corner(-128));
    EXPECT_FALSE(is_window_corner(-129));
    EXPECT_TRUE(is_window_corner(127));
    EXPECT_FALSE(is_window_corner(128));
    EXPECT_FALSE(is_window_step(0));
    EXPECT_TRUE(is_window_step(1));
    EXPECT_TRUE(is_window_step(8));
    EXPECT_FALSE(is_window_step(9));
    EXPECT_EQ(max_tap_offset, UINT8_MAX);
}

class tensor_maps_of_the_driver : public test::gpu_test {
  protected:
    void SetUp() override {
        gpu_test::SetUp();
        if (is_set_up() && !test::has_warpgroups()) GTEST_SKIP() << "needs compute capability 9.0";
    }
};

/// The driver accepts all that the limits allow. Making a map does not access the memory.
TEST_F(tensor_maps_of_the_driver, are_made_at_the_limits) {
    constexpr std::int64_t cols = 64, bytes = sizeof(half), packet = tensor_alignment / bytes,
                           longest = end_of_tensor_strides / bytes - packet;
    static_assert(is_tensor_stride(packet, bytes) && is_tensor_stride(longest, bytes));
    const stream stream;
    device_buffer<half> memory(2 * packet, stream);
    half* const data = memory.data() + packet;
    EXPECT_NO_THROW(make_tensor_map(data, 2, cols, longest, max_box_side, cols));
    EXPECT_NO_THROW(make_tensor_map(data, 2, cols, cols, 1, packet, 2, longest));
    EXPECT_NO_THROW(make_tensor_map(data, max_tensor_extent, cols, cols, max_box_side, cols));
    EXPECT_NO_THROW(make_tensor_map(data, 2, max_tensor_extent, max_tensor_extent / packet * packet + packet,
                                    1, static_cast<int>(max_box_side)));
    constexpr std::int64_t side = 300;
    window_map map{.channels = cols,
                   .width = side,
                   .height = side,
                   .images = 2,
                   .col_stride = cols,
                   .row_stride = side * cols,
                   .image_stride = longest,
                   .first_x = min_window_corner,
                   .first_y = min_window_corner,
                   .last_x = max_window_corner,
                   .last_y = max_window_corner,
                   .step_x = max_window_step,
                   .step_y = max_window_step,
                   .pixels = max_windows_at_once,
                   .box_channels = cols};
    EXPECT_NO_THROW(make_window_map(data, map));
    map.last_x = map.last_y = min_window_corner;
    EXPECT_NO_THROW(make_window_map(data, map));
}

/// Boxes of more channels than pixels have, of floats that are rounded while they are loaded.
TEST_F(tensor_maps_of_the_driver, round_floats) {
    constexpr std::int64_t packet = tensor_alignment / sizeof(float), side = 9;
    constexpr int box = 128 / sizeof(float);
    const stream stream;
    device_buffer<float> memory(packet, stream);
    const window_map map{.channels = packet,
                         .width = side,
                         .height = side,
                         .images = 1,
                         .col_stride = packet,
                         .row_stride = side * packet,
                         .image_stride = side * side * packet,
                         .first_x = -1,
                         .first_y = -1,
                         .last_x = -1,
                         .last_y = -1,
                         .step_x = 1,
                         .step_y = 1,
                         .pixels = 128,
                         .box_channels = box};
    EXPECT_NO_THROW(make_window_map(memory.data(), map, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32));
    EXPECT_NO_THROW(make_tensor_map(memory.data(), side, packet, packet, 64, box, side, side * packet,
                                    CU_TENSOR_MAP_DATA_TYPE_TFLOAT32));
}

}  // namespace
}  // namespace heddle::kernels
