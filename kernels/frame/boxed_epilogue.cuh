#pragma once

#include "kernels/device/ptx/tensor_copy.cuh"
#include "kernels/frame/boxes.cuh"
#include "kernels/frame/chunk_epilogue.cuh"
#include "kernels/frame/warp_specialized.cuh"

#include <type_traits>

/// Stores a tile's sums to C as boxes of the tensor memory accelerator, and applies the epilogue on the way.
namespace heddle::kernels::frame {

/// A product whose residual the tensor memory accelerator can read.
template <class Out, class Activation>
struct product_with_residual : tensor_product<Out, Activation> {
    CUtensorMap residual{};
    bool has_residual_map = false;
};

/// A warpgroup stages its part of C in boxes of 64 rows. A row of a box has 128 bytes, or 64 where 128 do not divide a row
/// of the tile. The addend of the sums, beta times C or a residual, is loaded into the same boxes first.
template <class Out, class Activation, class Tile>
class boxed_epilogue {
  public:
    using part = frame::sums_place;
    static constexpr bool has_epilogue = Tile::has_epilogue;
    static constexpr int n = Tile::n;
    static constexpr int out_row = swizzle_bytes / static_cast<int>(sizeof(Out));
    static constexpr int out_cols = n % out_row == 0 ? out_row : out_row / 2;
    static constexpr int box_bytes = warpgroup_m * out_cols * static_cast<int>(sizeof(Out));
    static constexpr int boxes = 2 * out_row / out_cols;  ///< of a warpgroup

    using product = std::conditional_t<has_epilogue, product_with_residual<Out, Activation>,
                                       tensor_product<Out, Activation>>;

    struct storage {
        unsigned char out[Tile::consumers][boxes][box_bytes];
        alignas(float2) float column_biases[Tile::consumers][has_epilogue ? n : 1];
        ptx::mbarrier addend_full[Tile::consumers];
        unsigned addends[Tile::consumers];  ///< rounds of boxes filled with an addend so far
    };

    static __device__ void prefetch(const product& p) {
        if (p.c_map_cols > 0) ptx::prefetch(p.c);
    }

    static __device__ void init(storage& shared) {
        for (ptx::mbarrier& full : shared.addend_full) ptx::init(&full, 1);
        for (unsigned& count : shared.addends) count = 0;
    }

    __device__ boxed_epilogue(const product& p, storage& shared, int group)
        : p(p), shared(shared), group(group) {}

    /// Fetches biases and the first boxes of the addend, and its other boxes into L2, while the tensor cores multiply. Does not
    /// fetch the addend of a shared tile, as another consumer may store that.
    __device__ void fetch(int half, const part& place) {
        if constexpr (has_epilogue) biases[half].fetch(p, place.row, place.col);
        if (!place.is_whole || !has_addend()) return;
        const CUtensorMap* const map = addend_map(place);
        if (map == nullptr) return addend_part(place, 0, n).prefetch();
        const bool loads = half == 0;
        is_fetched = is_fetched || loads;
        if (thread != 0) return;
        if (loads) {
            ptx::wait_for_reads_of_stores<0>();
            load_boxes(*map, place, 0);
        }
        prefetch_boxes(*map, place, loads ? cols_together : 0);
        if constexpr (has_epilogue)
            if (p.beta != 0 && p.has_residual_map) prefetch_boxes(p.residual, place, 0);
    }

    template <int columns>
    __device__ void store(int half, const part& to, const float (&sums)[n / 2]) {
        static_assert(columns == n, "all of a tile is multiplied");
        if constexpr (has_epilogue)
            store_with_epilogue(to, sums, biases[half]);
        else
            store_plain(to, sums);
        is_fetched = false;
    }

    static __device__ void end(int thread) {
        if (thread == 0) ptx::wait_for_reads_of_stores<0>();
    }

  private:
    /// As many boxes as there is room for are filled before a store: a fence and two barriers take longer than to fill a box.
    static constexpr int cols_together = boxes * out_cols < n ? boxes * out_cols : n;

    __device__ void sync_group() const { ptx::sync_threads(1 + group, warpgroup_threads); }

    __device__ bool lies_in_boxes(const part& place) const { return place.col + n <= p.c_map_cols; }

    __device__ bool has_residual() const {
        if constexpr (has_epilogue) return p.epilogue.residual != nullptr;
        return false;
    }

