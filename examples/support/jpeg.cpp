#include "examples/support/jpeg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <utility>

// libjpeg's headers need FILE before them. jerror.h numbers the messages by the version that jpeglib.h gives.
// clang-format off
#include <jpeglib.h>
#include <jerror.h>
// clang-format on

namespace examples {
namespace {

constexpr int quality = 95;

/// Runs libjpeg on one file, with a jpeg_decompress_struct or a jpeg_compress_struct. Errors return by longjmp, into
/// run().
template <class Codec>
class session {
    struct error_manager : jpeg_error_mgr {
        std::jmp_buf back;
        char message[JMSG_LENGTH_MAX];
    };

    const std::filesystem::path& file_;
    error_manager errors_{};
    Codec codec_{};

    static void on_error(j_common_ptr codec) {
        auto* errors = static_cast<error_manager*>(codec->err);
        errors->format_message(codec, errors->message);
        std::longjmp(errors->back, 1);
    }
    /// libjpeg only warns of missing data, and fills it with grey. Here it is an error.
    static void on_message(j_common_ptr codec, int level) {
        const int code = codec->err->msg_code;
        if (level < 0 && (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER)) on_error(codec);
    }

  public:
    explicit session(const std::filesystem::path& file) : file_(file) {
        codec_.err = jpeg_std_error(&errors_);
        errors_.error_exit = on_error;
        errors_.emit_message = on_message;
    }
    session(const session&) = delete;
    session& operator=(const session&) = delete;
    ~session() { jpeg_destroy(reinterpret_cast<j_common_ptr>(&codec_)); }

    /// `body` takes libjpeg's object. It must make nothing with a destructor, as longjmp skips destructors.
    template <class Body>
    void run(Body body) {
        if (setjmp(errors_.back) != 0) fail(file_, errors_.message);
        body(codec_);
    }
};

/// Calls `row` with the pointer to each row until `line` has passed the last.
template <class Row>
void each_row(const image<std::uint8_t>& picture, const JDIMENSION& line, Row row) {
    const std::int64_t stride = picture.width * picture.channels;
    while (line < picture.height) {
        JSAMPROW pixels = const_cast<JSAMPROW>(picture.pixels.data()) + line * stride;
        row(&pixels);
    }
}

}  // namespace

bool is_jpeg(const signature& start) {
    return start[0] == 0xff && start[1] == 0xd8 && start[2] == 0xff;
}

image<std::uint8_t> read_jpeg(const std::filesystem::path& file) {
    const file_handle stream = open_to_read(file);
    session<jpeg_decompress_struct> reading(file);
    image<std::uint8_t> picture;
    J_COLOR_SPACE stored = JCS_UNKNOWN;
    std::int64_t pixels = 0;
    reading.run([&](jpeg_decompress_struct& codec) {
        jpeg_create_decompress(&codec);
        jpeg_stdio_src(&codec, stream.get());
        jpeg_read_header(&codec, TRUE);
        stored = codec.jpeg_color_space;
        pixels = std::int64_t{codec.image_width} * codec.image_height;
    });
    if (pixels > most_pixels) fail(file, "has more than 2^28 pixels");
    const bool is_grey = stored == JCS_GRAYSCALE;
    if (!is_grey && stored != JCS_YCbCr && stored != JCS_RGB) fail(file, "is neither of grey nor of RGB");

    JDIMENSION width = 0, height = 0;
    reading.run([&](jpeg_decompress_struct& codec) {
        codec.out_color_space = is_grey ? JCS_GRAYSCALE : JCS_RGB;
        jpeg_start_decompress(&codec);
        width = codec.output_width;
        height = codec.output_height;
    });
    picture = make_image<std::uint8_t>(width, height, is_grey ? 1 : 3);
    reading.run([&](jpeg_decompress_struct& codec) {
        each_row(picture, codec.output_scanline,
                 [&](JSAMPARRAY row) { jpeg_read_scanlines(&codec, row, 1); });
        jpeg_finish_decompress(&codec);
    });
    return picture;
}

void write_jpeg(const std::filesystem::path& file, const any_image& any) {
    const image<std::uint8_t> picture = to_8_bit(any);
    if (picture.channels % 2 == 0) fail(file, "a JPEG has no alpha; write a PNG");
    if (std::max(picture.width, picture.height) > std::int64_t{JPEG_MAX_DIMENSION})
        fail(file, fmt::format("a JPEG has at most {} pixels a side; write a PNG", JPEG_MAX_DIMENSION));
    file_handle stream = open_to_write(file);
    session<jpeg_compress_struct> writing(file);
    writing.run([&](jpeg_compress_struct& codec) {
        jpeg_create_compress(&codec);
        jpeg_stdio_dest(&codec, stream.get());
        codec.image_width = static_cast<JDIMENSION>(picture.width);
        codec.image_height = static_cast<JDIMENSION>(picture.height);
        codec.input_components = static_cast<int>(picture.channels);
        codec.in_color_space = picture.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
        jpeg_set_defaults(&codec);
        jpeg_set_quality(&codec, quality, TRUE);
        jpeg_start_compress(&codec, TRUE);
        each_row(picture, codec.next_scanline, [&](JSAMPARRAY row) { jpeg_write_scanlines(&codec, row, 1); });
        jpeg_finish_compress(&codec);
    });
    close_written(std::move(stream), file);
}

}  // namespace examples
