// Copies input and filters that the tensor memory accelerator cannot address, before the convolution. They are a part
// of a rung's plan.
//
//   3 channels of 16 bits:  | pixel 0, 6 bytes | pixel 1 begins at 6 | pixel 2 at 12 ...
//   the copy, of 8:         | pixel 0, 6 bytes, and 10 of zeros      | pixel 1 begins at 16 ...
//
// The accelerator addresses pixels and taps only at multiples of 16 bytes. Without it, threads find and move each
// element of each window. A copy reads and writes an operand once, while a convolution reads each pixel once for each
// tap. Channels of zeros leave sums as they are. Only operands that need it are copied, and only pixels that windows
// meet.
//
// A thread puts packets of 16 bytes together. It reads words of 4 bytes that lie within a pixel, and single elements at
// the pixel's ends. So it never reads outside of the view. Takes any address and any strides. What limits it: memory.

#include "kernels/conv/launch.hpp"
#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/grid_dependency.cuh"
#include "kernels/device/quick_division.cuh"
#include "kernels/device/vector.cuh"
#include <heddle/types.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace heddle::kernels::conv {
namespace {

constexpr int threads = 256;
constexpr int at_once = 4;                   ///< packets of a thread
constexpr int blocks_of_multiprocessor = 4;  ///< at least, so that enough loads are on their way
constexpr std::int64_t packets_of_block = threads * at_once;

constexpr int packet_words = max_vector_bytes / static_cast<int>(sizeof(unsigned));
using packet = vector<unsigned, packet_words>;

/// The first element of a packet, and the number of elements from there to the end of its pixel.
template <class Bits>
struct source {
    const Bits* begin;
    int left;  ///< counted up to one more than a packet has
};

/// A copy of a tensor, or of filters as a tensor. `Bits` has the size of an element.
template <class Bits>
struct copy {
    static constexpr int width = max_vector_bytes / static_cast<int>(sizeof(Bits));

    tensor_view<const Bits> from;
    packet* to;            ///< those of a pixel follow those of the pixel before
    std::int64_t packets;  ///< of all pixels; fewer than 2^32
    wide_division by_packets, by_width, by_height;

    copy(const tensor_view<const Bits>& from, std::byte* to)
        : from(from),
          to(reinterpret_cast<packet*>(to)),
          packets(from.count * from.height * from.width * of_pixel(from)),
          by_packets(static_cast<std::uint32_t>(of_pixel(from))),
          by_width(static_cast<std::uint32_t>(from.width)),
          by_height(static_cast<std::uint32_t>(from.height)) {}

    __host__ __device__ unsigned blocks() const {
        return static_cast<unsigned>((packets + packets_of_block - 1) / packets_of_block);
    }

    /// The source of packet i.
    __device__ source<Bits> source_of(unsigned i) const {
        const unsigned pixel = by_packets.quotient(i), line = by_width.quotient(pixel),
                       image = by_height.quotient(line), x = pixel - line * by_width.divisor,
                       y = line - image * by_height.divisor;
        const std::int64_t channel = std::int64_t{i - pixel * by_packets.divisor} * width;
        const Bits* const begin =
            from.data + image * from.image_stride + y * from.row_stride + x * from.col_stride + channel;
        return {begin, static_cast<int>(::min(from.channels - channel, std::int64_t{width + 1}))};
    }

