#include "tests/onnx/nodes.hpp"

#include <onnx/onnx_pb.h>

#include <cstring>
#include <fstream>

namespace heddle::test::onnx_nodes {
namespace {

using ::onnx::TensorProto;
using std::filesystem::path;

template <class Message>
Message read(const path& file) {
    std::ifstream stream(file, std::ios::binary);
    Message message;
    if (!message.ParseFromIstream(&stream)) throw std::runtime_error("cannot read " + file.string());
    return message;
}

tensor tensor_of(const TensorProto& from) {
    tensor to{TensorProto::DataType_Name(static_cast<TensorProto::DataType>(from.data_type())),
              {from.dims().begin(), from.dims().end()},
              {}};
    // Elements are in the field of their type, or in one string of bytes.
    const auto take = [&]<class T>(T element, const auto& field) {
        to.elements.assign(field.begin(), field.end());
        for (std::size_t at = 0; at < from.raw_data().size(); at += sizeof(T)) {
            std::memcpy(&element, from.raw_data().data() + at, sizeof(T));
            to.elements.push_back(to_double(element));
        }
        return to;
    };
    if (to.type == "FLOAT") return take(float(), from.float_data());
    if (to.type == "DOUBLE") return take(double(), from.double_data());
    if (to.type == "FLOAT16") return take(half(), numbers());
    if (to.type == "INT32") return take(std::int32_t(), from.int32_data());
    if (to.type == "INT64") return take(std::int64_t(), from.int64_data());
    if (to.type == "BOOL") return take(bool(), from.int32_data());
    throw inexpressible("type " + to.type);
}

}  // namespace

std::map<std::string, path> folders() {
    const std::string prefix = "test_";
    std::map<std::string, path> found;
    std::error_code gone;  // deleted since heddle was configured
    for (const auto& entry : std::filesystem::directory_iterator(HEDDLE_ONNX_NODE_TESTS, gone))
        if (const std::string name = entry.path().filename(); name.starts_with(prefix))
            found[name.substr(prefix.size())] = entry.path();
    return found;
}

model read_model(const path& folder) {
    const auto from = read<::onnx::ModelProto>(folder / "model.onnx").graph();
    model to;
    const auto take_names = [](const auto& values, std::vector<std::string>& names) {
        for (const auto& each : values) {
            if (!each.type().has_tensor_type()) throw inexpressible("values other than tensors");
            names.push_back(each.name());
        }
    };
    if (from.initializer_size() > 0) throw inexpressible("initializers");
    take_names(from.input(), to.inputs);
    take_names(from.output(), to.outputs);
    for (const auto& one : from.node()) {
        node& last = to.nodes.emplace_back(node{one.op_type(),
                                                {one.input().begin(), one.input().end()},
                                                {one.output().begin(), one.output().end()},
                                                {}});
        for (const auto& each : one.attribute()) {
            attribute& a =
                last.attributes[each.name()] = {{each.ints().begin(), each.ints().end()}, each.s()};
            if (each.has_i()) a.elements.push_back(static_cast<double>(each.i()));
            if (each.has_f()) a.elements.push_back(to_double(each.f()));
            if (each.has_t()) a.value = tensor_of(each.t());
        }
    }
    return to;
}

tensors read_tensors(const path& folder, const std::string& kind) {
    tensors all;
    for (;;) {
        const path file = folder / "test_data_set_0" / (kind + "_" + std::to_string(all.size()) + ".pb");
        if (!exists(file)) return all;
        all.push_back(tensor_of(read<TensorProto>(file)));
    }
}

}  // namespace heddle::test::onnx_nodes
