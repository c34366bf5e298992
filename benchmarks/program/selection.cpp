#include "benchmarks/program/selection.hpp"

#include "benchmarks/headline.hpp"
#include "benchmarks/limits.hpp"
#include "benchmarks/operations.hpp"
#include "benchmarks/program/commands.hpp"

#include <regex>

namespace heddle::bench {
namespace {

/// The file of benchmarks/ that registered a row.
std::map<const registered_row*, std::string_view>& files() {
    static std::map<const registered_row*, std::string_view> of_rows;
    return of_rows;
}

/// Whether a part of a shape, or several beside each other, are as given: x and - separate them.
bool has_part(std::string_view shape, std::string_view part) {
    const auto separates = [&](std::size_t at) {
        return at >= shape.size() || shape[at] == 'x' || shape[at] == '-';
    };
    for (std::size_t at = shape.find(part); at != shape.npos; at = shape.find(part, at + 1))
        if ((at == 0 || separates(at - 1)) && separates(at + part.size())) return true;
    return false;
}

/// Keeps the rows whose texts contain one of the values.
void keep(rows& all, std::string_view what, const std::vector<std::string>& values,
          const std::function<std::vector<std::string_view>(const registered_row&)>& texts_of,
          const std::function<bool(std::string_view, std::string_view)>& fits = std::equal_to<>()) {
    if (values.empty()) return;
    rows kept;
    std::set<std::string_view> found;
    for (const registered_row* row : all) {
        bool wanted = false;
        for (const std::string_view text : texts_of(*row))
            for (const std::string& value : values)
                if (!text.empty() && fits(text, value)) {
                    wanted = true;
                    found.insert(value);
                }
        if (wanted) kept.push_back(row);
    }
    for (const std::string& value : values) {
        if (found.contains(value)) continue;
        std::vector<std::string_view> there;
        for (const registered_row* row : all)
            if (const std::string_view text = texts_of(*row).front(); !text.empty()) there.push_back(text);
        const bool is_filtered = all.size() < registered_rows().size();
        throw usage_error(
            fmt::format("{} the {} {}{}",
                        is_filtered ? "none of the rows that the other filters leave has" : "no row has",
                        what, value, suggestion(value, there, by_list)));
    }
    all = std::move(kept);
}

void keep_matching(rows& all, const std::string& filter) {
    if (filter.empty()) return;
    try {
        const std::regex expression(filter);
        std::erase_if(all,
                      [&](const registered_row* row) { return !std::regex_search(row->name, expression); });
    } catch (const std::regex_error& error) {
        throw usage_error(fmt::format("--filter: '{}' is no regular expression: {}", filter, error.what()));
    }
    if (all.empty()) throw usage_error(fmt::format("no row's name matches '{}'; {}", filter, by_list));
}

/// Says on stderr which rows are left out, as their libraries were not built in.
void keep_headline(rows& all) {
    std::set<std::string_view> names;
    for (const headline_row& entry : headline()) names.insert({entry.name, entry.peer});
    std::erase_if(all, [&](const registered_row* row) { return names.erase(row->name) == 0; });
    std::map<std::string_view, std::vector<std::string_view>> missing;  // by their libraries
    for (const std::string_view name : names) missing[library_lacking_for(name)].push_back(name);
    for (const auto& [library, rows] : missing) {
        if (library.empty())
            throw std::runtime_error(
                fmt::format("the headline has names that are no row's: {}", fmt::join(rows, ", ")));
        fmt::print(stderr, "heddle-bench: built without {}; left out: {}\n", library, fmt::join(rows, ", "));
    }
}

/// Takes what is before the separator off the text, or all of it.
std::string_view take(std::string_view& text, char separator) {
    const auto at = text.find(separator);
    const std::string_view first = text.substr(0, at);
    text = at == text.npos ? std::string_view{} : text.substr(at + 1);
    return first;
}

template <std::size_t N>
bool is_one_of(std::string_view text, const std::array<std::string_view, N>& all) {
    return std::ranges::find(all, text) != all.end();
}

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

bool selection::is_filtered() const {
    return headline || !filter.empty() || !operations.empty() || !types.empty() || !rungs.empty() ||
           !libraries.empty() || !sizes.empty();
}

void add_filters(CLI::App& command, selection& wanted) {
    const auto several = [&](const char* name, std::vector<std::string>& values, const char* help) {
        command.add_option(name, values, help)->take_all()->allow_extra_args(false);
    };
    several("--operation", wanted.operations, "rows of this operation, or of this file of benchmarks/");
    several("--type", wanted.types, "rows of this element type: f32, f16, u8c3, ...");
    several("--rung", wanted.rungs, "rows of this rung of a ladder");
    several("--library", wanted.libraries, "rows of this library: heddle, cublas, cudnn, host, ...");
    several("--size", wanted.sizes,
            "rows whose shape is this or has this part: 4096, 4096x4096, r5; of several of an "
            "option any fits");
    command.add_option("--filter", wanted.filter, "rows whose name this regular expression matches")
        ->type_name("REGEX");
    command.add_flag("--headline", wanted.headline,
                     "the few rows by which versions of heddle are compared, and their peers");
}

void register_all_rows() {
    for (const operation& operation : operations()) {
        const std::size_t before = registered_rows().size();
        operation.register_rows();
        for (std::size_t index = before; index < registered_rows().size(); ++index)
            files().emplace(&registered_rows()[index], operation.name);
    }
}

rows selected_rows(const selection& wanted) {
    register_all_rows();
    rows all;
    for (const registered_row& row : registered_rows()) all.push_back(&row);
    if (wanted.headline) keep_headline(all);
    using texts = std::vector<std::string_view>;
    keep(all, "operation", wanted.operations, [](const registered_row& row) {
        return texts{parts_of(row).operation, files().at(&row)};
    });
    keep(all, "type", wanted.types, [](const registered_row& row) { return texts{parts_of(row).type}; });
    keep(all, "rung", wanted.rungs, [](const registered_row& row) { return texts{parts_of(row).rung}; });
    keep(all, "library", wanted.libraries,
         [](const registered_row& row) { return texts{parts_of(row).library}; });
    keep(
        all, "size", wanted.sizes, [](const registered_row& row) { return texts{parts_of(row).shape}; },
        has_part);
    keep_matching(all, wanted.filter);
    return all;
}

row_name parts_of(const registered_row& row) {
    row_name parts{};
    std::string_view problem = row.problem.name;
    std::string_view implementation = std::string_view(row.name).substr(problem.size() + 1);
    parts.operation = take(problem, '/');
    parts.type = take(problem, '/');
    parts.shape = problem;
    std::string_view library = take(implementation, '/');
    parts.temperature = row.temperature;
    parts.library = take(library, ':');
    parts.rung = library;
    return parts;
}

bool is_on_cpu(std::string_view library) {
    return is_one_of<3>(library, {"host", "openblas", "opencv"});
}

bool is_vendor(std::string_view library) {
    return !is_on_cpu(library) && !is_one_of<4>(library, {"heddle", "copy", "launch", "cuda"});
}

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

std::optional<std::vector<std::int64_t>> extents_in(std::string_view text, std::string_view form) {
    constexpr std::string_view capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    std::vector<std::int64_t> result;
    while (!form.empty()) {
        const std::size_t word = std::min(form.find_first_not_of(capitals), form.size());
        if (word == 0) {
            if (!text.starts_with(form.front())) return std::nullopt;
            text.remove_prefix(1);
            form.remove_prefix(1);
            continue;
        }
        std::int64_t extent = std::numeric_limits<std::int64_t>::max();
        const auto [after, error] = std::from_chars(text.data(), text.data() + text.size(), extent);
        if (error == std::errc::invalid_argument || extent <= 0) return std::nullopt;
        result.push_back(extent);
        text.remove_prefix(static_cast<std::size_t>(after - text.data()));
        form.remove_prefix(word);
    }
    if (!text.empty()) return std::nullopt;
    return result;
}

}  // namespace heddle::bench
