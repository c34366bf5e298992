#pragma once

#include "examples/support/file.hpp"
#include "examples/support/safetensors.hpp"
#include <heddle/optimizer.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace fashion_mnist {

/// @throws std::runtime_error  names `file`, the tensor and the first number that is not finite or below `least`
inline std::vector<float> numbers_of(const examples::safetensors& content, const std::filesystem::path& file,
                                     const std::string& name, std::span<const std::int64_t> shape,
                                     float least = std::numeric_limits<float>::lowest()) {
    const auto values = examples::values_of<float>(examples::tensor_of(content, file, name, "F32", shape));
    const auto wrong =
        std::ranges::find_if(values, [&](float value) { return !std::isfinite(value) || value < least; });
    if (wrong != values.end())
        examples::fail(file, fmt::format("{}: number {} is {}", name, wrong - values.begin(), *wrong));
    return values;
}

/// Weights in float and, for the network, rounded to T; with their gradient and the optimizer's state.
template <class Device, class T>
class parameter_tensor {
    template <class U>
    using buffer = Device::template buffer<U>;

    std::string name_;
    std::vector<std::int64_t> shape_;
    buffer<float> master_, first_moment_, second_moment_, gradient_;
    buffer<T> rounded_;  ///< empty if T is float: then the network uses the masters

  public:
    parameter_tensor(Device& device, std::string name, std::vector<std::int64_t> shape)
        : name_(std::move(name)), shape_(std::move(shape)) {
        std::int64_t size = 1;
        for (const std::int64_t extent : shape_) size *= extent;
        for (auto* each : {&master_, &first_moment_, &second_moment_, &gradient_})
            *each = device.template allocate<float>(size);
        if constexpr (!std::is_same_v<T, float>) rounded_ = device.template allocate<T>(size);
    }

    std::size_t size() const { return master_.size(); }
    T* values() {
        if constexpr (std::is_same_v<T, float>)
            return master_.data();
        else
            return rounded_.data();
    }
    float* gradient() { return gradient_.data(); }
    heddle::parameter<T, float> parameter() {
        return {master_.data(),
                values(),
                gradient(),
                first_moment_.data(),
                second_moment_.data(),
                static_cast<std::int64_t>(size())};
    }

    void set(Device& device, const std::vector<float>& masters) {
        device.copy(masters, master_);
        std::vector<T> values;
        if constexpr (!std::is_same_v<T, float>) {
            for (const float master : masters) values.push_back(static_cast<T>(master));
            device.copy(values, rounded_);
        }
        device.wait();
    }

    void save(Device& device, examples::safetensors& content) {
        for (const auto& [name, array] : arrays()) {
            std::vector<float> values(size());
            device.copy(*array, values);
            device.wait();
            content.add<float>(name, shape_, values);
        }
    }

    /// @throws std::runtime_error  names `file` and the tensor that is missing, of another shape or with NaN
    void load(Device& device, const examples::safetensors& content, const std::filesystem::path& file) {
        for (const auto& [name, array] : arrays()) {
            const float least = array == &second_moment_ ? 0 : std::numeric_limits<float>::lowest();
            const std::vector<float> values = numbers_of(content, file, name, shape_, least);
            if (array == &master_) {
                set(device, values);
            } else {
                device.copy(values, *array);
                device.wait();
            }
        }
    }

  private:
    /// The arrays by their names in a checkpoint.
    std::map<std::string, buffer<float>*> arrays() {
        return {{name_, &master_},
                {name_ + ".first_moment", &first_moment_},
                {name_ + ".second_moment", &second_moment_}};
    }
};

}  // namespace fashion_mnist
