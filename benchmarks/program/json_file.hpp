#pragma once

#include "benchmarks/support/headers.hpp"

#include <nlohmann/json.hpp>

namespace heddle::bench {

using json = nlohmann::ordered_json;

/// A file that appears whole, or not at all: it is written under the name FILE.partial. Where the run ends before, what was
/// under its own name stays as it was.
class json_file {
  public:
    /// Creates the folder and FILE.partial, so that what cannot be written is known before anything is measured.
    /// @throws std::runtime_error  they cannot be written
    explicit json_file(std::filesystem::path file);
    ~json_file();
    json_file(const json_file&) = delete;
    json_file& operator=(const json_file&) = delete;

    /// The members of `content` a line each, of its arrays the elements a line each.
    /// @throws std::runtime_error  a write failed, as on a full disk
    void write(const json& content);

  private:
    std::filesystem::path file_, partial_;
    int descriptor_ = -1;

    void put(std::string_view text);
    [[noreturn]] void fail(const char* what);
};

/// A number with five digits.
double rounded(double value, int digits = 5);

/// A record of schema 1.
/// @throws std::runtime_error  the file cannot be read, is cut off or is no such record
json read_record(const std::filesystem::path& file);

}  // namespace heddle::bench
