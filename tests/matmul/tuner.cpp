#include "tests/matmul/rungs.hpp"
#include "tests/support/headers.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <initializer_list>

namespace heddle::test {
namespace {

/// A file for this test alone, deleted with the object.
class choices_file {
  public:
    choices_file()
        : path_(std::filesystem::temp_directory_path() /
                ("heddle_choices_" + std::to_string(getpid()) + "_" + std::to_string(count()++))) {}
    ~choices_file() {
        std::error_code ignored;
        std::filesystem::remove(path_, ignored);
    }
    choices_file(const choices_file&) = delete;
    choices_file& operator=(const choices_file&) = delete;

    const std::filesystem::path& path() const { return path_; }
    void write(const std::string& text) const { std::ofstream(path_) << text; }
    std::string text() const {
        std::ifstream in(path_);
        return {std::istreambuf_iterator<char>(in), {}};
    }

  private:
    static int& count() {
        static int files = 0;
        return files;
    }

    std::filesystem::path path_;
};

/// The warnings of a tuner as it reads a file.
struct reading {
    std::vector<std::string> warnings = {};
    matmul_tuner tuner;

    explicit reading(const choices_file& file)
        : tuner(file.path(), [this](const std::string& text) { warnings.push_back(text); }) {}
};

std::string empty_file() {
    const choices_file file;
    matmul_tuner(file.path()).save();
    return file.text();
}

TEST(matmul_tuner, begins_without_a_file) {
    const choices_file file;
    const reading from(file);
    EXPECT_EQ(from.tuner.size(), 0u);
    EXPECT_TRUE(from.warnings.empty());
}

TEST(matmul_tuner, reads_what_it_wrote) {
    const choices_file file;
    const std::string lines =
        "f16 to f16 1x2x3 rows rows rows beta 0 workspace 0|persistent 64x64\n"
        "f32 to f32 1x2x3 rows rows rows beta 0 workspace 0|pipelined 64x64\n";
    file.write(empty_file() + lines);
    const reading from(file);
    EXPECT_EQ(from.tuner.size(), 2u);
    EXPECT_TRUE(from.warnings.empty());
    from.tuner.save();
    EXPECT_EQ(file.text(), empty_file() + lines);
}

TEST(matmul_tuner, ignores_lines_that_it_cannot_read) {
    for (const std::string& line : std::initializer_list<std::string>{
             "", "|", "||", "key", "key|", "key|persistent", "key|persistent ", "key|persistent|128x256",
             "key|persistent 128", "key|persistent 1x1", "key|none 128x256", "key|naive 1", "key|automatic",
             "|persistent 128x256", "key|persistent 128x256 ", "key| persistent 128x256"}) {
        SCOPED_TRACE("line: " + line);
        const choices_file file;
        file.write(empty_file() + "good|persistent 128x256\n" + line + "\nbetter|naive\n");
        const reading from(file);
        EXPECT_EQ(from.tuner.size(), 2u);
        ASSERT_EQ(from.warnings.size(), 1u);
        EXPECT_NE(from.warnings[0].find("line 3"), std::string::npos);
    }
}

TEST(matmul_tuner, ignores_files_of_others) {
    for (const std::string& text :
         {std::string("\n"), std::string("heddle 0.0.0\nkey|persistent 128x256\n"),
          std::string("\0\xff|\n", 4), "x" + empty_file() + "key|persistent 128x256\n"}) {
        const choices_file file;
        file.write(text);
        const reading from(file);
        EXPECT_EQ(from.tuner.size(), 0u);
        EXPECT_EQ(from.warnings.size(), 1u);
    }
}

TEST(matmul_tuner, says_where_it_cannot_write) {
    EXPECT_THROW(matmul_tuner("/nowhere/at/all").save(), std::runtime_error);
}

TEST(matmul_tuner, says_that_it_has_no_file) {
    expect_error(
        "matmul_tuner::save: file is an empty path, expected the path that the tuner was to be made with",
        [] { matmul_tuner().save(); });
}

/// The names in a directory.
std::vector<std::string> entries_of(const std::filesystem::path& directory) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory))
        names.push_back(entry.path().filename().string());
    std::ranges::sort(names);
    return names;
}