    /// Whether the sums have an addend: C if beta is not 0, else a residual.
    __device__ bool has_addend() const { return p.beta != 0 || has_residual(); }

    /// The map of the addend; null where the threads must read it.
    __device__ const CUtensorMap* addend_map(const part& place) const {
        if (p.beta != 0) return lies_in_boxes(place) ? &p.c : nullptr;
        if constexpr (has_epilogue)
            if (p.has_residual_map) return &p.residual;
        return nullptr;
    }

    template <class T>
    __device__ part_by_threads<T, out_cols> part_of(T* data, std::int64_t row_stride, std::int64_t col_stride,
                                                    const part& place, int begin, int end) const {
        const int col = place.col + begin;
        return {data + place.row * row_stride + col * col_stride, row_stride, col_stride,
                ::min(warpgroup_m, p.m - place.row), ::min(end - begin, p.n - col)};
    }

    /// Columns [begin, end) of C in the tile, for access by the threads.
    __device__ part_by_threads<Out, out_cols> c_part(const part& place, int begin, int end) const {
        return part_of(p.c_data + place.batch * p.c_batch_stride, p.c_row_stride, p.c_col_stride, place,
                       begin, end);
    }

    /// The same of the addend.
    __device__ part_by_threads<const Out, out_cols> addend_part(const part& place, int begin, int end) const {
        if constexpr (has_epilogue)
            if (p.beta == 0) {
                const auto& e = p.epilogue;
                return part_of(e.residual, e.residual_row_stride, e.residual_col_stride, place, begin, end);
            }
        const Out* const c = p.c_data + place.batch * p.c_batch_stride;
        return part_of(c, p.c_row_stride, p.c_col_stride, place, begin, end);
    }

    /// Prefetches the columns from `begin` of the tile on.
    static __device__ void prefetch_boxes(const CUtensorMap& map, const part& place, int begin) {
        for (int first = begin; first < n; first += out_cols)
            ptx::prefetch_box_to_l2(map, place.col + first, place.row, place.batch);
    }

    /// One thread loads the columns from `begin` on. All boxes must be free.
    __device__ void load_boxes(const CUtensorMap& map, const part& place, int begin) {
        ptx::mbarrier* const full = &shared.addend_full[group];
        constexpr int most = cols_together / out_cols;
        const int count = ::min(most, (n - begin) / out_cols);
        ptx::arrive_and_expect(full, count * box_bytes);
        for (int box = 0; box < count; ++box)
            ptx::load_box(shared.out[group][box], map, place.col + begin + box * out_cols, place.row,
                          place.batch, full);
        ++shared.addends[group];
    }

    /// Waits until the boxes hold the addend of the columns from `begin` on.
    __device__ void wait_for_addend(const part& place, int begin) {
        const CUtensorMap* const map = addend_map(place);
        if (begin > 0 || !is_fetched) {
            wait_for_buffers();
            if (map == nullptr)
                addend_part(place, begin, begin + cols_together)
                    .template load<cols_together>(shared.out[group][0]);
            else if (thread == 0)
                load_boxes(*map, place, begin);
        }
        sync_group();
        if (map != nullptr) ptx::wait(&shared.addend_full[group], (shared.addends[group] - 1) % 2);
    }

    /// Waits until no store reads from the warpgroup's boxes any more.
    __device__ void wait_for_buffers() {
        if (thread == 0) ptx::wait_for_reads_of_stores<0>();
        sync_group();
    }

    /// Stores the boxes that are filled: columns [begin, end) of the tile.
    __device__ void store_boxes(const part& to, int begin, int end) {
        const auto ordered = ptx::fence_before_copies();
        sync_group();
        if (!lies_in_boxes(to)) {
            c_part(to, begin, end).template store<cols_together>(shared.out[group][0]);
            ptx::fence_before_copies();  // the tensor memory accelerator may overwrite what was read
            sync_group();
            return;
        }
        if (thread != 0) return;
        for (int first = begin; first < end; first += out_cols)
            if (to.row < p.m && to.col + first < p.n)
                ptx::store_box(p.c, shared.out[group][(first - begin) / out_cols], to.col + first, to.row,
                               to.batch, ordered);
        ptx::commit_stores();
    }

