#pragma once

#include "kernels/device/launch.hpp"
#include "kernels/device/math.hpp"
#include "kernels/device/ptx/cluster.cuh"
#include "kernels/device/ptx/in_register.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/strip_plan.hpp"
#include "kernels/device/warp_reduce.cuh"

#include <cstdint>
#include <type_traits>

namespace heddle::kernels {

/// Shared memory by which the threads and blocks of a strip combine states of rows, in `turns` turns.
template <class T, class State, int turns, bool is_turned>
struct strip_storage {
    static constexpr int padding = is_turned ? 4 / sizeof(T) : 0;  ///< a bank after each row of a tile
    static constexpr int most_turned_rows = 1 << (strip_limits::log_tile - strip_limits::log_lanes);

    State parts[strip_limits::threads];
    State totals[turns][1 << strip_limits::log_most_rows];
    State block_totals[turns][strip_limits::most_blocks][1 << strip_limits::log_lanes];
    T tile[is_turned ? (1 << strip_limits::log_tile) + most_turned_rows * padding : 1];
};

/// A strip of rows that a block or a cluster reads tile by tile, in whichever order its elements lie in memory.
///
///   | tile 0   | tile 1   | tile 2   | ..      R rows, 4096 / R columns a tile
///   | block 0  | block 1  | block 0  | ..      of the cluster
///
/// Neighbouring threads take neighbours in memory. These are a column's where the matrix is column-major and a strip has up
/// to 32 rows. Else they are a row's, with gaps or without. Each thread has 8 elements of a tile and a state for each
/// place. So loads wait neither for one another nor for the computation. Passes alternate between forwards and backwards.
/// The last tile of one pass is the first of the next and still in registers, and the tiles before it are in L2. A strip
/// with one tile a block is read once. Where y has the other order than x, shared memory transposes tiles of results.
template <class T, class State, int turns, bool reads_rows, bool writes_rows>
class strip {
  public:
    static constexpr int elements = strip_limits::elements;
    using storage = strip_storage<T, State, turns, reads_rows != writes_rows>;

    /// Construct it as early as possible: other blocks write to this block's shared memory only once they know that it runs.
    template <class Matrix>
    __device__ strip(const Matrix& x, int log_rows, storage& shared)
        : shared_(shared),
          first_row_(std::int64_t{ptx::cluster_id()} << log_rows),
          x_(x.data + first_row_ * x.row_stride),
          row_stride_(x.row_stride),
          col_stride_(x.col_stride),
          cols_(x.cols),
          rows_(static_cast<int>(min(x.rows - first_row_, std::int64_t{1} << log_rows))),
          log_rows_(log_rows),
          rank_(static_cast<int>(ptx::cluster_rank())),
          blocks_(static_cast<int>(ptx::cluster_blocks())) {
        if (blocks_ > 1) ptx::cluster_arrive_relaxed();
    }

    /// Calls use(place, value) for each element; `place` is one of this thread's places.
    template <class Use>
    __device__ void for_each(const Use& use) {
        for_each_tile([&](std::int64_t) {
#pragma unroll
            for (int k = 0; k < elements; ++k)
                if (holds<reads_rows>(k)) use(k, values_[k]);
        });
    }

    /// Combines the states of all places of a row, always in the same order; total() then gives finish() of the result. `turn`
    /// counts the calls.
    template <class Merge, class Finish>
    __device__ void combine(int turn, const State (&states)[elements], const State& identity,
                            const Merge& merge, const Finish& finish) {
        const int thread = static_cast<int>(threadIdx.x);
        const int parts = share_parts(states, merge);
        ptx::sync_threads();
        const int lanes = min(warp_size, strip_limits::threads >> log_rows_);
        const int row = thread / lanes, lane = thread % lanes;
        const bool has_row = row >> log_rows_ == 0;
        State total = identity;
        if (has_row)
            for (int p = lane; p < parts; p += lanes) total = merge(total, shared_.parts[row * parts + p]);
        for (int distance = lanes / 2; distance > 0; distance /= 2)
            total = merge(total, shuffled(total, distance));
        if (blocks_ == 1) {
            if (has_row && lane == 0) shared_.totals[turn][row] = finish(total);
        } else {
            exchange(turn, has_row && lane == 0, row, total);
            if (thread >> log_rows_ == 0) {
                State all = shared_.block_totals[turn][0][thread];
                for (int block = 1; block < blocks_; ++block)
                    all = merge(all, shared_.block_totals[turn][block][thread]);
                shared_.totals[turn][thread] = finish(all);
            }
        }
        ptx::sync_threads();
    }

