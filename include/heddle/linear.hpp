#pragma once

#include <heddle/device.hpp>
#include <heddle/matmul.hpp>
#include <heddle/scratch.hpp>
#include <heddle/types.hpp>
#include <heddle/view.hpp>

#include <cuda/stream_ref>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

/// The fully connected layer of a neural network, for a batch at a time, and its gradients.
namespace heddle {

struct linear_options {
    matmul_activation activation = matmul_activation::none;
    /// The rung of the product, one that has epilogues where there is a bias or an activation; see matmul().
    matmul_algorithm algorithm = matmul_algorithm::automatic;
    /// Limits what `automatic` chooses from where T is float.
    heddle::precision precision = heddle::precision::fp32;
    /// Device scratch memory, zeroed before its first use (heddle::workspace is), of at least linear_workspace_bytes() with
    /// these options, 16-byte aligned, apart from all operands; ready for the next call when this one is done.
    std::span<std::byte> workspace{};
    /// Without a workspace, scratch memory that makes the call faster comes, stream-ordered, from heddle's pool of the stream's
    /// device (memory_pool::scratch_of); with a workspace nothing is allocated. scratch::none forbids it: then the call plans
    /// without scratch memory, and a rung that needs some throws unsupported.
    heddle::scratch scratch = heddle::scratch::pool;
};

/// The workspace, in bytes, with which linear() of these arguments is fastest on the stream's device; 0 where it makes no
/// difference. What the views point to is not read; they may be null.
/// @throws invalid_argument  as linear(), but for pointers and the workspace
template <class T>
std::int64_t linear_workspace_bytes(matrix_view<const std::type_identity_t<T>> x,
                                    matrix_view<const std::type_identity_t<T>> weights,
                                    vector_view<const std::type_identity_t<T>> bias, matrix_view<T> y,
                                    cuda::stream_ref stream, const linear_options& options = {});

/// y = activation(x weights^T + bias): the product, and all that is done to it before its only store, are one kernel.
///
/// x is batch x in, a sample a row; weights is out x in, as trained networks come; bias has `out` elements of any stride, or is
/// empty: none; y is batch x out. Matrices in device memory with any row and column strides: weights that lie in x out go in as
/// transposed(w), at no cost. y must not overlap the others. T is float, half or bfloat16, computed as matmul() does with an
/// epilogue: sums, bias and activation in float, and one rounding. Errors in docs/accuracy.md. The same call gives the same
/// bits each time. Enqueued on `stream` and its device; never synchronises; safe under stream capture; allocates only as
/// linear_options says. Nothing is done where batch or out is 0; where in is 0, y = activation(bias).
///
/// @throws invalid_argument  shapes disagree or are negative, a null or misaligned pointer, a stride smaller than a row, a y that
///                           overlaps another operand, a workspace that is null, misaligned, too small or overlaps an operand, an
///                           unknown activation, algorithm or precision (nothing is enqueued)
/// @throws unsupported       the algorithm that was asked for cannot run this problem on this device; says why (nothing is
///                           enqueued)
/// @throws cuda_error        the launch or the allocation failed
template <class T>
void linear(matrix_view<const std::type_identity_t<T>> x, matrix_view<const std::type_identity_t<T>> weights,
            vector_view<const std::type_identity_t<T>> bias, matrix_view<T> y, cuda::stream_ref stream,
            const linear_options& options = {});

/// Where linear_gradient() multiplies by the derivative of the layer below; kernels/linear/README.md tells of them.
enum class linear_gradient_algorithm {
    automatic,
    /// In a kernel of its own, which reads and writes dx once more.
    separate,
    /// In the epilogue of the product that makes dx, before its only store.
    fused
};

/// Both, without `automatic`: what tests, benchmarks and pages go through.
std::span<const linear_gradient_algorithm> linear_gradient_algorithms();
std::string_view to_string(linear_gradient_algorithm algorithm);

struct linear_gradient_options {
    linear_gradient_algorithm algorithm = linear_gradient_algorithm::automatic;
    /// What the layer below has made x with: dx is then the gradient of that layer's sums, before its activation. none, relu,
    /// sigmoid and tanh, whose derivatives follow from their results.
    matmul_activation activation_of_x = matmul_activation::none;
    /// Limits what the products are chosen from where T is float.
    heddle::precision precision = heddle::precision::fp32;
    /// Device scratch memory, zeroed before its first use (heddle::workspace is), of at least linear_gradient_workspace_bytes()
    /// with these options, 16-byte aligned, apart from all operands; ready for the next call when this one is done.
    std::span<std::byte> workspace{};
    /// Without a workspace, scratch memory that makes the call faster comes, stream-ordered, from heddle's pool of the stream's
    /// device (memory_pool::scratch_of); with a workspace nothing is allocated. scratch::none forbids it: then the call plans
    /// without scratch memory.
    heddle::scratch scratch = heddle::scratch::pool;
};

/// What the choice between the rungs depends on. linear_gradient_problem_of() makes it.
struct linear_gradient_problem {
    /// gradient times weights, without the derivative.
    matmul_problem product{};
    /// dx is wanted, and activation_of_x is not none.
    bool has_derivative = false;