  private:
    static std::int64_t of_pixel(const tensor_view<const Bits>& t) {
        return padded_channels(t.channels, sizeof(Bits)) / width;
    }
};

/// Up to two copies, which one launch makes.
template <class Bits>
struct copies {
    copy<Bits> of[2];
};

/// The elements of a packet, and zeros behind the last one. Where a packet begins within a word of memory, its words
/// are put together of two.
template <class Bits>
__device__ packet read(const source<Bits>& from) {
    packet result;
    if constexpr (sizeof(Bits) == sizeof(unsigned)) {
#pragma unroll
        for (int w = 0; w < packet_words; ++w) result[w] = w < from.left ? from.begin[w] : 0;
    } else {
        const int skipped = reinterpret_cast<std::uintptr_t>(from.begin) / sizeof(Bits) % 2;
        unsigned before = skipped > 0 ? unsigned{from.begin[0]} << 16 : 0;
        const unsigned of_two = skipped > 0 ? 0x5432 : 0x7654;
#pragma unroll
        for (int w = 0; w < packet_words; ++w) {
            const int e = 2 * w + skipped;
            unsigned word = 0;
            if (e + 1 < from.left)
                word = *reinterpret_cast<const unsigned*>(from.begin + e);
            else if (e < from.left)
                word = from.begin[e];
            result[w] = __byte_perm(before, word, of_two);
            before = word;
        }
    }
    return result;
}

/// The kernel that follows must not begin early. Its blocks would wait beside these blocks, and take their room.
template <class Bits>
__global__ void __launch_bounds__(threads, blocks_of_multiprocessor)
    pad(const __grid_constant__ copies<Bits> all) {
    ptx::wait_for_grids_before();
    const unsigned of_first = all.of[0].blocks(), which = blockIdx.x < of_first ? 0 : 1;
    const copy<Bits>& c = all.of[which];
    const std::int64_t first = (blockIdx.x - which * of_first) * packets_of_block + threadIdx.x;
    source<Bits> from[at_once];
    packet moved[at_once];
#pragma unroll
    for (int i = 0; i < at_once; ++i)
        from[i] = c.source_of(static_cast<unsigned>(::min(first + i * threads, c.packets - 1)));
#pragma unroll
    for (int i = 0; i < at_once; ++i) moved[i] = read(from[i]);
#pragma unroll
    for (int i = 0; i < at_once; ++i)
        if (first + i * threads < c.packets) c.to[first + i * threads] = moved[i];
}

}  // namespace

template <class In, class Out>
arguments<In, Out> launch_copies(const plan& plan, const arguments<In, Out>& a, cudaStream_t stream) {
    using bits = std::conditional_t<sizeof(In) == sizeof(std::uint16_t), std::uint16_t, unsigned>;
    static_assert(sizeof(bits) == sizeof(In));
    arguments<In, Out> result = a;
    if (plan.copies.input) keep_met_pixels(result);
    std::byte* free = a.scratch;
    /// Gives a copy its place, and puts it where the operand is. Without work where the operand is read as it lies.
    const auto copy_of = [&](bool is_copied, tensor_view<const In> t, auto& operand) {
        if (!is_copied) return copy<bits>({}, nullptr);
        const copy<bits> made({reinterpret_cast<const bits*>(t.data), t.count, t.height, t.width, t.channels,
                               t.col_stride, t.row_stride, t.image_stride},
                              free);
        operand = {reinterpret_cast<const In*>(free), t.count, t.height, t.width,
                   padded_channels(t.channels, sizeof(In))};
        free += dense_bytes(layout_of(operand));
        return made;
    };
    const filter_view<const In>& f = a.filters;
    const copies<bits> all{copy_of(plan.copies.input, result.input, result.input),
                           copy_of(plan.copies.filters,
                                   {f.data, f.outputs, f.height, f.width, f.channels, f.col_stride,
                                    f.row_stride, f.output_stride},
                                   result.filters)};
    launch({.blocks = {std::int64_t{all.of[0].blocks()} + all.of[1].blocks()},
            .threads = {threads},
            .stream = stream,
            .begins_early = true},
           pad<bits>, all);
    return result;
}

#define INSTANTIATE(In, Out) \
    template arguments<In, Out> launch_copies(const plan&, const arguments<In, Out>&, cudaStream_t);
INSTANTIATE(float, float)
INSTANTIATE(half, half)
INSTANTIATE(half, float)
INSTANTIATE(bfloat16, bfloat16)
INSTANTIATE(bfloat16, float)
#undef INSTANTIATE

}  // namespace heddle::kernels::conv
