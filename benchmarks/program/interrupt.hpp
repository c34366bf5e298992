#pragma once

#include <csignal>

namespace heddle::bench {

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
