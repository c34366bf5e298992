#pragma once

#include "benchmarks/support/headers.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>

struct nvmlDevice_st;

namespace heddle::bench {

/// What NVML saw of the GPU while rows ran.
struct gpu_history {
    std::vector<double> sm_mhz, memory_mhz, power_w, temperature_c;
    std::set<std::string_view> throttled;  ///< reasons for low clocks, by NVML's names
};

/// Watches the current device's clocks, power and temperature, in a thread of its own, until it is destroyed.
class gpu_watcher {
  public:
    gpu_watcher();

    /// Why it does not watch: "NVML is missing: ..."; empty where it does, or where there is no GPU.
    [[nodiscard]] const std::string& why_not() const { return why_not_; }
    /// The driver's version; empty where it is not known.
    [[nodiscard]] const std::string& driver() const { return driver_; }
    /// What was seen until now.
    [[nodiscard]] gpu_history history() const {
        const std::scoped_lock lock(mutex_);
        return history_;
    }

  private:
    std::string why_not_, driver_;
    nvmlDevice_st* device_ = nullptr;
    mutable std::mutex mutex_;
    std::condition_variable_any wake_;
    gpu_history history_;
    std::jthread thread_;  // the last: it ends before what it uses

    void watch(const std::stop_token& stop);
    void sample();
};

}  // namespace heddle::bench
