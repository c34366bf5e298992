#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::test {

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

/// Joined with separators, as errors list them.
inline std::string joined(std::span<const std::string_view> names) {
    std::string all;
    for (const std::string_view name : names) all += (all.empty() ? "" : ", ") + std::string(name);
    return all;
}

}  // namespace heddle::test
