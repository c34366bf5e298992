#pragma once

#include "kernels/device/ptx/atomic_increment.cuh"
#include "kernels/device/ptx/cluster.cuh"
#include "kernels/device/ptx/cluster_message.cuh"
#include "kernels/reduce/levels.hpp"
#include "kernels/reduce/single_pass.hpp"
#include "kernels/reduce/source.cuh"
#include <heddle/error.hpp>

namespace heddle::kernels::reduce {

using tile = single_pass_tile;

/// Thread 0 gets the combination of `count` states, `most` at most, that load() knows, always in the same order.
/// All loads are issued before the first is used.
template <class Operation, class State, int most, class Load>
__device__ State combine_in_warp(unsigned count, Load load) {
    const State nothing = Operation::template identity<State>();
    if (threadIdx.x >= warp_size) return nothing;
    State loaded[most / warp_size];
#pragma unroll
    for (unsigned u = 0; u < most / warp_size; ++u) {
        const unsigned i = threadIdx.x + u * warp_size;
        loaded[u] = i < count ? load(i) : nothing;
    }
    return warp_reduce(combine_tree<Operation>(loaded), Operation{});
}

/// The combination of the block's values, for thread 0. A barrier must come between two calls.
template <class Operation, class State>
__device__ State combine_in_block(State value, State* of_warp) {
    value = warp_reduce(value, Operation{});
    if (threadIdx.x % warp_size == 0) of_warp[threadIdx.x / warp_size] = value;
    __syncthreads();
    return combine_in_warp<Operation, State, tile::lone_threads / warp_size>(
        blockDim.x / warp_size, [&](unsigned i) { return of_warp[i]; });
}

/// The combination of the cluster's values, for thread 0 of its first block.
template <class Operation, class State>
__device__ State combine_in_cluster(State value, ptx::wide_word* of_warp, std::uint64_t* barrier) {
    const unsigned warps = blockDim.x / warp_size;
    value = warp_reduce(value, Operation{});
    __syncwarp();         // lanes that took branches meet before a barrier that warps come to as one
    ptx::cluster_wait();  // the first block runs, and has its barrier
    if (threadIdx.x % warp_size == 0) {
        const unsigned place = ptx::cluster_rank() * warps + threadIdx.x / warp_size;
        const ptx::wide_word message = message_of(value);
        ptx::send_message(&of_warp[place], 0, message.low, message.high, barrier);
    }
    if (ptx::cluster_rank() > 0 || threadIdx.x >= warp_size) return value;
    ptx::wait_for_messages(barrier);
    return combine_in_warp<Operation, State, tile::most_warps>(ptx::cluster_blocks() * warps,
                                                               [&](unsigned i) {
                                                                   State other;
                                                                   read_message(of_warp[i], other);
                                                                   return other;
                                                               });
}

/// What the thread's share of the partials comes to. All loads are issued before the first is used.
template <class Operation, class State>
__device__ State combine_partials(const State* partials, int count) {
    State value = Operation::template identity<State>();
    const int step = static_cast<int>(blockDim.x);
    for (int i = static_cast<int>(threadIdx.x); i < count; i += tile::unroll * step) {
        State loaded[tile::unroll];
#pragma unroll
        for (int u = 0; u < tile::unroll; ++u)
            loaded[u] = i + u * step < count ? load_partial(partials + i + u * step)
                                             : Operation::template identity<State>();
        value = Operation{}(value, combine_tree<Operation>(loaded));
    }
    return value;
}

/// The combination of the states of all clusters, for thread 0 of the last one's first block; the others send theirs.
/// The last is the one to wait, for the others have begun before it. Mailboxes are zero before and after.
template <class Operation, class State>
__device__ State exchange_mail(ptx::wide_word* mailboxes, unsigned cluster, unsigned last, State own) {
    if (cluster != last) {
        if (threadIdx.x == 0) ptx::store_relaxed(&mailboxes[cluster], message_of(own));
        return own;
    }
    const State others = combine_in_warp<Operation, State, warp_size>(last, [&](unsigned i) {
        ptx::wide_word message;
        do message = ptx::load_relaxed(&mailboxes[i]);
        while (message.high == 0);
        ptx::store_relaxed(&mailboxes[i], {0, 0});
        State other;
        read_message(message, other);
        return other;
    });
    return Operation{}(others, own);
}

/// Of one cluster, or as many as run at once.
template <class Operation, class T, class Source, class Result>
__global__ void __launch_bounds__(tile::lone_threads)
    single_pass_clusters(Source x, Result* result, ptx::wide_word* mailboxes) {
    __shared__ ptx::wide_word of_warp[tile::most_warps];
    __shared__ std::uint64_t barrier;
    const unsigned warps = ptx::cluster_blocks() * (blockDim.x / warp_size);
    if (threadIdx.x == 0 && ptx::cluster_rank() == 0)
        ptx::expect_messages(&barrier, warps * static_cast<unsigned>(sizeof(ptx::wide_word)));
    __syncwarp();
    ptx::cluster_arrive_relaxed();

    const std::int64_t first = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int step = static_cast<int>(gridDim.x * blockDim.x);
    auto value = accumulate<Operation, T, tile::unroll>(x, first, step);
    value = combine_in_cluster<Operation>(value, of_warp, &barrier);
    if (ptx::cluster_rank() > 0) return;

    const unsigned cluster = ptx::cluster_id(), last = ptx::cluster_count() - 1;
    if (last > 0) {
        value = exchange_mail<Operation>(mailboxes, cluster, last, value);
        if (cluster != last) return;
    }
    if (threadIdx.x == 0) *result = Operation::template finish<T>(value, x.size());
}

/// Of one block, or of any number. `ticket` is zero before and after.
template <class Operation, class T, class Source, class State, class Result>
__global__ void __launch_bounds__(tile::lone_threads,
                                  tile::registers_per_sm / (tile::lone_threads * Operation::registers))
    single_pass(Source x, Result* result, State* partials, unsigned* ticket) {
    __shared__ State of_warp[tile::lone_threads / warp_size];
    const std::int64_t first = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int step = static_cast<int>(gridDim.x * blockDim.x);

    State value = accumulate<Operation, T, tile::unroll>(x, first, step);
    value = combine_in_block<Operation>(value, of_warp);
    if (gridDim.x > 1) {
        __shared__ bool is_last;
        if (threadIdx.x == 0) {
            partials[blockIdx.x] = value;
            is_last = ptx::atomic_increment(ticket, gridDim.x - 1) == gridDim.x - 1;
        }
        __syncthreads();
        if (!is_last) return;

        value = combine_partials<Operation>(partials, static_cast<int>(gridDim.x));
        value = combine_in_block<Operation>(value, of_warp);
    }

    if (threadIdx.x == 0) *result = Operation::template finish<T>(value, x.size());
}

template <class Operation, class T>
void launch_single_pass(const arguments<Operation, T>& arguments, const device_traits& device,
                        cudaStream_t stream) {
    using state = state_type<Operation, T>;
    static_assert(sizeof(state) <= max_state_bytes);
    with_packets(arguments, [&]<class Source>(const Source& x) {
        const auto [blocks, threads, cluster] =
            plan_single_pass_grid(arguments.x.size / Source::width, device);
        cudaLaunchAttribute attribute{};
        attribute.id = cudaLaunchAttributeClusterDimension;
        attribute.val.clusterDim = {static_cast<unsigned>(cluster), 1, 1};
        cudaLaunchConfig_t config{};
        config.gridDim = dim3(static_cast<unsigned>(blocks));
        config.blockDim = dim3(static_cast<unsigned>(threads));
        config.stream = stream;
        config.attrs = &attribute;
        config.numAttrs = cluster > 1 ? 1 : 0;
        if (cluster > 1)
            check(cudaLaunchKernelEx(&config,
                                     single_pass_clusters<Operation, T, Source, result_type<Operation, T>>, x,
                                     arguments.result, reinterpret_cast<ptx::wide_word*>(arguments.ticket)));
        else
            check(cudaLaunchKernelEx(
                &config, single_pass<Operation, T, Source, state, result_type<Operation, T>>, x,
                arguments.result, static_cast<state*>(arguments.partials), arguments.ticket));
    });
}

}  // namespace heddle::kernels::reduce