    /// The total of the row in which a place lies.
    __device__ const State& total(int turn, int place) const {
        return shared_.totals[turn][row_of<reads_rows>(place)];
    }

    /// Writes result(place, value, column) for each element.
    template <class Matrix, class Result>
    __device__ void write(const Matrix& y, const Result& result) {
        T* const rows = y.data + first_row_ * y.row_stride;
        for_each_tile([&](std::int64_t first_col) {
            T* const to = rows + first_col * y.col_stride;
            const int pitch = (1 << (strip_limits::log_tile - log_rows_)) + storage::padding;
#pragma unroll
            for (int k = 0; k < elements; ++k) {
                if (!holds<reads_rows>(k)) continue;
                const int row = row_of<reads_rows>(k), col = col_of<reads_rows>(k);
                const T value = static_cast<T>(result(k, values_[k], first_col + col));
                if constexpr (reads_rows == writes_rows)
                    to[row * y.row_stride + col * y.col_stride] = value;
                else
                    shared_.tile[row * pitch + col] = value;
            }
            if constexpr (reads_rows != writes_rows) {
                ptx::sync_threads();
#pragma unroll
                for (int k = 0; k < elements; ++k) {
                    const int row = row_of<writes_rows>(k), col = col_of<writes_rows>(k);
                    if (holds<writes_rows>(k))
                        to[row * y.row_stride + col * y.col_stride] = shared_.tile[row * pitch + col];
                }
                ptx::sync_threads();
            }
        });
    }

  private:
    /// The row and the column in the tile of this thread's place k.
    template <bool along_rows>
    __device__ int row_of(int k) const {
        return along_rows ? (thread_ + k * strip_limits::threads) >> (strip_limits::log_tile - log_rows_)
                          : thread_ & ((1 << log_rows_) - 1);
    }
    template <bool along_rows>
    __device__ int col_of(int k) const {
        const int at = thread_ + k * strip_limits::threads;
        return along_rows ? at & ((1 << (strip_limits::log_tile - log_rows_)) - 1) : at >> log_rows_;
    }
    /// Whether the matrix has this place.
    template <bool along_rows>
    __device__ bool holds(int k) const {
        return row_of<along_rows>(k) < rows_ && col_of<along_rows>(k) < cols_here_;
    }

    template <class Use>
    __device__ void for_each_tile(const Use& use) {
        const int log_cols = strip_limits::log_tile - log_rows_;
        const std::int64_t tiles = ((cols_ - 1) >> log_cols) + 1;
        const std::int64_t count = divide_up(tiles - rank_, blocks_);
        const std::int64_t step = std::int64_t{blocks_} << log_cols;
        std::int64_t first_col = (std::int64_t{rank_} << log_cols) + (is_backwards_ ? (count - 1) * step : 0);
#pragma unroll 1
        for (std::int64_t n = 0; n < count; ++n) {
            // Offsets are computed again for each tile: to keep two for each place would take too many registers.
            if (reads_rows && writes_rows) thread_ = ptx::in_register(thread_);
            if (first_col != first_col_) load(first_col);
            use(first_col);
            first_col += is_backwards_ ? -step : step;
        }
        is_backwards_ = !is_backwards_;
    }

