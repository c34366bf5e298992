#pragma once

#include "tests/support/guarded.hpp"
#include "tests/support/numeric.hpp"
#include "tests/support/watchdog.hpp"
#include <heddle/stream.hpp>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <vector>

/// ONNX's node tests: a node each, or what it stands for as a graph, with inputs and the outputs that they give.
namespace heddle::test::onnx_nodes {

/// Why heddle does not express a node.
struct inexpressible : std::runtime_error {
    using std::runtime_error::runtime_error;
};

using extents = std::vector<std::int64_t>;
using numbers = std::vector<double>;

struct tensor {
    std::string type;  ///< as ONNX names it
    extents shape;
    numbers elements;      ///< row by row; a double can be whatever number occurs
    numbers errors{};      ///< what each of a result may be off by; empty where they are exact
    double roundings = 0;  ///< that each term of a sum goes through, in heddle and NumPy together

    double error(std::int64_t i) const { return errors.empty() ? 0 : errors.at(i); }
    /// As a result of which nothing was off: whatever is made of it then counts its roundings.
    tensor counted() const {
        tensor x = *this;
        if (type == "FLOAT") x.errors.resize(elements.size());
        return x;
    }
};
using tensors = std::vector<tensor>;

struct attribute {
    numbers elements;
    std::string text;
    tensor value{};
};

struct node {
    std::string operation;
    std::vector<std::string> inputs, outputs;  ///< names, empty where one is left out
    std::map<std::string, attribute> attributes;

