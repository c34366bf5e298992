#pragma once

#include "benchmarks/support/headers.hpp"

namespace heddle::bench {

using extents = std::vector<std::int64_t>;

/// How far sampled elements of a rung's result are from float64, and how far they may be (docs/accuracy.md).
struct accuracy {
    double error = 0;
    double bound = 0;
    std::int64_t elements = 0;  ///< that were compared
    std::string_view measure;   ///< of which error and bound are shares

    /// NaN is none.
    [[nodiscard]] bool is_within_bound() const { return error <= bound; }
};

/// An operation whose rungs run at any shape.
struct ladder {
    std::string_view operation;           ///< as in the names of rows
    std::string_view shape;               ///< how one is written: MxNxK
    bench::extents of_size;               ///< the extents for --size N, with 0 for N
    std::vector<std::string_view> types;  ///< the first where none is asked for
    /// Adds the cold rows of one shape: every rung behind its kernels, the plain call and the peers.
    void (*add_rows)(std::string_view type, const extents& shape);
    /// Runs a rung, or a kernel by its name, on random elements. The device may lack what it needs.
    /// @throws unsupported  the rung cannot run that
    accuracy (*check)(std::string_view type, const extents& shape, std::string_view rung);
};

std::span<const ladder> ladders();

}  // namespace heddle::bench
