#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace heddle::kernels::frame {

/// Who share a tile add up in groups of this many, and then what the groups have.
__host__ __device__ constexpr int added_at_once(int sharers) {
    constexpr int most = 12;
    return sharers <= most * 3 / 2 ? sharers : most;
}

/// Where workers that share a tile leave their sums.
struct shared_sums {
    float* slots = nullptr;
    unsigned* tickets = nullptr;  ///< zero between calls
};

/// A tile of C, in tiles, and the steps along k [first, last) of it that a worker multiplies.
struct tile_work {
    int row;
    int col;
    int first;
    int last;
    int batch;
    int tile;  ///< of those that several workers share; else -1
};

/// Who does which tiles of C. `workers` work side by side, each a block or a cluster of blocks. The first `whole` tiles go
/// round among them, one after another. The steps of the others are one long row that is cut into equal lengths for the
/// first `streams` workers (stream-K): such a worker has the end of one tile, whole tiles, the beginning of another.
struct tile_schedule {
    int batches;  ///< of as many tiles each
    int down;
    int across;
    int group;  ///< rows of tiles that are gone through column by column, so that what runs together shares A and B
    int steps;  ///< of a tile
    int workers;
    int whole;
    int streams;
    bool low_last = false;     ///< the lowest row of tiles, which takes less time, comes after all others,
    bool narrow_last = false;  ///< and after that the right column

    __host__ __device__ int tiles() const { return batches * down * across; }
    __host__ __device__ std::int64_t streamed_steps() const { return std::int64_t{tiles() - whole} * steps; }
    __host__ __device__ std::int64_t stream_begin(int worker) const {
        return streamed_steps() * worker / streams;
    }
    /// Who has this of the streamed steps.
    __host__ __device__ int worker_of(std::int64_t step) const {
        return static_cast<int>(((step + 1) * streams - 1) / streamed_steps());
    }
    __host__ __device__ int first_worker(int shared_tile) const {
        return worker_of(std::int64_t{shared_tile} * steps);
    }
    __host__ __device__ int last_worker(int shared_tile) const {
        return worker_of(std::int64_t{shared_tile} * steps + steps - 1);
    }
    /// A worker shares two tiles at most: the one in which it begins, and another in which it ends.
    __host__ __device__ int slot(int worker, int shared_tile) const {
        return 2 * worker + (stream_begin(worker) < std::int64_t{shared_tile} * steps ? 1 : 0);
    }

    __host__ __device__ tile_work place(int index) const {
        const int batch = index / (down * across);
        index -= batch * (down * across);
        const int rows = down - (low_last ? 1 : 0), cols = across - (narrow_last ? 1 : 0);
        const int of_low = rows * cols, of_narrow = down * cols;
        if (index >= of_narrow) return {index - of_narrow, cols, 0, steps, batch, -1};
        if (index >= of_low) return {rows, index - of_low, 0, steps, batch, -1};
        const int of_group = group * cols;
        const int first = index / of_group * group;
        const int height = rows - first < group ? rows - first : group;
        const int within = index % of_group;
        return {first + within % height, within / height, 0, steps, batch, -1};
    }
};

/// The work of one worker, piece by piece. Where nothing streams, all tiles are whole.
template <bool streams = true>
class tile_worker {
  public:
    __host__ __device__ tile_worker(const tile_schedule& schedule, int worker)
        : schedule_(schedule),
          index_(worker),
          at_(worker < schedule.streams ? schedule.stream_begin(worker) : 0),
          end_(worker < schedule.streams ? schedule.stream_begin(worker + 1) : 0) {}

    /// Whether there is more.
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

/// The tiles of several products in one row, product after product, all whole, that go round among the workers: who is not
/// needed for the last tiles of a product begins the next.
template <int max_products>
struct grouped_schedule {
    int workers = 0;
    int products = 0;
    int begin[max_products + 1] = {};     ///< of a product's tiles in the row; then the row's end
    tile_schedule of[max_products] = {};  ///< a product's tiles, whoever does them

    void add(const tile_schedule& product) {
        of[products] = product;
        begin[products + 1] = begin[products] + product.tiles();
        ++products;
    }
};

/// The work of one worker, tile by tile.
template <int max_products>
class grouped_worker {
  public:
    __host__ __device__ grouped_worker(const grouped_schedule<max_products>& schedule, int worker)
        : schedule_(schedule), index_(worker) {}

    /// Whether there is more.
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
