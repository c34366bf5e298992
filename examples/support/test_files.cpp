#include "examples/support/chart.hpp"
#include "examples/support/file.hpp"
#include "examples/support/idx.hpp"
#include "examples/support/safetensors.hpp"
#include "examples/support/test_support.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <zlib.h>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace examples {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& file, std::string_view content) {
    std::ofstream(file, std::ios::binary) << content;
}

std::string content_of(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

/// An IDX file of 2 x 3 bytes.
constexpr std::string_view six_bytes(
    "\0\0\x08\x02\0\0\0\x02\0\0\0\x03"
    "abcdef",
    18);

void compress(const fs::path& file, std::string_view content) {
    const gzFile handle = gzopen(file.c_str(), "wb");
    ASSERT_EQ(gzwrite(handle, content.data(), static_cast<unsigned>(content.size())),
              static_cast<int>(content.size()));
    ASSERT_EQ(gzclose(handle), Z_OK);
}

TEST(idx, is_read_plain_and_compressed) {
    const fs::path plain = temporary("plain"), compressed = temporary("compressed");
    write(plain, six_bytes);
    compress(compressed, six_bytes);
    for (const fs::path& file : {plain, compressed}) {
        const idx_array array = read_idx(file);
        EXPECT_EQ(array.extents, (std::vector<std::int64_t>{2, 3}));
        EXPECT_EQ(array.bytes, (std::vector<std::uint8_t>{'a', 'b', 'c', 'd', 'e', 'f'}));
    }
}

/// The error of a file with this content, without the file's name.
std::string complaint_of_idx(std::string_view content) {
    const fs::path file = temporary("bad-idx");
    write(file, content);
    const std::string complaint = complaint_of([&] { read_idx(file); });
    return complaint.starts_with(file.string() + ": ") ? complaint.substr(file.string().size() + 2)
                                                       : complaint;
}

TEST(idx, that_is_wrong_is_refused) {
    const fs::path missing = temporary("missing");
    EXPECT_EQ(complaint_of([&] { read_idx(missing); }), missing.string() + ": No such file or directory");
    const std::string none = "is not an IDX file of unsigned bytes";
    EXPECT_EQ(complaint_of_idx(""), none);
    EXPECT_EQ(complaint_of_idx("not one"), none);
    EXPECT_EQ(complaint_of_idx({"\0\0\x0d\x01\0\0\0\x01"
                                "abcd",
                                12}),
              none);  // an array of floats
    EXPECT_EQ(complaint_of_idx(six_bytes.substr(0, 10)), "is cut off within its header");
    EXPECT_EQ(complaint_of_idx(six_bytes.substr(0, 14)),
              "ends after 2 of the 6 bytes that its header promises");
    EXPECT_EQ(complaint_of_idx(std::string(six_bytes) + "g"),
              "goes on after the 6 bytes that its header promises");
    EXPECT_EQ(complaint_of_idx({"\0\0\x08\x03\x7f\0\0\0\x7f\0\0\0\x7f\0\0\0", 16}),
              "promises more than 2^31 bytes");
}

TEST(idx, that_is_cut_off_within_compressed_data_is_refused) {
    const fs::path file = temporary("cut.gz");
    for (std::uintmax_t kept = 4;; ++kept) {
        compress(file, six_bytes);
        if (kept == fs::file_size(file)) break;
        fs::resize_file(file, kept);
        EXPECT_NE(complaint_of([&] { read_idx(file); }), "nothing") << kept;
    }
}

/// A size for which zlib's gzread() decompresses in place, and does not notice that the last bytes are missing.
TEST(idx, that_lacks_its_checksum_or_its_length_is_refused) {
    const fs::path file = temporary("no-length.gz");
    std::string content({0, 0, 8, 1, 0, 1, 0, 0});
    content.resize(content.size() + (1 << 16));
    compress(file, content);
    EXPECT_EQ(read_idx(file).bytes.size(), 1u << 16);
    for (int missing = 1; missing <= 8; ++missing) {
        fs::resize_file(file, fs::file_size(file) - 1);
        EXPECT_EQ(complaint_of([&] { read_idx(file); }),
                  file.string() + ": is cut off within compressed data");
    }
}

TEST(idx, that_is_damaged_is_refused) {
    const fs::path file = temporary("damaged.gz");
    compress(file, six_bytes);
    const std::string whole = content_of(file);
    const auto complaint = [&](const std::string& content) {
        write(file, content);
        return complaint_of([&] { read_idx(file); });
    };
    std::string wrong_sum = whole, wrong_length = whole;
    wrong_sum[whole.size() - 6] ^= 1;
    wrong_length[whole.size() - 2] ^= 1;
    EXPECT_EQ(complaint(wrong_sum), file.string() + ": incorrect data check");
    EXPECT_EQ(complaint(wrong_length), file.string() + ": incorrect length check");
    EXPECT_EQ(complaint(whole + "more"), file.string() + ": incorrect header check");
    EXPECT_EQ(complaint(whole + "g"), file.string() + ": is cut off within compressed data");
    EXPECT_EQ(complaint(whole + whole),
              file.string() + ": goes on after the 6 bytes that its header promises");
}

TEST(idx, may_be_of_several_members) {
    const fs::path first = temporary("first.gz"), second = temporary("second.gz");
    compress(first, six_bytes.substr(0, 9));
    compress(second, six_bytes.substr(9));
    write(first, content_of(first) + content_of(second));
    EXPECT_EQ(read_idx(first).bytes.size(), 6u);
}

safetensors some_tensors() {
    safetensors content;
    content.add<float>("weights", {2, 3}, std::vector<float>{1, -2, 3.5f, 0, 1e-30f, -0.0f});
    content.add<heddle::bfloat16>("short", {1}, std::vector<heddle::bfloat16>{heddle::bfloat16(0.5f)});
    content.add<std::uint64_t>("count", {},
                               std::vector<std::uint64_t>{std::numeric_limits<std::uint64_t>::max()});
    content.add<std::int32_t>("none", {0, 7}, std::vector<std::int32_t>{});
    content.metadata = {{"seed", "1"}, {"quoted", "\"\n"}};
    return content;
}

TEST(safetensors, comes_back) {
    const fs::path file = temporary("some.safetensors");
    const safetensors written = some_tensors();
    write_safetensors(file, written);
    const safetensors read = read_safetensors(file);
    EXPECT_EQ(read.metadata, written.metadata);
    ASSERT_EQ(read.tensors.size(), written.tensors.size());
    for (const auto& [name, tensor] : written.tensors) {
        const stored_tensor& same = tensor_of(read, file, name, tensor.type, tensor.shape);
        EXPECT_EQ(same.bytes, tensor.bytes) << name;
    }
    EXPECT_EQ(values_of<std::uint64_t>(read.tensors.at("count")).at(0),
              std::numeric_limits<std::uint64_t>::max());
}

/// The format of the page above: the header's length, the header, the data.
std::string file_of(const std::string& header, const std::string& data) {
    std::string content(8, '\0');
    for (std::size_t i = 0; i < 8; ++i) content[i] = static_cast<char>(header.size() >> (8 * i) & 0xff);
    return content + header + data;
}

TEST(safetensors, that_another_program_wrote_is_read) {
    const fs::path file = temporary("other.safetensors");
    write(file, file_of(R"({"b":{"dtype":"U8","shape":[2],"data_offsets":[4,6]},)"
                        R"("a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}   )",
                        {"\0\0\x80\x3f\x07\x09", 6}));
    const safetensors content = read_safetensors(file);
    EXPECT_EQ(values_of<float>(content.tensors.at("a")), std::vector<float>{1});
    EXPECT_EQ(values_of<std::uint8_t>(content.tensors.at("b")), (std::vector<std::uint8_t>{7, 9}));
}

