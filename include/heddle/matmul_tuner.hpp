#pragma once

#include <heddle/matmul.hpp>
#include <heddle/view.hpp>

#include <cuda/stream_ref>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>

#pragma GCC visibility push(default)

namespace heddle {

/// Finds the fastest kernel for products by timing them, where the cost model of `automatic` is not enough. It
/// remembers the choices, and keeps them between runs in a small text file. Any number of threads may use one tuner
/// at once, each with a stream of its own. But products that are timed at the same time slow each other down.
///
///     matmul_tuner tuner("choices.txt");
///     const matmul_options options = tuner.choose<bfloat16>(a, b, c, stream);
///     matmul<bfloat16>(a, b, c, stream, options);
class matmul_tuner {
  public:
    using warning = std::function<void(const std::string&)>;

    /// Reads the file, if there is one. Its choices are valid for this driver and this version of heddle alone. A
    /// file of another driver or version is ignored and reported to `warn`, and so is a line that cannot be read.
    explicit matmul_tuner(std::filesystem::path file = {}, warning warn = {});

    /// `options`, with the fastest kernel on the stream's device for products of these shapes, orders and alignments. A
    /// remembered kernel is taken; otherwise all candidates are timed now. Timing overwrites C and waits for the
    /// stream.
    /// @throws as matmul
    template <class Out, class In = Out>
    matmul_options choose(matrix_view<const std::type_identity_t<In>> a,
                          matrix_view<const std::type_identity_t<In>> b, matrix_view<Out> c,
                          cuda::stream_ref stream, const matmul_options& options = {});

    /// The number of products that are remembered.
    [[nodiscard]] std::size_t size() const;

    /// Writes the file as a whole: it writes a new file beside the old one and then renames it. On failure the old one
    /// stays.
    /// @throws invalid_argument    the tuner was given no file
    /// @throws std::runtime_error  it cannot be written
    void save() const;

  private:
    std::filesystem::path file_;
    mutable std::mutex mutex_;                         ///< guards choices_
    std::map<std::string, std::string_view> choices_;  ///< values are of matmul_kernels()
};

}  // namespace heddle

#pragma GCC visibility pop