/// Limits the size of this process's files, for its own lifetime.
class file_size_limit {
  public:
    explicit file_size_limit(rlim_t bytes) {
        getrlimit(RLIMIT_FSIZE, &former_);
        const rlimit limit{bytes, former_.rlim_max};
        former_handler_ = std::signal(SIGXFSZ, SIG_IGN);  // the write then fails instead
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~file_size_limit() {
        setrlimit(RLIMIT_FSIZE, &former_);
        std::signal(SIGXFSZ, former_handler_);
    }
    file_size_limit(const file_size_limit&) = delete;
    file_size_limit& operator=(const file_size_limit&) = delete;

  private:
    rlimit former_{};
    void (*former_handler_)(int) = nullptr;
};

TEST(matmul_tuner, leaves_the_old_file_where_it_cannot_write) {
    const choices_file directory;  // the path of one
    std::filesystem::create_directory(directory.path());
    const std::filesystem::path path = directory.path() / "choices.txt";
    const std::string text = empty_file() + "key|persistent 128x256\n";
    std::ofstream(path) << text;
    const matmul_tuner tuner(path);
    ASSERT_EQ(tuner.size(), 1u);
    {
        const file_size_limit limit(16);
        EXPECT_THROW(tuner.save(), std::runtime_error);
    }
    std::ifstream in(path);
    EXPECT_EQ((std::string{std::istreambuf_iterator<char>(in), {}}), text);
    EXPECT_EQ(entries_of(directory.path()), std::vector<std::string>{"choices.txt"});

    EXPECT_NO_THROW(tuner.save());
    EXPECT_EQ(entries_of(directory.path()), std::vector<std::string>{"choices.txt"});
    std::filesystem::remove_all(directory.path());
}

TEST(matmul_tuner, leaves_nothing_beside_what_it_cannot_replace) {
    const choices_file directory;
    std::filesystem::create_directories(directory.path() / "taken");
    EXPECT_THROW(matmul_tuner(directory.path() / "taken").save(), std::runtime_error);
    EXPECT_EQ(entries_of(directory.path()), std::vector<std::string>{"taken"});
    std::filesystem::remove_all(directory.path());
}

class matmul_tuner_on_device : public matmul_device {};

TEST_F(matmul_tuner_on_device, chooses_something_that_is_right_and_remembers_it) {
    const choices_file file;
    operands<half> p({200, 264, 136});
    const auto choose = [&](matmul_tuner& tuner, const matmul_options& options) {
        return tuner.choose<half>(p.a.matrix(), p.b.matrix(), p.c.matrix(), *stream, options);
    };
    matmul_tuner tuner(file.path());
    const matmul_options options{.workspace = *workspace_};
    const matmul_options chosen = choose(tuner, options);
    EXPECT_EQ(chosen.algorithm, matmul_algorithm::automatic);
    EXPECT_EQ(std::ranges::count(matmul_kernels(element_type::f16), chosen.kernel), 1) << chosen.kernel;
    EXPECT_EQ(tuner.size(), 1u);
    p.multiply(*stream, chosen);
    expect_close(p, chosen);
    p.expect_intact();

    tuner.save();
    matmul_tuner again(file.path());
    EXPECT_EQ(again.size(), 1u);
    p.prepare_c(0);
    const matmul_options remembered = choose(again, options);
    EXPECT_EQ(remembered.algorithm, chosen.algorithm);
    EXPECT_EQ(remembered.kernel, chosen.kernel);
    stream->synchronize();
    EXPECT_TRUE(p.c.untouched());
}

TEST_F(matmul_tuner_on_device, times_anew_what_a_file_gives_to_a_kernel_of_another_type) {
    const choices_file file;
    operands<half> p({200, 264, 136});
    const auto choose = [&](matmul_tuner& tuner) {
        return tuner.choose<half>(p.a.matrix(), p.b.matrix(), p.c.matrix(), *stream);
    };
    matmul_tuner tuner(file.path());
    choose(tuner);
    tuner.save();
    const std::string text = file.text();
    file.write(text.substr(0, text.rfind('|')) + "|tf32 128x256\n");
    matmul_tuner other(file.path());
    EXPECT_EQ(other.size(), 1u);
    for (int call = 0; call < 2; ++call) {
        const matmul_options chosen = choose(other);
        EXPECT_EQ(std::ranges::count(matmul_kernels(element_type::f16), chosen.kernel), 1) << chosen.kernel;
    }
}

TEST_F(matmul_tuner_on_device, serves_several_threads) {
    constexpr int threads = 4, products = 3;
    matmul_tuner tuner;
    std::vector<std::thread> all;
    for (int t = 0; t < threads; ++t)
        all.emplace_back([&tuner, t] {
            const heddle::stream own;
            for (int p = 0; p < products; ++p) {
                const std::int64_t size = 64 + 8 * (products * t + p);
                guarded<half> a(size, size, size), b(size, size, size), c(size, size, size);
                const auto once = tuner.choose<half>(a.matrix(), b.matrix(), c.matrix(), own);
                const auto again = tuner.choose<half>(a.matrix(), b.matrix(), c.matrix(), own);
                EXPECT_EQ(once.algorithm, again.algorithm);
                EXPECT_EQ(once.kernel, again.kernel);
            }
        });
    for (std::thread& each : all) each.join();
    EXPECT_EQ(tuner.size(), static_cast<std::size_t>(threads * products));
}

}  // namespace
}  // namespace heddle::test
