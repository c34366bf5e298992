#pragma once

#include "kernels/device/last_block.cuh"
#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/bulk_copy.cuh"
#include "kernels/device/ptx/cluster.cuh"
#include "kernels/device/ptx/cluster_message.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/reduce/families.cuh"
#include "kernels/reduce/levels.hpp"
#include "kernels/reduce/source.cuh"
#include "kernels/reduce/tuning/generic.hpp"

#include <cstdint>
#include <type_traits>

namespace heddle::kernels::reduce {

struct tile {
    static constexpr int unroll = 4;
    static constexpr int threads = 512;  ///< per block, where there are many
    static constexpr int blocks_per_sm = 4;
    static constexpr int lone_threads = 1024;  ///< most threads of a lone block, or of a block of a cluster
    static constexpr int lone_packets = lone_threads * unroll;
    static constexpr int cluster = 8;  ///< blocks per cluster, on any device that has clusters
    static constexpr int cluster_packets = cluster * lone_packets;
    /// Clusters send places of 32 bits (operations.cuh), and a packet has up to 16 elements.
    static constexpr std::int64_t most_cluster_packets = (std::int64_t{1} << 28) - 1;
    static constexpr int packets = threads * unroll;
    static constexpr int most_warps = cluster * lone_threads / warp_size;
    static constexpr int registers_per_sm = 65536;
};

/// A ring in shared memory feeds a block. It keeps more under way than the loads of a full SM would, at no cost
/// in registers, threads or instructions.
struct ring_tile {
    static constexpr int unroll = 4;
    static constexpr int packets = tile::threads * unroll;
    static constexpr int stages = 3;
    static constexpr int bytes = stages * packets * max_vector_bytes;
    static constexpr int blocks_per_sm = 2;
};

/// Combines states first, first + step, ... below `count` from load(). It issues `batch` loads before it uses the first.
template <class State, int batch, class Operation, class Load>
__device__ State combine_share(Operation operation, unsigned first, unsigned count, unsigned step,
                               Load load) {
    const State nothing = operation.template identity<State>();
    State value = nothing;
#pragma unroll 1
    for (unsigned i = first; i < count; i += batch * step) {
        State loaded[batch];
#pragma unroll
        for (unsigned u = 0; u < batch; ++u) loaded[u] = i + u * step < count ? load(i + u * step) : nothing;
        value = operation(value, combine_tree(loaded, operation));
    }
    return value;
}

/// Combines `count` states from load() for thread 0, always in the same order.
template <class State, int batch, class Operation, class Load>
__device__ State combine_in_warp(Operation operation, unsigned count, Load load) {
    if (threadIdx.x >= warp_size) return operation.template identity<State>();
    return warp_reduce(combine_share<State, batch>(operation, threadIdx.x, count, warp_size, load),
                       operation);
}

/// Combines the block's values for thread 0. A barrier must come between two calls.
template <class Operation, class State>
__device__ State combine_in_block(Operation operation, State value, State* of_warp) {
    value = warp_reduce(value, operation);
    if (threadIdx.x % warp_size == 0) of_warp[threadIdx.x / warp_size] = value;
    ptx::sync_threads();
    return combine_in_warp<State, 1>(operation, blockDim.x / warp_size,
                                     [&](unsigned i) { return of_warp[i]; });
}

/// Combines the cluster's values for thread 0 of its first block.
template <class Operation, class State>
__device__ State combine_in_cluster(Operation operation, State value, ptx::wide_word* of_warp,
                                    std::uint64_t* barrier) {
    const unsigned warps = blockDim.x / warp_size;
    value = warp_reduce(value, operation);
    ptx::sync_warp();     // lanes that branched meet before a barrier that whole warps arrive at
    ptx::cluster_wait();  // the first block runs, and has its barrier
    if (threadIdx.x % warp_size == 0) {
        const unsigned place = ptx::cluster_rank() * warps + threadIdx.x / warp_size;
        const ptx::wide_word message = message_of(value);
        ptx::send_message(&of_warp[place], 0, message.low, message.high, barrier);
    }
    if (ptx::cluster_rank() > 0 || threadIdx.x >= warp_size) return value;
    ptx::wait_for_messages(barrier);
    return combine_in_warp<State, tile::cluster>(operation, ptx::cluster_blocks() * warps, [&](unsigned i) {
        State other;
        read_message(of_warp[i], other);
        return other;
    });
}

/// Clusters store their states here, for the cluster that draws the last ticket. It is zero before and after.
struct mail {
    ptx::wide_word boxes[single_pass_sharing::clusters];
    unsigned ticket;
};
static_assert(sizeof(mail) <= ticket_bytes);

/// Combines the states of all clusters, in their order, for thread 0 of the last one's first block. The others send theirs.
/// The last cluster drew the highest number, so it may wait: the others run already.
template <class Operation, class State>
__device__ State exchange_mail(Operation operation, mail* mail, bool is_last, State own) {
    const unsigned cluster = ptx::cluster_id();
    ptx::wide_word message = message_of(own);
    if (!is_last) {
        if (threadIdx.x == 0) ptx::store_relaxed(&mail->boxes[cluster], message);
        return own;
    }
    message = {__shfl_sync(0xffffffffU, message.low, 0), __shfl_sync(0xffffffffU, message.high, 0)};
    return combine_in_warp<State, 1>(operation, ptx::cluster_count(), [&](unsigned i) {
        if (i != cluster) {
            do message = ptx::load_relaxed(&mail->boxes[i]);
            while (message.high == 0);
            ptx::store_relaxed(&mail->boxes[i], {0, 0});
        }
        State state;
        read_message(message, state);
        return state;
    });
}

/// The kernel for one cluster or a few.
template <class Operation, class T, class Source, class Result>
__global__ void __launch_bounds__(tile::lone_threads, 1)
    single_pass_clusters(Operation operation, Source x, Result* result, mail* mail) {
    __shared__ ptx::wide_word of_warp[tile::most_warps];
    __shared__ std::uint64_t barrier;
    const unsigned warps = ptx::cluster_blocks() * (blockDim.x / warp_size);
    const bool is_first_thread = threadIdx.x == 0 && ptx::cluster_rank() == 0;
    if (is_first_thread)
        ptx::expect_messages(&barrier, warps * static_cast<unsigned>(sizeof(ptx::wide_word)));
    ptx::sync_warp();
    ptx::cluster_arrive_relaxed();

    const std::int64_t first = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int step = static_cast<int>(gridDim.x * blockDim.x);
    const sent<Operation, T> combine(operation);
    auto value = combine.packed(with_operation(
        operation, [&](auto asked) { return accumulate<T, tile::unroll>(asked, x, first, step); }));
    const unsigned last = ptx::cluster_count() - 1;
    unsigned number = 0;
    if (is_first_thread && last > 0) number = ptx::atomic_increment_relaxed(&mail->ticket, last);
    value = combine_in_cluster(combine, value, of_warp, &barrier);
    if (ptx::cluster_rank() > 0) return;

    if (last > 0) {
        if (threadIdx.x >= warp_size) return;
        const bool is_last = __shfl_sync(0xffffffffU, number, 0) == last;
        value = exchange_mail(combine, mail, is_last, value);
        if (!is_last) return;
    }
    if (threadIdx.x == 0) *result = operation.template finish<Result>(combine.unpacked(value), x.size());
}

/// Combines the values of all threads of the grid to the result. `ticket` is zero before and after.
template <class Operation, class State, class Result>
__device__ void combine_in_grid(Operation operation, State value, std::int64_t size, Result* result,
                                State* partials, unsigned* ticket) {
    __shared__ State of_warp[tile::lone_threads / warp_size];
    value = combine_in_block(operation, value, of_warp);
    if (gridDim.x > 1) {
        const partials_left left = leave([&] {
            if (threadIdx.x == 0) partials[blockIdx.x] = value;
        });
        if (!is_last_block(ticket, gridDim.x - 1, left)) return;
        value = combine_share<State, tile::unroll>(operation, threadIdx.x, gridDim.x, blockDim.x,
                                                   [&](unsigned i) { return load_partial(partials + i); });
        value = combine_in_block(operation, value, of_warp);
    }
    if (threadIdx.x == 0) *result = operation.template finish<Result>(value, size);
}

/// The kernel for any number of blocks.
template <class Operation, class T, class Source, class State, class Result>
__global__ void __launch_bounds__(tile::lone_threads,
                                  tile::registers_per_sm / (tile::lone_threads * Operation::registers))
    single_pass(Operation operation, Source x, Result* result, State* partials, unsigned* ticket) {
    const std::int64_t first = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int step = static_cast<int>(gridDim.x * blockDim.x);
    // Each operation has its own path to the end: if two paths met again, a register would be spilled.
    with_operation(operation, [&](auto asked) {
        const State value = accumulate<T, tile::unroll>(asked, x, first, step);
        combine_in_grid(operation, value, x.size(), result, partials, ticket);
    });
}

/// The grid has as many blocks as run at once. Each reads its tiles from a ring in shared memory, which bulk copies fill.
template <class Operation, class T, class State, class Result>
__global__ void __launch_bounds__(tile::threads, ring_tile::blocks_per_sm)
    single_pass_ring(Operation operation, contiguous<T> x, Result* result, State* partials,
                     unsigned* ticket) {
    using packet = typename contiguous<T>::packet;
    extern __shared__ __align__(128) unsigned char ring_bytes[];
    auto* const ring = reinterpret_cast<packet*>(ring_bytes);
    __shared__ std::uint64_t filled[ring_tile::stages];

    // The last block takes packets that do not fill a tile.
    const std::int64_t tiles = x.packets() / ring_tile::packets;
    const auto fill = [&](std::int64_t t, int stage) {
        if (t >= tiles) return;
        ptx::start_bulk_copy(ring + stage * ring_tile::packets, x.packet_at(t * ring_tile::packets),
                             ring_tile::packets * max_vector_bytes, &filled[stage]);
    };
    if (threadIdx.x == 0)
#pragma unroll 1
        for (int stage = 0; stage < ring_tile::stages; ++stage) {
            ptx::init(&filled[stage], 1);
            ptx::fence_mbarrier_init();
            fill(blockIdx.x + std::int64_t{stage} * gridDim.x, stage);
        }
    const early_edge<contiguous<T>> edge(x, std::int64_t{blockIdx.x} * tile::threads + threadIdx.x);
    const std::int64_t rest = tiles * ring_tile::packets + threadIdx.x;
    const bool has_rest = blockIdx.x == gridDim.x - 1 && rest < x.packets();
    const int valid = has_rest ? valid_in_round<ring_tile::unroll>(x, rest, tile::threads) : 0;
    packet rest_packets[ring_tile::unroll];
    if (has_rest)
        load_round(rest_packets, tile::threads, valid, [&](int offset) { return x.load(rest + offset); });
    ptx::sync_threads();

    const auto combine_tiles = [&](auto asked) {
        running<decltype(asked), T, ring_tile::unroll, contiguous<T>> seen(asked, x, tile::threads);
        int round = 0;
        for (std::int64_t t = blockIdx.x; t < tiles; t += gridDim.x, ++round) {
            const int stage = round % ring_tile::stages;
            ptx::wait(&filled[stage], static_cast<unsigned>(round / ring_tile::stages % 2));
            packet loaded[ring_tile::unroll];
            const packet* const thread_packets = ring + stage * ring_tile::packets + threadIdx.x;
#pragma unroll
            for (int u = 0; u < ring_tile::unroll; ++u) loaded[u] = thread_packets[u * tile::threads];
            ptx::fence_before_copies();
            ptx::sync_threads();
            if (threadIdx.x == 0) fill(t + std::int64_t{ring_tile::stages} * gridDim.x, stage);
            seen.join(loaded, t * ring_tile::packets + threadIdx.x);
            if (round % single_pass_sharing::rounds_to_cut == single_pass_sharing::rounds_to_cut - 1)
                seen.cut();
        }
        if (has_rest) seen.join(rest_packets, rest, valid);
        return edge.joined_to(seen.total(), asked);
    };
    combine_in_grid(operation, with_operation(operation, combine_tiles), x.size(), result, partials, ticket);
}

template <class Operation, class T>
void launch_single_pass(const plan& plan, const arguments<Operation, T>& arguments, cudaStream_t stream) {
    with_loads(plan, arguments, [&]<class Source>(const Source& x) {
        using element = typename Source::element;
        const auto operation = in_family<Operation, T>();
        using family = std::remove_const_t<decltype(operation)>;
        using state = state_type<family, element>;
        using result = result_type<Operation, T>;
        static_assert(sizeof(state) <= max_state_bytes);
        auto* const partials = static_cast<state*>(arguments.partials);
        launch_config config{
            .blocks = {plan.blocks[0]}, .threads = {plan.threads}, .stream = stream, .cluster = plan.cluster};
        if constexpr (std::is_same_v<Source, contiguous<element>>)
            if (plan.has_rings) {
                config.shared_bytes = config.shared_limit = ring_tile::bytes;
                return launch(config, single_pass_ring<family, element, state, result>, operation, x,
                              arguments.result, partials, arguments.ticket);
            }
        if (plan.cluster > 1)
            launch(config, single_pass_clusters<family, element, Source, result>, operation, x,
                   arguments.result, reinterpret_cast<mail*>(arguments.ticket));
        else
            launch(config, single_pass<family, element, Source, state, result>, operation, x,
                   arguments.result, partials, arguments.ticket);
    });
}

}  // namespace heddle::kernels::reduce
