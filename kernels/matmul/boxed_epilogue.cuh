#pragma once

#include "kernels/frame/warp_specialized.cuh"
#include "kernels/matmul/store.cuh"

#include <limits>
#include <type_traits>

/// From a tile's sums to C by boxes of the tensor memory accelerator, with what follows a product done on the way.
namespace heddle::kernels::matmul {

/// A warpgroup stages its part of C in boxes of 64 rows. A row of a box has 128 bytes, or 64 where 128 do not divide the tile's.
template <class Out, class Activation, class Tile>
class boxed_epilogue {
  public:
    static constexpr bool has_epilogue = Tile::has_epilogue;
    static constexpr int n = Tile::n;
    static constexpr int out_row = swizzle_bytes / static_cast<int>(sizeof(Out));
    static constexpr int out_cols = n % out_row == 0 ? out_row : out_row / 2;
    static constexpr int box_bytes = warpgroup_m * out_cols * static_cast<int>(sizeof(Out));
    static constexpr int boxes = 2 * out_row / out_cols;  ///< of a warpgroup

    using product = tensor_product<Out, Activation>;

    struct storage {
        unsigned char out[Tile::consumers][boxes][box_bytes];
        float column_biases[Tile::consumers][has_epilogue ? n : 1];
    };

    static __device__ void prefetch(const product& p) {
        if (p.c_map_cols > 0) ptx::prefetch(p.c);
    }

    __device__ boxed_epilogue(const product& p, storage& shared, int group)
        : p(p), shared(shared), group(group) {}

    /// Fetches the biases of 64 rows from `row` on, while the tensor cores multiply.
    __device__ void fetch(int half, int row, int col) {
        if constexpr (has_epilogue) biases[half].fetch(p, row, col);
    }

    template <int columns>
    __device__ void store(int half, int row, int col, int batch, const float (&sums)[n / 2]) {
        static_assert(columns == n, "all of a tile is multiplied");
        if constexpr (has_epilogue)
            store_with_epilogue(row, col, batch, sums, biases[half]);
        else
            store_plain(row, col, batch, sums);
    }

    static __device__ void end(int thread) {
        if (thread == 0) ptx::wait_for_reads_of_stores<0>();
    }

  private:
    static constexpr float infinity = std::numeric_limits<float>::infinity();

    __device__ void sync_group() const { ptx::sync_threads(1 + group, warpgroup_threads); }

    /// Waits until no store reads the warpgroup's boxes any more.
    __device__ void wait_for_buffers() {
        if (thread == 0) ptx::wait_for_reads_of_stores<0>();
        sync_group();
    }

    /// As many boxes are filled before a store as there is room for: a fence and two barriers take longer than to fill a box.
    static constexpr int cols_together = boxes * out_cols;

    /// Stores the boxes that are filled: columns [begin, end) of the tile.
    __device__ void store_boxes(int row, int col, int batch, int begin, int end) {
        ptx::fence_before_copies();
        sync_group();
        if (thread != 0) return;
        for (int first = begin; first < end; first += out_cols)
            if (row < p.m && col + first < p.n)
                ptx::store_box(p.c, shared.out[group][(first - begin) / out_cols], col + first, row, batch);
        ptx::commit_stores();
    }

    /// The tensor memory accelerator stores. `finish` takes a thread's part of a chunk, and the column of the tile where it begins.
    template <class Finish>
    __device__ void store_in_boxes(int row, int col, int batch, const float (&sums)[n / 2], Finish finish) {
#pragma unroll
        for (int begin = 0; begin < n; begin += cols_together) {
            constexpr int tile_n = n;
            const int end = ::min(begin + cols_together, tile_n);
            wait_for_buffers();
#pragma unroll
            for (int first = begin; first < end; first += chunk_cols) {
                float values[chunk_sums];
                pick<n>(sums, first, values);
                finish(values, first);
                stage_in_box<Out, out_cols>(shared.out[group][(first - begin) / out_cols], first % out_cols,
                                            values);
            }
            store_boxes(row, col, batch, begin, end);
        }
    }

    /// The threads store a chunk, to any C.
    __device__ void store_by_threads(int row, int col, int batch, const float (&values)[chunk_sums],
                                     float alpha, float beta) {
        unsigned char* const staged = shared.out[group][0];
        stage_in_box<float, chunk_cols>(staged, 0, values);
        sync_group();
        store_staged(p, row, col, batch, staged, alpha, beta);
        sync_group();
    }

    __device__ void store_plain(int row, int col, int batch, const float (&sums)[n / 2]) {
        if (col + n <= p.c_map_cols) {
            store_in_boxes(row, col, batch, sums, [&](float(&values)[chunk_sums], int) {
#pragma unroll
                for (float& value : values) value *= p.alpha;
            });
            return;
        }
        wait_for_buffers();
#pragma unroll 1
        for (int first = 0; first < n; first += chunk_cols) {
            float values[chunk_sums];
            pick<n>(sums, first, values);
            store_by_threads(row, col + first, batch, values, p.alpha, p.beta);
        }
    }

    /// One copy of the epilogue's code serves all chunks, but for biases and relu, which are short.
    __device__ void store_with_epilogue(int row, int col, int batch, const float (&sums)[n / 2],
                                        const tile_biases<n>& of_tile) {
        const bool in_boxes = col + n <= p.c_map_cols;
        float* const columns = shared.column_biases[group];
        of_tile.share(columns);
        if constexpr (std::is_same_v<Activation, matmul_activation>) {
            const bool is_relu = p.epilogue.activation == matmul_activation::relu;
            const bool is_short = (is_relu || p.epilogue.activation == matmul_activation::none) &&
                                  p.beta == 0 && p.epilogue.residual == nullptr;
            if (in_boxes && is_short) {
                const float least = is_relu ? 0 : -infinity;
                store_in_boxes(row, col, batch, sums, [&](float(&values)[chunk_sums], int first) {
                    add_biases(p, columns + first, of_tile.of_rows, values);
#pragma unroll
                    for (float& value : values) value = p.epilogue.scale * (value < least ? least : value);
                });
                return;
            }
        }
        wait_for_buffers();
#pragma unroll 1
        for (int first = 0; first < n; first += chunk_cols) {
            float values[chunk_sums];
            pick<n>(sums, first, values);
            apply_epilogue(p, row, col + first, columns + first, of_tile.of_rows, values);
            if (in_boxes) {
                const int together = first % cols_together;
                if (together == 0 && first > 0) wait_for_buffers();
                stage_in_box<Out, out_cols>(shared.out[group][together / out_cols], first % out_cols, values);
                const int next = first + chunk_cols;
                if (next % cols_together == 0 || next == n)
                    store_boxes(row, col, batch, first - together, next);
            } else {
                store_by_threads(row, col + first, batch, values, 1, 0);
            }
        }
    }

    const product& p;
    storage& shared;
    int group;
    int thread = static_cast<int>(threadIdx.x) % warpgroup_threads;
    tile_biases<has_epilogue ? n : warpgroup_threads> biases[Tile::halves];
};

}  // namespace heddle::kernels::matmul
