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

/// An IDX file of unsigned bytes with one to four extents, as those of MNIST, plain or compressed by gzip.
/// @throws std::runtime_error  names the file and the error; also where it is longer or shorter than its header says
idx_array read_idx(const std::filesystem::path& file);

}  // namespace examples
