#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace examples {

/// An array of bytes with its extents, the last of which varies fastest.
struct idx_array {
    std::vector<std::int64_t> extents;
    std::vector<std::uint8_t> bytes;
};

/// An IDX file of unsigned bytes with one to four extents, as those of MNIST are, plain or compressed by gzip.
/// @throws std::runtime_error  naming the file and what is wrong with it; that it is longer or shorter than its header says, too
idx_array read_idx(const std::filesystem::path& file);

}  // namespace examples
