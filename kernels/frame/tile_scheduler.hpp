#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace heddle::kernels::frame {

/// Workers that share a tile add their sums up in groups of this size, and then the sums of the groups.
__host__ __device__ constexpr int added_at_once(int sharers) {
    constexpr int most = 12;
    return sharers <= most * 3 / 2 ? sharers : most;
}

/// Memory in which workers that share a tile leave their sums.
struct shared_sums {
    float* slots = nullptr;
    unsigned* tickets = nullptr;  ///< zero between calls
    /// Each worker has a part of at most one shared tile, and another kernel adds the parts up (add_parts.cuh). Slots are
    /// those of workers.
    bool added_apart = false;
};

/// The work on a tile of C, at (row, col) counted in tiles: the steps [first, last) along k that a worker multiplies.
struct tile_work {
    int row;
    int col;
    int first;
    int last;
    int batch;
    int tile;  ///< its number among the shared tiles; -1 if not shared
};

/// The assignment of tiles of C to `workers`, each a block or a cluster of blocks, which run side by side. The first
/// `whole` tiles go round among them. The steps of the other tiles form one sequence, cut into equal lengths for the first
/// `streams` workers (stream-K). Such a worker has the end of one tile, whole tiles, and the beginning of another.
struct tile_schedule {
    int batches;  ///< all with the same number of tiles
    int down;
    int across;
    int group;  ///< rows of tiles visited column by column, so that concurrent tiles share A and B
    int steps;  ///< of a tile
    int workers;
    int whole;
    int streams;
    bool low_last = false;     ///< the last row of tiles takes less time and comes after all others
    bool narrow_last = false;  ///< then comes the last column

    __host__ __device__ int tiles() const { return batches * down * across; }
    __host__ __device__ std::int64_t streamed_steps() const { return std::int64_t{tiles() - whole} * steps; }
    __host__ __device__ std::int64_t stream_begin(int worker) const {
        return streamed_steps() * worker / streams;
    }
    /// The worker that has this one of the streamed steps.
    __host__ __device__ int worker_of(std::int64_t step) const {
        return static_cast<int>(((step + 1) * streams - 1) / streamed_steps());
    }
    __host__ __device__ int first_worker(int shared_tile) const {
        return worker_of(std::int64_t{shared_tile} * steps);
    }
    __host__ __device__ int last_worker(int shared_tile) const {
        return worker_of(std::int64_t{shared_tile} * steps + steps - 1);
    }
    /// A worker shares at most two tiles: the one where its steps begin, and another one where they end.
    __host__ __device__ int slot(int worker, int shared_tile) const {
        return 2 * worker + (stream_begin(worker) < std::int64_t{shared_tile} * steps ? 1 : 0);
    }

    __host__ __device__ tile_work place(int index) const {
        const int batch = index / (down * across);
        index -= batch * (down * across);
        const int rows = down - (low_last ? 1 : 0), cols = across - (narrow_last ? 1 : 0);
        const int low_begin = rows * cols, narrow_begin = down * cols;
        if (index >= narrow_begin) return {index - narrow_begin, cols, 0, steps, batch, -1};
        if (index >= low_begin) return {rows, index - low_begin, 0, steps, batch, -1};
        const int group_tiles = group * cols;
        const int first = index / group_tiles * group;
        const int height = rows - first < group ? rows - first : group;
        const int within = index % group_tiles;
        return {first + within % height, within / height, 0, steps, batch, -1};
    }
};

/// The work of one worker, piece by piece. Without `streams` all tiles are whole.
template <bool streams = true>
class tile_worker {
  public:
    __host__ __device__ tile_worker(const tile_schedule& schedule, int worker)
        : schedule_(schedule),
          index_(worker),
          at_(worker < schedule.streams ? schedule.stream_begin(worker) : 0),
          end_(worker < schedule.streams ? schedule.stream_begin(worker + 1) : 0) {}

    /// Gets the next piece; returns whether there is one.
    __host__ __device__ bool next(tile_work& work) {
        if (index_ < schedule_.whole) {
            work = schedule_.place(index_);
            index_ += schedule_.workers;
            return true;
        }
        if (!streams || at_ >= end_) return false;
        const int shared_tile = static_cast<int>(at_ / schedule_.steps);
        work = schedule_.place(schedule_.whole + shared_tile);
        work.first = static_cast<int>(at_ % schedule_.steps);
        if (end_ - at_ < schedule_.steps - work.first) work.last = work.first + static_cast<int>(end_ - at_);
        if (work.last - work.first < schedule_.steps) work.tile = shared_tile;
        at_ += work.last - work.first;
        return true;
    }

  private:
    const tile_schedule& schedule_;
    int index_;
    std::int64_t at_;
    std::int64_t end_;
};

/// The tiles of several products as one sequence, product after product. All are whole and go round among the workers. So a
/// worker begins the next product when the last tiles of one do not need it.
template <int max_products>
struct grouped_schedule {
    int workers = 0;
    int products = 0;
    int begin[max_products + 1] = {};     ///< of a product's tiles in the sequence; then its end
    tile_schedule of[max_products] = {};  ///< the tiles of each product, without regard to workers

    void add(const tile_schedule& product) {
        of[products] = product;
        begin[products + 1] = begin[products] + product.tiles();
        ++products;
    }
};

/// The tiles of one worker.
template <int max_products>
class grouped_worker {
  public:
    __host__ __device__ grouped_worker(const grouped_schedule<max_products>& schedule, int worker)
        : schedule_(schedule), index_(worker) {}

    /// Gets the next tile; returns whether there is one.
    __host__ __device__ bool next(int& product, tile_work& work) {
        while (product_ < schedule_.products && index_ >= schedule_.begin[product_ + 1]) ++product_;
        if (product_ == schedule_.products) return false;
        product = product_;
        work = schedule_.of[product_].place(index_ - schedule_.begin[product_]);
        index_ += schedule_.workers;
        return true;
    }

  private:
    const grouped_schedule<max_products>& schedule_;
    int product_ = 0;
    int index_;
};

}  // namespace heddle::kernels::frame