    bool operator==(const linear_gradient_problem&) const = default;
};

/// The problem of a call of linear_gradient() with these arguments. What the views point to is not read; they may be null.
/// @throws invalid_argument  as linear_gradient(), but for pointers and the workspace
template <class T>
linear_gradient_problem linear_gradient_problem_of(matrix_view<const std::type_identity_t<T>> x,
                                                   matrix_view<const std::type_identity_t<T>> weights,
                                                   matrix_view<const std::type_identity_t<T>> gradient,
                                                   matrix_view<T> dx,
                                                   const linear_gradient_options& options = {});

/// The rung that `automatic` stands for: `fused` where matmul's choice for the product, with an epilogue, is its own `fused`
/// without scratch memory. Pure.
/// @throws invalid_argument  as select() of the product
linear_gradient_algorithm select(const linear_gradient_problem& problem, const device_traits& device);

/// Why a rung cannot run a problem on a device, as `unsupported` says it; empty where it can, and of `automatic`. `fused` needs
/// half or bfloat16, a derivative, and operands that matmul's `fused` takes without scratch memory. Pure.
/// @throws invalid_argument  as select(), and for an unknown algorithm
std::string why_not(linear_gradient_algorithm algorithm, const linear_gradient_problem& problem,
                    const device_traits& device);

/// The workspace, in bytes, with which linear_gradient() of these arguments is fastest on the stream's device; 0 where it makes
/// no difference. What the views point to is not read; they may be null.
/// @throws invalid_argument  as linear_gradient(), but for pointers and the workspace
template <class T>
std::int64_t linear_gradient_workspace_bytes(matrix_view<const std::type_identity_t<T>> x,
                                             matrix_view<const std::type_identity_t<T>> weights,
                                             matrix_view<const std::type_identity_t<T>> gradient,
                                             matrix_view<T> dx, matrix_view<float> dweights,
                                             vector_view<float> dbias, cuda::stream_ref stream,
                                             const linear_gradient_options& options = {});

/// The gradients of linear(): what a loss changes by with the layer's operands, where `gradient` is the loss's gradient with
/// respect to the layer's sums x weights^T + bias, before its activation:
///
///   dx       = (gradient weights) * f'     f' the derivative of options.activation_of_x, element by element: 1 (none);
///                                          1 where x > 0, else 0 (relu); x (1 - x) (sigmoid); 1 - x^2 (tanh)
///   dweights = gradient^T x
///   dbias[j] = sum over i of gradient[i][j]
///
/// (Rumelhart, Hinton and Williams, "Learning representations by back-propagating errors", 1986). So the dx of one layer is the
/// `gradient` of the one below; the loss's own, such as cross_entropy()'s, is that of the last.
///
/// x is batch x in, weights out x in, gradient batch x out, dx batch x in, dweights out x in, dbias of `out` elements; any
/// strides, in device memory. T is float, half or bfloat16; dweights and dbias are float whatever T is, as parameter<T, float>
/// of optimizer.hpp takes them. Each of dx, dweights and dbias may be `{}`: it is not wanted, and not computed. An output
/// overlaps no other operand: dx is not `gradient` either, of which each element is read for a whole row of dx.
///
/// Products are matmul()'s: of 16-bit types exact, of float as options.precision says. Sums are float's; dx is rounded to T
/// once by `fused`, and by `separate` once more before the derivative: a sum beyond T's largest number is infinite then, and
/// makes dx NaN where the derivative of sigmoid or tanh is 0. Where relu's x is not positive, dx is 0 whatever the sum, and
/// where x is NaN, NaN. Errors in docs/accuracy.md. Where batch is 0, dweights and dbias are zeros; where out is 0, the sums of
/// dx are. The same call gives the same bits each time. There are one or two kernels for dx, one each for dweights and dbias,
/// and copies of operands where matmul() makes them. Enqueued on `stream` and its device; never synchronises; safe under stream
/// capture; allocates only as linear_gradient_options says.
///
/// @throws invalid_argument  shapes disagree or are negative, a null or misaligned pointer, a stride smaller than a row, an output
///                           that overlaps another operand, an activation_of_x whose derivative does not follow from its result, a
///                           workspace that is null, misaligned, too small or overlaps an operand, an unknown algorithm or
///                           precision (nothing is enqueued)
/// @throws unsupported       `fused` was asked for and cannot run this problem on this device; says why (nothing is enqueued)
/// @throws cuda_error        a launch or an allocation failed
template <class T>
void linear_gradient(matrix_view<const std::type_identity_t<T>> x,
                     matrix_view<const std::type_identity_t<T>> weights,
                     matrix_view<const std::type_identity_t<T>> gradient, matrix_view<T> dx,
                     matrix_view<float> dweights, vector_view<float> dbias, cuda::stream_ref stream,
                     const linear_gradient_options& options = {});

}  // namespace heddle
