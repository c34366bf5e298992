#include "examples/fashion_mnist/data_set.hpp"

#include "examples/support/file.hpp"
#include "examples/support/idx.hpp"
#include "examples/support/image.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <utility>

namespace fashion_mnist {
namespace {

namespace fs = std::filesystem;
using examples::fail, examples::idx_array;

/// NAME where it is there, else NAME.gz.
fs::path found(const fs::path& folder, const std::string& name) {
    const fs::path plain = folder / name, compressed = folder / (name + ".gz");
    if (fs::exists(plain)) return plain;
    if (fs::exists(compressed)) return compressed;
    fail(compressed, "is missing; Debian's package dataset-fashion-mnist has it");
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

std::vector<std::uint8_t> read_picture(const fs::path& file, std::int64_t width, std::int64_t height) {
    const examples::image<std::uint8_t> picture = examples::to_8_bit(examples::read_image(file));
    if (picture.width != width || picture.height != height)
        fail(file,
             fmt::format("is {} x {} pixels, not {} x {}", picture.width, picture.height, width, height));
    std::vector<std::uint8_t> grey;
    const auto channels = static_cast<std::size_t>(picture.channels);
    for (std::size_t i = 0; i < picture.pixels.size(); i += channels) {
        const std::uint8_t* const pixel = picture.pixels.data() + i;
        const double luma =
            0.299 * pixel[0] + (channels < 3 ? 0.701 * pixel[0] : 0.587 * pixel[1] + 0.114 * pixel[2]);
        grey.push_back(static_cast<std::uint8_t>(luma + 0.5));
    }
    return grey;
}

}  // namespace fashion_mnist
