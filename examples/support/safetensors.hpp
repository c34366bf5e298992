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

/// The elements row by row, as little-endian bytes, the order of all machines with CUDA.
struct stored_tensor {
    std::string type;
    std::vector<std::int64_t> shape;
    std::vector<std::byte> bytes;
};

/// The contents of a file in the safetensors format: https://huggingface.co/docs/safetensors.
struct safetensors {
    std::map<std::string, stored_tensor> tensors;
    std::map<std::string, std::string> metadata;

    template <class T>
    void add(const std::string& name, std::vector<std::int64_t> shape, std::span<const T> values) {
        const auto bytes = std::as_bytes(values);
        tensors[name] = {std::string(safetensors_type<T>), std::move(shape), {bytes.begin(), bytes.end()}};
    }
};

/// @throws std::runtime_error  names the file and the error: cut off, too long, no valid header, or tensors whose
///                             sizes or places disagree
safetensors read_safetensors(const std::filesystem::path& file);

/// Writes a file with ".partial" added to its name, and renames it: after any error, a file of that name is whole. A
/// link stays a link.
/// @throws std::runtime_error  names the file and the error; also where it is no regular file
void write_safetensors(const std::filesystem::path& file, const safetensors& content);

/// The tensor of that name, type and shape among those read from `file`.
/// @throws std::runtime_error  names the file, the tensor and its shape, where there is none
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
