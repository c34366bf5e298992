#include "src/image_filter/rungs.hpp"

#include <heddle/types.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace heddle {
namespace {

using namespace kernels::image_filter;
using namespace detail;
using enum image_filter_algorithm;

constexpr need<problem> short_rows{
    [](auto& problem, auto&) { return problem.source_width <= max_row_values / problem.channels; },
    "takes rows of at most 2^29 values"};
static_assert(max_row_values == 1 << 29);

template <class T>
constexpr auto table = std::to_array<stencil_rung<T>>({
#define ROW(name, pays, ...) {name, #name, needs<__VA_ARGS__>, pays, plan_##name, launch_##name<T>},
    HEDDLE_IMAGE_FILTER_RUNGS(ROW)
#undef ROW
});

constexpr const char* enumeration = "image_filter_algorithm";

}  // namespace

std::span<const image_filter_algorithm> image_filter_algorithms() {
    return detail::ids_of<table<float>>;
}

std::string_view to_string(image_filter_algorithm algorithm) {
    return detail::rung_table(table<float>, enumeration).name_of(algorithm);
}

namespace detail {

template <class T>
rung_table<stencil_rung<T>> stencil_rungs() {
    return {table<T>, enumeration};
}

template rung_table<stencil_rung<float>> stencil_rungs();
template rung_table<stencil_rung<half>> stencil_rungs();
template rung_table<stencil_rung<std::uint16_t>> stencil_rungs();
template rung_table<stencil_rung<std::uint8_t>> stencil_rungs();

}  // namespace detail
}  // namespace heddle
