#pragma once

#include "benchmarks/support/headers.hpp"

#include <csignal>

namespace heddle::bench {

/// Tells on stderr how far a run is: on a terminal in one line that is written anew, else in a plain line now and then.
class progress {
  public:
    /// Tells the progress of so many rows, which run so many times in all.
    progress(std::size_t rows, std::size_t runs);
    ~progress();
    progress(const progress&) = delete;
    progress& operator=(const progress&) = delete;

    /// A row begins a repetition.
    void begin(std::string_view name);
    /// A repetition ended, with which its row may be done.
    void end(bool row_is_done);
    /// Takes the line away, so that others can be printed.
    void clear();

  private:
    using clock = std::chrono::steady_clock;

    std::size_t rows_, runs_;
    std::size_t rows_done_ = 0, runs_done_ = 0;
    clock::time_point begin_ = clock::now(), last_ = begin_;
    bool is_terminal_;
    bool is_shown_ = false;
};

/// While it lives, the first Ctrl-C asks the work to end soon, and the second ends the program.
class interruptible_scope {
  public:
    interruptible_scope();
    ~interruptible_scope();
    interruptible_scope(const interruptible_scope&) = delete;
    interruptible_scope& operator=(const interruptible_scope&) = delete;

  private:
    struct sigaction former_ {};
};

/// Whether there was a first Ctrl-C.
bool was_interrupted();

}  // namespace heddle::bench
