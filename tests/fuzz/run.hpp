#pragma once

#include "tests/fuzz/problem.hpp"

#include <string>

namespace heddle::fuzz {

/// The outcome of a problem.
struct outcome {
    std::string wrong = {};   ///< empty where nothing is
    bool is_refused = false;  ///< the drawn rung cannot run it
    /// The simplest problem that is wrong too, in the form of to_string(). This one if none is known.
    std::string repeated = {};
};

/// Runs a problem, and simplifies it where it is wrong. One wrong run counts, even if the next is right.
outcome run(const problem& p, processor where);

/// Runs a problem, and on a GPU once more with its calls in a graph, and a workspace instead of the pool. Results have
/// the same bits.
outcome run_in_a_graph(const problem& p, processor where);

}  // namespace heddle::fuzz
