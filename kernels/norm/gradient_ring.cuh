#pragma once

#include "kernels/device/ptx/cp_async.cuh"
#include "kernels/device/ptx/in_register.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/row.cuh"
#include "kernels/norm/gradient_limits.cuh"
#include "kernels/norm/tuning/generic.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

/// Rings of rows that are copied ahead to shared memory. All threads that share a row call start() and take().
namespace heddle::kernels::norm {

/// A thread's part of the rows to come: each stage has its packets of x, then of dy. Packets have 4 bytes or more.
template <class T, int width>
class gradient_packet_ring {
  public:
    using share = row_share<T, width, gradient_limits::elements>;
    using packet = typename share::packet;
    static constexpr int stages = gradient_sharing::stages(sizeof(T));

    __device__ gradient_packet_ring(std::byte* shared, unsigned thread)
        : mine_(reinterpret_cast<packet*>(shared) + thread / warp_size * (stages * stage_packets) +
                thread % warp_size) {}

    /// Starts to copy the next row. Where there is no such row, `part` holds nothing.
    __device__ void start(const share& part, const T* x, const T* dy) {
        const packet* const of_x = ptx::in_register(&part.at(x, 0));
        const packet* const of_dy = ptx::in_register(&part.at(dy, 0));
#pragma unroll
        for (int p = 0; p < share::packets; ++p) {
            if (!part.holds(p)) continue;
            ptx::cp_async<sizeof(packet)>(&at(p), of_x + p * part.step, sizeof(packet));
            ptx::cp_async<sizeof(packet)>(&at(share::packets + p), of_dy + p * part.step, sizeof(packet));
        }
        ptx::cp_async_commit_group();
        stage_ = stage_ + 1 == stages ? 0 : stage_ + 1;
    }

    /// Loads the oldest row; start() then overwrites its place. Elements that the row lacks are 0.
    __device__ void take(const share& part, const T*, const T*, float (&xs)[gradient_limits::elements],
                         float (&dys)[gradient_limits::elements]) {
        ptx::cp_async_wait_group<stages - 1>();
#pragma unroll
        for (int p = 0; p < share::packets; ++p) {
            const packet of_x = at(p), of_dy = at(share::packets + p);
#pragma unroll
            for (int e = 0; e < width; ++e) {
                xs[p * width + e] = part.holds(p) ? static_cast<float>(of_x[e]) : 0.0f;
                dys[p * width + e] = part.holds(p) ? static_cast<float>(of_dy[e]) : 0.0f;
            }
        }
    }

  private:
    static constexpr int stage_packets = 2 * share::packets * warp_size;  ///< per warp

    __device__ packet& at(int p) {
        return mine_[stage_ * stage_packets + p * warp_size];
    }

    packet* mine_;
    int stage_ = 0;
};

/// The same for single elements of 2 bytes. An asynchronous copy takes at least a word: two of them, aligned to 4 bytes. A
/// warp copies the words that lie within its run of the row, and each lane takes words 32 apart. A lone element before the
/// first word or after the last is loaded into a register. The next start() stores it in shared memory:
///
///   run at an odd address:   0 | 1 2 | 3 4 | ... | 509 510 | 511
///   its place:               1 2 | 3 4 | ... | 509 510 | 511 0
template <class T>
class gradient_element_ring {
  public:
    using share = row_share<T, 1, gradient_limits::elements>;
    static constexpr int stages = gradient_sharing::stages(sizeof(T));

    __device__ gradient_element_ring(std::byte* shared, unsigned thread)
        : of_warp_(reinterpret_cast<T*>(shared) + thread / warp_size * (stages * 2 * run)),
          lane_(ptx::in_register(static_cast<int>(thread % warp_size))) {}

    __device__ void start(const share& part, const T* x, const T* dy) {
        ptx::sync_warp();  // all lanes have taken the row whose place is overwritten
        if (lone_place_ >= 0) of_warp_[lone_place_] = lone_;
        lone_place_ = -1;
        const int count = part.elements_of_warp(), place = stage_ * 2 * run;
        x += part.first - lane_;
        dy += part.first - lane_;
        copy_words(of_warp_ + place, x, count);
        copy_words(of_warp_ + place + run, dy, count);
        ptx::cp_async_commit_group();

        // The first four lanes take the lone elements: x before its words, x after them, dy before and after.
        const bool is_of_dy = lane_ & 2, is_last = lane_ & 1;
        const T* const from = is_of_dy ? dy : x;
        const int odd = is_odd(from), element = is_last ? count - 1 : 0;
        const bool is_alone = is_last ? count > odd && (count - odd) % 2 != 0 : count > 0 && odd != 0;
        if (lane_ < 4 && is_alone) {
            lone_ = from[element];
            lone_place_ = place + (is_of_dy ? run : 0) + place_of(element, odd);
        }
        stage_ = stage_ + 1 == stages ? 0 : stage_ + 1;
    }

    __device__ void take(const share& part, const T* x, const T* dy, float (&xs)[gradient_limits::elements],
                         float (&dys)[gradient_limits::elements]) {
        ptx::cp_async_wait_group<stages - 1>();
        ptx::sync_warp();  // the other lanes' copies have arrived
        const T* const of_stage = of_warp_ + stage_ * 2 * run;
        read(of_stage, is_odd(x + part.first - lane_), part, xs);
        read(of_stage + run, is_odd(dy + part.first - lane_), part, dys);
    }

  private:
    static constexpr int run = gradient_limits::warp_elements;  ///< elements per warp
    static_assert(sizeof(T) == 2 && stages > 1, "a lone element comes a turn before its row is taken");

    struct alignas(4) word {
        T elements[2];
    };

    /// 1 where the address is no multiple of a word's size, else 0.
    __device__ static int is_odd(const T* address) {
        return static_cast<int>(reinterpret_cast<std::uintptr_t>(address) / sizeof(T) % 2);
    }
    /// The index of a run's element in its place. An element before the first word goes to the end.
    __device__ static int place_of(int element, int odd) { return (element - odd) & (run - 1); }

    __device__ void copy_words(T* to, const T* from, int count) const {
        const int odd = is_odd(from), words = (count - odd) / 2;
        const auto* const first = ptx::in_register(reinterpret_cast<const word*>(from + odd) + lane_);
        auto* const place = reinterpret_cast<word*>(to) + lane_;
#pragma unroll
        for (int w = 0; w < run / 2; w += warp_size)
            if (w < words - lane_) ptx::cp_async<sizeof(word)>(place + w, first + w, sizeof(word));
    }

    __device__ void read(const T* from, int odd, const share& part,
                         float (&values)[gradient_limits::elements]) const {
#pragma unroll
        for (int p = 0; p < share::packets; ++p) {
            const int element = lane_ + p * warp_size;
            const T value = from[p == 0 ? place_of(element, odd) : element - odd];
            values[p] = part.holds(p) ? static_cast<float>(value) : 0.0f;
        }
    }

    T* of_warp_;
    int lane_;
    int stage_ = 0;
    T lone_{};
    int lone_place_ = -1;
};

template <class T, int width>
using gradient_ring =
    std::conditional_t<width * sizeof(T) == 2, gradient_element_ring<T>, gradient_packet_ring<T, width>>;

}  // namespace heddle::kernels::norm
