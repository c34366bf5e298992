#pragma once

#include "kernels/device/ptx/atomic_increment.cuh"
#include "kernels/device/ptx/cluster.cuh"
#include "kernels/reduce/levels.hpp"
#include "kernels/reduce/single_pass.hpp"
#include "kernels/reduce/source.cuh"
#include <heddle/error.hpp>

namespace heddle::kernels::reduce {

using tile = single_pass_tile;

/// Thread 0 gets the combination of `count` states that warps have stored, always in the same order.
template <class Operation, class State>
__device__ State combine_warps(const State* of_warp, unsigned count) {
    State value = Operation::template identity<State>();
    if (threadIdx.x >= warp_size) return value;
    for (unsigned i = threadIdx.x; i < count; i += warp_size) value = Operation{}(value, of_warp[i]);
    return warp_reduce(value, Operation{});
}

/// The combination of the states of all teams, for thread 0 of the last, from its own; the others send theirs. The
/// last is the one to wait, for the others have begun before it. Mailboxes are zero before and after.
template <class Operation, class State>
__device__ State exchange_mail(ptx::wide_word* mailboxes, unsigned team, unsigned teams, State own) {
    State value = Operation::template identity<State>();
    if (threadIdx.x >= warp_size) return value;
    if (team < teams - 1) {
        if (threadIdx.x == 0) ptx::store_relaxed(&mailboxes[team], message_of(own));
        return value;
    }
    if (threadIdx.x < teams - 1) {
        ptx::wide_word message;
        do message = ptx::load_relaxed(&mailboxes[threadIdx.x]);
        while (message.high == 0);
        ptx::store_relaxed(&mailboxes[threadIdx.x], {0, 0});
        read_message(message, value);
    }
    return Operation{}(warp_reduce(value, Operation{}), own);
}

/// A team is a cluster of blocks, or one block; `ticket`, or the mailboxes in its place, is zero before and after.
template <class Operation, class T, class Source, class State, class Result>
__global__ void __launch_bounds__(tile::lone_threads,
                                  tile::registers_per_sm / (tile::lone_threads * Operation::registers))
    single_pass(Source x, Result* result, State* partials, unsigned* ticket) {
    __shared__ State of_warp[tile::most_warps];
    const unsigned blocks = ptx::cluster_blocks();
    const unsigned rank = ptx::cluster_rank();
    const unsigned warps = blockDim.x / warp_size;
    const unsigned warp = threadIdx.x / warp_size;
    const bool is_first_lane = threadIdx.x % warp_size == 0;
    // Other blocks write to this one's shared memory only when they know that it runs.
    if (blocks > 1) ptx::cluster_arrive_relaxed();

    const std::int64_t first = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int step = static_cast<int>(gridDim.x * blockDim.x);
    State value = warp_reduce(accumulate<Operation, T, tile::unroll>(x, first, step), Operation{});

    if (blocks > 1) {
        ptx::cluster_wait();
        if (is_first_lane) *ptx::cluster_address(&of_warp[rank * warps + warp], 0) = value;
        ptx::cluster_arrive();
        ptx::cluster_wait();
        if (rank > 0) return;
    } else {
        if (is_first_lane) of_warp[warp] = value;
        __syncthreads();
    }
    value = combine_warps<Operation>(of_warp, blocks * warps);

    const unsigned teams = gridDim.x / blocks;
    const unsigned team = blockIdx.x / blocks;
    if (blocks > 1 && teams > 1) {
        value = exchange_mail<Operation>(reinterpret_cast<ptx::wide_word*>(ticket), team, teams, value);
        if (team < teams - 1) return;
    } else if (teams > 1) {
        __shared__ bool is_last;
        if (threadIdx.x == 0) {
            partials[team] = value;
            is_last = ptx::atomic_increment(ticket, teams - 1) == teams - 1;
        }
        __syncthreads();
        if (!is_last) return;

        value = Operation::template identity<State>();
#pragma unroll 4
        for (unsigned i = threadIdx.x; i < teams; i += blockDim.x)
            value = Operation{}(value, load_partial(&partials[i]));
        value = warp_reduce(value, Operation{});
        if (is_first_lane) of_warp[warp] = value;
        __syncthreads();
        value = combine_warps<Operation>(of_warp, warps);
    }

    if (threadIdx.x == 0) *result = Operation::template finish<T>(value, x.size());
}

template <class Operation, class T>
void launch_single_pass(const arguments<Operation, T>& arguments, const device_traits& device,
                        cudaStream_t stream) {
    using state = state_type<Operation, T>;
    static_assert(sizeof(state) <= max_state_bytes);
    with_packets(arguments, [&]<class Source>(const Source& x) {
        const single_pass_grid grid = plan_single_pass_grid(arguments.x.size / Source::width, device);
        cudaLaunchAttribute cluster{};
        cluster.id = cudaLaunchAttributeClusterDimension;
        cluster.val.clusterDim = {static_cast<unsigned>(grid.cluster), 1, 1};
        cudaLaunchConfig_t config{};
        config.gridDim = dim3(static_cast<unsigned>(grid.blocks));
        config.blockDim = dim3(static_cast<unsigned>(grid.threads));
        config.stream = stream;
        config.attrs = &cluster;
        config.numAttrs = grid.cluster > 1 ? 1 : 0;
        check(cudaLaunchKernelEx(&config, single_pass<Operation, T, Source, state, result_type<Operation, T>>,
                                 x, arguments.result, static_cast<state*>(arguments.partials),
                                 arguments.ticket));
    });
}

}  // namespace heddle::kernels::reduce
