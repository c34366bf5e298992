#include "examples/support/image.hpp"

#include "examples/support/file.hpp"
#include "examples/support/jpeg.hpp"
#include "examples/support/png.hpp"

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>

namespace examples {

image<std::uint8_t> to_8_bit(any_image picture) {
    if (auto* as_it_is = std::get_if<image<std::uint8_t>>(&picture)) return std::move(*as_it_is);
    const auto& source = std::get<image<std::uint16_t>>(picture);
    auto result = make_image<std::uint8_t>(source.width, source.height, source.channels);
    // 65535 is 257 * 255.
    std::ranges::transform(source.pixels, result.pixels.begin(),
                           [](int value) { return static_cast<std::uint8_t>((value + 128) / 257); });
    return result;
}

any_image read_image(const std::filesystem::path& file) {
    const signature start = signature_of(file);
    if (is_png(start)) return read_png(file);
    if (is_jpeg(start)) return read_jpeg(file);
    fail(file, "is neither a PNG nor a JPEG file");
}

void write_image(const std::filesystem::path& file, const any_image& picture) {
    if (has_jpeg_name(file))
        write_jpeg(file, picture);
    else
        write_png(file, picture);
}

bool has_jpeg_name(const std::filesystem::path& file) {
    std::string ending = file.extension().string();
    std::ranges::transform(ending, ending.begin(),
                           [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    return ending == ".jpg" || ending == ".jpeg";
}

}  // namespace examples
