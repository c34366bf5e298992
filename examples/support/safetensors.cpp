#include "examples/support/safetensors.hpp"

#include "examples/support/file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <system_error>
#include <utility>

namespace examples {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// The limit of the format.
constexpr std::uint64_t most_header_bytes = 100'000'000;
constexpr std::size_t header_alignment = 8;

/// 0 for an unknown type.
std::size_t element_bytes(std::string_view type) {
    static const std::map<std::string_view, std::size_t> known = {
        {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"U16", 2}, {"I16", 2}, {"F16", 2}, {"BF16", 2},
        {"U32", 4},  {"I32", 4}, {"F32", 4}, {"U64", 8}, {"I64", 8}, {"F64", 8}};
    const auto found = known.find(type);
    return found == known.end() ? 0 : found->second;
}

/// The header's entry for a tensor.
struct entry {
    std::string name;
    stored_tensor tensor;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
};

/// @throws json::exception  a value is missing, or of another type
entry entry_of(const std::string& name, const json& description) {
    entry result{name, {description.at("dtype"), description.at("shape"), {}}};
    result.begin = description.at("data_offsets").at(0);
    result.end = description.at("data_offsets").at(1);
    return result;
}

void require_size(const fs::path& file, const entry& entry, std::uint64_t data_bytes) {
    std::uint64_t size = element_bytes(entry.tensor.type);
    if (size == 0) fail(file, fmt::format("{} is of the unknown type {}", entry.name, entry.tensor.type));
    bool is_possible = entry.begin <= entry.end;
    for (const std::int64_t extent : entry.tensor.shape)
        is_possible = is_possible && extent >= 0 && !__builtin_mul_overflow(size, extent, &size);
    if (!is_possible || entry.end - entry.begin != size)
        fail(file, fmt::format("{} has not the size of its shape", entry.name));
    if (entry.end > data_bytes)
        fail(file, fmt::format("is cut off: {} ends at byte {} of the data, of which there are {}",
                               entry.name, entry.end, data_bytes));
}

void read_exactly(std::FILE* from, std::byte* to, std::size_t bytes, const fs::path& file) {
    if (bytes > 0 && std::fread(to, 1, bytes, from) != bytes)
        fail(file, std::ferror(from) != 0 ? std::strerror(errno) : "is cut off");
}

void write_all(const fs::path& file, const std::string& header, const safetensors& content) {
    file_handle stream = open_to_write(file);
    const auto write = [&](const void* data, std::size_t bytes) {
        if (bytes > 0 && std::fwrite(data, 1, bytes, stream.get()) != bytes) fail(file, std::strerror(errno));
    };
    const std::uint64_t header_bytes = header.size();
    write(&header_bytes, sizeof(header_bytes));
    write(header.data(), header.size());
    for (const auto& [name, tensor] : content.tensors) write(tensor.bytes.data(), tensor.bytes.size());
    close_written(std::move(stream), file);
}

}  // namespace

safetensors read_safetensors(const fs::path& file) {
    const file_handle stream = open_to_read(file);
    const std::uint64_t file_bytes = fs::file_size(file);
    std::uint64_t header_bytes = 0;
    if (file_bytes < sizeof(header_bytes)) fail(file, "is cut off within its first 8 bytes");
    read_exactly(stream.get(), reinterpret_cast<std::byte*>(&header_bytes), sizeof(header_bytes), file);
    if (header_bytes > most_header_bytes) fail(file, "is not a safetensors file");
    if (header_bytes > file_bytes - sizeof(header_bytes)) fail(file, "is cut off within its header");
    std::string header(header_bytes, ' ');
    read_exactly(stream.get(), reinterpret_cast<std::byte*>(header.data()), header.size(), file);
    const std::uint64_t data_bytes = file_bytes - sizeof(header_bytes) - header_bytes;

    safetensors content;
    std::map<std::uint64_t, entry> entries;  // ordered by the end of their data
    try {
        const json descriptions = json::parse(header);
        for (const auto& [name, description] : descriptions.items()) {
            if (name == "__metadata__") {
                content.metadata = description;
                continue;
            }
            entry found = entry_of(name, description);
            require_size(file, found, data_bytes);
            if (found.begin == found.end)
                content.tensors[name] = std::move(found.tensor);
            else if (!entries.emplace(found.end, found).second)
                fail(file, fmt::format("{} overlaps another tensor", name));
        }
    } catch (const json::exception&) {
        fail(file, "is not a safetensors file: its header is not the JSON that it should be");
    }
    std::uint64_t place = 0;
    for (auto& [end, next] : entries) {
        if (next.begin != place)
            fail(file, fmt::format("{} does not begin where the data before ends", next.name));
        next.tensor.bytes.resize(end - next.begin);
        read_exactly(stream.get(), next.tensor.bytes.data(), next.tensor.bytes.size(), file);
        content.tensors[next.name] = std::move(next.tensor);
        place = end;
    }
    if (place != data_bytes) fail(file, fmt::format("goes on after the {} bytes of its tensors", place));
    return content;
}

void write_safetensors(const fs::path& file, const safetensors& content) {
    json description = json::object();
    if (!content.metadata.empty()) description["__metadata__"] = content.metadata;
    std::uint64_t place = 0;
    for (const auto& [name, tensor] : content.tensors) {
        const std::uint64_t end = place + tensor.bytes.size();
        description[name] = {{"dtype", tensor.type}, {"shape", tensor.shape}, {"data_offsets", {place, end}}};
        place = end;
    }
    std::string header = description.dump();
    header.resize((header.size() + header_alignment - 1) / header_alignment * header_alignment, ' ');

    const fs::path target = fs::is_symlink(file) ? fs::weakly_canonical(file) : file;
    const fs::path partial = fs::path(target) += ".partial";
    for (const fs::path& each : {target, partial}) require_replaceable(each);
    try {
        write_all(partial, header, content);
        fs::rename(partial, target);
    } catch (const std::exception& error) {
        std::error_code ignored;
        fs::remove(partial, ignored);
        const auto* refused = dynamic_cast<const fs::filesystem_error*>(&error);
        if (refused != nullptr) fail(file, refused->code().message());
        throw;
    }
}

const stored_tensor& tensor_of(const safetensors& content, const fs::path& file, const std::string& name,
                               std::string_view type, std::span<const std::int64_t> shape) {
    const auto found = content.tensors.find(name);
    if (found == content.tensors.end()) fail(file, fmt::format("has no tensor {}", name));
    const stored_tensor& tensor = found->second;
    if (tensor.type != type || !std::ranges::equal(tensor.shape, shape))
        fail(file, fmt::format("{} is {} of [{}], not {} of [{}]", name, tensor.type,
                               fmt::join(tensor.shape, ", "), type, fmt::join(shape, ", ")));
    return tensor;
}

}  // namespace examples
