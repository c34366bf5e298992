#include "benchmarks/program/json_file.hpp"

#include "benchmarks/program/record.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace heddle::bench {
namespace {

std::string text_of(const json& value) {
    return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// What readers take for granted, null, false and the repetitions that the head names, is left out: a record has thousands of rows.
json without_defaults(const json& element, const json& repetitions) {
    if (!element.is_object()) return element;
    json result = json::object();
    for (const auto& [key, value] : element.items())
        if (!value.is_null() && value != json(false) && !(key == "repetitions" && value == repetitions))
            result[key] = value;
    return result;
}

/// The same of a row that was read, the other way round.
void add_defaults(json& row, const json& repetitions) {
    for (const char* key : {"rung", "bytes", "bytes_written", "operations", "limit", "error"})
        if (!row.contains(key)) row[key] = nullptr;
    if (!row.contains("hot")) row["hot"] = false;
    if (!row.contains("repetitions")) row["repetitions"] = repetitions;
}

std::string in_lines(const json& content) {
    std::string text = "{";
    const json repetitions = content.value("repetitions", json());
    for (const auto& [key, value] : content.items()) {
        text += fmt::format("{}\n {}: ", text.size() > 1 ? "," : "", text_of(key));
        if (!value.is_array() || value.empty()) {
            text += text_of(value);
            continue;
        }
        const char* before = "[\n  ";
        for (const json& element : value) {
            text += before + text_of(without_defaults(element, repetitions));
            before = ",\n  ";
        }
        text += "\n ]";
    }
    return text + "\n}\n";
}

}  // namespace

json_file::json_file(std::filesystem::path file) : file_(std::move(file)), partial_(file_) {
    partial_ += ".partial";
    std::error_code ignored;
    if (std::filesystem::exists(file_, ignored) && !std::filesystem::is_regular_file(file_, ignored))
        throw std::runtime_error(fmt::format("cannot write {}: it is no regular file", file_.string()));
    if (file_.has_parent_path()) std::filesystem::create_directories(file_.parent_path(), ignored);
    descriptor_ = open(partial_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor_ < 0) fail("write");
}

json_file::~json_file() {
    if (descriptor_ < 0) return;
    close(descriptor_);
    unlink(partial_.c_str());
}

void json_file::fail(const char* what) {
    throw std::runtime_error(fmt::format("cannot {} {}: {}", what, partial_.string(), std::strerror(errno)));
}

void json_file::put(std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(descriptor_, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) fail("write");
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

void json_file::write(const json& content) {
    put(in_lines(content));
    if (fsync(descriptor_) != 0) fail("write");
    if (std::rename(partial_.c_str(), file_.c_str()) != 0) fail("rename");
    close(std::exchange(descriptor_, -1));
}

double rounded(double value, int digits) {
    return std::strtod(fmt::format("{:.{}g}", value, digits).c_str(), nullptr);
}

json read_record(const std::filesystem::path& file) {
    std::ifstream stream(file);
    if (!stream)
        throw std::runtime_error(fmt::format("cannot read {}: {}", file.string(), std::strerror(errno)));
    json content = json::parse(stream, nullptr, false);
    if (content.is_discarded())
        throw std::runtime_error(fmt::format("{} is no record: it is cut off, or no JSON", file.string()));
    if (!content.is_object() || !content.contains("schema") || !content.contains("rows"))
        throw std::runtime_error(fmt::format("{} is no record of heddle-bench", file.string()));
    if (content["schema"] != record_schema)
        throw std::runtime_error(fmt::format("{} is a record of schema {}; this program reads schema {}",
                                             file.string(), text_of(content["schema"]), record_schema));
    for (json& row : content["rows"])
        if (row.is_object()) add_defaults(row, content.value("repetitions", json()));
    return content;
}

}  // namespace heddle::bench
