#include "examples/support/idx.hpp"

#include "examples/support/file.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>
#include <span>

namespace examples {
namespace {

/// The largest size that a header may give; more counts as damage.
constexpr std::int64_t most_bytes = std::int64_t{1} << 31;
constexpr std::uint8_t of_unsigned_bytes = 0x08;
constexpr int most_extents = 4;
constexpr unsigned piece_bytes = 1 << 20;

using bytes = std::vector<std::uint8_t>;

/// More than a compressed file and an array's header can need.
constexpr std::size_t most_in_memory = most_bytes + 1024;

void append(const std::filesystem::path& file, bytes& to, std::span<const std::uint8_t> more) {
    if (more.size() > most_in_memory - to.size()) fail(file, "has more than 2^31 bytes");
    to.insert(to.end(), more.begin(), more.end());
}

bytes bytes_of(const std::filesystem::path& file) {
    const file_handle stream = open_to_read(file);
    bytes result, piece(piece_bytes);
    while (const std::size_t read = std::fread(piece.data(), 1, piece.size(), stream.get()))
        append(file, result, std::span(piece).first(read));
    if (std::ferror(stream.get()) != 0) fail(file, std::strerror(errno));
    return result;
}

/// The decompressed bytes of all gzip members. Each is read to its end, with the checksum and the length. gzread()
/// ignores data behind a member, and accepts a missing length.
bytes decompressed(const std::filesystem::path& file, bytes& content) {
    z_stream stream{};
    constexpr int gzip_alone = 16;
    if (inflateInit2(&stream, MAX_WBITS + gzip_alone) != Z_OK) fail(file, "zlib cannot start");
    const std::unique_ptr<z_stream, int (*)(z_stream*)> guard(&stream, inflateEnd);
    stream.next_in = content.data();
    stream.avail_in = static_cast<uInt>(content.size());
    bytes result, piece(piece_bytes);
    for (int status = Z_OK; status != Z_STREAM_END || stream.avail_in > 0;) {
        if (status == Z_STREAM_END) inflateReset(&stream);
        stream.next_out = piece.data();
        stream.avail_out = piece_bytes;
        status = inflate(&stream, Z_NO_FLUSH);
        if (status == Z_BUF_ERROR) fail(file, "is cut off within compressed data");
        if (status != Z_OK && status != Z_STREAM_END)
            fail(file, stream.msg != nullptr ? stream.msg : zError(status));
        append(file, result, std::span(piece).first(piece_bytes - stream.avail_out));
    }
    return result;
}

bool is_gzip(const bytes& content) {
    return content.size() >= 2 && content[0] == 0x1f && content[1] == 0x8b;
}

}  // namespace

idx_array read_idx(const std::filesystem::path& file) {
    bytes content = bytes_of(file);
    if (is_gzip(content)) content = decompressed(file, content);
    std::span<const std::uint8_t> rest = content;
    if (rest.size() < 4 || rest[0] != 0 || rest[1] != 0 || rest[2] != of_unsigned_bytes || rest[3] < 1 ||
        rest[3] > most_extents)
        fail(file, "is not an IDX file of unsigned bytes");
    idx_array array;
    std::int64_t size = 1;
    const int count = rest[3];
    rest = rest.subspan(4);
    for (int i = 0; i < count; ++i) {
        if (rest.size() < 4) fail(file, "is cut off within its header");
        std::int64_t extent = 0;
        for (const std::int64_t byte : rest.first(4)) extent = extent * 256 + byte;
        rest = rest.subspan(4);
        array.extents.push_back(extent);
        if (__builtin_mul_overflow(size, extent, &size) || size > most_bytes)
            fail(file, "promises more than 2^31 bytes");
    }
    if (std::ssize(rest) < size)
        fail(file, fmt::format("ends after {} of the {} bytes that its header promises", rest.size(), size));
    if (std::ssize(rest) > size)
        fail(file, fmt::format("goes on after the {} bytes that its header promises", size));
    array.bytes.assign(rest.begin(), rest.end());
    return array;
}

}  // namespace examples
