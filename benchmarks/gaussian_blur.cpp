#include "benchmarks/support/ceilings.hpp"
#include "benchmarks/support/cudnn.hpp"
#include "benchmarks/support/npp.hpp"
#include "benchmarks/support/random.hpp"
#include "benchmarks/support/rows.hpp"
#include <heddle/copy.hpp>
#include <heddle/device.hpp>
#include <heddle/gaussian_blur.hpp>
#include <heddle/host.hpp>
#include <heddle/workspace.hpp>

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#if HEDDLE_HAS_NPP
#include <nppi_filtering_functions.h>
#endif

namespace heddle::bench {
namespace {

struct shape {
    std::int64_t width;
    std::int64_t height;
    std::int64_t channels;
    std::int64_t radius;

    [[nodiscard]] std::int64_t elements() const { return width * height * channels; }
    [[nodiscard]] std::int64_t taps() const { return 2 * radius + 1; }
    [[nodiscard]] double sigma() const { return static_cast<double>(radius) / 2; }
};

template <class T>
problem blur(const shape& s) {
    const auto elements = static_cast<double>(s.elements());
    // Two passes, a multiply and an add for each tap.
    return {fmt::format("gaussian_blur/{}c{}/{}x{}-r{}", dtype<T>, s.channels, s.width, s.height, s.radius),
            2.0 * sizeof(T) * elements, 4.0 * static_cast<double>(s.taps()) * elements};
}

template <class T>
image_view<T> image(T* data, const shape& s) {
    return {data, s.width, s.height, s.channels};
}

/// `prepare` returns the call, which takes the source and the destination.
template <class T, class Prepare>
void row(const shape& s, std::string_view library, temperature temperature, Prepare prepare) {
    device_row(blur<T>(s), library, temperature, [s, prepare] {
        return [s, call = prepare(), source = random_on_device<T>(s.elements()),
                destination = device_buffer<T>(s.elements(), stream())]() mutable {
            call(image(source.data(), s), image(destination.data(), s));
        };
    });
}

template <class T>
void heddle_row(const shape& s, temperature temperature,
                gaussian_blur_algorithm algorithm = gaussian_blur_algorithm::automatic) {
    row<T>(s, implementation(algorithm), temperature, [s, algorithm] {
        const device_traits& device = traits_of(current_device());
        const gaussian_blur_problem problem{s.width, s.height, s.channels, s.radius};
        const auto rung =
            algorithm == gaussian_blur_algorithm::automatic ? select(problem, device) : algorithm;
        return [s, algorithm,
                scratch = workspace(gaussian_blur_workspace_bytes(problem, device, rung), stream())](
                   auto source, auto destination) mutable {
            gaussian_blur<T>(source, destination, s.sigma(), stream(),
                             {.radius = s.radius, .algorithm = algorithm, .workspace = scratch});
        };
    });
}

#if HEDDLE_HAS_NPP

/// NPP's function for T and a number of channels.
template <class T, class Function>
Function* of_channels(std::int64_t channels, Function* one, Function* three, Function* four) {
    return channels == 1 ? one : channels == 3 ? three : four;
}

template <class T>
auto npp_mask_function(std::int64_t channels) {
    if constexpr (std::is_same_v<T, float>)
        return of_channels<T>(channels, nppiFilterGaussBorder_32f_C1R_Ctx, nppiFilterGaussBorder_32f_C3R_Ctx,
                              nppiFilterGaussBorder_32f_C4R_Ctx);
    else
        return of_channels<T>(channels, nppiFilterGaussBorder_8u_C1R_Ctx, nppiFilterGaussBorder_8u_C3R_Ctx,
                              nppiFilterGaussBorder_8u_C4R_Ctx);
}

template <class T>
auto npp_advanced_function(std::int64_t channels) {
    if constexpr (std::is_same_v<T, float>)
        return of_channels<T>(channels, nppiFilterGaussAdvancedBorder_32f_C1R_Ctx,
                              nppiFilterGaussAdvancedBorder_32f_C3R_Ctx,
                              nppiFilterGaussAdvancedBorder_32f_C4R_Ctx);
    else
        return of_channels<T>(channels, nppiFilterGaussAdvancedBorder_8u_C1R_Ctx,
                              nppiFilterGaussAdvancedBorder_8u_C3R_Ctx,
                              nppiFilterGaussAdvancedBorder_8u_C4R_Ctx);
}

/// The masks that NPP has built in, with its own sigmas.
std::optional<NppiMaskSize> npp_mask(std::int64_t radius) {
    switch (radius) {
        case 1:
            return NPP_MASK_SIZE_3_X_3;
        case 2:
            return NPP_MASK_SIZE_5_X_5;
        case 5:
            return NPP_MASK_SIZE_11_X_11;
        default:
            return std::nullopt;
    }
}

device_buffer<float> gaussian_taps(const shape& s) {
    std::vector<float> taps;
    double sum = 0;
    for (std::int64_t i = -s.radius; i <= s.radius; ++i) {
        const double offset = static_cast<double>(i) / s.sigma();
        taps.push_back(static_cast<float>(std::exp(-offset * offset / 2)));
        sum += taps.back();
    }
    for (float& tap : taps) tap = static_cast<float>(tap / sum);
    device_buffer<float> on_device(s.taps(), stream());
    copy_and_wait(taps, on_device, stream());
    return on_device;
}

template <class T>
NppiSize npp_size(const image_view<T>& image) {
    return {static_cast<int>(image.width), static_cast<int>(image.height)};
}

template <class T>
int npp_step(const image_view<T>& image) {
    return static_cast<int>(image.row_stride * std::int64_t{sizeof(T)});
}

template <class T>
void npp_mask_row(const shape& s, NppiMaskSize mask, temperature temperature) {
    row<T>(s, "npp:mask", temperature, [s, mask] {
        return [mask, function = npp_mask_function<T>(s.channels)](auto source, auto destination) {
            check(function(source.data, npp_step(source), npp_size(source), {0, 0}, destination.data,
                           npp_step(destination), npp_size(destination), mask, NPP_BORDER_REPLICATE,
                           npp_context()));
        };
    });
}

template <class T>
void npp_advanced_row(const shape& s, temperature temperature) {
    row<T>(s, "npp", temperature, [s] {
        return [taps = gaussian_taps(s), function = npp_advanced_function<T>(s.channels)](auto source,
                                                                                          auto destination) {
            check(function(source.data, npp_step(source), npp_size(source), {0, 0}, destination.data,
                           npp_step(destination), npp_size(destination), static_cast<int>(taps.size()),
                           taps.data(), NPP_BORDER_REPLICATE, npp_context()));
        };
    });
}

#endif

#if HEDDLE_HAS_CUDNN

struct convolution {
    cudnn_tensor image;
    cudnn_filter filter;
    cudnn_convolution descriptor;
};

convolution blur_convolution(const shape& s) {
    const auto narrow = [](std::int64_t extent) { return static_cast<int>(extent); };
    convolution c;
    check(cudnnSetTensor4dDescriptor(c.image, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, narrow(s.height),
                                     narrow(s.width)));
    check(cudnnSetFilter4dDescriptor(c.filter, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 1, 1, narrow(s.taps()),
                                     narrow(s.taps())));
    check(cudnnSetConvolution2dDescriptor(c.descriptor, narrow(s.radius), narrow(s.radius), 1, 1, 1, 1,
                                          CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
    check(cudnnSetConvolutionMathType(c.descriptor, CUDNN_FMA_MATH));
    return c;
}

/// The fastest that cuDNN finds by trying; found once.
const cudnnConvolutionFwdAlgoPerf_t& best_algorithm(const shape& s, const convolution& c) {
    static std::map<std::int64_t, cudnnConvolutionFwdAlgoPerf_t> best;
    if (const auto found = best.find(s.radius); found != best.end()) return found->second;
    int found = 0;
    cudnnConvolutionFwdAlgoPerf_t performance{};
    check(cudnnFindConvolutionForwardAlgorithm(cudnn_handle(), c.image, c.filter, c.descriptor, c.image, 1,
                                               &found, &performance));
    check(performance.status);
    return best.emplace(s.radius, performance).first->second;
}

/// The 2-D window, with zeros outside of the image: what cuDNN can do.
void cudnn_row(const shape& s, temperature temperature) {
    row<float>(s, "cudnn", temperature, [s] {
        convolution c = blur_convolution(s);
        const auto& best = best_algorithm(s, c);
        return
            [algorithm = best.algo, c = std::move(c), window = random_on_device<float>(s.taps() * s.taps()),
             scratch = device_buffer<std::byte>(static_cast<std::int64_t>(best.memory), stream())](
                auto source, auto destination) mutable {
                const float alpha = 1;
                const float beta = 0;
                check(cudnnConvolutionForward(cudnn_handle(), &alpha, c.image, source.data, c.filter,
                                              window.data(), c.descriptor, algorithm, scratch.data(),
                                              scratch.size(), &beta, c.image, destination.data));
            };
    });
}

#endif

template <class T>
void comparison(const shape& s, temperature temperature) {
    heddle_row<T>(s, temperature);
#if HEDDLE_HAS_NPP
    if (const auto mask = npp_mask(s.radius)) npp_mask_row<T>(s, *mask, temperature);
    npp_advanced_row<T>(s, temperature);
#endif
#if HEDDLE_HAS_CUDNN
    if (std::is_same_v<T, float> && s.width == 4096 && s.radius <= 5) cudnn_row(s, temperature);
#endif
}

template <class T>
void host(const shape& s) {
    host_row(blur<T>(s), "host", [s] {
        return [s, source = random_on_host<T>(s.elements()),
                destination = std::vector<T>(static_cast<std::size_t>(s.elements()))]() mutable {
            host::gaussian_blur<T>(image(source.data(), s), image(destination.data(), s), s.sigma(),
                                   {.radius = s.radius});
        };
    });
}

template <class T>
void all_sizes(std::int64_t channels) {
    for (const auto temperature : {temperature::cold, temperature::hot})
        for (const std::int64_t radius : {1, 2, 5, 15}) {
            comparison<T>({1920, 1080, channels, radius}, temperature);
            comparison<T>({3840, 2160, channels, radius}, temperature);
            comparison<T>({4096, 4096, channels, radius}, temperature);
            comparison<T>({16384, 16384, channels, radius}, temperature);
        }
    for (const std::int64_t radius : {2, 5}) host<T>({1920, 1080, channels, radius});
}

template <class T>
void rungs() {
    for (const std::int64_t radius : {2, 5})
        for (const auto algorithm : gaussian_blur_algorithms())
            heddle_row<T>({4096, 4096, 1, radius}, temperature::cold, algorithm);
}

}  // namespace

void register_rows() {
    copy_ceiling();
    fma_ceiling();
    all_sizes<float>(1);
    all_sizes<std::uint8_t>(1);
    all_sizes<std::uint8_t>(3);
    all_sizes<std::uint8_t>(4);
    rungs<float>();
    rungs<std::uint8_t>();
}

}  // namespace heddle::bench
