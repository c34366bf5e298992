#pragma once

#include <span>
#include <string_view>

namespace heddle::bench {

/// A row of heddle's and the row beside it, of a library or of the memory's copy: what does not depend on heddle.
struct headline_row {
    std::string_view name;
    std::string_view peer;
};

/// The few rows by which two versions of heddle are compared.
std::span<const headline_row> headline();

/// The library that a row needs and this build lacks: "cuDNN". Empty where there is none.
std::string_view library_lacking_for(std::string_view row);

}  // namespace heddle::bench
