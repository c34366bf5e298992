#pragma once

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::test {

/// The rungs of an operation, and `automatic`.
template <class Algorithm>
std::vector<Algorithm> with_automatic(std::span<const Algorithm> rungs) {
    std::vector<Algorithm> all(rungs.begin(), rungs.end());
    all.push_back(Algorithm::automatic);
    return all;
}

/// The requests for a rung: none, so that its plan chooses, and each of its kernels where there are several.
template <class Algorithm>
std::vector<std::string_view> kernels_to_ask(Algorithm rung, std::span<const std::string_view> kernels) {
    std::vector<std::string_view> all{std::string_view()};
    if (rung != Algorithm::automatic && kernels.size() > 1)
        all.insert(all.end(), kernels.begin(), kernels.end());
    return all;
}

/// Options for a request: a kernel, or a rung whose plan chooses.
template <class Algorithm>
std::string text_of(Algorithm rung, std::string_view kernel) {
    return std::string(kernel.empty() ? to_string(rung) : kernel);
}

/// Calls check(options) for each rung, for `automatic` and for each kernel, until one fails.
template <class Algorithm, class KernelsOf, class Options, class Check>
void for_every_plan(std::span<const Algorithm> rungs, KernelsOf kernels_of, Options options, Check check) {
    for (const Algorithm rung : with_automatic(rungs))
        for (const std::string_view kernel : kernels_to_ask(rung, kernels_of(rung))) {
            options.algorithm = rung;
            options.kernel = kernel;
            SCOPED_TRACE(text_of(rung, kernel));
            ASSERT_NO_FATAL_FAILURE(check(options));
        }
}

/// Joined with separators, as errors list them.
inline std::string joined(std::span<const std::string_view> names) {
    std::string all;
    for (const std::string_view name : names) all += (all.empty() ? "" : ", ") + std::string(name);
    return all;
}

}  // namespace heddle::test
