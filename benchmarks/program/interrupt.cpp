#include "benchmarks/program/interrupt.hpp"

namespace heddle::bench {
namespace {

volatile std::sig_atomic_t seen = 0;

}  // namespace

interruptible_scope::interruptible_scope() {
    struct sigaction ours {};
    ours.sa_handler = [](int) { seen = 1; };
    ours.sa_flags = static_cast<int>(SA_RESETHAND);
    sigemptyset(&ours.sa_mask);
    sigaction(SIGINT, &ours, &former_);
}

interruptible_scope::~interruptible_scope() {
    sigaction(SIGINT, &former_, nullptr);
}

bool was_interrupted() {
    return seen != 0;
}

}  // namespace heddle::bench
