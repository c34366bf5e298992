#include "tests/fuzz/run.hpp"

#include "tests/fuzz/recorder.hpp"
#include <heddle/error.hpp>

#include <cuda_runtime_api.h>

#include <exception>
#include <string>

namespace heddle::fuzz {
namespace {

/// Whether a named rung may be unable to run the drawn problem, or lacks the scratch memory that it needs. All other
/// calls can run.
bool may_be_refused(const problem& p, processor where) {
    const bool is_named = p.has("rung") && p["rung"] > 0;
    return where != processor::cpu && (is_named || (p.has("scratch") && p.word("scratch") == "none"));
}

outcome tried(const problem& p, processor where) {
    try {
        return {.wrong = p.of().wrong(p, where)};
    } catch (const unsupported& refusal) {
        if (may_be_refused(p, where)) return {.is_refused = true};
        return {.wrong = refusal.what()};
    } catch (const std::exception& error) {
        return {.wrong = error.what()};
    }
}

}  // namespace

outcome run(const problem& p, processor where) {
    outcome found = tried(p, where);
    found.repeated = to_string(p);
    // After an illegal address all work of the process fails, and simpler problems would seem to fail too.
    if (found.wrong.empty() || (where != processor::cpu && cudaDeviceSynchronize() != cudaSuccess))
        return found;
    const problem simplest =
        simplified(p, [where](const problem& other) { return !tried(other, where).wrong.empty(); });
    // An error of synchronisation shows only sometimes.
    const std::string again = tried(simplest, where).wrong;
    if (again.empty()) {
        found.wrong += ", but not each time";
        return found;
    }
    found.repeated = to_string(simplest);
    found.wrong = again;
    return found;
}

outcome run_in_a_graph(const problem& p, processor where) {
    const auto recorded_run = [where](const problem& of, bool captures) {
        recorded().bits = 0;
        recorded().captures = captures;
        outcome found = tried(of, where);
        recorded().stop();
        recorded().captures = false;
        found.repeated = to_string(of);
        return found;
    };
    const outcome plain = recorded_run(p, false);
    if (plain.is_refused || !plain.wrong.empty()) return plain;
    const std::size_t expected = recorded().bits;
    problem again = p;
    if (p.has("scratch") && p.word("scratch") == "pool") again.set("scratch", 1);
    outcome captured = recorded_run(again, true);
    if (captured.wrong.empty() && recorded().bits != expected) captured.wrong = "other bits in a graph";
    return captured;
}

}  // namespace heddle::fuzz
