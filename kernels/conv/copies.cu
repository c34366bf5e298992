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
#include "kernels/device/index_division.cuh"
#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/grid_dependency.cuh"
#include "kernels/device/quick_division.cuh"
#include "kernels/device/vector.cuh"
#include <heddle/types.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace heddle::kernels::conv {
namespace {

constexpr int threads = 256;
constexpr int at_once = 4;                   ///< packets of a thread
constexpr int blocks_of_multiprocessor = 4;  ///< at least, so that enough loads are on their way
constexpr std::int64_t packets_of_block = threads * at_once;
constexpr std::int64_t max_blocks = std::int64_t{1} << 29;  ///< of each copy; a grid has those of two copies

constexpr int packet_words = max_vector_bytes / static_cast<int>(sizeof(unsigned));
using packet = vector<unsigned, packet_words>;

/// A copy of a tensor, or of filters as a tensor. `Bits` has the size of an element. Extents fit 31 bits.
template <class Bits>
struct copy {
    static constexpr int width = max_vector_bytes / static_cast<int>(sizeof(Bits));

    tensor_view<const Bits> from;
    packet* to;            ///< those of a pixel follow those of the pixel before
    std::int64_t packets;  ///< of all pixels
    index_division by_packets, by_width, by_height;
    wide_division by_few_packets, by_short_width, by_short_height;  ///< the same of 32-bit numbers

    copy(const tensor_view<const Bits>& from, std::byte* to)
        : from(from),
          to(reinterpret_cast<packet*>(to)),
          packets(from.count * from.height * from.width * of_pixel(from)),
          by_packets(of_pixel(from), packets),
          by_width(from.width, packets),
          by_height(from.height, packets),
          by_few_packets(short_divisor(by_packets)),
          by_short_width(short_divisor(by_width)),
          by_short_height(short_divisor(by_height)) {}

    std::int64_t blocks() const {
        return packets == 0 ? 0 : std::min(divide_up(packets, packets_of_block), max_blocks);
    }

  private:
    static std::int64_t of_pixel(const tensor_view<const Bits>& t) {
        return padded_channels(t.channels, sizeof(Bits)) / width;
    }
    static std::uint32_t short_divisor(const index_division& by) {
        return static_cast<std::uint32_t>(by.divisor);
    }
};

/// The place of a packet in a tensor.
struct place {
    std::int64_t image;
    unsigned y, x, packet;

    template <class Bits>
    __device__ place(const copy<Bits>& c, std::int64_t i) {
        const std::int64_t pixel = c.by_packets.quotient(i), line = c.by_width.quotient(pixel);
        image = c.by_height.quotient(line);
        packet = static_cast<unsigned>(i - pixel * c.by_packets.divisor);
        x = static_cast<unsigned>(pixel - line * c.by_width.divisor);
        y = static_cast<unsigned>(line - image * c.by_height.divisor);
    }

    /// The place that is a few packets behind.
    template <class Bits>
    __device__ place after(const copy<Bits>& c, unsigned few) const {
        place to = *this;
        const auto carry = [](unsigned& digit, const wide_division& by) {
            const unsigned carried = by.quotient(digit);
            digit -= carried * by.divisor;
            return carried;
        };
        to.packet += few;
        to.x += carry(to.packet, c.by_few_packets);
        to.y += carry(to.x, c.by_short_width);
        to.image += carry(to.y, c.by_short_height);
        return to;
    }
};

/// The first element of a packet, and the number of elements from there to the end of its pixel.
template <class Bits>
struct source {
    const Bits* begin;
    int left;  ///< counted up to one more than a packet has

    __device__ source(const copy<Bits>& c, const place& at) {
        constexpr int width = copy<Bits>::width;
        const std::int64_t channel = std::int64_t{at.packet} * width;
        begin = c.from.data + at.image * c.from.image_stride + at.y * c.from.row_stride +
                at.x * c.from.col_stride + channel;
        left = static_cast<int>(::min(c.from.channels - channel, std::int64_t{width + 1}));
    }
    source() = default;
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

/// Does the work of block `block` of a copy that has `blocks`.
template <class Bits>
__device__ void pad_pixels(const copy<Bits>& c, std::int64_t block, std::int64_t blocks) {
    for (std::int64_t first = block * packets_of_block; first < c.packets;
         first += blocks * packets_of_block) {
        const place begin(c, first);
        const auto of_block = static_cast<unsigned>(::min(c.packets - first, packets_of_block));
        source<Bits> from[at_once];
        packet moved[at_once];
#pragma unroll
        for (int i = 0; i < at_once; ++i)
            from[i] = source<Bits>(c, begin.after(c, ::min(threadIdx.x + i * threads, of_block - 1)));
#pragma unroll
        for (int i = 0; i < at_once; ++i) moved[i] = read(from[i]);
#pragma unroll
        for (int i = 0; i < at_once; ++i)
            if (threadIdx.x + i * threads < of_block) c.to[first + threadIdx.x + i * threads] = moved[i];
    }
}

/// The kernel that follows must not begin early. Its blocks would wait beside these blocks, and take their room.
template <class Bits>
__global__ void __launch_bounds__(threads, blocks_of_multiprocessor)
    pad(const __grid_constant__ copy<Bits> first, const __grid_constant__ copy<Bits> second,
        std::int64_t blocks_of_first) {
    ptx::wait_for_grids_before();
    if (blockIdx.x < blocks_of_first)
        pad_pixels(first, blockIdx.x, blocks_of_first);
    else
        pad_pixels(second, blockIdx.x - blocks_of_first, gridDim.x - blocks_of_first);
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
    const copy<bits> input = copy_of(plan.copies.input, result.input, result.input),
                     filters = copy_of(plan.copies.filters,
                                       {f.data, f.outputs, f.height, f.width, f.channels, f.col_stride,
                                        f.row_stride, f.output_stride},
                                       result.filters);
    launch({.blocks = {input.blocks() + filters.blocks()},
            .threads = {threads},
            .stream = stream,
            .begins_early = true},
           pad<bits>, input, filters, input.blocks());
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
