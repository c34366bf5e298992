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

class image_filter : public stream_fixture {};

}  // namespace heddle::test
