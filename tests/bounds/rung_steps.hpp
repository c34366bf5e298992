#pragma once

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace heddle::bounds {

/// The steps of a rung's sum: additions of any one element, and rescalings. A rescaling multiplies a partial sum to
/// fit a larger element, and costs an exponential too.
struct sum_steps {
    double additions;
    double rescalings = 0;
};

/// A rung, whether `automatic` may take it, and its steps.
template <class Algorithm>
struct rung_steps {
    Algorithm rung;
    bool pays;
    sum_steps steps;
};

/// A function of the rungs' rows.
namespace row_words {
using std::min;
}

/// Whether `automatic` may take a rung, by the word of its row.
constexpr bool may_be_taken(std::string_view pays) {
    return pays != "never";
}

/// The steps of a rung. For `automatic`, the most of those that it may take.
template <class Algorithm>
sum_steps steps_of(Algorithm rung, std::initializer_list<rung_steps<Algorithm>> rows) {
    sum_steps most{0, 0};
    for (const auto& row : rows) {
        if (row.rung == rung) return row.steps;
        if (!row.pays) continue;
        most.additions = std::max(most.additions, row.steps.additions);
        most.rescalings = std::max(most.rescalings, row.steps.rescalings);
    }
    return most;
}

}  // namespace heddle::bounds
