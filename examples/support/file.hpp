#pragma once

#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string_view>

namespace examples {

struct close_file {
    void operator()(std::FILE* file) const noexcept { (void)std::fclose(file); }
};
using file_handle = std::unique_ptr<std::FILE, close_file>;

/// The first bytes of a file; zeros where it ends sooner.
using signature = std::array<unsigned char, 8>;

/// @throws std::runtime_error  as open_to_read()
signature signature_of(const std::filesystem::path& file);

/// Throws std::runtime_error with the file and the error.
[[noreturn]] void fail(const std::filesystem::path& file, std::string_view reason);

/// @throws std::runtime_error  where it cannot be opened, or is a folder
file_handle open_to_read(const std::filesystem::path& file);
file_handle open_to_write(const std::filesystem::path& file);

/// Call this before long work that would otherwise be lost.
/// @throws std::runtime_error  where open_to_write() cannot open it
void require_writable(const std::filesystem::path& file);

/// Checks that a file may be renamed to this path: the path is free, or a regular file.
/// @throws std::runtime_error  where it is another thing, such as a device, or its folder takes no files
void require_replaceable(const std::filesystem::path& file);

/// Ends the writing: data that is still buffered may not fit on the disk.
/// @throws std::runtime_error  where it did not
void close_written(file_handle handle, const std::filesystem::path& file);

}  // namespace examples
