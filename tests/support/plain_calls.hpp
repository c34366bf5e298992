#pragma once

#include "tests/support/headers.hpp"

// Calls that take scratch memory where they may.
namespace heddle::test {

inline constexpr std::int64_t plain_side = 1024, plain_size = plain_side * plain_side;

/// The operands of all calls, elements from 0 to 1, and the place of the results.
struct plain_operands {
    const float* x;
    const float* y;
    float* result;
};

/// A call that takes scratch memory where it may.
struct plain_call {
    std::string name;
    std::int64_t results;  ///< how many it writes
    std::function<void(const plain_operands&, cuda::stream_ref, std::span<std::byte>, scratch)> run;
};

inline std::vector<plain_call> plain_calls() {
    constexpr std::int64_t side = plain_side, size = plain_size, few = 64, deep = size / few;
    using stream = cuda::stream_ref;
    using bytes = std::span<std::byte>;
    using operands = const plain_operands&;
    const auto image = [](auto* data) {
        return image_view<std::remove_pointer_t<decltype(data)>>{data, side, side};
    };
    std::vector<plain_call> all;
    const auto add = [&](const char* name, std::int64_t results, auto run) {
        all.push_back({name, results, run});
    };
    add("sum", 1, [](operands m, stream s, bytes w, scratch from) {
        sum<float>({m.x, size}, m.result, s, {.workspace = w, .scratch = from});
    });
    add("inclusive_scan", size, [](operands m, stream s, bytes w, scratch from) {
        inclusive_scan<float>({m.x, size}, {m.result, size}, s, {.workspace = w, .scratch = from});
    });
    add("row_sum", 2, [](operands m, stream s, bytes w, scratch from) {
        row_sum<float>({m.x, 2, size / 2}, {m.result, 2}, s, {.workspace = w, .scratch = from});
    });
    add("column_sum", 2, [](operands m, stream s, bytes w, scratch from) {
        column_sum<float>({m.x, size / 2, 2}, {m.result, 2}, s, {.workspace = w, .scratch = from});
    });
    add("matmul_of_few_tiles", few * few, [](operands m, stream s, bytes w, scratch from) {
        matmul<float>({m.x, few, deep}, {m.y, deep, few}, matrix_view{m.result, few, few}, s,
                      {.workspace = w, .scratch = from});
    });
    add("matmul_at_odd_addresses", 1001 * 1003, [](operands m, stream s, bytes w, scratch from) {
        matmul<float>({m.x + 1, 1001, 999, 1001}, {m.y + 1, 999, 1003, 1003},
                      matrix_view{m.result, 1001, 1003}, s, {.workspace = w, .scratch = from});
    });
    add("matmul_of_a_list", 2 * few * few, [](operands m, stream s, bytes w, scratch from) {
        const std::vector<matmul_operands<float>> products{
            {{m.x, few, deep}, {m.y, deep, few}, {m.result, few, few}},
            {{m.x + 1, few, 999, 1000}, {m.y, 999, few}, {m.result + few * few, few, few}}};
        batched_matmul<float>(products, s, {.workspace = w, .scratch = from});
    });
    add("gaussian_blur", size, [=](operands m, stream s, bytes w, scratch from) {
        gaussian_blur<float>(image(m.x), image(m.result), {40.0, 30.0}, s,
                             {.exact = true, .workspace = w, .scratch = from});
    });
    add("box_blur", size, [=](operands m, stream s, bytes w, scratch from) {
        box_blur<float>(image(m.x), image(m.result), {300, 200}, s, {.workspace = w, .scratch = from});
    });
    return all;
}

}  // namespace heddle::test
