#pragma once

#include "benchmarks/cliffs/case.hpp"

namespace heddle::bench::cliffs {

/// What a case gave.
struct outcome {
    case_id id;
    std::string words;
    double seconds = 0;       ///< of heddle's call, cold
    std::string peer = {};    ///< the fastest
    double peer_seconds = 0;  ///< of its call
    /// Each peer's, in the order in which they were timed.
    std::vector<std::pair<std::string, double>> all_seconds = {};
    /// No vendor's call was usable: the peer is a copy of as many bytes, or a vendor's call of about as much work.
    bool is_stand_in = false;
    /// What is wrong with heddle's result, or why the case failed; nothing is timed then.
    std::string wrong = {};
    /// Peers that compute something else, which is a mistake here: they are left out.
    std::vector<std::string> notes = {};
    /// Peers that cannot do it or are far too slow, each with its reason.
    std::vector<std::string> refusals = {};
    std::string problem = {};  ///< trial::problem
};

/// `other` over `seconds`. Below 5 us the difference counts: within 1 us is level.
double ratio(double seconds, double other);
/// The peer's time over heddle's.
double ratio_of(const outcome& of);

/// Two cases, in words, and how much longer the first takes.
struct pair_outcome {
    case_id id;
    std::string first, second;
    double share = 1;        ///< the first one's time over the second one's
    double most = 1;         ///< that it may be
    std::string wrong = {};  ///< why they could not be timed
};

/// An error after which nothing more can run on the device.
struct lost_device : std::runtime_error {
    using std::runtime_error::runtime_error;
};

enum class beside { vendors, own_choices };

/// heddle's plain calls of the pairs of a case, which take turns.
std::vector<pair_outcome> run_pairs(const case_id& id);

/// @throws lost_device
outcome run_case(const case_id& id, beside beside);

/// Sums up the right cases of a family: those beside a vendor's call, or those beside a copy.
struct summary {
    std::size_t cases = 0;
    double geometric_mean = 1;
    double below_80 = 0, below_95 = 0,
           below_100 = 0;  ///< shares of the cases with a ratio below 0.8, 0.95, 1
};

summary summarize(const std::vector<outcome>& outcomes, bool of_stand_ins);

/// The worst cases, the mean, the shares, and what is wrong, on stdout.
void print_family(std::string_view family, const std::vector<outcome>& outcomes);

/// Pairs whose first takes too long, the worst first, and the share of the others, on stdout. Whether these are at least
/// 98 %, and none takes twice as long as it may.
bool print_pairs(std::string_view family, std::vector<pair_outcome> pairs);

/// One case with all that is known of it.
void print_case(const outcome& of);

}  // namespace heddle::bench::cliffs
