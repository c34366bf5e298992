#include "benchmarks/program/gpu_watcher.hpp"

#include "benchmarks/support/loaded_library.hpp"

// NVML's ABI, of which a driver keeps all versions. Not every toolkit has its header.
extern "C" {
using nvmlReturn_t = int;
using nvmlDevice_t = struct nvmlDevice_st*;
nvmlReturn_t nvmlInit_v2();
nvmlReturn_t nvmlShutdown();
const char* nvmlErrorString(nvmlReturn_t);
nvmlReturn_t nvmlSystemGetDriverVersion(char* version, unsigned length);
nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char* id, nvmlDevice_t* device);
nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t, unsigned clock, unsigned* mhz);
nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t, unsigned* milliwatts);
nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t, unsigned sensor, unsigned* celsius);
nvmlReturn_t nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t, unsigned long long* reasons);
}

namespace heddle::bench {
namespace {

const loaded_library& nvml_library() {
    static const loaded_library library("NVML", "libnvidia-ml.so.1");
    return library;
}

HEDDLE_LOADED(nvml_library, nvmlInit_v2, nvmlShutdown, nvmlErrorString, nvmlSystemGetDriverVersion,
              nvmlDeviceGetHandleByPciBusId_v2, nvmlDeviceGetClockInfo, nvmlDeviceGetPowerUsage,
              nvmlDeviceGetTemperature, nvmlDeviceGetCurrentClocksThrottleReasons);

constexpr unsigned sm_clock = 1, memory_clock = 2, gpu_sensor = 0;

/// Without that of an idle GPU.
constexpr std::array<std::pair<unsigned long long, std::string_view>, 8> reasons = {
    {{0x2, "applications_clocks_setting"},
     {0x4, "sw_power_cap"},
     {0x8, "hw_slowdown"},
     {0x10, "sync_boost"},
     {0x20, "sw_thermal_slowdown"},
     {0x40, "hw_thermal_slowdown"},
     {0x80, "hw_power_brake_slowdown"},
     {0x100, "display_clock_setting"}}};

/// Seldom enough to cost the rows nothing.
constexpr std::chrono::milliseconds between_samples{500};

void check_nvml(nvmlReturn_t status) {
    if (status != 0) throw std::runtime_error(fmt::format("NVML: {}", nvmlErrorString(status)));
}

/// The GPU that CUDA calls its current device, whatever CUDA_VISIBLE_DEVICES says of its number.
nvmlDevice_t watched_device() {
    std::array<char, 32> id{};
    check(cudaDeviceGetPCIBusId(id.data(), static_cast<int>(id.size()), current_device()));
    nvmlDevice_t device = nullptr;
    check_nvml(nvmlDeviceGetHandleByPciBusId_v2(id.data(), &device));
    return device;
}

}  // namespace

gpu_watcher::gpu_watcher() {
    if (!has_device()) return;
    if (!nvml_library().is_present()) {
        why_not_ = nvml_library().why_missing();
        return;
    }
    try {
        check_nvml(nvmlInit_v2());
        std::array<char, 80> version{};
        check_nvml(nvmlSystemGetDriverVersion(version.data(), static_cast<unsigned>(version.size())));
        driver_ = version.data();
        device_ = watched_device();
        thread_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
    } catch (const std::exception& error) {
        why_not_ = error.what();
    }
}

void gpu_watcher::watch(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    do {
        sample();
    } while (!wake_.wait_for(lock, stop, between_samples, [&] { return stop.stop_requested(); }));
}

/// A quantity that this GPU does not tell is left out.
void gpu_watcher::sample() {
    unsigned value = 0;
    if (nvmlDeviceGetClockInfo(device_, sm_clock, &value) == 0) history_.sm_mhz.push_back(value);
    if (nvmlDeviceGetClockInfo(device_, memory_clock, &value) == 0) history_.memory_mhz.push_back(value);
    if (nvmlDeviceGetPowerUsage(device_, &value) == 0) history_.power_w.push_back(value / 1e3);
    if (nvmlDeviceGetTemperature(device_, gpu_sensor, &value) == 0) history_.temperature_c.push_back(value);
    unsigned long long active = 0;
    if (nvmlDeviceGetCurrentClocksThrottleReasons(device_, &active) == 0)
        for (const auto& [bit, name] : reasons)
            if ((active & bit) != 0) history_.throttled.insert(name);
}

}  // namespace heddle::bench