    __device__ void load(std::int64_t first_col) {
        first_col_ = first_col;
        cols_here_ = static_cast<int>(min(cols_ - first_col, std::int64_t{1} << strip_limits::log_tile));
        const T* const from = x_ + first_col * col_stride_;
        T loaded[elements];
#pragma unroll
        for (int k = 0; k < elements; ++k)
            if (holds<reads_rows>(k))
                loaded[k] = from[row_of<reads_rows>(k) * row_stride_ + col_of<reads_rows>(k) * col_stride_];
#pragma unroll
        for (int k = 0; k < elements; ++k)
            values_[k] = holds<reads_rows>(k) ? static_cast<float>(loaded[k]) : 0.0f;
    }

    __device__ static State shuffled(State state, int distance) {
        auto* const numbers = reinterpret_cast<float*>(&state);
#pragma unroll
        for (int n = 0; n < static_cast<int>(sizeof(State) / sizeof(float)); ++n)
            numbers[n] = __shfl_xor_sync(0xffffffffu, numbers[n], distance);
        return state;
    }

    /// Stores the states of each row in parts, one per thread along a column or per warp along a row. Returns their number.
    template <class Merge>
    __device__ int share_parts(const State (&states)[elements], const Merge& merge) {
        const int thread = static_cast<int>(threadIdx.x);
        if constexpr (reads_rows) {
            const int log_parts = strip_limits::log_tile - log_rows_ - strip_limits::log_lanes;
#pragma unroll
            for (int k = 0; k < elements; ++k) {
                State state = states[k];
#pragma unroll
                for (int distance = warp_size / 2; distance > 0; distance /= 2)
                    state = merge(state, shuffled(state, distance));
                if (thread % warp_size == 0)
                    shared_.parts[(row_of<true>(k) << log_parts) + col_of<true>(k) / warp_size] = state;
            }
            return 1 << log_parts;
        }
        const int parts = strip_limits::threads >> log_rows_;
        State state = states[0];
#pragma unroll
        for (int k = 1; k < elements; ++k) state = merge(state, states[k]);
        shared_.parts[row_of<false>(0) * parts + (thread >> log_rows_)] = state;
        return parts;
    }

    /// Gives every block the totals of all blocks.
    __device__ void exchange(int turn, bool has_total, int row, const State& total) {
        ptx::sync_warp();
        if (turn == 0) ptx::cluster_wait();
        if (has_total) {
            const auto* const numbers = reinterpret_cast<const float*>(&total);
            auto* const places = reinterpret_cast<float*>(&shared_.block_totals[turn][rank_][row]);
            for (int block = 0; block < blocks_; ++block)
#pragma unroll
                for (int n = 0; n < static_cast<int>(sizeof(State) / sizeof(float)); ++n)
                    ptx::store_cluster(places + n, static_cast<unsigned>(block), numbers[n]);
        }
        ptx::sync_warp();
        ptx::cluster_arrive();
        ptx::cluster_wait();
    }

    storage& shared_;
    std::int64_t first_row_;
    const T* x_;
    std::int64_t row_stride_;
    std::int64_t col_stride_;
    std::int64_t cols_;
    int rows_;
    int log_rows_;
    int rank_;
    int blocks_;
    int thread_ = static_cast<int>(threadIdx.x);
    bool is_backwards_ = false;
    std::int64_t first_col_ = -1;  ///< of the tile that values_ holds
    int cols_here_ = 0;
    float values_[elements];
};

/// Launches the kernel that choose(reads_rows, writes_rows) gives for two std::bool_constant.
template <class Arguments, class Choose>
void launch_strips(const strip_plan& plan, const Arguments& arguments, cudaStream_t stream,
                   const Choose& choose) {
    const auto launch_kernel = [&](auto reads_rows, auto writes_rows) {
        launch({.blocks = {plan.blocks},
                .threads = {strip_limits::threads},
                .stream = stream,
                .cluster = plan.cluster},
               choose(reads_rows, writes_rows), arguments, plan.log_rows);
    };
    if (plan.reads_rows)
        plan.writes_rows ? launch_kernel(std::true_type{}, std::true_type{})
                         : launch_kernel(std::true_type{}, std::false_type{});
    else
        plan.writes_rows ? launch_kernel(std::false_type{}, std::true_type{})
                         : launch_kernel(std::false_type{}, std::false_type{});
}

}  // namespace heddle::kernels
