#pragma once

#include "benchmarks/support/headers.hpp"
#include "tests/fuzz/draw.hpp"

namespace heddle::bench::cliffs {

using namespace fuzz;

struct peer {
    std::string name;
    std::function<void()> call;
    /// What it computes is what heddle computes, in the same place: `wrong` says whether it does.
    bool is_checked = true;
    /// It is no vendor's call of the operation, but another's of about as much work. It counts where no vendor's is usable.
    bool is_stand_in = false;
};

/// A case with its operands in device memory, which the functions own. All work is on stream().
struct trial {
    /// Poisons the result, or puts back what a call reads of it.
    std::function<void()> reset;
    /// heddle's plain call, which takes scratch memory from its pool.
    std::function<void()> call;
    /// A call reads what it writes, so that reset() is due before each.
    bool is_in_place = false;
    std::vector<peer> peers = {};
    /// Why the peers that are not among them cannot do it.
    std::vector<std::string> refusals = {};
    /// What heddle's choice depends on, as JSON; empty where its family does not say.
    std::string problem = {};
    /// What is wrong with the result of one call since reset(), by errors of more than `slack` times the bound; empty where
    /// nothing is. Waits for the stream.
    std::function<std::string(double slack)> wrong = {};

    /// Adds the peer that `make` returns the call of, if it returns: libraries may be missing, or refuse a problem.
    template <class Make>
    void add_peer(const std::string& name, Make make, bool is_checked = true, bool is_stand_in = false) {
        try {
            peers.push_back({name, make(), is_checked, is_stand_in});
        } catch (const std::exception& error) {
            refusals.push_back(name + " cannot do it: " + error.what());
        }
    }
    /// The same of a call that needs nothing to be made.
    void add_call(const std::string& name, std::function<void()> of_peer, bool is_checked = true) {
        peers.push_back({name, std::move(of_peer), is_checked});
    }
};

/// A problem that was drawn, and how it is made ready to run.
struct drawn_case {
    std::string words;
    std::vector<std::int64_t> extents;
    double bytes = 0;       ///< read and written by one call, each element once
    double memory = 0;      ///< that its operands take, in bytes
    double operations = 0;  ///< of the plain algorithm
    std::function<trial()> prepare;
    /// The same beside all that heddle's plain call chooses from; empty where its family does not list that.
    std::function<trial()> prepare_choices = {};
};

/// The cases that are drawn and reported together. Drawing is pure.
struct family {
    std::string_view name;
    drawn_case (*draw)(drawing&);
};

std::span<const family> families();
/// Null where there is none of this name.
const family* family_named(std::string_view name);

/// The case of this name.
/// @throws std::invalid_argument  there is no such family
drawn_case draw_case(const case_id& id);

/// Two cases of which the first has no reason to take longer than `most` times the second.
struct case_pair {
    drawn_case first, second;
    double most = 1.1;
};

/// A type beside a wider one, a smaller problem beside a larger, any address beside an aligned one.
std::vector<case_pair> draw_pairs(const case_id& id);

}  // namespace heddle::bench::cliffs
