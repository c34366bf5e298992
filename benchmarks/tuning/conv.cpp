#include "benchmarks/tuning/cases.hpp"
#include "kernels/conv/cost/h200.hpp"
#include "src/conv/rungs.hpp"

HEDDLE_CHANGEABLE_COSTS(conv)

namespace heddle::bench::tuning {
namespace {

using kernels::conv::current;
using nlohmann::json;

/// Dense tensors, a bias and relu, as cliffs draws them.
template <class T>
plan_us plans_of_type(const json& of, const device_traits& device) {
    const json &images = of.at("images"), &filters = of.at("filters");
    const std::int64_t count = images.at(0), height = images.at(1), width = images.at(2),
                       channels = images.at(3), outputs = filters.at(0), groups = of.at("groups"),
                       stride = of.at("stride"), dilation = of.at("dilation"), around = of.at("padding");
    const conv_options options{
        .geometry = {.stride = {stride, stride},
                     .padding = {around, around, around, around},
                     .dilation = {dilation, dilation},
                     .groups = groups},
        .precision = of.at("precision") == to_string(precision::tf32) ? precision::tf32 : precision::fp32};
    const filter_view<const T> weights{nullptr, outputs, filters.at(1), filters.at(2), channels / groups};
    const tensor_view<T> output{nullptr, count, conv_output_height(height, weights.height, options.geometry),
                                conv_output_width(width, weights.width, options.geometry), outputs};
    const conv_problem problem =
        conv_problem_of<T>(tensor_view<const T>{nullptr, count, height, width, channels}, weights, output,
                           {.activation = matmul_activation::relu, .bias = {nullptr, outputs}}, options);
    return [=](std::string_view kernel) {
        const auto rungs = detail::conv_rungs<T, T>();
        return rungs.choose("tune-costs", conv_algorithm::automatic, problem, device, kernel).plan.us;
    };
}

std::vector<row_numbers> rows() {
    std::vector<row_numbers> all;
    for (auto& row : current.rows)
        all.push_back(
            {row.row,
             {{&row.start_us}, {&row.bytes_per_us}, {&row.step_us}, {&row.around_us}, {&row.staged_us, 0}}});
    return all;
}

plan_us plans_of(const json& problem, const device_traits& device) {
    const std::string type = problem.at("type");
    if (type == "f32") return plans_of_type<float>(problem, device);
    return type == "f16" ? plans_of_type<half>(problem, device) : plans_of_type<bfloat16>(problem, device);
}

}  // namespace

const operation conv_operation{.name = "conv",
                               .cards = {"h200"},
                               .begin = [](std::string_view) { current = kernels::conv::h200; },
                               .rows = rows,
                               .plans_of = plans_of};

}  // namespace heddle::bench::tuning
