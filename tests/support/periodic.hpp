#pragma once

#include <heddle/copy.hpp>
#include <heddle/view.hpp>

#include <cuda/stream_ref>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace heddle::test {

/// Elements that repeat with a prime period: a sequence of any length, with known elements. Every sum follows from
/// sums over the period.
template <class T>
class periodic {
  public:
    static constexpr std::int64_t period = 1000003;

    /// `period` elements.
    explicit periodic(std::vector<T> elements) : elements_(std::move(elements)) {}

    T operator[](std::int64_t i) const { return elements_[static_cast<std::size_t>(i % period)]; }

    /// Calls f(element, its number of occurrences) for `count` elements first, first + step, ... The step is no
    /// multiple of the period.
    template <class Function>
    void for_each_of(std::int64_t first, std::int64_t step, std::int64_t count, Function f) const {
        for (std::int64_t i = 0; i < std::min(count, period); ++i)
            f((*this)[first + i * step], count / period + (i < count % period ? 1 : 0));
    }

    /// Fills device memory. Each copy doubles the filled part.
    void fill(const vector_view<T>& destination, cuda::stream_ref stream) const {
        const std::int64_t first = std::min(period, destination.size);
        heddle::copy(vector_view<const T>{elements_.data(), first}, vector_view<T>{destination.data, first},
                     stream);
        for (std::int64_t filled = first; filled < destination.size; filled *= 2) {
            const std::int64_t count = std::min(filled, destination.size - filled);
            heddle::copy(vector_view<const T>{destination.data, count},
                         vector_view<T>{destination.data + filled, count}, stream);
        }
    }

  private:
    std::vector<T> elements_;
};

}  // namespace heddle::test
