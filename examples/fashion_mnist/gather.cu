// Gathers a batch's pictures in a shuffled order, and converts their bytes to numbers. A block takes a picture,
// and a warp reads contiguous bytes. The step's number is read on the device, so that a graph can be launched again for
// the next batch.
#include "examples/fashion_mnist/gather.hpp"
#include <heddle/error.hpp>
#include <heddle/types.hpp>

namespace fashion_mnist {
namespace {

constexpr int threads = 256;

template <class T>
__global__ void __launch_bounds__(threads) gather_rows(batch_gather<T> batch) {
    const std::int64_t row = blockIdx.x;
    const std::int64_t number = (*batch.step - 1) % batch.batches;
    const std::int64_t picture = batch.order[number * batch.x.rows + row];
    const std::uint8_t* const from = batch.pictures.data + picture * batch.pictures.row_stride;
    T* const to = batch.x.data + row * batch.x.row_stride;
    for (std::int64_t i = threadIdx.x; i < batch.x.cols; i += threads)
        to[i] = static_cast<T>(static_cast<float>(from[i]) * byte_scale);
    if (threadIdx.x == 0) batch.y[row] = batch.labels[picture];
}

}  // namespace

template <class T>
void gather(const batch_gather<T>& batch, cuda::stream_ref stream) {
    batch_gather<T> argument = batch;
    void* arguments[] = {&argument};
    heddle::check(cudaLaunchKernel(gather_rows<T>, dim3(static_cast<unsigned>(batch.x.rows)), dim3(threads),
                                   arguments, 0, stream.get()));
}

template void gather(const batch_gather<float>&, cuda::stream_ref);
template void gather(const batch_gather<heddle::bfloat16>&, cuda::stream_ref);

}  // namespace fashion_mnist
