#pragma once

#include <heddle/types.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace examples {

/// The format's name of a type.
template <class T>
inline constexpr std::string_view safetensors_type = [] {
    if constexpr (std::is_same_v<T, float>)
        return "F32";
    else if constexpr (std::is_same_v<T, double>)
        return "F64";
    else if constexpr (std::is_same_v<T, heddle::half>)
        return "F16";
    else if constexpr (std::is_same_v<T, heddle::bfloat16>)
        return "BF16";
    else if constexpr (std::is_same_v<T, std::uint8_t>)
        return "U8";
    else if constexpr (std::is_same_v<T, std::int32_t>)
        return "I32";
    else if constexpr (std::is_same_v<T, std::int64_t>)
        return "I64";
    else {
        static_assert(std::is_same_v<T, std::uint64_t>, "T is a type of safetensors");
        return "U64";
    }
}();

/// The elements lie row by row, as bytes: little-endian, as memory is wherever CUDA runs.
struct stored_tensor {
    std::string type;
    std::vector<std::int64_t> shape;
    std::vector<std::byte> bytes;
};

/// What a file of the format safetensors holds: https://huggingface.co/docs/safetensors.
struct safetensors {
    std::map<std::string, stored_tensor> tensors;
    std::map<std::string, std::string> metadata;

    template <class T>
    void add(const std::string& name, std::vector<std::int64_t> shape, std::span<const T> values) {
        const auto bytes = std::as_bytes(values);
        tensors[name] = {std::string(safetensors_type<T>), std::move(shape), {bytes.begin(), bytes.end()}};
    }
};

/// @throws std::runtime_error  naming the file and what is wrong with it: cut off, too long, a header that is none, or tensors
///                             whose sizes or places disagree
safetensors read_safetensors(const std::filesystem::path& file);

/// Written beside, under the name with ".partial" added, and renamed: whatever goes wrong, a file of that name stays whole.
/// A link stays one.
/// @throws std::runtime_error  naming the file and what is wrong with it; that it is no regular file, too
void write_safetensors(const std::filesystem::path& file, const safetensors& content);

/// The tensor of that name, type and shape in what was read from `file`.
/// @throws std::runtime_error  naming the file, the tensor and its shape, where there is no such
const stored_tensor& tensor_of(const safetensors& content, const std::filesystem::path& file,
                               const std::string& name, std::string_view type,
                               std::span<const std::int64_t> shape);

template <class T>
std::vector<T> values_of(const stored_tensor& tensor) {
    std::vector<T> values(tensor.bytes.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
    return values;
}

}  // namespace examples
