#include "examples/fashion_mnist/cpu.hpp"
#include "examples/fashion_mnist/program.hpp"
#include "examples/fashion_mnist/test_training.hpp"
#include "examples/support/image.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <utility>
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

/// Settings of the program, with files of this test's own.
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

    run_on_cpu(settings);  // continues with the settings of the checkpoint
    EXPECT_EQ(examples::read_safetensors(settings.checkpoint).tensors.at("history.accuracy").shape,
              std::vector<std::int64_t>{2});
    fs::resize_file(settings.checkpoint, fs::file_size(settings.checkpoint) - 1);
    EXPECT_NE(complaint_of([&] { run_on_cpu(settings); }).find(file + ": is cut off"), std::string::npos);
}

/// The error of a checkpoint in which a tensor begins with `value`, without the file's name.
template <class T>
std::string complaint_of_changed(const settings& settings, const std::string& name, T value) {
    const examples::safetensors whole = examples::read_safetensors(settings.checkpoint);
    examples::safetensors changed = whole;
    std::memcpy(changed.tensors.at(name).bytes.data(), &value, sizeof(value));
    examples::write_safetensors(settings.checkpoint, changed);
    const std::string complaint = complaint_of([&] { run_on_cpu(settings); });
    examples::write_safetensors(settings.checkpoint, whole);
    const std::string start = settings.checkpoint.string() + ": ";
    return complaint.starts_with(start) ? complaint.substr(start.size()) : complaint;
}

TEST(checkpoint, with_numbers_that_training_cannot_go_on_from_is_refused) {
    settings settings = program_settings("not-finite");
    run_on_cpu(settings);
    settings.resume = true;
    settings.epochs = 2;
    constexpr float nan = std::numeric_limits<float>::quiet_NaN(),
                    infinity = std::numeric_limits<float>::infinity();
    const auto complaint = [&](const std::string& name, auto value) {
        return complaint_of_changed(settings, name, value);
    };
    EXPECT_EQ(complaint("layers.0.weight", nan), "layers.0.weight: number 0 is nan");
    EXPECT_EQ(complaint("layers.1.bias", -infinity), "layers.1.bias: number 0 is -inf");
    EXPECT_EQ(complaint("layers.2.bias.first_moment", infinity),
              "layers.2.bias.first_moment: number 0 is inf");
    EXPECT_EQ(complaint("layers.2.bias.second_moment", -1.0f), "layers.2.bias.second_moment: number 0 is -1");
    EXPECT_EQ(complaint("history.accuracy", nan), "history.accuracy: number 0 is nan");
    for (const std::int64_t step : {-10, -1, 11})
        EXPECT_EQ(complaint("step", step), fmt::format("step: {} is not the end of an epoch of 10", step));
}

TEST(checkpoint, is_not_written_once_the_loss_is_not_finite) {
    settings settings = program_settings("diverged");
    run_on_cpu(settings);
    settings.resume = true;
    settings.epochs = 2;
    EXPECT_EQ(complaint_of_changed(settings, "layers.2.bias", 3e38f),
              "is not written: the loss is not finite");
}

TEST(checkpoint, that_cannot_be_written_is_refused_before_anything_is_read) {
    settings settings = program_settings("replaced");
    settings.data = "nowhere";
    settings.checkpoint = "/dev/null";
    EXPECT_EQ(complaint_of([&] { run_on_cpu(settings); }), "/dev/null: is not a regular file");
    settings.checkpoint = temporary("no-folder") / "network";
    EXPECT_EQ(complaint_of([&] { run_on_cpu(settings); }),
              settings.checkpoint.string() + ": No such file or directory");
    settings.checkpoint = temporary("network");
    settings.curve = temporary("");
    EXPECT_EQ(complaint_of([&] { run_on_cpu(settings); }), settings.curve.string() + ": is a folder");
}

/// The program's exit status, and its text on standard error.
std::pair<int, std::string> run_program(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "fashion_mnist");
    std::vector<char*> pointers;
    for (std::string& each : arguments) pointers.push_back(each.data());
    testing::internal::CaptureStderr();
    const int status = program(static_cast<int>(pointers.size()), pointers.data(), nullptr);
    return {status, testing::internal::GetCapturedStderr()};
}

