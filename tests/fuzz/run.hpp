#pragma once

#include "tests/fuzz/problem.hpp"

#include <string>

namespace heddle::fuzz {

/// What became of a problem.
struct outcome {
    std::string wrong = {};   ///< empty where nothing is
    bool is_refused = false;  ///< the rung that was drawn cannot do it
    /// As to_string() writes it: the simplest problem that is wrong too, or this one where none is or could be tried.
    std::string repeated = {};
};

/// Runs a problem, and where it is wrong makes it simpler. One that is wrong once counts, whatever it gives the next time.
outcome run(const problem& p, processor where);

}  // namespace heddle::fuzz