    /// Calls finish(values, first, addend) for each chunk, which turns a thread's sums into values of C. `first` is the chunk's
    /// column in the tile. `addend` holds what the boxes hold, if `adds`. If not unrolled, the loop has code for one round of
    /// cols_at_once columns.
    template <int cols_at_once, bool is_unrolled, class Finish>
    __device__ void store_chunks(const part& to, const float (&sums)[n / 2], bool adds, Finish finish) {
        static_assert(cols_together % cols_at_once == 0 && (is_unrolled || n % cols_at_once == 0));
#pragma unroll(is_unrolled ? n : 1)
        for (int begin = 0; begin < n; begin += cols_at_once) {
            const int first_in_boxes = begin / cols_together * cols_together;
            if (begin == first_in_boxes) adds ? wait_for_addend(to, begin) : wait_for_buffers();
#pragma unroll
            for (int chunk = 0; chunk < cols_at_once; chunk += chunk_cols) {
                const int first = begin + chunk;
                if (is_unrolled && first >= n) break;
                unsigned char* const box = shared.out[group][(first - first_in_boxes) / out_cols];
                float values[chunk_sums], addend[chunk_sums];
                pick<n, cols_at_once>(sums, first, values, chunk);
                if (adds) read_from_box<Out, out_cols>(box, first % out_cols, addend);
                finish(values, first, addend);
                stage_in_box<Out, out_cols>(box, first % out_cols, values);
            }
            const int end = ::min(begin + cols_at_once, int{n});
            if (end % cols_together == 0 || end == n) store_boxes(to, first_in_boxes, end);
        }
    }

    __device__ void store_plain(const part& to, const float (&sums)[n / 2]) {
        if (!has_addend())
            store_chunks<cols_together, true>(
                to, sums, false, [&](float(&values)[chunk_sums], int, const float(&)[chunk_sums]) {
#pragma unroll
                    for (float& value : values) value *= p.alpha;
                });
        else
            store_chunks<cols_together, true>(
                to, sums, true, [&](float(&values)[chunk_sums], int, const float(&addend)[chunk_sums]) {
#pragma unroll
                    for (int i = 0; i < chunk_sums; ++i)
                        values[i] = fmaf(p.beta, addend[i], p.alpha * values[i]);
                });
    }

    static constexpr int activated_at_once = std::is_same_v<Out, float> ? chunk_cols : n / 2;

    /// An unrolled epilogue is long, and code that is not yet in the cache comes from memory. In a loop that is not unrolled
    /// each round selects its sums among those of all rounds, as registers have no addresses. So biases and the usual
    /// activations take few rounds. Everything else is compiled once and takes a round for each chunk.
    __device__ void store_with_epilogue(const part& to, const float (&sums)[n / 2],
                                        const tile_biases<n>& fetched) {
        float* const columns = shared.column_biases[group];
        fetched.share(columns);
        const bool adds = has_addend();
        if constexpr (requires { is_short(p.epilogue); })
            if (!adds) {
                const auto store_activated = [&](auto activation) {
                    store_chunks<activated_at_once, false>(
                        to, sums, false,
                        [&](float(&values)[chunk_sums], int first, const float(&)[chunk_sums]) {
                            add_biases(p, columns + first, fetched.of_rows, values);
#pragma unroll
                            for (float& value : values) value = activation(value);
                            scale(p, values);
                        });
                };
                if (is_short(p.epilogue))
                    return store_activated([&](float x) { return short_activation(p.epilogue, x); });
                if constexpr (std::is_same_v<Activation, matmul_activation>)
                    if (p.epilogue.activation == matmul_activation::gelu_tanh)
                        return store_activated([](float x) { return gelu_tanh_of<Out>(x); });
            }
        store_chunks<chunk_cols, false>(
            to, sums, adds, [&](float(&values)[chunk_sums], int first, const float(&addend)[chunk_sums]) {
                apply_epilogue(p, to.row, to.col + first, columns + first, fetched.of_rows, addend, values);
            });
    }

    const product& p;
    storage& shared;
    int group;
    int thread = static_cast<int>(threadIdx.x) % warpgroup_threads;
    bool is_fetched = false;  ///< whether the first boxes of the addend were requested
    tile_biases<has_epilogue ? n : warpgroup_threads> biases[Tile::halves];
};

}  // namespace heddle::kernels::frame