TEST(program, refuses_options_out_of_their_range) {
    const std::map<std::string, std::vector<std::string>> wrong = {
        {"--learning-rate", {"nan", "-nan", "inf", "-1", "1.1", "1e-3x", ""}},
        {"--decay", {"nan", "inf", "-0.1", "2"}},
        {"--weight-decay", {"nan", "inf", "-0.1", "2"}},
        {"--seed", {"-1", "nan", "1.5", "18446744073709551616"}},
        {"--epochs", {"-1", "nan", "10001"}},
        {"--batch", {"0", "-1", "010", "nan", "1048577", "18446744073709551617"}},
        {"--widths", {"0", "8,-1", "nan", "65537"}},
        {"--save-picture", {"-1", "nan", "2147483648"}}};
    for (const auto& [option, values] : wrong)
        for (const std::string& value : values) {
            const auto [status, said] = run_program({option, value, "--data", "nowhere"});
            EXPECT_NE(status, EXIT_SUCCESS);
            EXPECT_TRUE(said.starts_with(option + ": ")) << said;
            EXPECT_NE(said.find(fmt::format("{} is not a ", value.substr(value.find(',') + 1))),
                      std::string::npos)
                << said;
            EXPECT_NE(said.find("number from "), std::string::npos) << said;
        }
    const auto [status, said] = run_program(
        {"--learning-rate", "1e-3", "--seed", "18446744073709551615", "--batch", "10", "--data", "nowhere"});
    EXPECT_NE(said.find("is missing"), std::string::npos) << said;
}

TEST(program, names_the_files_that_it_wrote_alone) {
    settings settings = program_settings("written");
    const auto last_line = [&] {
        testing::internal::CaptureStdout();
        run_on_cpu(settings);
        const std::string said = testing::internal::GetCapturedStdout();
        return said.substr(said.rfind('\n', said.size() - 2) + 1);
    };
    settings.epochs = 0;
    settings.seed = 1;  // with this seed, some guesses of the untrained network are right
    const std::string untrained = last_line();
    EXPECT_TRUE(untrained.ends_with("are right after 0 epochs\n")) << untrained;
    EXPECT_FALSE(untrained.starts_with("0.00 %")) << untrained;
    EXPECT_FALSE(std::filesystem::exists(settings.checkpoint));
    settings.epochs = 1;
    EXPECT_TRUE(last_line().ends_with(
        fmt::format(" after 1 epochs: {}, {}\n", settings.checkpoint.string(), settings.curve.string())));
    settings.resume = true;
    EXPECT_TRUE(last_line().ends_with(" after 1 epochs\n"));
}

TEST(program, fails_where_a_device_is_full) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");  // OpenMP's threads do not survive a fork
    const settings settings = program_settings("full");
    const std::vector<std::string> training = {"--data",       settings.data.string(),
                                               "--checkpoint", settings.checkpoint.string(),
                                               "--widths",     "8",
                                               "--batch",      "64",
                                               "--epochs",     "1",
                                               "--curve"};
    const auto run = [&](std::vector<std::string> arguments, const char* output) {
        if (std::freopen(output, "w", stdout) == nullptr) std::_Exit(EXIT_SUCCESS);
        const auto [status, said] = run_program(std::move(arguments));
        std::fputs(said.c_str(), stderr);
        std::_Exit(status);
    };
    auto to_full_output = training, to_full_curve = training;
    to_full_output.push_back(settings.curve.string());
    to_full_curve.emplace_back("/dev/full");
    const auto fails = testing::ExitedWithCode(EXIT_FAILURE);
    EXPECT_EXIT(run(to_full_output, "/dev/full"), fails, "standard output: No space left on device");
    EXPECT_EXIT(run({"--help"}, "/dev/full"), fails, "standard output: ");
    EXPECT_EXIT(run(to_full_curve, "/dev/null"), fails, "/dev/full: No space left on device");
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
    // For a black picture only the biases remain, which are zeros: all classes are equal.
    EXPECT_EQ(testing::internal::GetCapturedStdout(),
              settings.pictures[0].string() + ": T-shirt 10.0 %, trouser 10.0 %, pullover 10.0 %\n");
    EXPECT_EQ(complaint_of_changed(settings, "layers.0.weight", std::numeric_limits<float>::quiet_NaN()),
              "layers.0.weight: number 0 is nan");
}

}  // namespace
}  // namespace fashion_mnist