std::string complaint_of_safetensors(std::string_view content) {
    const fs::path file = temporary("bad.safetensors");
    write(file, content);
    const std::string complaint = complaint_of([&] { read_safetensors(file); });
    return complaint.starts_with(file.string() + ": ") ? complaint.substr(file.string().size() + 2)
                                                       : complaint;
}

TEST(safetensors, that_is_wrong_is_refused) {
    const auto described = [](std::string_view type, std::string_view shape, std::string_view offsets) {
        return file_of(
            fmt::format(R"({{"a":{{"dtype":"{}","shape":{},"data_offsets":{}}}}})", type, shape, offsets),
            "0123");
    };
    ASSERT_EQ(complaint_of_safetensors(described("F32", "[1]", "[0,4]")), "nothing");
    EXPECT_EQ(complaint_of_safetensors("1234"), "is cut off within its first 8 bytes");
    EXPECT_EQ(complaint_of_safetensors("this is not one"), "is not a safetensors file");
    const std::string no_json = "is not a safetensors file: its header is not the JSON that it should be";
    for (const char* header : {"{", "[]1", R"({"a":1})", R"({"a":{"dtype":"F32"}})", R"({"__metadata__":1})"})
        EXPECT_EQ(complaint_of_safetensors(file_of(header, "")), no_json) << header;
    EXPECT_EQ(complaint_of_safetensors(described("F31", "[1]", "[0,4]")), "a is of the unknown type F31");
    for (const auto& [shape, offsets] : {std::pair{"[2]", "[0,4]"},
                                         {"[1]", "[4,0]"},
                                         {"[-1]", "[0,4]"},
                                         {"[4611686018427387905]", "[0,4]"},
                                         {"[1]", "[0,5]"}})
        EXPECT_EQ(complaint_of_safetensors(described("F32", shape, offsets)),
                  "a has not the size of its shape")
            << shape << offsets;
    EXPECT_EQ(complaint_of_safetensors(described("F32", "[2]", "[0,8]")),
              "is cut off: a ends at byte 8 of the data, of which there are 4");
    EXPECT_EQ(complaint_of_safetensors(described("U8", "[3]", "[1,4]")),
              "a does not begin where the data before ends");
    EXPECT_EQ(complaint_of_safetensors(described("U8", "[3]", "[0,3]")),
              "goes on after the 3 bytes of its tensors");
    EXPECT_EQ(complaint_of_safetensors(file_of(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
                                               R"("b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
                                               "012")),
              "b does not begin where the data before ends");
}

