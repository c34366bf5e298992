#pragma once

#include "examples/demo/race.hpp"

#include <string>

namespace demo {

/// The result of one operation.
struct row {
    std::string operation;
    std::string shape;
    times seconds;
    std::string peer;    ///< the name of the vendor's call, or empty
    double error;        ///< the largest error, as a share of the largest exact value
    double error_bound;  ///< the limit of the error
};

/// Prints rows as they come, aligned.
class table {
  public:
    table();
    void print(const row& row);

    /// Whether every error was within its bound.
    [[nodiscard]] bool all_right() const { return all_right_; }

  private:
    bool all_right_ = true;
};

}  // namespace demo
