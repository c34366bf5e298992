#include "benchmarks/program/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

namespace heddle::bench {
namespace {

std::string as_minutes(double seconds) {
    const auto whole = static_cast<long>(seconds + 0.5);
    return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

volatile std::sig_atomic_t seen = 0;

std::size_t columns() {
    winsize size{};
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

progress::progress(std::size_t rows, std::size_t runs)
    : rows_(rows), runs_(runs), is_terminal_(isatty(STDERR_FILENO)) {}

progress::~progress() {
    clear();
}

void progress::begin(std::string_view name) {
    using seconds = std::chrono::duration<double>;
    constexpr seconds between_lines{0.1}, between_plain_lines{20};
    const auto now = clock::now();
    if (now - last_ < (is_terminal_ ? between_lines : between_plain_lines)) return;
    last_ = now;
    // Repetitions run in random order, so that those that are done are a fair sample.
    std::string left = "time left unknown";
    if (runs_done_ > 0) {
        const auto share = static_cast<double>(runs_ - runs_done_) / static_cast<double>(runs_done_);
        left = as_minutes(seconds(now - begin_).count() * share) + " left";
    }
    std::string line = fmt::format("{:3} %, {} of {} {} done, {}", 100 * runs_done_ / runs_, rows_done_,
                                   rows_, rows_ == 1 ? "row" : "rows", left);
    if (!is_terminal_) {
        fmt::print(stderr, "{}\n", line);
        return;
    }
    line = fmt::format("{}: {}", line, name).substr(0, columns() - 1);
    fmt::print(stderr, "\r{}\033[K", line);
    std::fflush(stderr);
    is_shown_ = true;
}

void progress::end(bool row_is_done) {
    ++runs_done_;
    if (row_is_done) ++rows_done_;
}

void progress::clear() {
    if (!is_shown_) return;
    fmt::print(stderr, "\r\033[K");
    std::fflush(stderr);
    is_shown_ = false;
}

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
