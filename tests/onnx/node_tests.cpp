#include "tests/onnx/nodes.hpp"

#include <iostream>

namespace heddle {

const test::onnx_nodes::operation& test::onnx_nodes::operator_named(const std::string& name) {
    static const table all = [] {
        table together = elementwise_operators();
        for (table each : {activations(), movements(), row_operators(), layers(), networks(), optimizers()})
            together.merge(each);
        return together;
    }();
    const auto found = all.find(name);
    return found != all.end() ? found->second : throw inexpressible("no operation for " + name);
}

namespace {

using namespace test::onnx_nodes;

/// The smaller number, that of ONNX 1.12 and 1.14.
constexpr int least_expressed = 588;

/// @throws inexpressible  heddle has nothing for the operator
operation operator_of(const node& of, bool is_alone) {
    static const table shapes = shape_operators();
    if (const auto found = shapes.find(of.operation); found != shapes.end() && !is_alone)
        return found->second;
    return operator_named(of.operation);
}
model read_known_model(const std::filesystem::path& folder) {
    model all = read_model(folder);
    for (const node& each : all.nodes) operator_of(each, all.nodes.size() == 1);
    return all;
}

testing::AssertionResult agrees(const tensor& actual, const tensor& expected) {
    if (actual.type != expected.type || actual.shape != expected.shape ||
        actual.elements.size() != expected.elements.size())
        return testing::AssertionFailure() << "another type or shape";
    for (std::size_t i = 0; i < expected.elements.size(); ++i) {
        const double error = actual.errors.empty() ? 0 : actual.errors.at(i);
        auto result = test::is_within(actual.elements[i], expected.elements[i], error);
        if (!result) return result << ", element " << i;
    }
    return testing::AssertionSuccess();
}

/// Whether an operator's results carry its inputs' errors.
bool carries_errors(const std::string& operation) {
    static const std::set<std::string> others{"ArgMax",
                                              "ArgMin",
                                              "BatchNormalization",
                                              "Dropout",
                                              "GlobalMaxPool",
                                              "GroupNormalization",
                                              "Hardmax",
                                              "InstanceNormalization",
                                              "LayerNormalization",
                                              "Max",
                                              "MaxPool",
                                              "MeanVarianceNormalization",
                                              "Min",
                                              "Range",
                                              "SoftmaxCrossEntropyLoss"};
    return !others.contains(operation);
}

/// All tensors of a graph, by name. In a graph of several nodes all roundings count, as NumPy computes it otherwise.
std::map<std::string, tensor> evaluated(const model& all, const tensors& inputs, processor& p) {
    const bool is_alone = all.nodes.size() == 1;
    std::map<std::string, tensor> values;
    for (std::size_t i = 0; i < inputs.size(); ++i)
        values[all.inputs.at(i)] = is_alone ? inputs[i] : inputs[i].counted();
    for (const node& each : all.nodes) {
        arguments in{each, {}};
        for (const std::string& name : each.inputs)
            in.given.push_back(name.empty() ? nullptr : &values.at(name));
        const auto is_off = [](const tensor* x) {
            return x && std::ranges::any_of(x->errors, std::identity());
        };
        if (!carries_errors(each.operation) && std::ranges::any_of(in.given, is_off))
            throw inexpressible(each.operation + " of results that may be off");
        const tensors outputs = operator_of(each, is_alone)(p, in);
        for (std::size_t i = 0; i < std::min(outputs.size(), each.outputs.size()); ++i)
            values[each.outputs[i]] = outputs[i];
    }
    return values;
}

void expect_agreement(const std::filesystem::path& folder, processor& p) {
    const model all = read_known_model(folder);
    const tensors inputs = read_tensors(folder, "input"), expected = read_tensors(folder, "output");
    do {
        const auto values = evaluated(all, inputs, p);
        ASSERT_TRUE(values.contains(all.outputs.at(0)));
        for (std::size_t i = 0; i < expected.size(); ++i) {
            const auto actual = values.find(all.outputs.at(i));
            if (actual == values.end()) break;
            ASSERT_TRUE(agrees(actual->second, expected[i]))
                << folder.filename() << ", output " << i << ' ' << p.taken;
        }
    } while (p.has_another_round());
}

/// The tests of nodes with known operators. Other gaps of heddle show when one runs.
const std::vector<std::string>& names() {
    static const std::vector<std::string> all = [] {
        std::vector<std::string> found;
        for (const auto& [name, folder] : folders()) try {
                read_known_model(folder);
                found.push_back(name);
            } catch (const inexpressible&) {
            }
        return found;
    }();
    return all;
}

void check_node(const std::string& name, processor p) {
    try {
        expect_agreement(folders().at(name), p);
    } catch (const inexpressible& reason) {
        GTEST_SKIP() << reason.what();
    }
}

struct onnx_nodes : testing::TestWithParam<std::string> {};
TEST_P(onnx_nodes, agree_on_host) {
    check_node(GetParam(), processor());
}

class onnx_nodes_by_every_rung : public test::gpu_test, public testing::WithParamInterface<std::string> {};
TEST_P(onnx_nodes_by_every_rung, agree_on_gpu) {
    const stream on;
    check_node(GetParam(), processor(&on));
}

const auto name_of = [](const auto& info) { return info.param; };
INSTANTIATE_TEST_SUITE_P(all, onnx_nodes, testing::ValuesIn(names()), name_of);
INSTANTIATE_TEST_SUITE_P(all, onnx_nodes_by_every_rung, testing::ValuesIn(names()), name_of);

/// Prints the tests that are left out.
TEST(host_onnx_nodes, are_no_fewer_than_they_were) {
    int expressed = 0;
    std::map<std::string, int> reasons;
    for (const auto& [name, folder] : folders()) try {
            processor host;
            expect_agreement(folder, host);
            ++expressed;
        } catch (const inexpressible& reason) {
            ++reasons[reason.what()];
        }
    std::cout << expressed << " node tests are expressed; left out are:\n";
    for (const auto& [reason, count] : reasons) std::cout << count << ": " << reason << '\n';
    EXPECT_GE(expressed, least_expressed);
}

}  // namespace
}  // namespace heddle
