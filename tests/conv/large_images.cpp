#include "tests/conv/shapes.hpp"
#include "tests/conv/sparse_tensor.hpp"
#include "tests/support/headers.hpp"
#include "tests/support/periodic.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

// Offsets of more than 2^31 elements, by large strides and by large images.
namespace heddle::test {
namespace {

constexpr std::int64_t two_to_31 = std::int64_t{1} << 31;

template <class Types>
class conv_large_strides : public conv_device<Types> {
  protected:
    using Out = Types::Out;
    using In = Types::In;

    /// Runs every plan, for tensors whose images, rows and pixels lie far apart as requested.
    void check_far(const conv_shape& s, bool are_images, bool are_rows, bool are_pixels, bool are_filters) {
        SCOPED_TRACE(text(s) + ", far apart:" + (are_images ? " images" : "") + (are_rows ? " rows" : "") +
                     (are_pixels ? " pixels" : "") + (are_filters ? ", of filters too" : ""));
        constexpr std::int64_t far = two_to_31 + 8;
        const auto apart = [&]<class T>(T, std::int64_t count, std::int64_t height, std::int64_t width,
                                        std::int64_t channels, bool is_far = true) {
            tensor_view<T> t{nullptr, count, height, width, channels};
            if (is_far && are_pixels) t.col_stride = far;
            t.row_stride = width * t.col_stride + (is_far && are_rows ? far : 0);
            t.image_stride = height * t.row_stride + (is_far && are_images ? far : 0);
            return sparse_tensor<T>(t);
        };
        conv_operands<Out, In> p(s);  // the source of the values
        auto input = apart(In{}, s.count, s.height, s.width, s.channels);
        auto filters =
            apart(In{}, s.outputs, s.filter_height, s.filter_width, s.group_channels(), are_filters);
        auto output = apart(Out{}, s.count, s.output_height(), s.output_width(), s.outputs);
        input.upload(p.xs);
        filters.upload(p.ws);
        const conv_options plain{.geometry = s.geometry};
        const conv_reference expected = p.expected(plain);
        for_every_conv_plan(plain, [&](const conv_options& options) {
            const conv_problem problem =
                conv_problem_of<Out, In>(input.tensor(), filters.filters(), output.tensor(), options);
            if (!why_not(options.algorithm, problem, traits_of(current_device()), options.kernel).empty())
                return;
            output.clear();
            conv<Out, In>(input.tensor(), filters.filters(), output.tensor(), *this->stream, options);
            synchronize(*this->stream, "large strides");
            p.output.upload(output.download());
            ASSERT_NO_FATAL_FAILURE(p.expect_close(expected, options));
            EXPECT_TRUE(output.canaries_alive());
            have_run.insert(options.algorithm);
        });
    }

    std::set<conv_algorithm> have_run;
};
TYPED_TEST_SUITE(conv_large_strides, every_conv_type, conv_type_names);

/// Each rung has shapes that it takes.
TYPED_TEST(conv_large_strides, of_images_rows_and_pixels_are_taken) {
    const conv_geometry around{.padding = test::around(1)};
    conv_geometry of_channels = around, of_quads = around;
    of_channels.groups = 8;
    of_quads.groups = 4;
    for (const conv_shape& s : {conv_shape{2, 3, 2, 8, 9, 2, 2, {.padding = {1, 0, 0, 1}}},
                                {2, 3, 3, 3, 8, 3, 3, around},
                                {2, 3, 3, 8, 8, 3, 3, of_channels},
                                {2, 3, 3, 16, 16, 3, 3, of_quads}})
        for (int far = 1; far < 8; ++far)
            for (const bool are_filters : {false, true})
                ASSERT_NO_FATAL_FAILURE(
                    this->check_far(s, (far & 1) != 0, (far & 2) != 0, (far & 4) != 0, are_filters));
    using enum conv_algorithm;
    for (const conv_algorithm rung : {naive, tiled, depthwise, im2col})
        EXPECT_TRUE(this->have_run.contains(rung)) << to_string(rung);
}

/// Processes take turns, as each of these tests needs a quarter of a GPU's memory.
class turn {
  public:
    turn() : file_(open((testing::TempDir() + "heddle_large_images").c_str(), O_CREAT | O_RDWR, 0666)) {
        EXPECT_EQ(flock(file_, LOCK_EX), 0);
    }
    ~turn() { close(file_); }
    turn(const turn&) = delete;

