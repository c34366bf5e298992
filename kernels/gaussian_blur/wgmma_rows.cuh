#pragma once

#include "kernels/device/border.cuh"
#include "kernels/device/pipeline.cuh"
#include "kernels/device/ptx/cp_async.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/ptx/tensor_copy.cuh"
#include "kernels/device/warpgroup_tile.cuh"
#include "kernels/gaussian_blur/plan/wgmma_xy.hpp"
#include <heddle/image.hpp>
#include <heddle/view.hpp>

#include <cstdint>

/// The parameters of wgmma_xy, the steps of a block, and how rows come to shared memory.
namespace heddle::kernels::gaussian_blur::wgmma_xy {

constexpr int warp_threads = 32;
constexpr int group_threads = 128;
static_assert(tile::threads == (tile::groups + 1) * group_threads);
static_assert(tile::load_warps * warp_threads == group_threads);

/// Operands along k have 128 bytes in a row.
using operand = warpgroup_tile<std::uint8_t, tile::side, true>;
static_assert(operand::step == tile::depth);
static_assert(operand::row == tile::operand_row && operand::bytes == tile::operand_bytes);
/// W_y, of 32 rows of results.
using operand_y = warpgroup_tile<std::uint8_t, tile::depth, true>;
static_assert(operand_y::bytes == tile::operand_y_bytes);
static_assert((1 + tile::before) * tile::depth <= operand_y::row);

/// Named barriers of a block.
constexpr int barrier_of_all = 0;
constexpr int barrier_of_loaders = 1;
constexpr int barrier_of_groups = 2;
constexpr int first_group_barrier = 3;

struct parameters {
    CUtensorMap halves;  ///< boxes of 32 rows of the source, half a step's
    CUtensorMap result;  ///< used if stores_boxes
    image_batch_view<const std::uint8_t> source;
    image_batch_view<std::uint8_t> destination;
    int width;  ///< of the source
    int height;
    heddle::border border;
    std::uint8_t border_value;
    bool has_one_source;  ///< for all images
    bool stores_boxes;
    bool stores_words;
    int per_channel;  ///< 2^16 / channels: a product with it divides small numbers by the channels
    int x;            ///< in values
    int y;
    int lead;   ///< values of a window before a warpgroup's own columns
    int reach;  ///< the radius along x, in values
    int radius_y;
    int depths_x;
    int strips;                       ///< of an image
    int strip_tiles;                  ///< of a strip
    int first_tiles[max_blocks + 1];  ///< of blocks, and the end of the last
    unsigned multiplier_x;            ///< scales a sum, so that its whole part is the uppermost byte
    unsigned multiplier_y;
    unsigned rounding_y;  ///< half of what is cut off, and half of a sum's last bit
    float of_pixel;       ///< 1 / the pixels of a box
    band_x along_x;       ///< element 63 + k - c is the weight of the window's value k in column c
    band_y along_y;       ///< element 63 + k - n is the weight of the window's row k in row n
};

struct block_barriers {
    stage_barriers<tile::stages> loads;
    ptx::mbarrier landed[tile::stages];  ///< boxes that warps still add to
    ptx::mbarrier begun[tile::first_stages];

    /// One thread calls it, before a barrier of the block.
    __device__ void init() {
        for (ptx::mbarrier& each : landed) ptx::init(&each, 1);
        for (ptx::mbarrier& each : begun) ptx::init(&each, warp_threads);
        loads.init(warp_threads, tile::groups * group_threads / warp_threads);
    }
};
static_assert(sizeof(block_barriers) == tile::barriers_bytes);

static_assert(lay_out(1).columns % alignof(int4) == 0 && lay_out(1).barriers % alignof(block_barriers) == 0);
static_assert(lay_out(tile::max_depths_x).stage_boxes * operand::row <=
              warp_threads * 16);  // as rows are copied

/// Where value `at` of row `row` of an operand lies.
__device__ int place(int row, int at) {
    return at / operand::row * operand::bytes + row * swizzle_bytes +
           ((at % operand::row / 16 ^ row % 8) * 16) + at % 16;
}

/// Tiles of a strip, one below the other, that a block does.
struct piece {
    int begin;   ///< its first column, in values
    int values;  ///< that the image has from there on
    int top;
    int outputs;  ///< rows
    int image;
    int source_image;
    int tiles;
    int left;          ///< the value of a source's row at column 0 of the window
    int window;        ///< columns that results need
    int inside_begin;  ///< the first column that the source has
    int inside_end;
    int first_needed;  ///< the first line of the source that results need
    int last_needed;
    bool has_edges;  ///< warps fill in columns, or rows of the border's constant
};

/// Goes through the steps of a block. Its pieces are its share of all tiles, which are numbered from strip to strip.
struct walk {
    const parameters& p;
    int next_tile;
    int last_tile;
    piece now{};
    int step = 0;  ///< of the piece; the first, -1, has no result yet
    int line;      ///< of the source, in the first row of the step

