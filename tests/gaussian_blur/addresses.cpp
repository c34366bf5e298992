#include "tests/gaussian_blur/rungs.hpp"

namespace heddle::test {
namespace {

/// How images of bytes lie one after another: the first row `offset` behind a multiple of 16, and `gap` between rows.
struct place {
    std::int64_t offset;
    std::int64_t gap;
};

class gaussian_blur_at_any_address : public gaussian_blur_rung {
  protected:
    using bytes = guarded<std::uint8_t>;

    /// The first of so many images.
    template <class T>
    static image_batch_view<T> view_of(bytes& rows, const problem& p, const place& at, std::int64_t images) {
        const std::int64_t stride = p.row() + at.gap;
        return {{rows.data(), p.width, p.height, p.channels, stride}, images, p.height * stride};
    }
    static std::vector<std::uint8_t> image_of(const std::vector<std::uint8_t>& all, const problem& p,
                                              std::int64_t image) {
        const auto first = all.begin() + image * p.elements();
        return {first, first + p.elements()};
    }

    /// wgmma_xy needs aligned ones.
    void expect_runs_of_any_rows() const {
        if (GetParam() != algorithm::wgmma_xy) expect_runs_of_bytes();
    }

    void check(const problem& p, const image_region& region, std::int64_t images, const place& from,
               const place& to) {
        SCOPED_TRACE(testing::Message()
                     << text(p) << " of " << images << " from " << region.x << ", " << region.y << ": "
                     << region.width << "x" << region.height << ", at " << from.offset << " with gaps of "
                     << from.gap << ", to " << to.offset << " with gaps of " << to.gap);
        const problem part = p.of(region);
        const std::vector<std::uint8_t> elements = random_pixels<std::uint8_t>(images * p.elements());
        bytes source(images * p.height, p.row(), p.row() + from.gap, from.offset),
            destination(images * part.height, part.row(), part.row() + to.gap, to.offset);
        source.upload(elements);
        gaussian_blur_options options = options_of(p);
        options.region = region;
        if (!blur<std::uint8_t>(part, view_of<const std::uint8_t>(source, p, from, images),
                                view_of<std::uint8_t>(destination, part, to, images), options, GetParam())) {
            EXPECT_TRUE(destination.untouched());
            return;
        }
        const auto [values, canaries_alive] = destination.inspect();
        const algorithm bound_of = on_device<std::uint8_t>().bound_of(part, images);
        for (std::int64_t i = 0; i < images; ++i)
            ASSERT_NO_FATAL_FAILURE(expect_close(
                p, image_of(values, part, i), reference(p, image_of(elements, p, i)).of(p, region), bound_of))
                << "image " << i;
        ASSERT_TRUE(canaries_alive);
        ASSERT_TRUE(source.untouched());
    }
};
INSTANTIATE_TEST_SUITE_P(all, gaussian_blur_at_any_address, testing::ValuesIn(every_rung()),
                         parameter_names());

/// Each place of a source beside each of a destination, with rows any number of bytes apart.
TEST_P(gaussian_blur_at_any_address, is_right_and_keeps_to_the_rows) {
    constexpr std::int64_t addresses = 16;
    drawing draw;
    for (std::int64_t from = 0; from < addresses; ++from)
        for (std::int64_t to = 0; to < addresses; ++to) {
            const std::int64_t channels = draw(1, 4), radius = draw(1, 8);
            problem p{draw(1, 20), draw(1, 40), channels, {radius, draw(0, 2) == 0 ? draw(0, 8) : radius}};
            p.width += 16 * draw(0, 3);  // around multiples of 16, and seldom those of several blocks
            if (draw(0, 7) == 0) p.width += 1024 / channels;
            p.border = borders[static_cast<std::size_t>(draw(0, 9)) % borders.size()];
            image_region region{0, 0, p.width, p.height};
            if (draw(0, 2) == 0) {
                region.x = draw(0, p.width - 1);
                region.y = draw(0, p.height - 1);
                region.width = draw(1, p.width - region.x);
                region.height = draw(1, p.height - region.y);
            }
            ASSERT_NO_FATAL_FAILURE(check(p, region, draw(1, 3), {from, draw(0, 1) * draw(0, 31)},
                                          {to, draw(0, 1) * draw(0, 31)}));
        }
    expect_runs_of_any_rows();
}

/// Rows of one to four bytes, whose first word of memory is their last.
TEST_P(gaussian_blur_at_any_address, is_right_for_rows_within_a_word) {
    for (const std::int64_t width : {1, 2, 3, 4, 5})
        for (std::int64_t offset = 0; offset < 4; ++offset)
            for (const border kind : {border::replicate, border::reflect_101}) {
                const problem p{width, 21, 1, 2, sigma_of(2), kind};
                for (const std::int64_t gap : {0, 1, 7})
                    ASSERT_NO_FATAL_FAILURE(
                        check(p, {0, 0, width, 21}, 1, {offset, gap}, {(offset + gap) % 4, gap}));
            }
    expect_runs_of_any_rows();
}

/// The rungs on the tensor cores have strips.
class gaussian_blur_of_long_strips : public gaussian_blur_at_any_address {
  public:
    static std::vector<rung> rungs() {
        std::vector<rung> some = every_rung();
        std::erase_if(some, [](const rung& which) { return !is_on_tensor_cores(which); });
        return some;
    }
};
INSTANTIATE_TEST_SUITE_P(all, gaussian_blur_of_long_strips,
                         testing::ValuesIn(gaussian_blur_of_long_strips::rungs()), parameter_names());

/// So many images that strips are long.
TEST_P(gaussian_blur_of_long_strips, is_right_at_any_address) {
    for (const std::int64_t channels : {1, 3})
        for (const std::int64_t radius : {2, 5}) {
            const problem p{1237, 1811, channels, radius, sigma_of(radius), border::reflect};
            ASSERT_NO_FATAL_FAILURE(check(p, {0, 0, p.width, p.height}, 2, {0, 0}, {0, 0}));
            ASSERT_NO_FATAL_FAILURE(check(p, {1, 3, p.width - 2, p.height - 4}, 2, {5, 13}, {3, 13}));
        }
    expect_runs_of_any_rows();
}

}  // namespace
}  // namespace heddle::test
