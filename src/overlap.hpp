#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <numeric>

namespace heddle::detail {

/// A dimension: `extent` elements, each `stride` elements after the one before.
struct strided {
    std::int64_t extent;
    std::int64_t stride;
};

/// The bytes of a view: runs of `run` bytes. A run begins at `begin` plus 0 to `last` times the stride of each step.
/// All runs lie in [begin, end).
struct footprint {
    struct step {
        std::uintptr_t stride = 0;
        std::uintptr_t last = 0;
    };

    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    std::uintptr_t run = 0;
    std::array<step, 5> steps{};
    std::size_t count = 0;

    constexpr footprint() = default;
    /// `elements` is the length of a run. It and strides are in elements. The stride of a single element is ignored.
    constexpr footprint(std::uintptr_t first, std::int64_t elements,
                        std::initializer_list<strided> dimensions, std::size_t element_bytes) {
        const auto bytes = [&](std::int64_t n) { return static_cast<std::uintptr_t>(n) * element_bytes; };
        assert(dimensions.size() <= steps.size());
        for (const strided& d : dimensions)
            if (d.extent == 0) return;
        begin = first;
        run = bytes(elements);
        end = begin + run;
        for (const strided& d : dimensions) {
            if (d.extent == 1 || d.stride == 0) continue;
            const step& added = steps[count++] = {bytes(d.stride), static_cast<std::uintptr_t>(d.extent - 1)};
            end += added.last * added.stride;
        }
    }

    constexpr bool empty() const { return run == 0; }
};

/// The least x for which x * factor modulo `modulus` is in [low, high]. The largest number if there is none or
/// x * factor exceeds 64 bits. Requires 0 < low <= high < modulus and factor < modulus.
constexpr std::uintptr_t first_multiple_in(std::uintptr_t factor, std::uintptr_t modulus, std::uintptr_t low,
                                           std::uintptr_t high) {
    constexpr std::uintptr_t none = std::numeric_limits<std::uintptr_t>::max();
    if (factor == 0) return none;
    if (high / factor * factor >= low) return (low - 1) / factor + 1;
    // As in Euclid's algorithm, y is the first for which [low, high] + y * modulus contains a multiple of the factor.
    const std::uintptr_t y =
        first_multiple_in(modulus % factor, factor, factor - high % factor, factor - low % factor);
    std::uintptr_t least = 0;
    if (y == none || __builtin_mul_overflow(y, modulus, &least) || __builtin_add_overflow(least, low, &least))
        return none;  // then x * factor does not fit 64 bits either
    return (least - 1) / factor + 1;
}

/// The numbers that are sums of two views' strides.
class stride_sums {
  public:
    constexpr stride_sums(const footprint& a, const footprint& b) : slack_(a.run + b.run - 2) {
        std::array<footprint::step, 2 * std::tuple_size_v<decltype(a.steps)>> steps;
        std::size_t count = 0;
        for (const footprint* view : {&a, &b})
            for (std::size_t i = 0; i < view->count; ++i, ++count) {
                std::size_t place = count;
                for (; place > 0 && steps[place - 1].stride > view->steps[i].stride; --place)
                    steps[place] = steps[place - 1];
                steps[place] = view->steps[i];
            }
        for (std::size_t i = 0; i < count; ++i) add(steps[i]);
    }

    /// Whether such a sum is in [target - slack, target]. Also true if the search takes too long.
    constexpr bool reach(std::uintptr_t target) { return reach(target, count_); }

  private:
    struct term {
        footprint::step step;
        std::uintptr_t below = 0;   // the largest sum of smaller strides plus the slack
        std::uintptr_t period = 0;  // the greatest common divisor of smaller strides
    };

    /// Adds a step, in the order of strides. If it continues the step before it without a gap, the two become one.
    constexpr void add(const footprint::step& next) {
        if (count_ == 0 && next.stride <= slack_ + 1) {
            slack_ += next.last * next.stride;
            return;
        }
        if (count_ > 0) {
            footprint::step& largest = terms_[count_ - 1].step;
            if (next.stride % largest.stride == 0 && next.stride / largest.stride <= largest.last + 1) {
                largest.last += next.stride / largest.stride * next.last;
                return;
            }
        }
        term& added = terms_[count_];
        added = {next, slack_, 0};
        if (count_ > 0) {
            const auto& [largest, below, period] = terms_[count_ - 1];
            added.below = below + largest.last * largest.stride;
            added.period = std::gcd(period, largest.stride);
        }
        ++count_;
    }

    /// The same with the `count` smallest strides only. Their largest sum, with the slack, must reach the target.
    constexpr bool reach(std::uintptr_t target, std::size_t count) {
        if (count == 0) return true;
        const auto& [step, below, period] = terms_[count - 1];
        const std::uintptr_t last = std::min(step.last, target / step.stride);
        for (std::uintptr_t x = target > below ? (target - below - 1) / step.stride + 1 : 0; x <= last; ++x) {
            if (period > 0) {  // skips to the next x for which smaller strides may reach the rest
                const std::uintptr_t left = (target - x * step.stride) % period;
                if (left > slack_) {
                    const std::uintptr_t more =
                        first_multiple_in(step.stride % period, period, left - slack_, left);
                    if (more > last - x) return false;
                    x += more;
                }
            }
            if (tries_left_-- == 0 || reach(target - x * step.stride, count - 1)) return true;
        }
        return false;
    }

    std::uintptr_t slack_;
    std::array<term, 2 * std::tuple_size_v<decltype(footprint::steps)>> terms_{};
    std::size_t count_ = 0;
    int tries_left_ = 1000;
};

/// Whether two views share a byte. Their spans may overlap even where their elements do not. After a thousand tries it
/// returns true; only views with many unrelated strides need so many.
constexpr bool overlap(const footprint& a, const footprint& b) {
    if (a.empty() || b.empty() || a.end <= b.begin || b.end <= a.begin) return false;
    // Bytes of b are counted back from its last byte, so that all strides have the same sign.
    return stride_sums(a, b).reach(b.end - 1 - a.begin);
}

}  // namespace heddle::detail
