#include "benchmarks/limits.hpp"
#include "benchmarks/program/row_name.hpp"
#include "benchmarks/program/selection.hpp"

namespace heddle::bench {
namespace {

using row_set = std::set<const registered_row*>;
using key = std::pair<std::string_view, temperature>;
using by_bytes = std::map<double, const registered_row*>;

/// Those between which the ceiling at a footprint lies.
void add_nearest(const by_bytes& measured, double bytes, row_set& needed) {
    const auto above = measured.lower_bound(bytes);
    if (above != measured.end()) needed.insert(above->second);
    if (above != measured.begin()) needed.insert(std::prev(above)->second);
}

}  // namespace

rows needed_ceilings(const rows& all) {
    std::map<key, by_bytes> by_name;
    row_set needed;
    std::set<temperature> temperatures;
    for (const registered_row* row : all)
        if (row->on_device && parts_of(*row).operation != "ceiling") temperatures.insert(row->temperature);
    for (const registered_row& row : registered_rows()) {
        const row_name name = parts_of(row);
        if (name.operation != "ceiling") continue;
        if (!name.shape.empty())
            by_name[{name.type, name.temperature}].emplace(row.problem.bytes(), &row);
        else if (temperatures.contains(name.temperature))
            needed.insert(&row);
    }
    for (const registered_row* row : all) {
        if (!row->on_device || parts_of(*row).operation == "ceiling") continue;
        for (const memory_part& part : memory_parts(row->problem, row->temperature))
            for (const double footprint : part.footprints)
                add_nearest(by_name[{part.ceiling, row->temperature}], footprint, needed);
        add_nearest(by_name[{"pinned_to_device", temperature::cold}], row->problem.bytes_read, needed);
        add_nearest(by_name[{"pinned_to_host", temperature::cold}], row->problem.bytes_written, needed);
    }
    rows result;
    for (const registered_row& row : registered_rows())
        if (needed.contains(&row)) result.push_back(&row);
    return result;
}

}  // namespace heddle::bench
