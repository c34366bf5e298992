#pragma once

#include "tests/support/headers.hpp"
#include "tests/support/watchdog.hpp"

#include <filesystem>

/// ONNX's node tests. Each has a node, or its equivalent graph, with inputs and the expected outputs.
namespace heddle::test::onnx_nodes {

/// The reason why heddle does not express a node.
struct inexpressible : std::runtime_error {
    using std::runtime_error::runtime_error;
};

using extents = std::vector<std::int64_t>;
using numbers = std::vector<double>;

struct tensor {
    std::string type;  ///< ONNX's name of it
    extents shape;
    numbers elements;      ///< row by row; a double holds every number that occurs
    numbers errors{};      ///< error bounds of the elements; empty where they are exact
    double roundings = 0;  ///< of each term of a sum, in heddle and NumPy together

    double error(std::int64_t i) const { return errors.empty() ? 0 : errors.at(i); }
    /// As an exact result, whose later uses count their own roundings.
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

/// The folders of the node tests, by name without "test_".
std::map<std::string, std::filesystem::path> folders();
/// @throws inexpressible  an attribute of a type that none of heddle's operations has
model read_model(const std::filesystem::path& folder);
/// The tensors that are "input" or "output", without those left out.
/// @throws inexpressible  a type that none of heddle's operations has
tensors read_tensors(const std::filesystem::path& folder, const std::string& kind);

inline std::int64_t size_of(const extents& shape) {
    return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

/// The processor of a node: the CPU, or the GPU of a stream. The GPU computes it several times. In round 0 each call
/// takes `automatic`; in round i it takes the i-th of its rungs, or `automatic` if that is refused.
class processor {
  public:
    explicit processor(const stream* gpu = nullptr) : gpu_(gpu) {}

    /// Guarded memory with these elements, or with room for so many.
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
    /// @return the options of the call
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

/// A node with its inputs, which are null where they are left out.
struct arguments : node {
    std::vector<const tensor*> given;

    bool has_input(std::size_t i) const { return i < given.size() && given[i] != nullptr; }
    const tensor& operator[](std::size_t i) const { return *given.at(i); }
    /// An attribute, which is an input in later versions of some operators.
    extents integers(const std::string& name, const extents& otherwise, std::size_t input = 99) const {
        if (!has(name) && !has_input(input)) return otherwise;
        const numbers& from = has_input(input) ? given[input]->elements : attributes.at(name).elements;
        return {from.begin(), from.end()};
    }
    /// A dimension of the first input, from a number that counts from the end where it is negative.
    std::int64_t dimension(double axis) const {
        return static_cast<std::int64_t>(axis) + (axis < 0 ? std::ssize(given.at(0)->shape) : 0);
    }
};

/// heddle's results for a node's inputs. Last outputs that it leaves out are not compared.
using operation = std::function<tensors(processor&, const arguments&)>;
using table = std::map<std::string, operation>;

table elementwise_operators();
table activations();
table movements();
table row_operators();
table layers();
table networks();
table optimizers();
/// Operators on shapes and constants alone. The test program computes them; they are no tests of heddle.
table shape_operators();

inline constexpr double u = unit_roundoff<float>();

// Functions of elements, broadcast as in ONNX. They propagate the errors of inputs and add their roundings.

tensor add(processor& p, const tensor& x, const tensor& y);
tensor subtract(processor& p, const tensor& x, const tensor& y);
tensor multiply(processor& p, const tensor& x, const tensor& y);
tensor scale(processor& p, double alpha, const tensor& x);
tensor clamp(processor& p, const tensor& x, double low, double high);
tensor relu(processor& p, const tensor& x);
/// 1 where x is positive, otherwise 0.
tensor step(processor& p, const tensor& x);
tensor exponential(processor& p, const tensor& x);
tensor sigmoid(processor& p, const tensor& x);
tensor tanh(processor& p, const tensor& x);
/// x / (sqrt(y) + epsilon), as in a step of Adam.
tensor over_root(processor& p, const tensor& x, const tensor& y, double epsilon = 0);
tensor quotient(processor& p, const tensor& x, const tensor& y);
tensor logarithm(processor& p, const tensor& x);
/// One number, for broadcasts.
inline tensor scalar(double x) {
    return {"FLOAT", {}, {static_cast<float>(x)}};
}

/// For each place of a result, the index of an element among those of all inputs in turn; -1 for none.
using places = std::function<std::int64_t(const extents& at)>;
/// Elements moved to other places, by transposes of as few matrices as possible; `fill` where there is no element.
tensor moved(processor& p, const std::vector<const tensor*>& from, const extents& shape,
             const places& place_of, double fill = 0);
tensor reshaped(processor& p, const tensor& x, const extents& shape);
tensor permuted(processor& p, const tensor& x, const extents& order);
/// The shape to which two shapes are broadcast.
extents joint_shape(const extents& x, const extents& y);
/// The tensor with dimensions of one repeated; itself where there are none.
tensor expanded(processor& p, const tensor& x, const extents& shape);
inline std::int64_t offset_of(const extents& at, const extents& shape) {
    std::int64_t place = 0;
    for (std::size_t i = 0; i < shape.size(); ++i) place = place * shape[i] + at.at(i);
    return place;
}

/// Each row from an axis on, minus its mean, over its deviation.
tensor normalized(processor& p, const tensor& x, std::int64_t axis, float epsilon);
/// The mean and the variance of each such row.
tensors moments(processor& p, const tensor& x, std::int64_t axis);
/// The product of matrices, with errors.
tensor product(processor& p, const tensor& x, const tensor& y);
/// The linear operation, with errors: so many roundings of its result for the inputs' magnitudes.
operation summed(const operation& by);
/// One of the operators, by ONNX's name.
const operation& operator_named(const std::string& name);

}  // namespace heddle::test::onnx_nodes
