#include "tests/fuzz/run.hpp"

#include <heddle/error.hpp>

#include <cuda_runtime_api.h>

#include <exception>

namespace heddle::fuzz {
namespace {

outcome tried(const problem& p, processor where) {
    try {
        return {.wrong = p.of().wrong(p, where)};
    } catch (const unsupported&) {
        return {.is_refused = true};
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
    found.repeated = to_string(simplest);
    found.wrong = tried(simplest, where).wrong;
    return found;
}

}  // namespace heddle::fuzz