    __device__ explicit walk(const parameters& p)
        : p(p), next_tile(p.first_tiles[blockIdx.x]), last_tile(p.first_tiles[blockIdx.x + 1]) {}

    __device__ bool next() {
        if (++step < now.tiles) {
            line += tile::side;
            return true;
        }
        if (!take()) return false;
        step = -1;  // fills h
        line = p.y + now.top + p.radius_y - tile::side;
        return true;
    }

  private:
    __device__ bool take() {
        if (next_tile >= last_tile) return false;
        const int strip = next_tile / p.strip_tiles;
        const int first = next_tile % p.strip_tiles;
        const auto& out = p.destination.first;
        now.tiles = ::min(p.strip_tiles - first, last_tile - next_tile);
        next_tile += now.tiles;
        now.begin = strip % p.strips * tile::columns;
        now.image = strip / p.strips;
        now.source_image = p.has_one_source ? 0 : now.image;
        now.values = static_cast<int>(out.width * out.channels) - now.begin;
        now.top = first * tile::side;
        now.outputs = ::min(static_cast<int>(out.height) - now.top, now.tiles * tile::side);
        now.left = p.x + now.begin - p.lead;
        now.window = p.lead + ::min(now.values, tile::columns) + p.reach;
        now.inside_begin = ::min(::max(0, -now.left), now.window);
        now.inside_end = ::min(now.window, p.width * static_cast<int>(out.channels) - now.left);
        now.first_needed = p.y + now.top - p.radius_y;
        now.last_needed = p.y + now.top + now.outputs - 1 + p.radius_y;
        now.has_edges =
            now.inside_begin > 0 || now.inside_end < now.window ||
            (p.border == border::constant && (now.first_needed < 0 || now.last_needed >= p.height));
        return true;
    }
};

/// The four warps that load: each has a stage, which it fills with every fourth step's rows.
struct loader {
    const parameters& p;
    const layout& at;
    unsigned char* shared;
    int warp;
    int lane;

    __device__ unsigned char* rows() const { return shared + warp * at.stage_boxes * operand::bytes; }
    __device__ int* seen_columns() const {
        return reinterpret_cast<int*>(shared + at.columns) + warp * at.stage_boxes * operand::row;
    }
    __device__ bool is_inside(int line) const { return line >= 0 && line < p.height; }
    __device__ const std::uint8_t* row_of_source(const piece& now, int line) const {
        return p.source.first.data + now.source_image * p.source.stride + line * p.source.first.row_stride +
               now.left;
    }

    __device__ void load(walk steps, block_barriers& barriers) const {
        ptx::mbarrier* const full = &barriers.loads.full[warp];
        ptx::mbarrier* const landed = &barriers.landed[warp];
        int looked_up = -1;
        unsigned parity = 0, landed_parity = 0;
        for (int i = 0; steps.next(); ++i) {
            if (i % tile::stages != warp) continue;
            ptx::wait(&barriers.loads.empty[warp], parity ^ 1);
            parity ^= 1;
            // At first all blocks load: rows that are wanted late must not hold up those that are wanted first.
            if (i >= tile::first_stages && i < tile::stages)
                ptx::wait(&barriers.begun[i - tile::first_stages], 0);
            const rows_needed needed(p, steps);
            const bool writes = steps.now.has_edges || needed.any_singly();
            load_boxes(steps, needed, writes ? landed : full);
            if (writes) {
                if (needed.upper == half_kind::singly) load_rows(steps, 0);
                if (needed.lower == half_kind::singly) load_rows(steps, half);
                if (steps.now.has_edges && looked_up != steps.next_tile) look_up_columns(steps.now);
                looked_up = steps.next_tile;
                ptx::cp_async_wait_group<0>();
                ptx::wait(landed, landed_parity);
                landed_parity ^= 1;
                ptx::sync_warp();
                if (steps.now.has_edges) fill_edges(steps);
                ptx::fence_before_copies();  // wgmma reads as copies do
            }
            if (writes || lane > 0) ptx::arrive(full);  // else lane 0 has arrived, with the bytes it expects
            if (i < tile::first_stages) {
                ptx::wait(full, 0);
                ptx::arrive(&barriers.begun[i]);
            }
        }
    }

