#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::test {

/// What a rung is asked for: nothing, so that its plan chooses, and where it has several kernels, each of them.
template <class Algorithm>
std::vector<std::string_view> kernels_to_ask(Algorithm rung, std::span<const std::string_view> kernels) {
    std::vector<std::string_view> all{std::string_view()};
    if (rung != Algorithm::automatic && kernels.size() > 1)
        all.insert(all.end(), kernels.begin(), kernels.end());
    return all;
}

/// As options ask for it: a kernel, or a rung whose plan chooses.
template <class Algorithm>
std::string text_of(Algorithm rung, std::string_view kernel) {
    return std::string(kernel.empty() ? to_string(rung) : kernel);
}

/// With separators, as errors list them.
inline std::string joined(std::span<const std::string_view> names) {
    std::string all;
    for (const std::string_view name : names) all += (all.empty() ? "" : ", ") + std::string(name);
    return all;
}

}  // namespace heddle::test
