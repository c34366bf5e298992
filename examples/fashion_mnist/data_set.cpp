#include "examples/fashion_mnist/data_set.hpp"

#include "examples/support/file.hpp"
#include "examples/support/idx.hpp"
#include "examples/support/image.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

namespace fashion_mnist {
namespace {

namespace fs = std::filesystem;
using examples::fail, examples::idx_array;

/// NAME if it exists, otherwise NAME.gz.
fs::path found(const fs::path& folder, const std::string& name) {
    for (const std::string& each : {name, name + ".gz"})
        if (fs::exists(folder / each)) return folder / each;
    fail(folder / (name + ".gz"), "is missing; Debian's package dataset-fashion-mnist has it");
}

pictures read(const fs::path& folder, const std::string& prefix) {
    const fs::path image_file = found(folder, prefix + "-images-idx3-ubyte");
    const fs::path label_file = found(folder, prefix + "-labels-idx1-ubyte");
    idx_array images = examples::read_idx(image_file), labels = examples::read_idx(label_file);
    if (images.extents.size() != 3)
        fail(image_file, fmt::format("has {} extents, not the 3 of pictures", images.extents.size()));
    if (labels.extents.size() != 1)
        fail(label_file, fmt::format("has {} extents, not the one of labels", labels.extents.size()));
    if (images.bytes.empty()) fail(image_file, "has no pictures");
    if (labels.extents[0] != images.extents[0])
        fail(label_file, fmt::format("has {} labels, of {} pictures in {}", labels.extents[0],
                                     images.extents[0], image_file.filename().string()));
    for (std::size_t i = 0; i < labels.bytes.size(); ++i)
        if (labels.bytes[i] >= classes.size())
            fail(label_file, fmt::format("label {} is {}, not below {}", i, labels.bytes[i], classes.size()));
    return {images.extents[1],
            images.extents[2],
            std::move(images.bytes),
            {labels.bytes.begin(), labels.bytes.end()}};
}

}  // namespace

data_set read_data_set(const fs::path& folder) {
    data_set set{read(folder, "train"), read(folder, "t10k")};
    if (set.test.height != set.training.height || set.test.width != set.training.width)
        fail(folder, fmt::format("the test set's pictures are {} x {}, the training set's {} x {}",
                                 set.test.width, set.test.height, set.training.width, set.training.height));
    return set;
}

void write_picture(const fs::path& file, const pictures& pictures, std::int64_t index) {
    if (index < 0 || index >= pictures.count())
        fail(file, fmt::format("there is no picture {} of {}", index, pictures.count()));
    auto picture = examples::make_image<std::uint8_t>(pictures.width, pictures.height, 1);
    std::copy_n(pictures.pixels.begin() + index * pictures.pixels_each(), pictures.pixels_each(),
                picture.pixels.begin());
    examples::write_image(file, picture);
}

std::vector<std::uint8_t> read_picture(const fs::path& file, std::int64_t width, std::int64_t height) {
    const examples::image<std::uint8_t> picture = examples::to_8_bit(examples::read_image(file));
    if (picture.width != width || picture.height != height)
        fail(file,
             fmt::format("is {} x {} pixels, not {} x {}", picture.width, picture.height, width, height));
    std::vector<std::uint8_t> grey;
    const auto channels = static_cast<std::size_t>(picture.channels);
    for (std::size_t i = 0; i < picture.pixels.size(); i += channels) {
        const std::uint8_t* const pixel = picture.pixels.data() + i;
        const double red = pixel[0], green = pixel[channels < 3 ? 0 : 1], blue = pixel[channels < 3 ? 0 : 2];
        grey.push_back(static_cast<std::uint8_t>(std::lround(0.299 * red + 0.587 * green + 0.114 * blue)));
    }
    return grey;
}

}  // namespace fashion_mnist