    /// A half of a step is not needed, comes in boxes, or comes row by row if the source lacks some of its rows.
    enum class half_kind { unneeded, boxed, singly };
    static constexpr int half = tile::side / 2;

    struct rows_needed {
        half_kind upper;
        half_kind lower;

        __device__ rows_needed(const parameters& p, const walk& steps) {
            const auto kind_of = [&](int first) {
                if (first + half <= steps.now.first_needed || first > steps.now.last_needed)
                    return half_kind::unneeded;
                return first >= 0 && first + half <= p.height ? half_kind::boxed : half_kind::singly;
            };
            upper = kind_of(steps.line);
            lower = kind_of(steps.line + half);
        }
        __device__ bool any_singly() const {
            return upper == half_kind::singly || lower == half_kind::singly;
        }
    };

    __device__ void load_boxes(const walk& steps, const rows_needed& needed, ptx::mbarrier* landed) const {
        const bool upper = needed.upper == half_kind::boxed, lower = needed.lower == half_kind::boxed;
        const int boxes = at.stage_boxes;
        if (lane == 0) {
            const int count = (int{upper} + int{lower}) * half;
            ptx::arrive_and_expect(landed, static_cast<unsigned>(count * boxes * swizzle_bytes));
        }
        ptx::sync_warp();
        if (lane >= 2 * boxes || !(lane % 2 == 0 ? upper : lower)) return;
        const int row = lane % 2 * half;
        const int box = lane / 2;
        ptx::load_box(rows() + box * operand::bytes + row * swizzle_bytes, p.halves,
                      steps.now.left + box * operand::row, steps.line + row, steps.now.source_image, landed);
    }

    /// Loads the rows of a half of which some lie above or below the source. Other rows stand for those.
    __device__ void load_rows(const walk& steps, int first) const {
        constexpr int packet = 16;  // bytes
        const piece& now = steps.now;
        const int line = steps.line + first;
        const int seen = nearby_source_index(line + lane, p.height, p.border);  // a lane looks up one row
        const bool has_constants = p.border == border::constant;
        const int begin = ::max(has_constants ? ::max(now.first_needed, 0) : now.first_needed, line) - line;
        const int last =
            ::min(has_constants ? ::min(now.last_needed, p.height - 1) : now.last_needed, line + half - 1) -
            line;
        const int column = now.inside_begin + lane * packet;
        const int valid = ::min(now.inside_end - column, packet);
        const std::uint8_t* const from = row_of_source(now, 0) + column;
#pragma unroll 4
        for (int row = begin; row <= last; ++row) {
            const std::int64_t at = __shfl_sync(~0u, seen, row) * p.source.first.row_stride;
            if (valid > 0) ptx::cp_async<packet>(rows() + place(first + row, column), from + at, valid);
        }
        ptx::cp_async_commit_group();
    }

    /// Words with a column that the source does not have. Those at the left end where the source begins, as windows begin at
    /// multiples of 16 bytes of a row. Those at the right begin with the word where the source ends.
    struct outer_words {
        int left;
        int right;
        int inside_end;
        int count;

        __device__ explicit outer_words(const piece& now)
            : left(now.inside_begin / word),
              right(now.inside_end / word),
              inside_end(now.inside_end),
              count(left + (now.window + word - 1) / word - right) {}
        __device__ int column(int i) const { return (i < left ? i : i - left + right) * word; }
        /// Whether the source has none of the columns of a word, given its first one.
        __device__ bool is_whole(int column) const { return column < left * word || column >= inside_end; }
    };

