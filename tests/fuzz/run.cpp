#include "tests/fuzz/run.hpp"

#include <heddle/error.hpp>

#include <cuda_runtime_api.h>

#include <exception>
#include <string>

namespace heddle::fuzz {
namespace {

/// Whether a rung that is named may not be able to do what was drawn, or one that needs scratch memory has none. All else can
/// be done.
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
    // An illegal address ends all work of the process: it would seem that simpler problems fail too.
    if (found.wrong.empty() || (where != processor::cpu && cudaDeviceSynchronize() != cudaSuccess))
        return found;
    const problem simplest =
        simplified(p, [where](const problem& other) { return !tried(other, where).wrong.empty(); });
    // What a fault of order gives is wrong at times.
    const std::string again = tried(simplest, where).wrong;
    if (again.empty()) {
        found.wrong += ", but not each time";
        return found;
    }
    found.repeated = to_string(simplest);
    found.wrong = again;
    return found;
}

}  // namespace heddle::fuzz