TEST(safetensors, that_is_cut_off_anywhere_is_refused) {
    const fs::path file = temporary("cut.safetensors");
    write_safetensors(file, some_tensors());
    const std::string whole = content_of(file);
    for (std::size_t kept = 0; kept < whole.size(); ++kept) {
        const std::string complaint = complaint_of_safetensors(whole.substr(0, kept));
        EXPECT_TRUE(complaint.find("cut off") != std::string::npos) << kept << ": " << complaint;
    }
}

TEST(safetensors, of_another_shape_is_refused) {
    const fs::path file = temporary("shape.safetensors");
    const safetensors content = some_tensors();
    const auto asked = [&](const char* name, const char* type, std::vector<std::int64_t> shape) {
        return complaint_of([&] { tensor_of(content, file, name, type, shape); });
    };
    EXPECT_EQ(asked("weights", "F32", {2, 3}), "nothing");
    EXPECT_EQ(asked("weights", "F32", {3, 2}),
              file.string() + ": weights is F32 of [2, 3], not F32 of [3, 2]");
    EXPECT_EQ(asked("weights", "F16", {2, 3}),
              file.string() + ": weights is F32 of [2, 3], not F16 of [2, 3]");
    EXPECT_EQ(asked("bias", "F32", {2}), file.string() + ": has no tensor bias");
}

TEST(safetensors, that_cannot_be_written_leaves_the_old_file_whole) {
    const fs::path file = temporary("kept.safetensors"), partial = temporary("kept.safetensors.partial");
    write_safetensors(file, some_tensors());
    const std::string old = content_of(file);

    safetensors large;
    large.add<std::uint8_t>("large", {1 << 20}, std::vector<std::uint8_t>(1 << 20));
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const rlimit small{1 << 16, before.rlim_max};
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    const std::string complaint = complaint_of([&] { write_safetensors(file, large); });
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    (void)std::signal(SIGXFSZ, handler);

    EXPECT_EQ(complaint, partial.string() + ": File too large");
    EXPECT_EQ(content_of(file), old);
    EXPECT_FALSE(fs::exists(partial));
}

TEST(safetensors, replaces_regular_files_alone) {
    const auto complaint = [](const fs::path& file) {
        return complaint_of([&] { write_safetensors(file, some_tensors()); });
    };
    const fs::path fifo = temporary("fifo"), link = temporary("link"), folder = temporary("folder"),
                   beside = temporary("beside");
    ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
    ASSERT_EQ(mkfifo((beside.string() + ".partial").c_str(), 0600), 0);
    fs::create_symlink(fifo, link);
    fs::create_directory(folder);
    EXPECT_EQ(complaint(fifo), fifo.string() + ": is not a regular file");
    EXPECT_EQ(complaint(link), fifo.string() + ": is not a regular file");
    EXPECT_EQ(complaint(beside), beside.string() + ".partial: is not a regular file");
    EXPECT_EQ(complaint(folder), folder.string() + ": is a folder");
    EXPECT_EQ(complaint(folder / "none" / "file"),
              (folder / "none" / "file").string() + ": No such file or directory");
    EXPECT_TRUE(fs::is_fifo(fifo));

    write(temporary("regular"), "old");
    fs::remove(link);
    fs::create_symlink(temporary("regular"), link);
    write_safetensors(link, some_tensors());
    EXPECT_TRUE(fs::is_symlink(link));
    EXPECT_EQ(read_safetensors(temporary("regular")).tensors.size(), some_tensors().tensors.size());
}

TEST(chart, says_that_the_device_is_full) {
    EXPECT_EQ(complaint_of([] { write_chart("/dev/full", {}); }), "/dev/full: No space left on device");
}

TEST(chart, has_the_lines_and_their_names) {
    const fs::path file = temporary("chart.svg");
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    const chart_panel panels[] = {{"Loss", "epoch", {{"training", {2, 1, nan, 0.5}}, {"test", {}}}},
                                  {"Right", "epoch", {{"test", {80}}}}};
    write_chart(file, panels);
    const std::string svg = content_of(file);
    for (const char* part : {"<svg ", ">Loss<", ">Right<", ">training<", ">epoch<", "</svg>"})
        EXPECT_NE(svg.find(part), std::string::npos) << part;
    EXPECT_EQ(svg.find("nan"), std::string::npos);
    const fs::path nowhere = temporary("nowhere") / "chart.svg";
    EXPECT_EQ(complaint_of([&] { write_chart(nowhere, panels); }),
              nowhere.string() + ": No such file or directory");
}

}  // namespace
}  // namespace examples
