#include "benchmarks/support/cudnn_graph.hpp"

#if HEDDLE_HAS_CUDNN && HEDDLE_HAS_CUDNN_FRONTEND

#include "benchmarks/support/cudnn.hpp"

#define NV_CUDNN_FRONTEND_USE_DYNAMIC_LOADING
#define CUDNN_FRONTEND_SKIP_JSON_LIB
#include <cudnn_frontend.h>

#include <unordered_map>

// What the headers look cuDNN's functions up in.
void* cudnn_frontend::cudnn_dlhandle = nullptr;

namespace heddle::bench {
namespace {

namespace fe = cudnn_frontend;
using fe::graph::Graph;
using fe::graph::Tensor_attributes;
using extents = std::vector<std::int64_t>;

enum id : std::int64_t { of_input = 1, of_filters, of_bias, of_output };

void check(fe::error_t error) {
    if (error.is_good()) return;
    const std::string text =
        error.get_message();  // what follows its first line are all of the engines' reasons
    throw unsupported("cuDNN: " + text.substr(0, text.find('\n')));
}

fe::DataType_t data_type(std::string_view type) {
    return type == "bf16"  ? fe::DataType_t::BFLOAT16
           : type == "f16" ? fe::DataType_t::HALF
                           : fe::DataType_t::FLOAT;
}

/// NHWC, whose extents cuDNN writes as n, c, h, w.
Tensor_attributes tensor(id id, std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) {
    return Tensor_attributes().set_uid(id).set_dim({n, c, h, w}).set_stride({h * w * c, 1, w * c, c});
}

/// Makes `output` the graph's: of these extents, in memory.
void set_output(Tensor_attributes& output, std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w,
                fe::DataType_t type) {
    output.set_output(true)
        .set_uid(of_output)
        .set_dim({n, c, h, w})
        .set_stride({h * w * c, 1, w * c, c})
        .set_data_type(type);
}

std::shared_ptr<Graph> empty_graph(fe::DataType_t type) {
    auto graph = std::make_shared<Graph>();
    graph->set_io_data_type(type)
        .set_intermediate_data_type(fe::DataType_t::FLOAT)
        .set_compute_data_type(fe::DataType_t::FLOAT);
    return graph;
}

std::shared_ptr<Graph> graph_of(const conv_shape& s, std::string_view type) {
    const conv_geometry& g = s.geometry;
    const auto graph = empty_graph(data_type(type));
    const auto input = graph->tensor(tensor(of_input, s.count, s.channels, s.height, s.width));
    const auto filters =
        graph->tensor(tensor(of_filters, s.filters, s.channels / g.groups, s.filter_height, s.filter_width));
    const auto bias = graph->tensor(tensor(of_bias, 1, s.filters, 1, 1));
    const auto sums = graph->conv_fprop(input, filters,
                                        fe::graph::Conv_fprop_attributes()
                                            .set_pre_padding({g.padding.top, g.padding.left})
                                            .set_post_padding({g.padding.bottom, g.padding.right})
                                            .set_stride({g.stride.y, g.stride.x})
                                            .set_dilation({g.dilation.y, g.dilation.x}));
    const auto biased =
        graph->pointwise(sums, bias, fe::graph::Pointwise_attributes().set_mode(fe::PointwiseMode_t::ADD));
    const auto output =
        graph->pointwise(biased, fe::graph::Pointwise_attributes().set_mode(fe::PointwiseMode_t::RELU_FWD));
    set_output(*output, s.count, s.filters, s.output_height(), s.output_width(), data_type(type));
    return graph;
}

/// The graph with the plans that it may take, none of them built.
std::shared_ptr<Graph> planned(const conv_shape& shape, std::string_view type) {
    constexpr std::int64_t most_workspace = std::int64_t{1} << 30;
    const auto graph = graph_of(shape, type);
    check(graph->validate());
    check(graph->build_operation_graph(cudnn_handle()));
    check(graph->create_execution_plans({fe::HeurMode_t::A, fe::HeurMode_t::B, fe::HeurMode_t::FALLBACK}));
    std::vector<fe::NumericalNote_t> less_accurate = {fe::NumericalNote_t::DOWN_CONVERT_INPUTS,
                                                      fe::NumericalNote_t::REDUCED_PRECISION_REDUCTION};
    if (type == "f32") less_accurate.push_back(fe::NumericalNote_t::TENSOR_CORE);
    graph->deselect_numeric_notes(less_accurate);
    graph->deselect_workspace_greater_than(most_workspace);
    return graph;
}

/// Builds a plan of the graph. The call holds its workspace.
std::function<void()> call_of(const std::shared_ptr<Graph>& graph, std::int64_t plan,
                              const cudnn_operands& o) {
    check(graph->build_plan_at_index(plan));
    const auto workspace =
        std::make_shared<device_buffer<std::byte>>(graph->get_workspace_size_plan_at_index(plan), stream());
    std::unordered_map<std::int64_t, void*> pointers = {
        {of_input, o.input}, {of_filters, o.filters}, {of_bias, o.bias}, {of_output, o.output}};
    return [=]() mutable {
        check(graph->execute_plan_at_index(cudnn_handle(), pointers, workspace->data(), plan));
    };
}

std::string name_of(const Graph& graph, std::int64_t plan) {
    std::string name;
    check(graph.get_plan_name_at_index(plan, name));
    return name;
}

constexpr temperature temperatures[] = {temperature::cold, temperature::hot};
using by_temperature = std::map<temperature, std::string>;

/// The names of the fastest. Each is built once, which takes longer than to time it.
by_temperature fastest_plans(const std::shared_ptr<Graph>& graph, const cudnn_operands& operands) {
    constexpr std::chrono::duration<double> trial{4e-3};
    by_temperature best;
    std::map<temperature, double> least;
    std::set<std::string> tried;  // modes offer the same plans
    for (std::int64_t plan = 0; plan < graph->get_execution_plan_count(); ++plan) {
        const std::string name = name_of(*graph, plan);
        if (!tried.insert(name).second) continue;
        try {
            const std::function<void()> call = call_of(graph, plan, operands);
            for (const auto temperature : temperatures) {
                const double seconds = detail::time_on_device(call, temperature, trial).seconds;
                if (best.contains(temperature) && seconds >= least[temperature]) continue;
                best[temperature] = name;
                least[temperature] = seconds;
            }
        } catch (const unsupported&) {  // cuDNN offers plans that it cannot build or run
        }
    }
    if (best.empty()) throw unsupported("cuDNN has no plan for it");
    return best;
}

/// Without the plans that are slower: they hold memory.
struct found_plans {
    std::shared_ptr<Graph> graph;
    by_temperature best;
};

found_plans find_plans(const conv_shape& shape, std::string_view type, const cudnn_operands& operands) {
    by_temperature best = fastest_plans(planned(shape, type), operands);
    return {planned(shape, type), std::move(best)};
}

}  // namespace

std::function<void()> best_cudnn_conv(const conv_shape& shape, std::string_view type, temperature temperature,
                                      const cudnn_operands& operands) {
    fe::cudnn_dlhandle = cudnn_library().handle();
    // Lives on: when the program ends, cuDNN may end before it.
    static auto& all = *new std::map<std::string, found_plans>;
    const std::string key = problem_of(shape, type).name;
    auto found = all.find(key);
    if (found == all.end()) found = all.emplace(key, find_plans(shape, type, operands)).first;
    const auto& [graph, best] = found->second;
    const std::string& name = best.at(temperature);
    for (std::int64_t plan = 0; plan < graph->get_execution_plan_count(); ++plan)
        if (name_of(*graph, plan) == name) return call_of(graph, plan, operands);
    throw unsupported("cuDNN no longer offers " + name);
}

}  // namespace heddle::bench

#endif
