#pragma once

#include "benchmarks/support/headers.hpp"

namespace heddle::bench {

/// The versions of the libraries that are here, by the names that rows have for them.
std::map<std::string, std::string> peer_versions();

/// Why rows of this library cannot run: "cuDNN is missing: ..."; empty where they can.
std::string why_missing(std::string_view library);

}  // namespace heddle::bench
