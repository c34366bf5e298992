#pragma once

#include "tests/support/headers.hpp"

namespace heddle::test {

/// Parameters in guarded memory, with these counts of elements. Arrays do not begin at multiples of 16 bytes.
template <class T, class Gradient>
class guarded_list {
  public:
    using memory = guarded<float>::memory;

    explicit guarded_list(const std::vector<std::int64_t>& sizes, memory where = memory::device) {
        std::int64_t offset = 0;
        for (const std::int64_t size : sizes) all_.emplace_back(size, offset++ % 5, where);
        restart();
    }

    std::vector<parameter<T, Gradient>> views() {
        std::vector<parameter<T, Gradient>> result;
        for (auto& p : all_)
            result.push_back({p.master.data(), p.value.data(), p.gradient.data(), p.first.data(),
                              p.second.data(), static_cast<std::int64_t>(p.weights.size())});
        return result;
    }

    /// Restores the drawn weights, and zero moments, as at the beginning of training.
    void restart() {
        for (auto& p : all_) {
            const std::vector<float> zeros(p.weights.size());
            p.master.upload(p.weights);
            p.first.upload(zeros);
            p.second.upload(zeros);
        }
    }

    /// All results of a step, of all parameters in turn.
    std::vector<float> state() {
        std::vector<float> all;
        for (auto& p : all_) {
            const auto add = [&](const auto& elements) {
                for (const auto e : elements) all.push_back(static_cast<float>(e));
            };
            add(p.master.download());
            add(p.value.download());
            add(p.first.download());
            add(p.second.download());
        }
        return all;
    }

  private:
    struct one {
        one(std::int64_t size, std::int64_t offset, memory where)
            : weights(random_elements<float>(size)),
              master(size, offset, where),
              value(size, offset, static_cast<typename guarded<T>::memory>(where)),
              gradient(size, offset, static_cast<typename guarded<Gradient>::memory>(where)),
              first(size, offset, where),
              second(size, offset, where) {
            gradient.upload(random_elements<Gradient>(size));
        }

        std::vector<float> weights;
        guarded<float> master;
        guarded<T> value;
        guarded<Gradient> gradient;
        guarded<float> first, second;
    };
    std::deque<one> all_;
};

}  // namespace heddle::test
