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

/// A view as it lies in memory: runs of `run` bytes. They begin at `begin` plus all sums of strides, each up to `last`
/// times.
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
    /// Runs and strides are in elements. A dimension of one element has a stride that nothing uses.
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

/// The least x of which x * factor, modulo `modulus`, is in [low, high]. The largest number where there is none, or
/// x * factor has more than 64 bits. 0 < low <= high < modulus, and factor < modulus.
constexpr std::uintptr_t first_multiple_in(std::uintptr_t factor, std::uintptr_t modulus, std::uintptr_t low,
                                           std::uintptr_t high) {
    constexpr std::uintptr_t none = std::numeric_limits<std::uintptr_t>::max();
    if (factor == 0) return none;
    if (high / factor * factor >= low) return (low - 1) / factor + 1;
    // The first y for which a multiple of the factor is in [y * modulus + low, y * modulus + high], as Euclid would.
    const std::uintptr_t y =
        first_multiple_in(modulus % factor, factor, factor - high % factor, factor - low % factor);
    std::uintptr_t least = 0;
    if (y == none || __builtin_mul_overflow(y, modulus, &least) || __builtin_add_overflow(least, low, &least))
        return none;  // x * factor does not fit either
    return (least - 1) / factor + 1;
}

/// Which numbers two views' strides add up to.
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

    /// Whether such a sum is in [target - slack, target]. True, too, where that takes too long to find out.
    constexpr bool reach(std::uintptr_t target) { return reach(target, count_); }

  private:
    struct term {
        footprint::step step;
        std::uintptr_t below = 0;   // the largest sum of smaller strides, and the slack
        std::uintptr_t period = 0;  // what divides them all
    };

    /// Steps come in the order of their strides. Those that leave no gaps between smaller ones become one with them.
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

    /// With the smallest `count` strides, whose sums go as far as the target.
    constexpr bool reach(std::uintptr_t target, std::size_t count) {
        if (count == 0) return true;
        const auto& [step, below, period] = terms_[count - 1];
        const std::uintptr_t last = std::min(step.last, target / step.stride);
        for (std::uintptr_t x = target > below ? (target - below - 1) / step.stride + 1 : 0; x <= last; ++x) {
            if (period > 0) {  // on to where the others may reach what is left
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

/// Whether two views share a byte; spans may cross where elements are apart. Where a thousand tries do not tell, it
/// says that they do: that takes many strides of which no two are alike.
constexpr bool overlap(const footprint& a, const footprint& b) {
    if (a.empty() || b.empty() || a.end <= b.begin || b.end <= a.begin) return false;
    // Bytes of b are counted back from its last: then all strides add up.
    return stride_sums(a, b).reach(b.end - 1 - a.begin);
}

}  // namespace heddle::detail
