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

namespace heddle {

/// Finds the fastest kernel for products by timing them, where the model behind `automatic` is not enough, and
/// remembers it, across runs in a small text file. Any number of threads may use one tuner at once, each with a stream of its
/// own; but products that are timed at the same time slow each other down.
///
///     matmul_tuner tuner("choices.txt");
///     const matmul_options options = tuner.choose<bfloat16>(a, b, c, stream);
///     matmul<bfloat16>(a, b, c, stream, options);
class matmul_tuner {
  public:
    using warning = std::function<void(const std::string&)>;

    /// Reads the file, if there is one. What is in it counts for this driver and version of heddle alone: a file of others is
    /// ignored, as is a line that cannot be read, and `warn` is told so.
    explicit matmul_tuner(std::filesystem::path file = {}, warning warn = {});

    /// `options`, with the kernel that is fastest on the stream's device for products of these shapes, orders
    /// and alignments: the one that is remembered, or else the fastest of all candidates, which are timed now. Then C is
    /// overwritten, and the call waits for the stream.
    /// @throws as matmul
    template <class Out, class In = Out>
    matmul_options choose(matrix_view<const std::type_identity_t<In>> a,
                          matrix_view<const std::type_identity_t<In>> b, matrix_view<Out> c,
                          cuda::stream_ref stream, const matmul_options& options = {});

    /// How many products are remembered.
    [[nodiscard]] std::size_t size() const;

    /// Writes the file anew: all of it or, where that fails, none, as it is written beside the old one and then renamed.
    /// @throws invalid_argument    the tuner was given no file
    /// @throws std::runtime_error  it cannot be written
    void save() const;

  private:
    std::filesystem::path file_;
    mutable std::mutex mutex_;                         ///< of choices_
    std::map<std::string, std::string_view> choices_;  ///< of matmul_kernels()
};

}  // namespace heddle
