#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

namespace examples {

/// A folder of this process alone, deleted when it ends.
class own_folder {
    std::filesystem::path path_;

  public:
    own_folder() {
        std::string name = testing::TempDir() + "heddle-XXXXXX";
        if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder for files in " + name);
        path_ = name;
    }
    own_folder(const own_folder&) = delete;
    own_folder& operator=(const own_folder&) = delete;
    ~own_folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    const std::filesystem::path& path() const { return path_; }
};

inline std::filesystem::path temporary(const std::string& name) {
    static const own_folder folder;
    return folder.path() / name;
}

/// The error of a file that cannot be read or written.
template <class Body>
std::string complaint_of(Body body) {
    try {
        body();
    } catch (const std::runtime_error& error) {
        return error.what();
    }
    return "nothing";
}

}  // namespace examples
