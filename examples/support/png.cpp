#include "examples/support/png.hpp"

#include <png.h>

#include <bit>
#include <csetjmp>
#include <cstdio>
#include <utility>
#include <variant>
#include <vector>

namespace examples {
namespace {

enum class purpose { read, write };

/// Runs libpng on one file. Errors return by longjmp, into run().
class session {
    const std::filesystem::path& file_;
    purpose purpose_;
    png_structp png_ = nullptr;
    png_infop info_ = nullptr;
    char message_[256] = {};

    static void on_error(png_structp png, png_const_charp message) {
        auto* self = static_cast<session*>(png_get_error_ptr(png));
        std::snprintf(self->message_, sizeof(self->message_), "%s", message);
        png_longjmp(png, 1);
    }
    static void on_warning(png_structp, png_const_charp) {}

  public:
    session(const std::filesystem::path& file, purpose why) : file_(file), purpose_(why) {
        const auto create = why == purpose::read ? png_create_read_struct : png_create_write_struct;
        png_ = create(PNG_LIBPNG_VER_STRING, this, on_error, on_warning);
        if (png_ != nullptr) info_ = png_create_info_struct(png_);
        if (info_ == nullptr) fail(file, "libpng cannot start");
    }
    session(const session&) = delete;
    session& operator=(const session&) = delete;
    ~session() {
        if (purpose_ == purpose::read)
            png_destroy_read_struct(&png_, &info_, nullptr);
        else
            png_destroy_write_struct(&png_, &info_);
    }

    /// `body` takes libpng's two objects. It must make nothing with a destructor, as longjmp skips destructors.
    template <class Body>
    void run(Body body) {
        if (setjmp(png_jmpbuf(png_)) != 0) fail(file_, message_);
        body(png_, info_);
    }
};

/// PNG is big-endian.
void set_byte_order(png_structp png) {
    if constexpr (std::endian::native == std::endian::little) png_set_swap(png);
}

template <class T>
std::vector<png_bytep> rows_of(const image<T>& picture) {
    std::vector<png_bytep> rows;
    auto* row = const_cast<T*>(picture.pixels.data());  // libpng's writing functions take no const
    for (std::int64_t y = 0; y < picture.height; ++y, row += picture.width * picture.channels)
        rows.push_back(reinterpret_cast<png_bytep>(row));
    return rows;
}

template <class T>
image<T> read_pixels(session& reading, std::int64_t width, std::int64_t height, std::int64_t channels) {
    image<T> picture = make_image<T>(width, height, channels);
    std::vector<png_bytep> rows = rows_of(picture);
    reading.run([&](png_structp png, png_infop) {
        png_read_image(png, rows.data());
        png_read_end(png, nullptr);
    });
    return picture;
}

int color_type(std::int64_t channels) {
    const int color = channels >= 3 ? PNG_COLOR_MASK_COLOR : 0;
    const int alpha = channels % 2 == 0 ? PNG_COLOR_MASK_ALPHA : 0;
    return color | alpha;
}

template <class T>
void write(const std::filesystem::path& file, const image<T>& picture) {
    file_handle stream = open_to_write(file);
    std::vector<png_bytep> rows = rows_of(picture);
    session(file, purpose::write).run([&](png_structp png, png_infop info) {
        png_init_io(png, stream.get());
        png_set_IHDR(png, info, static_cast<png_uint_32>(picture.width),
                     static_cast<png_uint_32>(picture.height), 8 * sizeof(T), color_type(picture.channels),
                     PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
        png_write_info(png, info);
        set_byte_order(png);
        png_write_image(png, rows.data());
        png_write_end(png, info);
    });
    close_written(std::move(stream), file);
}

}  // namespace

bool is_png(const signature& start) {
    return png_sig_cmp(start.data(), 0, start.size()) == 0;
}

any_image read_png(const std::filesystem::path& file) {
    const file_handle stream = open_to_read(file);
    session reading(file, purpose::read);
    std::int64_t width = 0, height = 0, channels = 0;
    bool is_16_bit = false;
    reading.run([&](png_structp png, png_infop info) {
        png_init_io(png, stream.get());
        png_read_info(png, info);
        png_set_expand(png);  // expands palettes, fewer than 8 bits and a transparent colour
        set_byte_order(png);
        png_set_interlace_handling(png);
        png_read_update_info(png, info);
        width = png_get_image_width(png, info);
        height = png_get_image_height(png, info);
        channels = png_get_channels(png, info);
        is_16_bit = png_get_bit_depth(png, info) == 16;
    });
    if (width * height > most_pixels) fail(file, "has more than 2^28 pixels");
    if (is_16_bit) return read_pixels<std::uint16_t>(reading, width, height, channels);
    return read_pixels<std::uint8_t>(reading, width, height, channels);
}

void write_png(const std::filesystem::path& file, const any_image& picture) {
    std::visit([&](const auto& of_type) { write(file, of_type); }, picture);
}

}  // namespace examples
