#include "benchmarks/ladders/ladder.hpp"
#include "benchmarks/operation.hpp"
#include "benchmarks/support/cudnn.hpp"
#include "benchmarks/support/npp.hpp"

#if HEDDLE_HAS_OPENCV
#include <opencv2/imgproc.hpp>
#endif

namespace heddle::bench {
namespace {

struct shape {
    std::int64_t width;
    std::int64_t height;
    std::int64_t channels;
    std::int64_t radius;
    double sigma = static_cast<double>(radius) / 2;
    std::int64_t images = 1;

    [[nodiscard]] std::int64_t image_elements() const { return width * height * channels; }
    [[nodiscard]] std::int64_t elements() const { return images * image_elements(); }
    [[nodiscard]] std::int64_t taps() const { return 2 * radius + 1; }
    /// Whether the window follows from sigma, as in the cases of large windows.
    [[nodiscard]] bool is_by_sigma() const { return radius == gaussian_radius(sigma); }
};

shape by_sigma(std::int64_t width, std::int64_t height, std::int64_t channels, double sigma) {
    return {width, height, channels, gaussian_radius(sigma), sigma};
}

std::string text(const shape& s) {
    const std::string images = s.images == 1 ? "" : fmt::format("{}x", s.images);
    const std::string window =
        s.is_by_sigma() ? fmt::format("sigma{}", s.sigma) : fmt::format("r{}", s.radius);
    return fmt::format("{}{}x{}-{}", images, s.width, s.height, window);
}

/// Arithmetic is no limit: tensor cores can do it, and large windows need fewer operations.
template <class T>
problem blur(const shape& s) {
    const double bytes = sizeof(T) * static_cast<double>(s.elements());
    return {fmt::format("gaussian_blur/{}c{}/{}", dtype<T>, s.channels, text(s)), bytes, bytes};
}

template <class T>
image_batch_view<T> images(T* data, const shape& s) {
    return {{data, s.width, s.height, s.channels}, s.images, s.image_elements()};
}

/// The number of sources and destinations that hot calls take in turn. There are so many that an image has left L2 when its
/// turn comes again.
template <class T>
std::int64_t buffers(const shape& s, temperature temperature) {
    if (temperature == cold) return 1;
    const double enough = 2 * static_cast<double>(traits_of(current_device()).l2_bytes);
    return static_cast<std::int64_t>(std::ceil(enough / blur<T>(s).bytes()));
}

/// `prepare` returns the call, which takes the sources and the destinations.
template <class T>
void row(const shape& s, std::string_view library, temperature temperature, auto prepare) {
    device_row(blur<T>(s), library, temperature, [s, temperature, prepare] {
        const std::int64_t count = buffers<T>(s, temperature);
        return [s, count, call = prepare(), source = random_on_device<T>(count * s.elements()),
                destination = device_buffer<T>(count * s.elements(), stream()),
                turn = std::int64_t{0}]() mutable {
            const std::int64_t first = turn * s.elements();
            call(images<const T>(source.data() + first, s), images(destination.data() + first, s));
            turn = (turn + 1) % count;
        };
    });
}

template <class T>
void heddle_row(const shape& s, std::string_view name, temperature temperature,
                const gaussian_blur_options& options) {
    row<T>(s, name, temperature, [s, options] {
        gaussian_blur_options all = options;
        all.radius = s.radius;
        const gaussian_blur_problem problem =
            gaussian_blur_problem_of<T>(images<const T>(nullptr, s), images<T>(nullptr, s), s.sigma, all);
        const std::int64_t scratch_bytes =
            gaussian_blur_workspace_bytes(problem, traits_of(current_device()), options.algorithm);
        return [s, all, scratch = workspace(scratch_bytes, stream())](auto source, auto destination) mutable {
            all.workspace = scratch;
            gaussian_blur<T>(source, destination, s.sigma, stream(), all);
        };
    });
}

#if HEDDLE_HAS_NPP

/// Calls NPP's `function` for each image, as NPP has no batches. `window` are the arguments between sizes and border.
template <class T>
void each_by_npp(auto function, image_batch_view<const T> sources, image_batch_view<T> destinations,
                 auto... window) {
    for (std::int64_t i = 0; i < sources.count; ++i) {
        image_view<const T> source = sources.first;
        image_view<T> destination = destinations.first;
        source.data += i * sources.stride;
        destination.data += i * destinations.stride;
        npp_filter(function, source, destination, window...);
    }
}

/// NPP has a few built-in masks, with sigmas of its own. The cases here need these.
std::optional<NppiMaskSize> npp_mask(std::int64_t radius) {
    if (radius == 2) return NPP_MASK_SIZE_5_X_5;
    if (radius == 5) return NPP_MASK_SIZE_11_X_11;
    return std::nullopt;
}

/// NPP's other call takes windows of any size, but takes long for large ones.
constexpr std::int64_t npp_most_radius = 40;

device_buffer<float> gaussian_taps(const shape& s) {
    std::vector<float> taps;
    double sum = 0;
    for (std::int64_t i = -s.radius; i <= s.radius; ++i) {
        const double offset = static_cast<double>(i) / s.sigma;
        taps.push_back(static_cast<float>(std::exp(-offset * offset / 2)));
        sum += taps.back();
    }
    for (float& tap : taps) tap = static_cast<float>(tap / sum);
    device_buffer<float> on_device(s.taps(), stream());
    copy_and_wait(taps, on_device, stream());
    return on_device;
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

/// The fastest algorithm that cuDNN finds by trying. It is looked for once.
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

/// cuDNN convolves with the 2-D window, and takes zeros outside of the image.
void cudnn_row(const shape& s, temperature temperature) {
    row<float>(s, "cudnn", temperature, [s] {
        convolution c = blur_convolution(s);
        const auto& best = best_algorithm(s, c);
        return [algorithm = best.algo, c = std::move(c),
                window = random_on_device<float>(s.taps() * s.taps()),
                scratch = device_buffer<std::byte>(static_cast<std::int64_t>(best.memory), stream())](
                   auto source, auto destination) mutable {
            check(cudnnConvolutionForward(cudnn_handle(), &cudnn_alpha, c.image, source.first.data, c.filter,
                                          window.data(), c.descriptor, algorithm, scratch.data(),
                                          scratch.size(), &cudnn_beta, c.image, destination.first.data));
        };
    });
}

#endif

template <class T>
void npp_rows([[maybe_unused]] const shape& s, [[maybe_unused]] temperature temperature) {
#if HEDDLE_HAS_NPP
    if (const auto mask = npp_mask(s.radius))
        row<T>(s, "npp:mask", temperature, [s, mask = *mask] {
            return [mask, function = npp_mask_function<T>(s.channels)](auto sources, auto destinations) {
                each_by_npp<T>(function, sources, destinations, mask);
            };
        });
    if (s.radius <= npp_most_radius)
        row<T>(s, "npp", temperature, [s] {
            return [taps = gaussian_taps(s), function = npp_gauss_function<T>(s.channels)](
                       auto sources, auto destinations) {
                each_by_npp<T>(function, sources, destinations, static_cast<int>(taps.size()), taps.data());
            };
        });
#endif
}

template <class T>
void comparison(const shape& s, temperature temperature = cold) {
    heddle_row<T>(s, "heddle", temperature, {});
    if (s.is_by_sigma()) heddle_row<T>(s, "heddle:exact", temperature, {.exact = true});
    // A copy of the same bytes is as fast as a blur can be.
    row<T>(s, "copy", temperature, [s] {
        return [size = s.elements()](auto source, auto destination) {
            copy(vector_view<const T>{source.first.data, size}, vector_view<T>{destination.first.data, size},
                 stream());
        };
    });
    if constexpr (!std::is_same_v<T, half>) npp_rows<T>(s, temperature);  // NPP cannot blur half
#if HEDDLE_HAS_CUDNN
    constexpr std::int64_t most_radius = 5;  // for larger windows cuDNN tries algorithms for long
    if (std::is_same_v<T, float> && s.channels == 1 && s.radius <= most_radius) cudnn_row(s, temperature);
#endif
}

template <class T>
void rungs(const shape& s) {
    constexpr std::int64_t most_radius_of_naive = 15;
    for (const auto algorithm : gaussian_blur_algorithms()) {
        if (algorithm == gaussian_blur_algorithm::naive && s.radius > most_radius_of_naive) continue;
        heddle_row<T>(s, implementation(algorithm), cold, {.algorithm = algorithm});
        for (const std::string_view way : ways_of(gaussian_blur_kernels(algorithm)))
            heddle_row<T>(s, implementation(way), cold, {.algorithm = algorithm, .kernel = way});
    }
}

template <class T>
void host_rows(const shape& s) {
    const row_case on_host(blur<T>(s), random_array<T>(s.elements()), result_array<T>(s.elements()));
    on_host.host_row("host", [s](const T* source, T* destination) {
        host::gaussian_blur<T>(images(source, s).first, images(destination, s).first, s.sigma,
                               {.radius = s.radius});
    });
#if HEDDLE_HAS_OPENCV
    on_host.host_row("opencv", [s](T* source, T* destination) {
        const auto of = [&s](T* data) {
            return cv::Mat(static_cast<int>(s.height), static_cast<int>(s.width),
                           CV_MAKETYPE(cv::DataType<T>::depth, static_cast<int>(s.channels)), data);
        };
        const auto taps = static_cast<int>(s.taps());
        cv::GaussianBlur(of(source), of(destination), {taps, taps}, s.sigma, s.sigma, cv::BORDER_REPLICATE);
    });
#endif
}

}  // namespace

void register_gaussian_blur() {
    for (const std::int64_t radius : {2, 5, 15}) {
        comparison<float>({4096, 4096, 1, radius});
        comparison<std::uint8_t>({4096, 4096, 1, radius});
    }
    comparison<std::uint8_t>({4096, 4096, 1, 5}, hot);
    comparison<std::uint8_t>({1920, 1080, 1, 2});
    comparison<std::uint8_t>({3840, 2160, 3, 2});
    comparison<std::uint8_t>({3840, 2160, 4, 5});
    comparison<std::uint8_t>({.width = 256, .height = 256, .channels = 3, .radius = 2, .images = 64});
    comparison<std::uint16_t>({4096, 4096, 1, 2});
    comparison<std::uint16_t>({3840, 2160, 3, 2});
    comparison<half>({4096, 4096, 1, 2});
    for (const std::int64_t channels : {3, 4}) comparison<float>({3840, 2160, channels, 2});
    for (const double sigma : {10.0, 50.0, 200.0}) comparison<float>(by_sigma(4096, 4096, 1, sigma));

    for (const std::int64_t radius : {2, 5, 15}) {
        rungs<float>({4096, 4096, 1, radius});
        rungs<std::uint8_t>({4096, 4096, 1, radius});
    }
    rungs<float>(by_sigma(4096, 4096, 1, 50));

    host_rows<std::uint8_t>({1920, 1080, 1, 2});
    host_rows<float>({4096, 4096, 1, 5});
}

void add_gaussian_blur_rows(std::string_view type, const extents& shape) {
    const bench::shape s{shape[0], shape[1], type.back() - '0', shape[2]};
    const auto add = [&s]<class T>(T) {
        for (const auto algorithm : gaussian_blur_algorithms()) {
            for (const std::string_view kernel : gaussian_blur_kernels(algorithm))
                if (kernel != to_string(algorithm))
                    heddle_row<T>(s, implementation(kernel), cold,
                                  {.algorithm = algorithm, .kernel = kernel});
            heddle_row<T>(s, implementation(algorithm), cold, {.algorithm = algorithm});
        }
        comparison<T>(s);
    };
    type.starts_with("u8") ? add(std::uint8_t{}) : add(float{});
}

}  // namespace heddle::bench
