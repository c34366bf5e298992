#include "examples/support/png.hpp"

#include <fmt/format.h>
#include <png.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>

namespace examples {
namespace {

/// libpng's description of an image; frees what libpng holds, also where an exception passes.
struct control : png_image {
    control() : png_image{} { version = PNG_IMAGE_VERSION; }
    ~control() { png_image_free(this); }
    control(const control&) = delete;
    control& operator=(const control&) = delete;
};

[[noreturn]] void fail(const std::filesystem::path& file, const char* reason) {
    throw std::runtime_error(fmt::format("{}: {}", file.string(), reason));
}

void require_png_signature(const std::filesystem::path& file) {
    if (std::filesystem::is_directory(file)) fail(file, "is a folder");
    errno = 0;
    std::ifstream stream(file, std::ios::binary);
    if (!stream) fail(file, errno != 0 ? std::strerror(errno) : "cannot be opened");
    char signature[8] = {};
    stream.read(signature, sizeof(signature));
    if (png_sig_cmp(reinterpret_cast<png_const_bytep>(signature), 0, sizeof(signature)) != 0)
        fail(file, "is not a PNG file");
}

png_uint_32 format_of(std::int64_t channels) {
    return channels == 1 ? PNG_FORMAT_GRAY : channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_RGBA;
}

}  // namespace

image read_png(const std::filesystem::path& file) {
    require_png_signature(file);
    control png;
    if (!png_image_begin_read_from_file(&png, file.c_str())) fail(file, png.message);
    const bool has_alpha = (png.format & PNG_FORMAT_FLAG_ALPHA) != 0;
    const bool has_color = (png.format & PNG_FORMAT_FLAG_COLOR) != 0;
    image result = make_image(png.width, png.height, has_alpha ? 4 : has_color ? 3 : 1);
    png.format = format_of(result.channels);
    if (!png_image_finish_read(&png, nullptr, result.pixels.data(), 0, nullptr)) fail(file, png.message);
    return result;
}

void write_png(const std::filesystem::path& file, const image& picture) {
    control png;
    png.width = static_cast<png_uint_32>(picture.width);
    png.height = static_cast<png_uint_32>(picture.height);
    png.format = format_of(picture.channels);
    if (!png_image_write_to_file(&png, file.c_str(), 0, picture.pixels.data(), 0, nullptr))
        fail(file, png.message);
}

}  // namespace examples
