#pragma once

#include "tests/support/guarded.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace heddle::test {

/// Scratch memory of exactly the requested bytes, 16-byte aligned and no better, between canaries. It has zeros for
/// the tickets, then data that another operation may have left.
class guarded_workspace {
  public:
    explicit guarded_workspace(std::int64_t bytes)
        : words_(1, bytes / word_bytes, 0, 2, 1, guarded<std::int64_t>::memory::device, words_of(bytes)) {}

    operator std::span<std::byte>() {
        return {reinterpret_cast<std::byte*>(words_.data()),
                static_cast<std::size_t>(words_.vector().size * word_bytes)};
    }

    /// Whether the bytes around it are unchanged and it is ready for the next call.
    testing::AssertionResult is_intact() {
        const auto [words, canaries_alive] = words_.inspect();
        if (!canaries_alive) return testing::AssertionFailure() << "written outside the workspace";
        for (std::size_t i = 0; i < std::min(words.size(), ticket_words); ++i)
            if (words[i] != 0)
                return testing::AssertionFailure() << "the workspace's first bytes were not left zero";
        return testing::AssertionSuccess();
    }

  private:
    static constexpr std::int64_t word_bytes = 8;
    static constexpr std::size_t ticket_words = 4096 / word_bytes;

    static std::vector<std::int64_t> words_of(std::int64_t bytes) {
        std::vector<std::int64_t> words(static_cast<std::size_t>(bytes / word_bytes), 0x100000001);
        std::fill_n(words.begin(), std::min(words.size(), ticket_words), 0);
        return words;
    }

    guarded<std::int64_t> words_;
};

}  // namespace heddle::test
