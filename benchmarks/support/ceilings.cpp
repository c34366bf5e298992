#include "benchmarks/support/ceilings.hpp"

#include "benchmarks/support/kernels.hpp"
#include "benchmarks/support/random.hpp"
#include "benchmarks/support/rows.hpp"
#include <heddle/buffer.hpp>
#include <heddle/copy.hpp>
#include <heddle/device.hpp>

#include <fmt/format.h>

#include <cstdint>

namespace heddle::bench {

void copy_ceiling() {
    constexpr std::int64_t bytes = std::int64_t{1} << 30;
    device_row({fmt::format("copy/u8/{}", bytes), 2.0 * bytes}, "cuda", temperature::cold, [] {
        return [source = random_on_device<std::uint8_t>(bytes),
                destination = device_buffer<std::uint8_t>(bytes, stream())]() mutable {
            copy(source, destination, stream());
        };
    });
}

void fma_ceiling() {
    if (!has_device()) return;
    const device_traits& device = traits_of(current_device());
    const int blocks = device.sm_count * (device.max_threads_per_sm / fma_block);
    const int threads = blocks * fma_block;
    device_row({.name = fmt::format("fma/f32/{}x{}", threads, fma_per_thread),
                .operations = 2.0 * threads * fma_per_thread},
               "cuda", temperature::cold, [blocks] {
                   return [blocks, sink = device_buffer<float>(1, stream())]() mutable {
                       fma_chains(blocks, sink.data(), stream());
                   };
               });
}

}  // namespace heddle::bench
