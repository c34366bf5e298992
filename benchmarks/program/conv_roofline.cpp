#include "benchmarks/limits.hpp"
#include "benchmarks/operations.hpp"
#include "benchmarks/program/commands.hpp"
#include "benchmarks/program/json_file.hpp"
#include "benchmarks/program/processes.hpp"
#include "benchmarks/program/record.hpp"
#include "benchmarks/program/runner.hpp"
#include "benchmarks/program/selection.hpp"
#include "benchmarks/support/layers.hpp"

namespace heddle::bench {
namespace {

constexpr std::int64_t most_extent = 1 << 20;

struct request {
    std::string network;
    std::int64_t count = 32, height = 56, width = 0, channels = 64, filters = 0, groups = 1;
    std::int64_t stride = 1, dilation = 1, padding = -1;
    std::string kernel = "3x3";
    std::string type = "bf16";
    std::filesystem::path record, picture;
    bool hot = false;
    bool time = false;

    [[nodiscard]] bench::temperature temperature() const {
        return hot ? temperature::hot : temperature::cold;
    }
};

/// A line of the table.
struct line {
    const bench::layer* layer;
    bench::problem problem;
    receptive_fields fields;
    std::optional<limit> roof = {};
    std::optional<double> seconds = {};  ///< of heddle's plain call
};

struct roofs {
    std::string device;
    bench::ceilings ceilings;
    std::map<std::string, double> seconds;  ///< of heddle's calls, by their problems' names
};

conv_shape shape_of(const request& r) {
    const auto taps = extents_in(r.kernel, "RxS");
    if (!taps || std::ranges::max(*taps) > most_extent)
        throw usage_error(fmt::format("--kernel: its taps are written RxS, each from 1 to {}, not {}",
                                      most_extent, r.kernel));
    const std::int64_t rows = taps->front(), cols = taps->back();
    const auto before = [&](std::int64_t count) {
        return r.padding >= 0 ? r.padding : (count - 1) * r.dilation / 2;
    };
    const conv_shape s{.count = r.count,
                       .height = r.height,
                       .width = r.width > 0 ? r.width : r.height,
                       .channels = r.channels,
                       .filters = r.filters > 0 ? r.filters : r.channels,
                       .filter_height = rows,
                       .filter_width = cols,
                       .geometry = {.stride = {r.stride, r.stride},
                                    .padding = {before(rows), before(rows), before(cols), before(cols)},
                                    .dilation = {r.dilation, r.dilation},
                                    .groups = r.groups}};
    if (s.channels % r.groups != 0 || s.filters % r.groups != 0)
        throw usage_error(fmt::format("--groups: {} do not divide the channels, {}, and the filters, {}",
                                      r.groups, s.channels, s.filters));
    if (s.output_height() < 1 || s.output_width() < 1)
        throw usage_error("the filter has no place in the padded image");
    const auto product = [](auto... extents) { return (static_cast<double>(extents) * ... * 1.0); };
    constexpr double most = 0x1p58;  // so that elements can be counted
    if (std::max({product(s.count, s.height, s.width, s.channels), product(s.filters, rows, cols, s.channels),
                  product(s.count, s.output_height(), s.output_width(), s.filters)}) > most)
        throw usage_error("the shape is too large: an operand or the result has more than 2^58 elements");
    return s;
}

std::vector<layer> layers_of(const request& r) {
    if (r.network.empty()) return {{"conv", shape_of(r), -1}};
    const auto found = std::ranges::find(networks(), r.network, &network::name);
    if (found != networks().end()) return found->layers(r.count);
    std::vector<std::string_view> names;
    for (const network& network : networks()) names.push_back(network.name);
    throw usage_error(fmt::format("there is no network {}{}", r.network, suggestion(r.network, names)));
}

std::vector<line> lines_of(const std::vector<layer>& layers, const std::string& type) {
    const std::vector<receptive_fields> fields = receptive_fields_of(layers);
    std::vector<line> lines;
    for (std::size_t i = 0; i < layers.size(); ++i)
        lines.push_back({&layers[i],
                         std::visit([&](const auto& s) { return problem_of(s, type); }, layers[i].shape),
                         fields[i]});
    return lines;
}

/// Those of a record, which need no GPU.
roofs recorded_roofs(const std::filesystem::path& file) {
    const json record = read_record(file);
    roofs result;
    try {
        result.device = record.at("gpu").at("name").get<std::string>();
        for (const json& entry : record.at("ceilings"))
            if (entry.contains("per_second"))
                result.ceilings.add({entry.at("name").get<std::string>(), entry.value("bytes", 0.0),
                                     entry.value("hot", false) ? temperature::hot : temperature::cold,
                                     entry.at("per_second").get<double>()});
    } catch (const json::exception& error) {
        throw std::runtime_error(fmt::format("{} is damaged: {}", file.string(), error.what()));
    }
    return result;
}

/// Those of this device, and the times of heddle's calls where they are wanted, of one run.
roofs measured_roofs(const request& r, const std::vector<line>& lines) {
    constexpr int repetitions = 5;
    for (const operation& operation : operations())
        if (operation.name == "ceiling") operation.register_rows();
    std::deque<registered_row> not_run;
    rows depending;
    for (const line& line : lines) {
        not_run.push_back({line.problem.name + "/heddle", line.problem, r.temperature(), true, {}});
        depending.push_back(&not_run.back());
    }
    rows all = needed_ceilings(depending);
    const auto first = static_cast<std::ptrdiff_t>(registered_rows().size());
    if (r.time)
        for (const line& line : lines)
            std::visit([&](const auto& s) { add_layer_row(s, r.type, r.temperature()); }, line.layer->shape);
    for (auto row = registered_rows().begin() + first; row != registered_rows().end(); ++row)
        all.push_back(&*row);
    const run_result result = run_rows(runnable(all), repetitions);
    if (result.interrupted) throw CLI::RuntimeError(interrupted);
    roofs found{traits_of(current_device()).name, ceilings_of(result.outcomes), {}};
    for (const outcome& outcome : result.outcomes) {
        if (!outcome.error.empty())
            fmt::print(stderr, "heddle-bench: {}: {}\n", outcome.row->name, outcome.error);
        else
            found.seconds[outcome.row->problem.name] = 1e-6 * outcome.median_us();
    }
    return found;
}

/// Both sides, or the one where they are alike.
std::string sides(double y, double x, int digits) {
    return y == x ? fmt::format("{:.{}f}", y, digits) : fmt::format("{:.{}f}x{:.{}f}", y, digits, x, digits);
}

std::string shape_text(const layer& layer) {
    return std::visit([](const auto& s) { return text(s); }, layer.shape);
}

void print_row(std::string_view name, std::string_view shape, const std::vector<std::string>& columns) {
    std::string line = fmt::format("{:18} {:34}", name, shape);
    for (const std::string& column : columns) line += fmt::format(" {:>9}", column);
    line.erase(line.find_last_not_of(' ') + 1);
    fmt::print("{}\n", line);
}

/// The work of a layer or of all, and its times by the roof and by the clock where they are known.
struct work {
    double operations = 0, bytes = 0;
    std::optional<double> roof = 0, seconds = 0;
};

std::vector<std::string> columns_of(const work& w, const std::array<std::string, 3>& fields,
                                    std::string limit) {
    const auto number = [](bool is_there, double value, int digits) {
        return is_there ? fmt::format("{:.{}f}", value, digits) : std::string{};
    };
    const bool computes = w.operations > 0;
    const double roof = w.roof.value_or(0), seconds = w.seconds.value_or(0);
    return {number(computes, 1e-9 * w.operations, 2),
            number(true, 1e-6 * w.bytes, 2),
            number(computes, w.operations / w.bytes, 1),
            fields[0],
            fields[1],
            fields[2],
            number(w.roof.has_value(), 1e6 * roof, 2),
            number(w.roof && computes, 1e-12 * w.operations / roof, 1),
            number(w.seconds.has_value(), 1e6 * seconds, 2),
            w.roof && w.seconds ? fmt::format("{:.0f} %", 100 * roof / seconds) : "",
            std::move(limit)};
}

void print_table(const std::vector<line>& lines, bool has_roof, bool is_timed) {
    std::vector<std::string> titles = {"GFLOP", "MB", "FLOP/B", "jump", "field", "effective"};
    if (has_roof)
        titles.insert(titles.end(),
                      {"roof us", "TFLOP/s", is_timed ? "us" : "", is_timed ? "of roof" : "", "limit"});
    print_row("layer", "shape", titles);
    work all;
    const auto add = [](std::optional<double>& sum, std::optional<double> one) {
        sum = sum && one ? std::optional(*sum + *one) : std::nullopt;
    };
    for (const line& line : lines) {
        const auto& [y, x] = line.fields;
        const work one{line.problem.operations, line.problem.bytes(),
                       line.roof ? std::optional(line.roof->seconds) : std::nullopt, line.seconds};
        print_row(line.layer->name, shape_text(*line.layer),
                  columns_of(one,
                             {sides(y.jump, x.jump, 0), sides(y.size, x.size, 0),
                              sides(y.effective_size(), x.effective_size(), 1)},
                             line.roof ? line.roof->ceiling : ""));
        all.operations += one.operations;
        all.bytes += one.bytes;
        add(all.roof, one.roof);
        add(all.seconds, one.seconds);
    }
    if (lines.size() > 1) print_row("all", "", columns_of(all, {}, ""));
}

/// What the picture shows.
json content_of(const request& r, const std::vector<line>& lines, const roofs& roofs) {
    json layers = json::array();
    json of_units = json::object();
    double most = 0;
    for (const line& line : lines) {
        most = std::max(most, line.problem.bytes());
        if (line.problem.unit != unit::none)
            if (const auto rate = roofs.ceilings.per_second(to_string(line.problem.unit), r.temperature()))
                of_units[std::string(to_string(line.problem.unit))] = rounded(*rate / line.problem.products);
        json one = {{"name", line.layer->name},
                    {"shape", shape_text(*line.layer)},
                    {"input", line.layer->input},
                    {"operations", line.problem.operations},
                    {"bytes", line.problem.bytes()},
                    {"field", {line.fields.y.size, line.fields.x.size}},
                    {"effective_field",
                     {rounded(line.fields.y.effective_size()), rounded(line.fields.x.effective_size())}}};
        one["roof"] = line.roof
                          ? json{{"ceiling", line.roof->ceiling}, {"us", rounded(1e6 * line.roof->seconds)}}
                          : json();
        one["us"] = line.seconds ? json(rounded(1e6 * *line.seconds)) : json();
        layers.push_back(std::move(one));
    }
    const auto memory = roofs.ceilings.per_second("dram_copy", r.temperature(), most);
    return {{"kind", "conv-roofline"},
            {"title", r.network.empty() ? shape_text(*lines.front().layer) : r.network},
            {"count", r.count},
            {"type", r.type},
            {"gpu", roofs.device},
            {"hot", r.hot},
            {"memory", memory ? json(rounded(*memory)) : json()},
            {"units", of_units},
            {"layers", layers}};
}

/// Writes what there is to see beside the picture, and becomes the script that draws it.
void draw(const request& r, const std::vector<line>& lines, const roofs& roofs) {
    std::filesystem::path data = r.picture;
    data.replace_extension(".json");
    json_file(data).write(content_of(r, lines, roofs));
    std::fflush(stdout);
    become_script("conv_roofline.py", {data.string(), "--output", r.picture.string()});
}

void run(const request& r) {
    if (std::ranges::find(conv_types, r.type) == std::end(conv_types))
        throw usage_error(fmt::format("--type: one of {}, not {}", fmt::join(conv_types, ", "), r.type));
    const std::vector<layer> layers = layers_of(r);
    std::vector<line> lines = lines_of(layers, r.type);
    if (r.time && !has_device()) throw std::runtime_error("no GPU; --time needs one");
    const bool has_roof = !r.record.empty() || has_device();
    if (!r.picture.empty() && !has_roof)
        throw std::runtime_error("no GPU; --picture needs one, or the ceilings of a --record");
    if (!has_roof)
        fmt::print(stderr,
                   "heddle-bench: no GPU; --record FILE gives the roof of a run on another machine\n");
    roofs roofs;
    if (has_roof) roofs = r.record.empty() ? measured_roofs(r, lines) : recorded_roofs(r.record);
    for (line& line : lines) {
        line.roof = limit_of(line.problem, r.temperature(), roofs.ceilings);
        if (const auto found = roofs.seconds.find(line.problem.name); found != roofs.seconds.end())
            line.seconds = found->second;
    }
    fmt::print(
        "{}, {}{}\n", r.network.empty() ? "a convolution" : r.network, r.type,
        has_roof ? fmt::format(", under the roof of {}, {}", roofs.device, r.hot ? "hot" : "cold") : "");
    print_table(lines, has_roof, r.time);
    if (!r.picture.empty()) draw(r, lines, roofs);
}

}  // namespace

void add_conv_roofline(CLI::App& program) {
    CLI::App* const command = program.add_subcommand(
        "conv-roofline",
        "Operations, bytes, roof and receptive field of a convolution, or of a network's layers");
    const auto wanted = std::make_shared<request>();
    CLI::Option* const network =
        command->add_option("--network", wanted->network, "resnet50, vgg16 or efficientnet-lite0")
            ->type_name("NAME");
    const auto extent = [&](const char* name, std::int64_t& value, const char* what, std::int64_t least = 1) {
        return command->add_option(name, value, what)->check(CLI::Range(least, most_extent))->type_name("N");
    };
    extent("--count", wanted->count, "images")->capture_default_str();
    CLI::Option* const of_shape[] = {
        extent("--height", wanted->height, "of an image")->capture_default_str(),
        extent("--width", wanted->width, "of an image; the height where nothing is said"),
        extent("--channels", wanted->channels, "of an image")->capture_default_str(),
        extent("--filters", wanted->filters, "as many as channels where nothing is said"),
        command->add_option("--kernel", wanted->kernel, "a filter's taps")
            ->type_name("RxS")
            ->capture_default_str(),
        extent("--stride", wanted->stride, "pixels between outputs")->capture_default_str(),
        extent("--dilation", wanted->dilation, "pixels between taps")->capture_default_str(),
        extent("--padding", wanted->padding,
               "on each side; where nothing is said, steps of 1 keep the extents", 0),
        extent("--groups", wanted->groups, "of channels")->capture_default_str()};
    for (CLI::Option* const option : of_shape) network->excludes(option);
    command->add_option("--type", wanted->type, "bf16, f16, tf32 or f32")
        ->type_name("TYPE")
        ->capture_default_str();
    CLI::Option* const record =
        command->add_option("--record", wanted->record, "take the roof of this record of heddle-bench run")
            ->type_name("FILE");
    command->add_flag("--hot", wanted->hot, "calls back to back");
    command->add_flag("--time", wanted->time, "time heddle's plain calls, too")->excludes(record);
    command
        ->add_option("-o,--picture", wanted->picture,
                     "draw it, and write what it shows to FILE.json beside it")
        ->type_name("FILE.svg");
    command->callback([wanted] { run(*wanted); });
}

}  // namespace heddle::bench
