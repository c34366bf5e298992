#pragma once

#include "tests/support/headers.hpp"
#include "tests/support/images.hpp"

namespace heddle {

inline void PrintTo(image_filter_algorithm algorithm, std::ostream* out) {
    *out << to_string(algorithm);
}

}  // namespace heddle

namespace heddle::test {

using algorithm = image_filter_algorithm;

class image_filter : public gpu_test {
  protected:
    void SetUp() override {
        gpu_test::SetUp();
        if (is_set_up()) stream_.emplace();
    }

    std::optional<stream> stream_;
};

}  // namespace heddle::test
