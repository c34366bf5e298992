#pragma once

#include "kernels/device/last_block.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/ptx/warpgroup.cuh"
#include "kernels/device/warpgroup_tile.cuh"
#include "kernels/frame/tile_scheduler.hpp"

#include <cstdint>

/// How workers that share a tile of C add up their sums along k.
namespace heddle::kernels::frame {

/// The exchange of one warpgroup, which has 64 x n sums of a tile. slot_n is the most columns that such a tile may have.
template <int n, int slot_n = n>
class sum_exchange {
  public:
    static constexpr int count = n / 2;  ///< sums of a thread

    /// This is warpgroup `group` of the `groups` of a worker. Nobody else uses `barrier` and `flag` meanwhile.
    __device__ sum_exchange(const tile_schedule& schedule, const shared_sums& memory, int worker, int groups,
                            int group, int barrier, bool& flag)
        : schedule_(schedule),
          memory_(memory),
          worker_(worker),
          groups_(groups),
          group_(group),
          barrier_(barrier),
          flag_(flag) {}

    /// The last worker of a shared tile adds up the sums of all, always in the same order. Many workers are added in groups
    /// first. Returns whether this warpgroup now has the tile's sums.
    __device__ bool combine(int tile, float (&sums)[count]) const {
        const int first = schedule_.first_worker(tile);
        const int workers = schedule_.last_worker(tile) - first + 1;
        const int size = added_at_once(workers);
        const auto slot_of = [&](int index) { return schedule_.slot(first + index, tile); };
        const int begin = (worker_ - first) / size * size;
        const int end = ::min(begin + size, workers);
        if (!is_last(slot_of(begin), end - begin, leave(slot_of(worker_ - first), sums))) return false;
        clear(sums);
        for (int i = begin; i < end; ++i) add(slot_of(i), sums);
        if (size == workers) return true;

        if (!is_last(2 * schedule_.streams + tile, (workers + size - 1) / size, leave(slot_of(begin), sums)))
            return false;
        clear(sums);
        for (int i = 0; i < workers; i += size) add(slot_of(i), sums);
        return true;
    }

  private:
    /// This warpgroup's slot or ticket, where `index` counts the slots of workers or the tickets of tiles.
    __device__ int share(int index) const { return index * groups_ + group_; }
    __device__ void sync() const { ptx::sync_threads(barrier_, warpgroup_threads); }

    /// A slot stores one sum of all threads after another. Packets would need sums in neighbouring registers.
    __device__ float* slot(int index) const {
        return memory_.slots + std::int64_t{share(index)} * (warpgroup_threads * slot_n / 2) +
               threadIdx.x % warpgroup_threads;
    }

    __device__ partials_left leave(int index, const float (&sums)[count]) const {
        return kernels::leave([&] {
            float* const to = slot(index);
#pragma unroll
            for (int i = 0; i < count; ++i) to[i * warpgroup_threads] = sums[i];
            ptx::fence_device();
            sync();
        });
    }

    __device__ void add(int index, float (&sums)[count]) const {
        const float* const from = slot(index);
#pragma unroll
        for (int i = 0; i < count; ++i) sums[i] += __ldcg(from + i * warpgroup_threads);
    }

    /// Whether this warpgroup is the last of `sharers` to call this. If so, it sees what the others left.
    __device__ bool is_last(int index, int sharers, partials_left left) const {
        if (threadIdx.x % warpgroup_threads == 0)
            flag_ = draws_last(memory_.tickets + share(index), static_cast<unsigned>(sharers - 1), left);
        sync();
        const bool result = flag_;
        ptx::fence_device();
        sync();  // all have read the flag before it is written again
        return result;
    }

    static __device__ void clear(float (&sums)[count]) {
#pragma unroll
        for (float& sum : sums) sum = 0;
    }

    const tile_schedule& schedule_;
    const shared_sums& memory_;
    int worker_;
    int groups_;
    int group_;
    int barrier_;
    bool& flag_;
};

}  // namespace heddle::kernels::frame
