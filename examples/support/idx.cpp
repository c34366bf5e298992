#include "examples/support/idx.hpp"

#include "examples/support/file.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>

namespace examples {
namespace {

/// What a file's header may promise: more is taken for damage.
constexpr std::int64_t most_bytes = std::int64_t{1} << 31;
constexpr std::uint8_t of_unsigned_bytes = 0x08;
constexpr int most_extents = 4;

/// zlib at work on one file. It reads what is not compressed as it is.
class reader {
    struct close {
        void operator()(gzFile handle) const noexcept { (void)gzclose(handle); }
    };
    const std::filesystem::path& file_;
    std::unique_ptr<gzFile_s, close> handle_;

  public:
    explicit reader(const std::filesystem::path& file) : file_(file) {
        (void)open_to_read(file);  // says what is wrong where there is nothing to read
        handle_.reset(gzopen(file.c_str(), "rb"));
        if (!handle_) fail(file, "cannot be opened");
    }

    /// How many bytes were left to read, `into.size()` at most.
    std::size_t read(std::span<std::uint8_t> into) {
        constexpr std::size_t piece = std::size_t{1} << 20;
        std::size_t done = 0;
        while (done < into.size()) {
            const auto wanted = static_cast<unsigned>(std::min(piece, into.size() - done));
            const int count = gzread(handle_.get(), into.data() + done, wanted);
            if (count < 0) fail_to_read();
            if (count == 0) break;
            done += static_cast<std::size_t>(count);
        }
        return done;
    }

    /// Throws where a compressed file was cut off, which zlib takes for an early end at first.
    void require_whole() {
        int status = Z_OK;
        (void)gzerror(handle_.get(), &status);
        if (status == Z_BUF_ERROR) fail(file_, "is cut off within compressed data");
    }

  private:
    [[noreturn]] void fail_to_read() {
        int status = Z_OK;
        const char* message = gzerror(handle_.get(), &status);
        if (status == Z_ERRNO) message = std::strerror(errno);
        if (status == Z_BUF_ERROR) message = "is cut off within compressed data";
        fail(file_, message);
    }
};

}  // namespace

idx_array read_idx(const std::filesystem::path& file) {
    reader source(file);
    std::array<std::uint8_t, 4> magic{};
    if (source.read(magic) != magic.size() || magic[0] != 0 || magic[1] != 0 ||
        magic[2] != of_unsigned_bytes || magic[3] < 1 || magic[3] > most_extents) {
        source.require_whole();
        fail(file, "is not an IDX file of unsigned bytes");
    }
    idx_array array;
    std::int64_t size = 1;
    for (int i = 0; i < magic[3]; ++i) {
        std::array<std::uint8_t, 4> big_endian{};
        if (source.read(big_endian) != big_endian.size()) fail(file, "is cut off within its header");
        std::int64_t extent = 0;
        for (const std::int64_t byte : big_endian) extent = extent * 256 + byte;
        array.extents.push_back(extent);
        if (__builtin_mul_overflow(size, extent, &size) || size > most_bytes)
            fail(file, "promises more than 2^31 bytes");
    }
    array.bytes.resize(static_cast<std::size_t>(size));
    const std::size_t read = source.read(array.bytes);
    source.require_whole();
    if (read < array.bytes.size())
        fail(file, fmt::format("ends after {} of the {} bytes that its header promises", read, size));
    std::array<std::uint8_t, 1> more{};
    if (source.read(more) > 0)
        fail(file, fmt::format("goes on after the {} bytes that its header promises", size));
    source.require_whole();
    return array;
}

}  // namespace examples
