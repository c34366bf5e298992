// The host's time of a call, beside the same launch written by hand. Operands are small, so that the device keeps up.

#include "benchmarks/operation.hpp"
#include "benchmarks/support/kernels.hpp"

namespace heddle::bench {
namespace {

constexpr std::int64_t rows = 32, cols = 32, size = rows * cols;

/// `call` takes the buffers x and y.
template <class Call>
void row(const char* name, std::string_view library, Call call) {
    call_row({name}, library, [call] {
        return [call, x = random_on_device<float>(size), y = random_on_device<float>(size)]() mutable {
            call(x, y);
        };
    });
}

matrix_view<float> matrix(device_buffer<float>& buffer) {
    return {buffer.data(), rows, cols};
}

/// The sum needs a workspace, and the caller gives it.
void sum_rows() {
    constexpr std::int64_t many = 1 << 15;
    const problem problem{"call/f32/sum-32768"};
    call_row(problem, "heddle", [] {
        const std::int64_t bytes = reduce_workspace_bytes({.x = {many}}, traits_of(current_device()));
        return [x = random_on_device<float>(many), result = device_buffer<float>(1, stream()),
                scratch = workspace(bytes, stream())]() mutable {
            sum<float>(x, result.data(), stream(), {.workspace = scratch});
        };
    });
    call_row(problem, "launch", [] {
        return [x = random_on_device<float>(many), result = device_buffer<float>(1, stream())]() mutable {
            launch_sum(x.data(), many, result.data());
        };
    });
}

/// Adds rows of one call and a wait, and of 20 calls and a wait, both with and without a workspace. `call` takes the
/// workspace, which may be empty.
template <class Prepare>
void scratch_rows(const std::string& name, Prepare prepare) {
    constexpr int many = 20;
    for (const bool is_given : {false, true})
        for (const int calls : {many, 1})
            call_row({name + (calls == 1 ? "-waited" : "-times-20")},
                     is_given ? "heddle:workspace" : "heddle", [=] {
                         const std::int64_t bytes = is_given ? std::int64_t{64} << 20 : 0;
                         return [=, call = prepare(), scratch = workspace(bytes, stream())]() mutable {
                             for (int i = 0; i < calls; ++i) call(scratch);
                             check(cudaStreamSynchronize(stream().get()));
                         };
                     });
}

template <class T>
void matmul_rows(std::int64_t side) {
    scratch_rows(fmt::format("call/{}/matmul-{}", dtype<T>, side), [side] {
        return [side, a = random_on_device<T>(side * side), b = random_on_device<T>(side * side),
                c = device_buffer<T>(side * side, stream())](std::span<std::byte> scratch) mutable {
            matmul<T>({a.data(), side, side}, {b.data(), side, side}, matrix_view<T>{c.data(), side, side},
                      stream(), {.workspace = scratch});
        };
    });
}

}  // namespace

void register_call() {
    row("call/f32/add-1024", "heddle", [](auto& x, auto& y) { add<float>(x, y, y, stream()); });
    row("call/f32/add-1024", "launch",
        [](auto& x, auto& y) { launch_add(x.data(), y.data(), y.data(), size); });
    sum_rows();
    scratch_rows("call/f32/sum-32768", [] {
        return [x = random_on_device<float>(1 << 15),
                result = device_buffer<float>(1, stream())](std::span<std::byte> scratch) mutable {
            sum<float>(x, result.data(), stream(), {.workspace = scratch});
        };
    });
    for (const std::int64_t side : {512, 1024}) {
        matmul_rows<float>(side);
        matmul_rows<bfloat16>(side);
    }
    row("call/f32/softmax-32x32", "heddle",
        [](auto& x, auto& y) { softmax<float>(matrix(x), matrix(y), stream()); });
    row("call/f32/softmax-32x32", "launch",
        [](auto& x, auto& y) { launch_softmax(x.data(), y.data(), rows, cols); });
    row("call/f32/transpose-32x32", "heddle",
        [](auto& x, auto& y) { transpose<float>(matrix(x), matrix(y), stream()); });
    row("call/f32/transpose-32x32", "launch",
        [](auto& x, auto& y) { launch_transpose(x.data(), y.data(), rows, cols); });
}

}  // namespace heddle::bench
