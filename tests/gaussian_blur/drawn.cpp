#include "tests/gaussian_blur/rungs.hpp"

#include <set>

namespace heddle::test {
namespace {

/// A part of images, with the windows of one kernel or another.
struct drawn_problem {
    problem p;
    image_region region;
    std::int64_t images;
    layout source;
    layout destination;
};

class gaussian_blur_of_drawn_problems : public gaussian_blur_test,
                                        public testing::WithParamInterface<pixel_type> {
  protected:
    /// Kinds of windows take turns, half of them of aligned rows and of regions that begin there, so that each kernel gets
    /// some.
    drawn_problem draw_problem(int turn) {
        enum { small, medium, large, unequal, wide, kinds };
        const int kind = turn % kinds;
        const bool is_aligned = turn / kinds % 2 == 0;
        problem p{draw(1, std::int64_t{1} << draw(3, 10)), 1, kind == large ? 1 : draw(1, 4), 0};
        if (kind == small) p.radius = draw(0, 2);
        if (kind == medium) p.radius = draw(3, 8);
        if (kind == large) p.radius = draw(6, 16);
        if (kind == unequal) p.radius = {draw(0, 32), draw(0, 40)};
        p.sigma = sigma_of(p.radius);
        if (kind == wide) {  // as decimated takes
            p.width = draw(60, 200);
            p.sigma = {static_cast<double>(draw(8, 14)), static_cast<double>(draw(8, 14))};
            p.radius = {gaussian_radius(p.sigma.x), gaussian_radius(p.sigma.y)};
        }
        p.height = kind == wide ? draw(60, 100) : draw(1, std::max<std::int64_t>(1, 40000 / p.row()));
        // All kernels of small windows take the first three.
        p.border = borders[static_cast<std::size_t>(draw(0, is_aligned && kind <= medium ? 2 : 4))];
        image_region region{0, 0, p.width, p.height};
        if (kind != wide && draw(0, 1) == 0) {
            const std::int64_t step = is_aligned ? 16 : 1;
            region.x = draw(0, (p.width - 1) / step) * step;
            region.y = draw(0, p.height - 1);
            region.width = draw(1, p.width - region.x);
            region.height = draw(1, p.height - region.y);
        }
        const auto draw_layout = [&] {
            return is_aligned ? layout::aligned : layouts[static_cast<std::size_t>(draw(0, 2))];
        };
        return {p, region, draw(1, 3), draw_layout(), draw_layout()};
    }

    template <class T>
    void check_all(const drawn_problem& d, std::set<std::string>& ran) {
        const auto& [p, region, images, source_layout, destination_layout] = d;
        SCOPED_TRACE(text(p, source_layout, images) + " from " + std::to_string(region.x) + ", " +
                     std::to_string(region.y) + ": " + std::to_string(region.width) + "x" +
                     std::to_string(region.height) + " to " + name_of(destination_layout));
        const problem part = p.of(region);
        const std::vector<T> elements = random_pixels<T>(images * p.elements());
        std::vector<reference> expected;
        for (auto first = elements.begin(); first != elements.end(); first += p.elements())
            expected.push_back(reference(p, std::vector<T>(first, first + p.elements())).of(p, region));
        guarded_images<T> source(p, source_layout, memory::device, images);
        source.upload(elements);
        gaussian_blur_options options = options_of(p);
        options.region = region;
        for (const rung& which : every_rung()) {
            SCOPED_TRACE(name_of(which));
            const implementation<T> by = on_device<T>(which);
            guarded_images<T> destination(part, destination_layout, memory::device, images);
            if (!by.blur(part, source.batch(), destination.batch(), options)) {
                EXPECT_TRUE(destination.untouched());
                continue;
            }
            ran.insert(name_of(which));
            const std::vector<T> values = destination.download();
            auto first = values.begin();
            for (const reference& of_image : expected) {
                const std::vector<T> image(first, first + part.elements());
                ASSERT_NO_FATAL_FAILURE(expect_close(p, image, of_image, by.bound_of(part, images)));
                first += part.elements();
            }
            EXPECT_TRUE(destination.canaries_alive());
        }
        EXPECT_TRUE(source.untouched());
    }

  private:
    drawing draw;
};
INSTANTIATE_TEST_SUITE_P(all, gaussian_blur_of_drawn_problems, testing::ValuesIn(pixel_types),
                         parameter_names());

TEST_P(gaussian_blur_of_drawn_problems, take_every_plan) {
    constexpr int draws = 50;  // of each type
    std::set<std::string> ran;
    for (int i = 0; i < draws; ++i) {
        SCOPED_TRACE(testing::Message() << "draw " << i);
        const drawn_problem d = draw_problem(i);
        with_type(GetParam(), [&]<class T>() { check_all<T>(d, ran); });
        if (HasFatalFailure()) return;
    }
    for (const rung& which : every_rung())
        if (takes_type(which, GetParam(), traits_of(current_device()))) {
            EXPECT_TRUE(ran.contains(name_of(which))) << name_of(which);
        }
}

}  // namespace
}  // namespace heddle::test
