// naive: one thread per element.
//
// Thread i takes element (i / cols, i % cols), so a warp reads 32 neighbours of a row: coalesced already.
// But each element costs a 64-bit division, a thread has one small load in flight, and every 256 elements need
// a block. It takes any shape and any strides.

#include "kernels/device/launch.hpp"
#include "kernels/device/math.hpp"
#include "kernels/elementwise/any_of.cuh"
#include <heddle/elementwise.cuh>

namespace heddle::kernels::elementwise {
namespace {

struct tile {
    static constexpr int threads = 256;
};

template <class T, int inputs, class Functor>
__global__ void __launch_bounds__(tile::threads)
    naive(Functor functor, detail::elementwise_operands<T, inputs> a) {
    const std::int64_t i = std::int64_t{blockIdx.x} * tile::threads + threadIdx.x;
    if (i >= a.out.rows * a.out.cols) return;
    const std::int64_t row = i / a.out.cols;
    const std::int64_t col = i % a.out.cols;

    T x[inputs];
    for (int k = 0; k < inputs; ++k) x[k] = a.in[k].data[row * a.in[k].row_stride + col * a.in[k].col_stride];
    a.out.data[row * a.out.row_stride + col * a.out.col_stride] = detail::apply(functor, x);
}

}  // namespace

plan plan_naive(const elementwise_facts& problem, const device_traits&) {
    return {.blocks = {divide_up(problem.rows * problem.cols, tile::threads)}, .threads = {tile::threads}};
}

void launch_naive(const plan& plan, const arguments& arguments, cudaStream_t stream) {
    // Each function has its own kernel: choosing one of several would cost much beside the work for one element.
    visit(arguments, [&]<class T, class Functions>(Functions functions) {
        const detail::elementwise_operands<T, Functions::inputs> operands(arguments.operands);
        with_function_alone(functions, [&]<class Functor>(Functor functor) {
            launch({.blocks = plan.blocks, .threads = plan.threads, .stream = stream},
                   naive<T, Functor::inputs, Functor>, functor, operands);
        });
    });
}

}  // namespace heddle::kernels::elementwise
