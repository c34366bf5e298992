#include "examples/support/file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace examples {
namespace {

file_handle open(const std::filesystem::path& file, const char* mode) {
    if (std::filesystem::is_directory(file)) fail(file, "is a folder");
    file_handle handle(std::fopen(file.c_str(), mode));
    if (!handle) fail(file, std::strerror(errno));
    return handle;
}

void require_access(const std::filesystem::path& file, const std::filesystem::path& to) {
    if (::access(to.c_str(), W_OK) != 0) fail(file, std::strerror(errno));
}

/// With a final slash, so that it names a folder.
std::filesystem::path folder_of(const std::filesystem::path& file) {
    return std::filesystem::absolute(file).parent_path() / "";
}

}  // namespace

void fail(const std::filesystem::path& file, std::string_view reason) {
    throw std::runtime_error(fmt::format("{}: {}", file.string(), reason));
}

signature signature_of(const std::filesystem::path& file) {
    signature start{};
    const file_handle stream = open_to_read(file);
    const std::size_t read = std::fread(start.data(), 1, start.size(), stream.get());
    if (std::ferror(stream.get()) != 0) fail(file, std::strerror(errno));
    return read == start.size() ? start : signature{};
}

file_handle open_to_read(const std::filesystem::path& file) {
    return open(file, "rb");
}

file_handle open_to_write(const std::filesystem::path& file) {
    return open(file, "wb");
}

void require_writable(const std::filesystem::path& file) {
    if (std::filesystem::is_directory(file)) fail(file, "is a folder");
    require_access(file, std::filesystem::exists(file) ? file : folder_of(file));
}

void require_replaceable(const std::filesystem::path& file) {
    require_writable(file);
    if (std::filesystem::exists(file) && !std::filesystem::is_regular_file(file))
        fail(file, "is not a regular file");
    require_access(file, folder_of(file));
}

void close_written(file_handle handle, const std::filesystem::path& file) {
    if (std::fclose(handle.release()) != 0) fail(file, std::strerror(errno));
}

}  // namespace examples