    /// Looks up, for each column of these words, the one whose value it has.
    __device__ void look_up_columns(const piece& now) const {
        int* const seen = seen_columns();
        const outer_words words(now);
        const int channels = static_cast<int>(p.destination.first.channels);
        ptx::sync_warp();
#pragma unroll 1
        for (int i = lane; i < words.count * word; i += warp_threads) {
            const int column = ::min(words.column(i / word) + i % word, now.window - 1);
            const bool is_before = column < now.inside_begin;
            const int beyond = is_before ? now.inside_begin - 1 - column : column - now.inside_end;
            const int pixels = beyond * p.per_channel >> 16;
            const int channel = beyond - pixels * channels;
            const int pixel =
                nearby_source_index(is_before ? -1 - pixels : p.width + pixels, p.width, p.border);
            const int value = pixel * channels + (is_before ? channels - 1 - channel : channel);
            // If a strip begins inside a pixel, a mirror may show that pixel's other channels. They lie before `left`, and
            // no result needs them. Columns that wrap come from memory.
            const int first = p.border == border::wrap ? value - now.left : ::max(value - now.left, 0);
            seen[i] = beyond < 0 ? column : first;
        }
        ptx::sync_warp();
    }

    /// Fills in columns beyond the source's edges and, for a constant border, rows too.
    __device__ void fill_edges(const walk& steps) const {
        if (p.border == border::wrap) return copy_far_columns(steps);
        if (p.border == border::constant) {
            const unsigned constant = p.border_value * 0x01010101u;
            fill_columns(steps.now, [=](int, const int4&, unsigned(&words)[same_rows]) {
#pragma unroll
                for (unsigned& each : words) each = constant;
            });
            return fill_rows(steps.line, constant);
        }
        fill_columns(steps.now, [this](int row, const int4& from, unsigned(&words)[same_rows]) {
            const unsigned char* const of[] = {rows() + place(row, from.x), rows() + place(row, from.y),
                                               rows() + place(row, from.z), rows() + place(row, from.w)};
#pragma unroll
            for (int i = 0; i < same_rows; ++i) {
                const int at = i * apart * swizzle_bytes;
                words[i] = __byte_perm(__byte_perm(of[0][at], of[1][at], 0x0040),
                                       __byte_perm(of[2][at], of[3][at], 0x0040), 0x5410);
            }
        });
    }

    /// Rows so far apart are swizzled alike.
    static constexpr int apart = 8;
    static constexpr int same_rows = tile::side / apart;

    /// A lane fills a word in all rows that are swizzled alike. words_of() makes the words from the columns they show.
    template <class WordsOf>
    __device__ void fill_columns(const piece& now, WordsOf words_of) const {
        const outer_words outer(now);
#pragma unroll 1
        for (int i = lane; i < apart * outer.count; i += warp_threads) {
            const int row = i & (apart - 1);
            const int column = outer.column(i / apart);
            unsigned words[same_rows];
            words_of(row, reinterpret_cast<const int4*>(seen_columns())[i / apart], words);
            unsigned char* const to = rows() + place(row, column);
            if (outer.is_whole(column)) {
#pragma unroll
                for (int j = 0; j < same_rows; ++j)
                    *reinterpret_cast<unsigned*>(to + j * apart * swizzle_bytes) = words[j];
                continue;
            }
#pragma unroll
            for (int b = 1; b < word; ++b) {
                if (column + b < now.inside_end) continue;  // the source has it
#pragma unroll
                for (int j = 0; j < same_rows; ++j)
                    to[j * apart * swizzle_bytes + b] = static_cast<unsigned char>(words[j] >> (8 * b));
            }
        }
        ptx::sync_warp();
    }

    /// Copies columns from the other end of the source's rows.
    __device__ void copy_far_columns(const walk& steps) const {
        const piece& now = steps.now;
        const outer_words outer(now);
        const int* const seen = seen_columns();
#pragma unroll 1
        for (int i = lane; i < outer.count * word; i += warp_threads) {
            const int column = outer.column(i / word) + i % word;
            if (column >= now.inside_begin && column < now.inside_end) continue;
#pragma unroll 4
            for (int row = 0; row < tile::side; ++row) {
                const int line = nearby_source_index(steps.line + row, p.height, p.border);
                rows()[place(row, column)] = __ldg(row_of_source(now, line) + seen[i]);
            }
        }
    }

    __device__ void fill_rows(int line, unsigned values) const {
#pragma unroll 1
        for (int row = 0; row < tile::side; ++row) {
            if (is_inside(line + row)) continue;
#pragma unroll 1
            for (int column = lane * word; column < at.stage_boxes * operand::row;
                 column += warp_threads * word)
                *reinterpret_cast<unsigned*>(rows() + place(row, column)) = values;
        }
    }
};

}  // namespace heddle::kernels::gaussian_blur::wgmma_xy