  private:
    int file_;
};

template <class T>
class conv_large_images : public stream_fixture {
  protected:
    void TearDown() override {
        if (!stream) return;
        stream->synchronize();  // freed memory goes back: other tests of the process need it
        memory_pool::scratch_of(current_device()).trim();
    }

    /// Checks every plan at pixels of either end, where offsets exceed 2^31, and at some drawn ones. All other
    /// outputs must be written. Where there is too little memory, the test is skipped.
    void check(const conv_shape& s) {
        SCOPED_TRACE(text(s));
        const turn mine;
        if (!has_memory_for(s)) return;
        const periodic<T> elements(random_elements<T>(periodic<T>::period));
        const std::vector<T> filters = random_elements<T>(s.filters_all());
        device_buffer<T> input(s.inputs_all(), *stream), weights(s.filters_all(), *stream),
            output(s.outputs_all() + 2 * canaries, *stream), largest(1, *stream);
        elements.fill({input.data(), s.inputs_all()}, *stream);
        copy_and_wait(filters, weights, *stream);
        const tensor_view<const T> x{input.data(), s.count, s.height, s.width, s.channels};
        const filter_view<const T> w{weights.data(), s.outputs, s.filter_height, s.filter_width,
                                     s.group_channels()};
        const tensor_view<T> y{output.data() + canaries, s.count, s.output_height(), s.output_width(),
                               s.outputs};
        const auto input_at = [&](std::int64_t i) { return to_double(elements[i]); };
        const auto filter_at = [&](std::int64_t i) {
            return to_double(filters[static_cast<std::size_t>(i)]);
        };
        const std::vector<std::int64_t> pixels = some_pixels(s);
        for_every_conv_plan(options_of(s), [&](const conv_options& options) {
            if (!why_not(options.algorithm, conv_problem_of<T>(x, w, y, options), traits_of(current_device()),
                         options.kernel)
                     .empty())
                return;
            fill_bytes(output, poison, *stream);
            conv<T>(x, w, y, *stream, options);
            synchronize(*stream, std::string(to_string(options.algorithm)) + " " + text(s));
            const std::vector<T> actual = read_pixels(y, pixels);
            for (std::size_t i = 0; i < actual.size(); ++i) {
                const std::int64_t pixel = pixels[i / static_cast<std::size_t>(s.outputs)],
                                   k = static_cast<std::int64_t>(i) % s.outputs;
                const auto [value, magnitude] = conv_sum_at(s, pixel, k, input_at, filter_at);
                const double error = conv_sum_bound<T>(options, s, magnitude);
                ASSERT_TRUE(is_within(to_double(actual[i]), value, bounds::stored_as<T>(value, error)))
                    << "pixel " << pixel << ", channel " << k;
            }
            max<T>(vector_view<const T>{y.data, s.outputs_all()}, largest.data(), *stream);
            ASSERT_FALSE(std::isnan(to_double(read(largest.data(), 1)[0]))) << "some are not written";
            EXPECT_TRUE(is_poison(output.data()));
            EXPECT_TRUE(is_poison(y.data + s.outputs_all()));
        });
    }

  private:
    static constexpr std::byte poison{0xff};  // the bytes of a NaN
    static constexpr std::int64_t canaries = 4096;

    /// Windows of floats are laid out by the same code as those of half, but would need twice the memory.
    static conv_options options_of(const conv_shape& s) {
        return {.geometry = s.geometry, .scratch = std::is_same_v<T, float> ? scratch::none : scratch::pool};
    }

