#include "examples/fashion_mnist/cpu.hpp"
#include "examples/fashion_mnist/program.hpp"
#include "examples/fashion_mnist/test_training.hpp"
#include "examples/support/image.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace fashion_mnist {
namespace {

namespace fs = std::filesystem;
using examples::complaint_of, examples::temporary;

template <class T>
class cpu_training : public testing::Test {
  protected:
    cpu device;
};
using types = testing::Types<float, heddle::bfloat16>;
TYPED_TEST_SUITE(cpu_training, types);

TYPED_TEST(cpu_training, learns) {
    expect_that_it_learns<cpu, TypeParam>(this->device);
}
TYPED_TEST(cpu_training, has_the_same_bits_each_time) {
    expect_the_same_bits_each_time<cpu, TypeParam>(this->device);
}
TYPED_TEST(cpu_training, resumes_to_the_bit) {
    expect_that_it_resumes_to_the_bit<cpu, TypeParam>(this->device);
}

/// A folder with the four files of a small data set.
fs::path written_set(const std::string& name) {
    const fs::path folder = temporary(name);
    fs::create_directories(folder);
    const data_set data = drawn_set();
    const auto write = [&](const char* prefix, const pictures& of) {
        write_idx(folder / fmt::format("{}-images-idx3-ubyte", prefix), {of.count(), of.height, of.width},
                  of.pixels);
        write_idx(folder / fmt::format("{}-labels-idx1-ubyte", prefix), {of.count()},
                  {of.labels.begin(), of.labels.end()});
    };
    write("train", data.training);
    write("t10k", data.test);
    return folder;
}

TEST(data_set, comes_from_its_files) {
    const data_set read = read_data_set(written_set("set")), written = drawn_set();
    EXPECT_EQ(read.training.pixels, written.training.pixels);
    EXPECT_EQ(read.test.labels, written.test.labels);
    EXPECT_EQ(read.training.height, 9);
    EXPECT_EQ(read.training.width, 7);
}

TEST(data_set, that_is_wrong_is_refused) {
    const fs::path folder = written_set("bad-set");
    const auto complaint = [&] { return complaint_of([&] { read_data_set(folder); }); };
    const fs::path test_images = folder / "t10k-images-idx3-ubyte",
                   test_labels = folder / "t10k-labels-idx1-ubyte";
    write_idx(test_labels, {3}, {1, 2, 10});
    write_idx(test_images, {3, 1, 2}, std::vector<std::uint8_t>(6));
    EXPECT_EQ(complaint(), test_labels.string() + ": label 2 is 10, not below 10");
    write_idx(test_labels, {2}, {1, 2});
    EXPECT_EQ(complaint(), test_labels.string() + ": has 2 labels, of 3 pictures in t10k-images-idx3-ubyte");
    write_idx(test_labels, {3}, {1, 2, 9});
    EXPECT_EQ(complaint(), folder.string() + ": the test set's pictures are 2 x 1, the training set's 7 x 9");
    write_idx(test_images, {3, 2}, std::vector<std::uint8_t>(6));
    EXPECT_EQ(complaint(), test_images.string() + ": has 2 extents, not the 3 of pictures");
    fs::resize_file(test_images, 14);
    EXPECT_EQ(complaint(), test_images.string() + ": ends after 2 of the 6 bytes that its header promises");
    fs::remove(test_images);
    EXPECT_EQ(complaint(),
              test_images.string() + ".gz: is missing; Debian's package dataset-fashion-mnist has it");
}

TEST(picture, is_grey_and_of_the_right_size) {
    const fs::path file = temporary("picture.png");
    auto picture = examples::make_image<std::uint8_t>(2, 1, 3);
    picture.pixels = {255, 255, 255, 255, 0, 0};
    examples::write_image(file, picture);
    EXPECT_EQ(read_picture(file, 2, 1), (std::vector<std::uint8_t>{255, 76}));
    EXPECT_EQ(complaint_of([&] { read_picture(file, 28, 28); }),
              file.string() + ": is 2 x 1 pixels, not 28 x 28");
}

/// What the program asks for, with files of its own.
settings program_settings(const std::string& name) {
    settings result = small_settings();
    result.data = written_set(name);
    result.checkpoint = temporary(name + ".safetensors");
    result.curve = temporary(name + ".svg");
    result.epochs = 1;
    return result;
}

TEST(checkpoint, of_another_training_is_refused) {
    settings settings = program_settings("other");
    run_on_cpu(settings);
    settings.resume = true;
    settings.epochs = 2;
    const std::string file = settings.checkpoint.string();
    auto batch = settings, widths = settings, type = settings;
    batch.batch = 32;
    widths.widths = {40, 25};
    type.type = element::bfloat16;
    const auto before = examples::read_safetensors(settings.checkpoint).tensors.at("layers.0.weight").bytes;
    EXPECT_EQ(complaint_of([&] { run_on_cpu(batch); }), file + ": was trained with batch 64, not 32");
    EXPECT_EQ(complaint_of([&] { run_on_cpu(type); }), file + ": was trained with type float, not bf16");
    EXPECT_EQ(complaint_of([&] { run_on_cpu(widths); }),
              file + ": layers.1.weight is F32 of [24, 40], not F32 of [25, 40]");
    EXPECT_EQ(before, examples::read_safetensors(settings.checkpoint).tensors.at("layers.0.weight").bytes);

    run_on_cpu(settings);  // and it goes on where it may
    EXPECT_EQ(examples::read_safetensors(settings.checkpoint).tensors.at("history.accuracy").shape,
              std::vector<std::int64_t>{2});
    fs::resize_file(settings.checkpoint, fs::file_size(settings.checkpoint) - 1);
    EXPECT_NE(complaint_of([&] { run_on_cpu(settings); }).find(file + ": is cut off"), std::string::npos);
}

TEST(program, refuses_a_batch_that_is_larger_than_the_set) {
    settings settings = program_settings("batch");
    settings.batch = 651;
    EXPECT_EQ(complaint_of([&] { run_on_cpu(settings); }),
              "--batch 651 is more than the 650 pictures of the training set");
}

TEST(program, classifies_a_picture) {
    settings settings = program_settings("classified");
    cpu device;
    network<cpu, float> untrained(device, picture_side * picture_side, settings);
    examples::safetensors content;
    untrained.save(content);
    examples::write_safetensors(settings.checkpoint, content);
    settings.pictures = {temporary("classified.png")};
    examples::write_image(settings.pictures[0],
                          examples::make_image<std::uint8_t>(picture_side, picture_side, 1));
    testing::internal::CaptureStdout();
    run_on_cpu(settings);
    // A black picture leaves nothing but the biases, which are zeros: all classes are alike.
    EXPECT_EQ(testing::internal::GetCapturedStdout(),
              settings.pictures[0].string() + ": T-shirt 10.0 %, trouser 10.0 %, pullover 10.0 %\n");
}

}  // namespace
}  // namespace fashion_mnist
