#pragma once

#include "benchmarks/support/headers.hpp"

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
    ~gpu_watcher();

    /// Why it does not watch: "NVML is missing: ..."; empty where it does, or where there is no GPU.
    [[nodiscard]] const std::string& why_not() const;
    /// The driver's version; empty where it is not known.
    [[nodiscard]] const std::string& driver() const;
    /// What was seen until now.
    [[nodiscard]] gpu_history history() const;

  private:
    class implementation;
    std::unique_ptr<implementation> implementation_;
};

}  // namespace heddle::bench
