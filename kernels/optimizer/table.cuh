#pragma once

#include "kernels/device/launch.hpp"
#include "kernels/device/math.hpp"
#include "kernels/optimizer/launch.hpp"

#include <algorithm>
#include <cstdint>
#include <source_location>
#include <span>

namespace heddle::kernels::optimizer {

/// A parameter as kernels see it.
template <class T, class Gradient>
struct entry {
    float* master;
    T* value;  ///< null: not written
    const Gradient* gradient;
    float* first_moment;
    float* second_moment;
    std::int64_t count;
};

/// A value that is the master itself is written only as the master.
template <class T, class Gradient>
entry<T, Gradient> entry_of(const parameter<T, Gradient>& p) {
    const bool is_master = static_cast<const void*>(p.value) == p.master;
    return {p.master, is_master ? nullptr : p.value, p.gradient, p.first_moment, p.second_moment, p.count};
}

/// How many elements this address lies beyond the boundary of a packet of `width` elements.
template <int width, class T>
__host__ __device__ int lead_of(const T* data) {
    return static_cast<int>(reinterpret_cast<std::uintptr_t>(data) / sizeof(T) % width);
}

/// Parameters that are cut into chunks for blocks: the chunks of the first, then those of the second, ... The table is a
/// kernel argument, so a call needs no memory on the device.
///
///   chunks:         0 1 2 3 | 4 | 5 6 7 | 8 ...        first_chunk: 0 4 5 8 ...
///   parameters:     0         1   2       3
template <class Entry, int capacity>
struct table {
    static constexpr int chunk = 4096;  ///< elements

    Entry entries[capacity];
    std::int64_t first_chunk[capacity + 1];
    int size;

    void clear() {
        size = 0;
        first_chunk[0] = 0;
    }
    /// The parameter's first chunk has `lead` elements less than others.
    void add(const Entry& e, int lead) {
        entries[size] = e;
        first_chunk[size + 1] = first_chunk[size] + divide_up(e.count + lead, chunk);
        ++size;
    }

    __host__ __device__ std::int64_t chunks() const { return first_chunk[size]; }

    /// The number of the parameter that has a chunk.
    __device__ int find(std::int64_t at) const {
        int low = 0, high = size;
        while (high - low > 1) {
            const int middle = (low + high) / 2;
            (first_chunk[middle] <= at ? low : high) = middle;
        }
        return low;
    }
};

template <int capacity, class Parameters, class MakeEntry, class Lead, class Launch>
void deal_in_tables(Parameters parameters, MakeEntry make_entry, Lead lead, Launch launch) {
    table<decltype(make_entry(parameters[0])), capacity> table;
    table.clear();
    for (const auto& p : parameters) {
        if (p.count == 0) continue;
        if (table.size == capacity) {
            launch(table, false);
            table.clear();
        }
        const auto entry = make_entry(p);
        table.add(entry, lead(entry));
    }
    launch(table, true);
}

/// Deals the parameters to tables and calls launch(table, is_last) for each. Parameters without elements are left out;
/// where there are no others, the only table is empty. Few parameters make a small table, which is copied to the device
/// faster.
template <class Parameters, class MakeEntry, class Lead, class Launch>
void deal(Parameters parameters, MakeEntry make_entry, Lead lead, Launch launch) {
    constexpr int few_parameters = 64;
    if (parameters.size() <= few_parameters)
        deal_in_tables<few_parameters>(parameters, make_entry, lead, launch);
    else
        deal_in_tables<most_parameters>(parameters, make_entry, lead, launch);
}

/// Launches kernel_of(table) for each table of the parameters.
template <class Rule, class T, class Gradient, class Lead, class KernelOf>
void launch_tables(const plan& plan, const arguments<Rule, T, Gradient>& arguments, cudaStream_t stream,
                   Lead lead, KernelOf kernel_of,
                   std::source_location where = std::source_location::current()) {
    deal(arguments.parameters, entry_of<T, Gradient>, lead, [&](const auto& table, bool) {
        const std::int64_t blocks = std::min(table.chunks(), plan.most_blocks);
        launch({.blocks = {blocks}, .threads = {plan.threads}, .stream = stream, .where = where},
               kernel_of(table), table, arguments.settings);
    });
}

}  // namespace heddle::kernels::optimizer
