#pragma once

#include "tests/fuzz/operand.hpp"
#include <heddle/scratch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace heddle::fuzz {

inline const field scratch_field = {"scratch", 0, {"pool", "given", "none"}};

/// The source of scratch memory for a call of the GPU. A workspace has no more than the requested bytes: zeros for
/// the tickets, then words that another operation may have left.
class scratch_memory {
  public:
    scratch_memory(const problem& p, processor where, std::int64_t bytes, std::int64_t left = 0x100000001)
        : kind_(p["scratch"]),
          bytes_(static_cast<std::size_t>(bytes)),
          words_(where, lie({(bytes + 15) / 16 * 2}, 2, 0, 1), words_of((bytes + 15) / 16 * 2, left)) {}

    template <class Options>
    void add_to(Options& options) {
        if (kind_ == 1) options.workspace = {reinterpret_cast<std::byte*>(words_.data()), bytes_};
        if (kind_ == 2) options.scratch = scratch::none;
    }
    /// Empty if only the workspace was written and it is ready for the next call.
    std::string damage() {
        const auto words = words_.read(false);
        const auto tickets = std::span(words).first(std::min(words.size(), ticket_words));
        return first_of(
            {words_.damage(), std::ranges::all_of(tickets, [](std::int64_t word) { return word == 0; })
                                  ? ""
                                  : "the workspace's first bytes were not left zero"});
    }

  private:
    static constexpr std::size_t ticket_words = 4096 / sizeof(std::int64_t);

    static std::vector<std::int64_t> words_of(std::int64_t count, std::int64_t left) {
        std::vector<std::int64_t> words(static_cast<std::size_t>(count), left);
        std::fill_n(words.begin(), std::min(words.size(), ticket_words), 0);
        return words;
    }

    std::int64_t kind_;
    std::size_t bytes_;
    operand<std::int64_t> words_;
};

/// Calls run() with the scratch memory of the problem. Describes the errors that it leaves there.
template <class Options, class Bytes, class Run>
std::string run_in_memory(const problem& p, processor where, Options& options, Bytes bytes, Run run,
                          std::int64_t left = 0x100000001) {
    scratch_memory scratch(p, where, p["scratch"] == 1 ? bytes() : 0, left);
    scratch.add_to(options);
    run();
    return scratch.damage();
}

}  // namespace heddle::fuzz
