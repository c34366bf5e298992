#pragma once

#include "benchmarks/fuzz/operand.hpp"
#include <heddle/scratch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace heddle::bench::fuzz {

inline const field scratch_field = {"scratch", 0, {"pool", "given", "none"}};

/// Where a call of the GPU takes scratch memory. What is given has no more than the bytes that are asked for: zeros
/// for the tickets, and behind them what another operation may have left.
class scratch_memory {
  public:
    scratch_memory(const problem& p, processor where, std::int64_t bytes)
        : kind_(p["scratch"]), words_(where, lie({bytes / 8}, 2, 0, 1), words_of(bytes)) {}

    template <class Options>
    void add_to(Options& options) {
        if (kind_ == 1)
            options.workspace = {reinterpret_cast<std::byte*>(words_.data()),
                                 words_.read().size() * sizeof(std::int64_t)};
        if (kind_ == 2) options.scratch = scratch::none;
    }
    /// Empty where it was written inside alone, and is ready for the next call.
    std::string damage() {
        const auto words = words_.read();
        const auto tickets = std::span(words).first(std::min(words.size(), ticket_words));
        return first_of(
            {words_.damage(), std::ranges::all_of(tickets, [](std::int64_t word) { return word == 0; })
                                  ? ""
                                  : "the workspace's first bytes were not left zero"});
    }

  private:
    static constexpr std::size_t ticket_words = 4096 / sizeof(std::int64_t);

    static std::vector<std::int64_t> words_of(std::int64_t bytes) {
        std::vector<std::int64_t> words(static_cast<std::size_t>(bytes / 8), 0x100000001);
        std::fill_n(words.begin(), std::min(words.size(), ticket_words), 0);
        return words;
    }

    std::int64_t kind_;
    operand<std::int64_t> words_;
};

}  // namespace heddle::bench::fuzz