    bool has(const std::string& name) const { return attributes.contains(name); }
    double number(const std::string& name, double otherwise) const {
        return has(name) ? attributes.at(name).elements.at(0) : otherwise;
    }
    bool flag(const std::string& name, bool otherwise = false) const { return number(name, otherwise) != 0; }
    std::string text(const std::string& name) const { return has(name) ? attributes.at(name).text : ""; }
};

/// Nodes, each after those that give its inputs.
struct model {
    std::vector<node> nodes;
    std::vector<std::string> inputs, outputs;
};

/// The folders of a node test each, by name without "test_".
std::map<std::string, std::filesystem::path> folders();
/// @throws inexpressible  an attribute of a type that no operation of heddle's has
model read_model(const std::filesystem::path& folder);
/// The tensors that are "input" or "output", without those left out.
/// @throws inexpressible  a type that no operation of heddle's has
tensors read_tensors(const std::filesystem::path& folder, const std::string& kind);

inline std::int64_t size_of(const extents& shape) {
    return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

/// Where a node is computed: on the CPU, or on the GPU of a stream. There it is computed several times: each call takes
/// `automatic` in round 0, and in round i the i-th of its rungs, or `automatic` if that is refused.
class processor {
  public:
    explicit processor(const stream* gpu = nullptr) : gpu_(gpu) {}

    /// In guarded memory: these elements, or room for so many.
    template <class T = float>
    guarded<T> operand(const numbers& elements, std::int64_t size = 0) const {
        std::vector<T> all;
        for (const double e : elements) all.push_back(static_cast<T>(e));
        size += std::ssize(all);
        return {1, size, size, 0, 1, gpu_ ? guarded<T>::memory::device : guarded<T>::memory::host, all};
    }
    template <class T>
    numbers read(guarded<T>& result) const {
        if (gpu_ != nullptr) synchronize(*gpu_, taken);
        const auto [elements, canaries_alive] = result.inspect();
        EXPECT_TRUE(canaries_alive) << taken;
        numbers all;
        for (const T e : elements) all.push_back(to_double(e));
        return all;
    }

    /// Calls on_host(operands..., options), or without options; or on_gpu(operands..., stream, options) with a rung.
    /// @return the options that it took
    template <class Rungs, class Options, class OnHost, class OnGpu, class... Operands>
    Options run(const Rungs& rungs, Options options, const OnHost& on_host, const OnGpu& on_gpu,
                const Operands&... operands) {
        if (gpu_ == nullptr) {
            if constexpr (std::is_invocable_v<OnHost, Operands..., Options>)
                on_host(operands..., options);
            else
                on_host(operands...);
            return options;
        }
        last_round_ = std::max(last_round_, rungs.size());
        if (round_ > 0) options.algorithm = rungs[(round_ - 1) % rungs.size()];
        taken += std::string(to_string(options.algorithm)) + ' ';
        try {
            on_gpu(operands..., cuda::stream_ref(*gpu_), options);
        } catch (const unsupported&) {
            options.algorithm = Options().algorithm;
            on_gpu(operands..., cuda::stream_ref(*gpu_), options);
        }
        return options;
    }
    bool has_another_round() {
        taken.clear();
        return gpu_ != nullptr && ++round_ <= last_round_;
    }

    std::string taken;  ///< rungs of this round so far

  private:
    const stream* gpu_;
    std::size_t round_ = 0, last_round_ = 0;
};

/// A node with its inputs, null where one is left out.
struct arguments : node {
    std::vector<const tensor*> given;

    bool has_input(std::size_t i) const { return i < given.size() && given[i] != nullptr; }
    const tensor& operator[](std::size_t i) const { return *given.at(i); }
    /// An attribute, or in later versions of some operators an input.
    extents integers(const std::string& name, const extents& otherwise, std::size_t input = 99) const {
        if (!has(name) && !has_input(input)) return otherwise;
        const numbers& from = has_input(input) ? given[input]->elements : attributes.at(name).elements;
        return {from.begin(), from.end()};
    }
    /// A dimension of the first input, given as a number that counts from the end where it is negative.
    std::int64_t dimension(double axis) const {
        return static_cast<std::int64_t>(axis) + (axis < 0 ? std::ssize(given.at(0)->shape) : 0);
    }
};

/// What heddle makes of a node's inputs. Outputs that it leaves out at the end are not compared.
using operation = std::function<tensors(processor&, const arguments&)>;
using table = std::map<std::string, operation>;

table elementwise_operators();
table activations();
table movements();
table row_operators();
table layers();
table networks();
table optimizers();
/// What graphs make of shapes and constants alone. It is computed here, and stands for no test.
table shape_operators();

inline constexpr double u = unit_roundoff<float>();

// Functions of elements, broadcast as ONNX has it. Where an input has errors, they carry them, and what they round.

tensor add(processor& p, const tensor& x, const tensor& y);
tensor subtract(processor& p, const tensor& x, const tensor& y);
tensor multiply(processor& p, const tensor& x, const tensor& y);
tensor scale(processor& p, double alpha, const tensor& x);
tensor clamp(processor& p, const tensor& x, double low, double high);
tensor relu(processor& p, const tensor& x);
/// 1 where x is positive, and else 0.
tensor step(processor& p, const tensor& x);
tensor exponential(processor& p, const tensor& x);
tensor sigmoid(processor& p, const tensor& x);
tensor tanh(processor& p, const tensor& x);
/// x / (sqrt(y) + epsilon): what a step of Adam takes.
tensor over_root(processor& p, const tensor& x, const tensor& y, double epsilon = 0);
tensor quotient(processor& p, const tensor& x, const tensor& y);
tensor logarithm(processor& p, const tensor& x);
/// One number, for broadcasts.
inline tensor scalar(double x) {
    return {"FLOAT", {}, {static_cast<float>(x)}};
}

/// For each place of a result, the place of an element among those of all inputs, one after another; -1 where none is.
using places = std::function<std::int64_t(const extents& at)>;
/// Elements in other places, copied by transposes of as few matrices as it takes; `fill` where none is.
tensor moved(processor& p, const std::vector<const tensor*>& from, const extents& shape,
             const places& place_of, double fill = 0);
tensor reshaped(processor& p, const tensor& x, const extents& shape);
tensor permuted(processor& p, const tensor& x, const extents& order);
/// What two shapes are broadcast to.
extents joint_shape(const extents& x, const extents& y);
/// Its dimensions of one repeated; itself where none is.
tensor expanded(processor& p, const tensor& x, const extents& shape);
inline std::int64_t offset_of(const extents& at, const extents& shape) {
    std::int64_t place = 0;
    for (std::size_t i = 0; i < shape.size(); ++i) place = place * shape[i] + at.at(i);
    return place;
}

/// What is left of each row, from an axis on, without its mean, over its deviation.
tensor normalized(processor& p, const tensor& x, std::int64_t axis, float epsilon);
/// The mean and the variance of each such row.
tensors moments(processor& p, const tensor& x, std::int64_t axis);
/// The product of matrices, with errors.
tensor product(processor& p, const tensor& x, const tensor& y);
/// The operation, which is linear, with errors: so many roundings of what it makes of its inputs' magnitudes.
operation summed(const operation& by);
/// One of the operators, by the name that ONNX gives it.
const operation& operator_named(const std::string& name);

}  // namespace heddle::test::onnx_nodes
