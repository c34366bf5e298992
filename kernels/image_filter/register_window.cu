// register_window: reads and writes each value once. A warp marches down a strip of the image, and registers keep the
// results along x of the last two rows.
//
//   lanes       0      1       2      ...     30     31      a lane: 4 neighbouring values of a row
//   loads     [....] [....]  [....]   ...   [....] [....]    lanes 0 and 31 only load, for their neighbours
//   row y+1     along x: values of this lane, and of its neighbours by shuffles, `channels` values apart
//   row y       out = along y of the results of rows y - 1, y, y + 1; lanes 1 to 30 store it
//
// One instruction loads four values, and each value is loaded once, where `naive` loads it nine times. No value passes
// through shared memory. Where rows are narrow, the lanes of a warp are up to ten groups, which march down one strip at
// different rows. Warps of a block lie side by side and march a few rows only. So all warps together sweep over the image from
// top to bottom, as a copy does; longer marches are slower. The rows and columns that warps share come from L2. Takes any
// shape and alignment, with rows of up to 2^29 values. Aligned rows have vector loads and stores. What limits it: DRAM, or for
// uint8 and unaligned rows the latency and the instructions of a row.

#include "kernels/device/grid.hpp"
#include "kernels/device/launch.hpp"
#include "kernels/device/math.hpp"
#include "kernels/device/ptx/in_register.cuh"
#include "kernels/device/vector.cuh"
#include "kernels/device/warp.hpp"
#include "kernels/image_filter/launch.hpp"
#include "kernels/image_filter/line.cuh"
#include "kernels/image_filter/stencil.cuh"

#include <algorithm>
#include <cstdint>

namespace heddle::kernels::image_filter {
namespace {

struct tile {
    static constexpr int threads = 256;
    static constexpr int blocks_per_sm = 4;
    static constexpr int warps = threads / warp_size;
    static constexpr int values = 4;  ///< of a row that a lane has
    static_assert(values >= 4, "the neighbours of 4 channels are in the lanes beside");
    static constexpr int most_groups = warp_size / 3;  ///< of a warp: one lane of them stores

    /// Rows that a group stores. They are fewer where the device holds the warps of all rows at once.
    static constexpr int least_rows = 2;
    static constexpr int most_rows = 8;

    static constexpr int ahead = 3;  ///< rows that are loaded before they are needed
};

/// The groups of a warp, which march down one strip at different rows.
struct lane_groups {
    int count;
    int lanes;   ///< of a group, with one at each side that only loads
    int factor;  ///< 1024 / lanes, rounded up

    constexpr explicit lane_groups(int groups)
        : count(groups), lanes(warp_size / groups), factor(divide_up(1024, lanes)) {}

