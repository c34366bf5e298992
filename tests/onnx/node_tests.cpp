#include "tests/onnx/nodes.hpp"
#include "tests/support/gpu.hpp"

#include <iostream>

namespace heddle {
namespace {

using namespace test::onnx_nodes;

/// The fewer that ONNX 1.12 and 1.14 have.
constexpr int least_expressed = 282;

/// @throws inexpressible  several nodes, or an operator that none here stands for
std::pair<arguments, operation> read_operator(const std::filesystem::path& folder) {
    static const table all = [] {
        table together = elementwise_operators();
        for (table each : {row_operators(), layers()}) together.merge(each);
        return together;
    }();
    const arguments of{read_node(folder), {}};
    const auto found = all.find(of.operation);
    return found != all.end() ? std::pair(of, found->second)
                              : throw inexpressible("no operation for " + of.operation);
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

void expect_agreement(const std::filesystem::path& folder, processor& p) {
    auto [in, by] = read_operator(folder);
    const tensors inputs = read_tensors(folder, "input"), expected = read_tensors(folder, "output");
    auto next = inputs.begin();
    for (const std::string& name : in.inputs) in.given.push_back(name.empty() ? nullptr : &*next++);
    do {
        const tensors outputs = by(p, in);
        ASSERT_FALSE(outputs.empty());
        for (std::size_t i = 0; i < std::min(outputs.size(), expected.size()); ++i)
            ASSERT_TRUE(agrees(outputs[i], expected[i]))
                << folder.filename() << ", output " << i << ' ' << p.taken;
    } while (p.has_another_round());
}

/// The tests of nodes that have an operator. What else heddle lacks is seen when one runs.
const std::vector<std::string>& names() {
    static const std::vector<std::string> all = [] {
        std::vector<std::string> found;
        for (const auto& [name, folder] : folders()) try {
                read_operator(folder);
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

/// It prints what is left out.
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
    std::cout << expressed
              << " node tests are expressed; left out are, besides deviations of LayerNormalization:\n";
    for (const auto& [reason, count] : reasons) std::cout << count << ": " << reason << '\n';
    EXPECT_GE(expressed, least_expressed);
}

}  // namespace
}  // namespace heddle
