#pragma once

#include "kernels/device/clusters.hpp"
#include "kernels/device/launch.hpp"
#include "kernels/device/layout.hpp"
#include "kernels/device/row_plan.hpp"
#include <heddle/device.hpp>

#include <cstdint>
#include <source_location>
#include <type_traits>

namespace heddle::kernels {

/// A number of elements as a type.
template <int elements>
using elements_constant = std::integral_constant<int, elements>;

/// The elements of a load: a packet where the problem's rows consist of packets, otherwise one.
inline int load_width(const row_facts& problem) {
    return problem.in_packets ? static_cast<int>(packet_bytes / problem.element_bytes) : 1;
}

/// plan_rows() of a problem on a device.
inline row_plan plan_rows(const row_facts& problem, const device_traits& device,
                          int most_elements = row_limits::large_elements,
                          int most_blocks = row_limits::usual_blocks) {
    return plan_rows(problem.rows, problem.cols, load_width(problem), device.sm_count,
                     has_clusters(device.compute_capability_major, device.compute_capability_minor),
                     most_elements, most_blocks);
}

/// The kernel of a plan for loads of `width` elements. Each of the three functions returns its kernel for an
/// elements_constant: the elements that a thread holds, of which the plan allows at most `most_elements`.
template <int width, int most_elements = row_limits::large_elements, class Lanes, class Block, class Streamed>
auto kernel_of_rows(const row_plan& plan, Lanes lanes, Block block, Streamed streamed) {
    using limits = row_limits;
    switch (plan.kind) {
        case row_plan::holder::lanes:
            if constexpr (most_elements >= limits::large_elements)
                if (plan.elements == limits::large_elements)
                    return lanes(elements_constant<limits::large_elements>{});
            if (plan.elements == limits::medium_elements)
                return lanes(elements_constant<limits::medium_elements>{});
            return lanes(elements_constant<limits::small_elements(width)>{});
        case row_plan::holder::block:
            if constexpr (most_elements >= limits::packed_elements)
                if (plan.elements == limits::packed_elements)
                    return block(elements_constant<limits::packed_elements>{});
            if constexpr (most_elements >= limits::large_elements)
                if (plan.elements == limits::large_elements)
                    return block(elements_constant<limits::large_elements>{});
            return block(elements_constant<limits::medium_elements>{});
        case row_plan::holder::streamed:
            break;
    }
    return streamed(elements_constant<limits::medium_elements>{});
}

/// Launches a kernel by the plan of its rows.
template <class Arguments>
void launch_rows(const row_plan& rows, void (*kernel)(Arguments),
                 const std::type_identity_t<Arguments>& arguments, cudaStream_t stream,
                 std::source_location where = std::source_location::current()) {
    launch({.blocks = {rows.blocks},
            .threads = rows.threads,
            .stream = stream,
            .cluster = rows.cluster,
            .where = where},
           kernel, arguments);
}

/// Launches choose(width), the kernel for the plan's loads: of one element, or of a packet of T.
template <class T, class Arguments, class Choose>
void launch_rows(const row_plan& rows, int width, const Arguments& arguments, cudaStream_t stream,
                 Choose choose, std::source_location where = std::source_location::current()) {
    const auto kernel =
        width == 1 ? choose(elements_constant<1>{}) : choose(elements_constant<packet_bytes / sizeof(T)>{});
    launch_rows(rows, kernel, arguments, stream, where);
}

}  // namespace heddle::kernels