    /// Exact for lanes below 32: the factor is too large by less than 1, and 32 / 1024 is at most 1 / lanes.
    __device__ int of(int lane) const { return lane * factor >> 10; }
    /// Values of a row that a group stores.
    __host__ __device__ constexpr int strip() const { return tile::values * (lanes - 2); }
};

template <class T>
struct parameters {
    const T* source;  ///< at the destination's first value
    float* destination;
    std::int64_t source_stride;
    std::int64_t destination_stride;
    std::int64_t source_image_stride;
    std::int64_t destination_image_stride;
    line<int> columns;
    std::int64_t begin;  ///< rows of the source, counted from the destination's first
    std::int64_t end;
    std::int64_t row_before;  ///< elements from there to the rows that stand for the ones before and behind
    std::int64_t row_behind;
    bool has_outer_rows;  ///< false: those rows are the border's constant
    /// The extents of the destination.
    int row_values;
    std::int64_t rows;
    int rows_per_group;
    lane_groups groups;
    T border_value;
    bool aligned_loads;
    bool aligned_stores;
};

/// The results along x for a lane's values. Values `channels` away are its own or belong to the neighbouring lanes.
template <class Filter, int channels>
__device__ void filter_row(const float (&own)[tile::values], typename Filter::partial (&row)[tile::values]) {
    constexpr unsigned all = 0xffffffff;
    float window[tile::values + 2 * channels];
#pragma unroll
    for (int i = 0; i < channels; ++i) {
        window[i] = __shfl_up_sync(all, own[tile::values - channels + i], 1);
        window[channels + tile::values + i] = __shfl_down_sync(all, own[i], 1);
    }
#pragma unroll
    for (int e = 0; e < tile::values; ++e) window[channels + e] = own[e];
#pragma unroll
    for (int e = 0; e < tile::values; ++e)
        row[e] = Filter::along_x(window[e], window[e + channels], window[e + 2 * channels]);
}

template <class T, class Filter, int channels>
__global__ void __launch_bounds__(tile::threads, tile::blocks_per_sm)
    register_window(const __grid_constant__ parameters<T> p) {
    using partial = typename Filter::partial;
    using loaded = packed<T, tile::values>;
    const int lane = static_cast<int>(threadIdx.x);
    const int group = p.groups.of(lane);
    const int member = lane - group * p.groups.lanes;
    const auto strip = static_cast<int>(blockIdx.x * blockDim.y + threadIdx.y);
    const int x = strip * p.groups.strip() + (member - 1) * tile::values;
    const std::int64_t first =
        (std::int64_t{blockIdx.y} * blockDim.z + threadIdx.z) * p.groups.count * p.rows_per_group;
    if (first >= p.rows) return;
    // All lanes take as many steps, as they shuffle. A group without rows of its own, and lanes without a group, follow the
    // first group and store nothing.
    const auto most_outputs = static_cast<int>(min(std::int64_t{p.rows_per_group}, p.rows - first));
    const std::int64_t own = first + std::int64_t{group} * p.rows_per_group;
    const bool has_rows = group < p.groups.count && own < p.rows;
    const std::int64_t top = has_rows ? own : first;
    const bool is_inner = member > 0 && member < p.groups.lanes - 1 && x < p.row_values;
    const int outputs =
        has_rows && is_inner ? static_cast<int>(min(std::int64_t{most_outputs}, p.rows - top)) : 0;

    // The elements of a row that stand for this lane's values, counted from the destination's first element.
    const bool is_plain = p.aligned_loads && p.columns.has(x) && p.columns.has(x + tile::values - 1);
    int columns[tile::values];
    unsigned outside = 0;  // a bit for each value that is the border's constant
#pragma unroll
    for (int e = 0; e < tile::values; ++e) {
        columns[e] = p.columns.stand_in(x + e);
        if (!p.columns.has(columns[e])) outside |= 1u << e;
        if constexpr (sizeof(T) < sizeof(float)) columns[e] = ptx::in_register(columns[e]);
    }
    outside = ptx::in_register(outside);
    const auto load = [&](const T* row, bool is_outside) {
        if (is_plain && !is_outside) return *reinterpret_cast<const loaded*>(row + x);
        const unsigned constant = is_outside ? ~0u : outside;
        loaded values;
#pragma unroll
        for (int e = 0; e < tile::values; ++e)
            values.set(e, constant >> e & 1 ? p.border_value : row[columns[e]]);
        return values;
    };

    // Row t of the march is row top - 1 + t. Rows behind the source are the one that stands for the first of them.
    const T* source = p.source + blockIdx.z * p.source_image_stride;
    const int behind = static_cast<int>(min(std::int64_t{most_outputs}, p.end - 1 - top)) + 2;
    const T* row = source + top * p.source_stride;
    const auto load_next = [&](int t) {
        const bool is_behind = t >= behind;
        const loaded values = load(is_behind ? source + p.row_behind : row, is_behind && !p.has_outer_rows);
        row += p.source_stride;
        return values;
    };

    // A shuffle shows the compiler that the warp's loop does not diverge.
    const int total = __shfl_sync(0xffffffffu, most_outputs, 0) + 2;
    loaded next[tile::ahead];
    const bool is_before = top == p.begin;
    next[0] = load(is_before ? source + p.row_before : row - p.source_stride, is_before && !p.has_outer_rows);
#pragma unroll
    for (int t = 1; t < tile::ahead; ++t) next[t] = load_next(t);

    float* out = p.destination + blockIdx.z * p.destination_image_stride + top * p.destination_stride + x;
    const bool stores_vectors = p.aligned_stores && x + tile::values <= p.row_values;
    partial rows[tile::ahead][tile::values];
    static_assert(tile::ahead == 3, "a row's registers are free again when the next row but two comes");
    for (int done = 0; done < total; done += tile::ahead) {
#pragma unroll
        for (int i = 0; i < tile::ahead; ++i) {
            const int t = done + i;
            if (t >= total) break;
            float own_values[tile::values];
#pragma unroll
            for (int e = 0; e < tile::values; ++e) own_values[e] = next[i].to_float(e);
            filter_row<Filter, channels>(own_values, rows[i]);
            if (t + tile::ahead < total) next[i] = load_next(t + tile::ahead);
            if (t < 2) continue;
            vector<float, tile::values> results;
#pragma unroll
            for (int e = 0; e < tile::values; ++e)
                results[e] = Filter::along_y(rows[(i + 1) % 3][e], rows[(i + 2) % 3][e], rows[i][e]);
            if (t - 2 < outputs) {
                if (stores_vectors) {
                    *reinterpret_cast<vector<float, tile::values>*>(out) = results;
                } else {
#pragma unroll
                    for (int e = 0; e < tile::values; ++e)
                        if (x + e < p.row_values) out[e] = results[e];
                }
            }
            out += p.destination_stride;
        }
    }
}

}  // namespace

plan plan_register_window(const problem& problem, const device_traits& device) {
    const std::int64_t row_values = problem.width * problem.channels;
    // The groups for which a row takes the least share of warps: strips / groups.
    lane_groups groups(1);
    const auto strips_of = [&](const lane_groups& g) {
        return divide_up(row_values, std::int64_t{g.strip()});
    };
    for (int count = 2; count <= tile::most_groups; ++count)
        if (const lane_groups more(count); strips_of(more) * groups.count < strips_of(groups) * count)
            groups = more;
    const std::int64_t strips = strips_of(groups);
    // In small images each group has fewer rows, so that there are warps for the whole device.
    const std::int64_t images = std::min<std::int64_t>(problem.images, max_grid_y);
    const std::int64_t resident =
        std::int64_t{device.sm_count} * tile::blocks_per_sm * tile::warps * groups.count;
    const std::int64_t all_rows = problem.height * strips * images;
    const std::int64_t least = all_rows > resident ? tile::least_rows : 1;
    const std::int64_t wanted = std::clamp<std::int64_t>(all_rows / resident, least, tile::most_rows);
    // Warps of a block lie side by side if the image is wide enough. A block has no more warps than a small image needs.
    int across = tile::warps;
    while (across / 2 >= strips) across /= 2;
    int down = tile::warps / across;
    while (down > 1 && down / 2 * groups.count * wanted >= problem.height) down /= 2;
    const std::int64_t least_for_grid = divide_up(problem.height, max_grid_y * down * groups.count);
    const std::int64_t rows_per_group = std::max(wanted, least_for_grid);
    return {.blocks = {divide_up(strips, across),
                       divide_up(problem.height, rows_per_group * down * groups.count), images},
            .threads = {warp_size, across, down},
            .groups = groups.count,
            .rows_per_group = static_cast<int>(rows_per_group),
            .aligned_loads = problem.has_source_quads,
            .aligned_stores = problem.has_destination_quads};
}

template <class T>
void launch_register_window(const plan& plan, const arguments<T>& a, cudaStream_t stream) {
    const image_view<const T>& source = a.source.first;
    const image_view<float>& destination = a.destination.first;
    const line<std::int64_t> rows(source.height, a.y, 1, a.border);
    parameters<T> p{.source = source.data + a.y * source.row_stride + a.x * source.channels,
                    .destination = destination.data,
                    .source_stride = source.row_stride,
                    .destination_stride = destination.row_stride,
                    .source_image_stride = a.source.stride,
                    .destination_image_stride = a.destination.stride,
                    .columns = {source.width, a.x, source.channels, a.border},
                    .begin = rows.begin,
                    .end = rows.end,
                    .row_before = rows.stand_in(rows.begin - 1) * source.row_stride,
                    .row_behind = rows.stand_in(rows.end) * source.row_stride,
                    .has_outer_rows = a.border != border::constant,
                    .row_values = static_cast<int>(destination.width * destination.channels),
                    .rows = destination.height,
                    .rows_per_group = plan.rows_per_group,
                    .groups = lane_groups(plan.groups),
                    .border_value = a.border_value,
                    .aligned_loads = plan.aligned_loads,
                    .aligned_stores = plan.aligned_stores};
    const std::int64_t images = plan.blocks.z;
    for (std::int64_t done = 0; done < a.source.count; done += images) {
        const launch_config config{
            .blocks = {plan.blocks.x, plan.blocks.y, std::min(images, a.source.count - done)},
            .threads = plan.threads,
            .stream = stream};
        with_filter(a.stencil, [&]<class Filter>(Filter) {
            switch (source.channels) {
                case 1:
                    return launch(config, register_window<T, Filter, 1>, p);
                case 2:
                    return launch(config, register_window<T, Filter, 2>, p);
                case 3:
                    return launch(config, register_window<T, Filter, 3>, p);
                case 4:
                    return launch(config, register_window<T, Filter, 4>, p);
            }
        });
        p.source += images * p.source_image_stride;
        p.destination += images * p.destination_image_stride;
    }
}

template void launch_register_window(const plan&, const arguments<float>&, cudaStream_t);
template void launch_register_window(const plan&, const arguments<half>&, cudaStream_t);
template void launch_register_window(const plan&, const arguments<std::uint16_t>&, cudaStream_t);
template void launch_register_window(const plan&, const arguments<std::uint8_t>&, cudaStream_t);

}  // namespace heddle::kernels::image_filter
