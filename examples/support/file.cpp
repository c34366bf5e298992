#include "examples/support/file.hpp"

#include <fmt/format.h>

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

}  // namespace

void fail(const std::filesystem::path& file, std::string_view reason) {
    throw std::runtime_error(fmt::format("{}: {}", file.string(), reason));
}

signature signature_of(const std::filesystem::path& file) {
    signature start{};
    const std::size_t read = std::fread(start.data(), 1, start.size(), open_to_read(file).get());
    return read == start.size() ? start : signature{};
}

file_handle open_to_read(const std::filesystem::path& file) {
    return open(file, "rb");
}

file_handle open_to_write(const std::filesystem::path& file) {
    return open(file, "wb");
}

void close_written(file_handle handle, const std::filesystem::path& file) {
    if (std::fclose(handle.release()) != 0) fail(file, std::strerror(errno));
}

}  // namespace examples