    /// The operands need memory, and so do the windows of im2col or the copies of persistent.
    static bool has_memory_for(const conv_shape& s) {
        constexpr std::size_t for_others = std::size_t{1} << 30;
        const conv_problem problem = conv_problem_of<T>(
            {nullptr, s.count, s.height, s.width, s.channels},
            {nullptr, s.outputs, s.filter_height, s.filter_width, s.group_channels()},
            tensor_view<T>{nullptr, s.count, s.output_height(), s.output_width(), s.outputs}, options_of(s));
        const auto scratch_of = [&](conv_algorithm rung) {
            return problem.has_scratch ? conv_workspace_bytes(problem, traits_of(current_device()), rung) : 0;
        };
        const std::int64_t scratch =
            std::max({scratch_of(conv_algorithm::im2col), scratch_of(conv_algorithm::kn2row),
                      scratch_of(conv_algorithm::persistent)});
        const std::size_t bytes = static_cast<std::size_t>(s.inputs_all() + s.outputs_all()) * sizeof(T) +
                                  static_cast<std::size_t>(scratch) + for_others;
        const bool has_memory = has_free_memory(bytes);
        const auto skip = [&] { GTEST_SKIP() << "needs " << (bytes >> 30) + 1 << " GiB of device memory"; };
        if (!has_memory) skip();
        return has_memory;
    }

    /// Reads them by one copy to the host, as each copy waits for the GPU's other processes.
    std::vector<T> read_pixels(const tensor_view<T>& dense, const std::vector<std::int64_t>& pixels) {
        const std::int64_t count = dense.channels;
        device_buffer<T> gathered(std::ssize(pixels) * count, *stream);
        T* to = gathered.data();
        for (const std::int64_t pixel : pixels) {
            heddle::check(cudaMemcpyAsync(to, dense.data + pixel * count,
                                          static_cast<std::size_t>(count) * sizeof(T),
                                          cudaMemcpyDeviceToDevice, stream->get()));
            to += count;
        }
        return read(gathered.data(), std::ssize(pixels) * count);
    }
    bool is_poison(const T* first) {
        const std::vector<T> all = read(first, canaries);
        const auto* byte = reinterpret_cast<const std::byte*>(all.data());
        return std::all_of(byte, byte + all.size() * sizeof(T), [](std::byte b) { return b == poison; });
    }

    static std::vector<std::int64_t> some_pixels(const conv_shape& s) {
        constexpr std::int64_t around = 20;
        constexpr int drawn = 100;
        const std::int64_t count = s.outputs_all() / s.outputs,
                           of_image = s.output_width() * s.output_height(),
                           in = two_to_31 / s.channels,  // the input pixel with that offset
            line = in / s.width, n = line / s.height,
                           of_in = n * of_image + line % s.height / s.geometry.stride.y * s.output_width() +
                                   in % s.width / s.geometry.stride.x;
        std::set<std::int64_t> pixels;
        for (const std::int64_t middle : {std::int64_t{0}, two_to_31 / s.outputs, of_in, count - 1})
            for (std::int64_t pixel = middle - around; pixel <= middle + around; ++pixel)
                if (pixel >= 0 && pixel < count) pixels.insert(pixel);
        drawing draw;
        for (int i = 0; i < drawn; ++i) pixels.insert(draw(0, count - 1));
        return {pixels.begin(), pixels.end()};
    }
};
using types_of_large_images = testing::Types<float, half>;
TYPED_TEST_SUITE(conv_large_images, types_of_large_images, type_names);

TYPED_TEST(conv_large_images, have_outputs_beyond_two_to_31) {
    this->check({1, 15500, 15500, 8, 9, 1, 1});
}

TYPED_TEST(conv_large_images, are_as_many_as_pixels) {
    this->check({270'000'000, 1, 1, 8, 8, 1, 1});
}

TYPED_TEST(conv_large_images, have_inputs_beyond_two_to_31) {
    this->check({1, 11700, 11700, 16, 8, 3, 3, {.stride = {2, 2}, .padding = around(1)}});
}

TYPED_TEST(conv_large_images, have_few_channels) {
    this->check({1, 26800, 26800, 3, 8, 3, 3, {.stride = {2, 2}, .padding = around(1)}});
}

TYPED_TEST(conv_large_images, have_a_filter_for_each_channel) {
    this->check({1, 16400, 16400, 8, 8, 3, 3, {.padding = around(1), .groups = 8}});
}

TYPED_TEST(conv_large_images, have_small_groups) {
    this->check({1, 11700, 11700, 16, 16, 3, 3, {.stride = {2, 2}, .padding = around(1), .groups = 4}});
}

}  // namespace
}  // namespace heddle::test
