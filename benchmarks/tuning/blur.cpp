#include "benchmarks/tuning/cases.hpp"
#include "kernels/gaussian_blur/cost/h200.hpp"
#include "kernels/gaussian_blur/facts.hpp"
#include "src/gaussian_blur/rungs.hpp"
#include <heddle/gaussian_blur.hpp>
#include <heddle/image.hpp>

HEDDLE_CHANGEABLE_COSTS(gaussian_blur)

namespace heddle::bench::tuning {
namespace {

using kernels::gaussian_blur::current;
using nlohmann::json;

/// Images that begin so many bytes behind a multiple of 256, and lie as `at` says.
template <class T>
image_batch_view<T> images_of(const json& extents, const json& at) {
    const std::int64_t count = extents.at(0), height = extents.at(1), width = extents.at(2),
                       channels = extents.at(3);
    const auto address = at.at(0).get<std::uintptr_t>();
    return {{reinterpret_cast<T*>(address), width, height, channels, at.at(1)}, count, at.at(2)};
}

border border_named(const std::string& name) {
    constexpr std::array names{"replicate", "reflect", "reflect_101", "wrap", "constant"};
    return static_cast<border>(std::ranges::find(names, name) - names.begin());
}

template <class T>
plan_us plans_of_type(const json& of, const device_traits& device) {
    const json &sigma = of.at("sigma"), &radius = of.at("radius");
    const bool may_be_decimated = of.at("may_be_decimated");
    const gaussian_blur_problem problem = gaussian_blur_problem_of<T>(
        images_of<const T>(of.at("images"), of.at("source")),
        images_of<T>(of.at("images"), of.at("destination")), blur_sigma(sigma.at(0), sigma.at(1)),
        {.radius = window_radius(radius.at(0), radius.at(1)),
         .border = border_named(of.at("border")),
         .exact = !may_be_decimated});
    const kernels::gaussian_blur::filter_facts facts(problem);
    return [=](std::string_view kernel) {
        const auto rungs = detail::blur_rungs<T>();
        return rungs.choose("tune-costs", gaussian_blur_algorithm::automatic, facts, device, kernel).plan.us;
    };
}

std::vector<row_numbers> rows() {
    std::vector<row_numbers> all;
    for (auto& row : current.rows)
        all.push_back(
            {row.row, {{&row.start_us}, {&row.bytes_per_us}, {&row.wait_us, 0}, {&row.unit_us, 0}}});
    return all;
}

plan_us plans_of(const json& problem, const device_traits& device) {
    const std::string type = problem.at("type");
    if (type == "u8") return plans_of_type<std::uint8_t>(problem, device);
    if (type == "u16") return plans_of_type<std::uint16_t>(problem, device);
    return type == "f16" ? plans_of_type<half>(problem, device) : plans_of_type<float>(problem, device);
}

}  // namespace

const operation blur_operation{.name = "blur",
                               .cards = {"h200"},
                               .begin = [](std::string_view) { current = kernels::gaussian_blur::h200; },
                               .rows = rows,
                               .plans_of = plans_of};

}  // namespace heddle::bench::tuning
