#pragma once

#include <heddle/device.hpp>
#include <heddle/matmul.hpp>
#include <heddle/rungs.hpp>
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

#pragma GCC visibility push(default)

/// The fully connected layer of a neural network, for a batch of samples, and its gradients.
namespace heddle {

struct linear_options {
    matmul_activation activation = matmul_activation::none;
    /// The rung of the product. With a bias or an activation it must have epilogues; see matmul().
    matmul_algorithm algorithm = matmul_algorithm::automatic;
    /// Limits the choice of `automatic` where T is float.
    heddle::precision precision = heddle::precision::fp32;
    /// Device scratch memory, as in heddle::workspace: at least linear_workspace_bytes() with these options, 16-byte
    /// aligned, zeroed before first use, apart from all operands. Each call leaves it ready for the next.
    std::span<std::byte> workspace{};
    /// The source of scratch memory without a workspace. With a workspace nothing is allocated.
    heddle::scratch scratch = heddle::scratch::pool;
};

/// The bytes of workspace with which linear() of these arguments is fastest on the stream's device; 0 where it makes no
/// difference. Elements are not read; pointers may be null.
/// @throws invalid_argument  as linear(), but for pointers and the workspace
template <class T>
std::int64_t linear_workspace_bytes(matrix_view<const std::type_identity_t<T>> x,
                                    matrix_view<const std::type_identity_t<T>> weights,
                                    vector_view<const std::type_identity_t<T>> bias, matrix_view<T> y,
                                    cuda::stream_ref stream, const linear_options& options = {});

/// y = activation(x weights^T + bias). One kernel computes the product, bias and activation, and stores y once.
///
/// x is batch x in, one sample a row. weights is out x in, the usual form of trained networks. bias has `out`
/// elements of any stride, or is empty: no bias. y is batch x out. Matrices are in device memory with any row and
/// column strides: in x out weights are passed as transposed(w), at no cost. y must not overlap the others. T is
/// float, half or bfloat16, computed as matmul() does with an epilogue: sums, bias and activation in float, and one
/// rounding. docs/accuracy.md bounds the errors. The same call gives the same bits each time. The call is enqueued on
/// `stream` and its device. It never synchronises, is safe under stream capture, and allocates only as linear_options
/// says. Nothing is done where batch or out is 0; where in is 0, y = activation(bias).
///
/// @throws invalid_argument  shapes disagree or are negative, a null or misaligned pointer, a stride smaller than a
///                           row, a y that overlaps another operand, a workspace that is null, misaligned, too small or
///                           overlaps an operand, an unknown activation, algorithm or precision (nothing is enqueued)
/// @throws unsupported       the requested algorithm cannot run this problem on this device (nothing is enqueued)
/// @throws cuda_error        the launch or the allocation failed
template <class T>
void linear(matrix_view<const std::type_identity_t<T>> x, matrix_view<const std::type_identity_t<T>> weights,
            vector_view<const std::type_identity_t<T>> bias, matrix_view<T> y, cuda::stream_ref stream,
            const linear_options& options = {});

/// The rungs of linear_gradient(). They differ in the place that multiplies by the derivative of the layer below:
/// `separate` has a kernel for it, which reads and writes dx once more; `fused` does it in the epilogue of the product
/// for dx, before its only store. See kernels/linear/README.md. For each rung, the list has its name, when `automatic`
/// may take it, and what it needs of a problem, if anything.
#define HEDDLE_LINEAR_GRADIENT_RUNGS(RUNG) \
    RUNG(separate, always)                 \
    RUNG(fused, fused_pays, derivative, of_16_bits, hopper_device, readable)

/// The rung that a call asks for; `automatic` leaves the choice to heddle.
enum class linear_gradient_algorithm { automatic, HEDDLE_LINEAR_GRADIENT_RUNGS(HEDDLE_ENUMERATOR) };

/// Both, without `automatic`. Tests, benchmarks and pages iterate over them.
std::span<const linear_gradient_algorithm> linear_gradient_algorithms();
std::string_view to_string(linear_gradient_algorithm algorithm);

struct linear_gradient_options {
    linear_gradient_algorithm algorithm = linear_gradient_algorithm::automatic;
    /// The activation by which the layer below computed x. dx is then the gradient of that layer's sums, before its
    /// activation. It is none, relu, sigmoid or tanh, whose derivatives follow from their results.
    matmul_activation activation_of_x = matmul_activation::none;
    /// Limits the choice of products where T is float.
    heddle::precision precision = heddle::precision::fp32;
    /// Device scratch memory, as in heddle::workspace: at least linear_gradient_workspace_bytes() with these options,
    /// 16-byte aligned, zeroed before first use, apart from all operands. Each call leaves it ready for the next.
    std::span<std::byte> workspace{};
    /// The source of scratch memory without a workspace. With a workspace nothing is allocated.
    heddle::scratch scratch = heddle::scratch::pool;
};

/// The facts by which a rung is chosen. linear_gradient_problem_of() makes it.
struct linear_gradient_problem {
    /// gradient times weights, without the derivative.
    matmul_problem product{};
    /// dx is wanted, and activation_of_x is not none.
    bool has_derivative = false;

    bool operator==(const linear_gradient_problem&) const = default;
};

/// The problem of a call of linear_gradient() with these arguments. Elements are not read; pointers may be null.
/// @throws invalid_argument  as linear_gradient(), but for pointers and the workspace
template <class T>
linear_gradient_problem linear_gradient_problem_of(matrix_view<const std::type_identity_t<T>> x,
                                                   matrix_view<const std::type_identity_t<T>> weights,
                                                   matrix_view<const std::type_identity_t<T>> gradient,
                                                   matrix_view<T> dx,
                                                   const linear_gradient_options& options = {});

/// The rung that `automatic` chooses. It is `fused` where matmul would choose its own `fused` for the product with an
/// epilogue, without scratch memory. Pure.
/// @throws invalid_argument  as select() of the product
linear_gradient_algorithm select(const linear_gradient_problem& problem, const device_traits& device);

/// The reason, as in `unsupported`, why a rung cannot run a problem; empty if it can, and for `automatic`. `fused`
/// needs half or bfloat16, a derivative, and operands that matmul's `fused` takes without scratch memory. Pure.
/// @throws invalid_argument  as select(), and for an unknown algorithm
std::string why_not(linear_gradient_algorithm algorithm, const linear_gradient_problem& problem,
                    const device_traits& device);

/// The bytes of workspace with which linear_gradient() of these arguments is fastest on the stream's device; 0 where it
/// makes no difference. Elements are not read; pointers may be null.
/// @throws invalid_argument  as linear_gradient(), but for pointers and the workspace
template <class T>
std::int64_t linear_gradient_workspace_bytes(matrix_view<const std::type_identity_t<T>> x,
                                             matrix_view<const std::type_identity_t<T>> weights,
                                             matrix_view<const std::type_identity_t<T>> gradient,
                                             matrix_view<T> dx, matrix_view<float> dweights,
                                             vector_view<float> dbias, cuda::stream_ref stream,
                                             const linear_gradient_options& options = {});

/// The gradients of linear(): dx, dweights and dbias are the gradients of a loss with respect to the layer's
/// operands. `gradient` is its gradient with respect to the layer's sums x weights^T + bias, before the activation:
///
///   dx       = (gradient weights) * f'     f' the derivative of options.activation_of_x, element by element: 1 (none);
///                                          1 where x > 0, else 0 (relu); x (1 - x) (sigmoid); 1 - x^2 (tanh)
///   dweights = gradient^T x
///   dbias[j] = sum over i of gradient[i][j]
///
/// (Rumelhart, Hinton and Williams, "Learning representations by back-propagating errors", 1986). So the dx of one
/// layer is the `gradient` of the layer below. The last layer's `gradient` is the loss's own, such as
/// cross_entropy()'s.
///
/// x is batch x in, weights out x in, and gradient batch x out. dx is batch x in, dweights out x in, and dbias has `out`
/// elements. All are in device memory with any strides. T is float, half or bfloat16. dweights and dbias are float
/// for every T, as parameter<T, float> of optimizer.hpp takes them. A dx, dweights or dbias of `{}` is not computed.
/// An output overlaps no other operand. In particular dx is not `gradient`, as each element of `gradient` is read for
/// a whole row of dx.
///
/// Products are matmul()'s: exact for 16-bit types, and as options.precision says for float. Sums are in float.
/// `fused` rounds dx to T once; `separate` also rounds it before the derivative. A sum beyond T's largest number is
/// then infinite, and makes dx NaN where the derivative of sigmoid or tanh is 0. For relu, dx is 0 where x is not
/// positive, for any sum, and NaN where x is NaN. docs/accuracy.md bounds the errors. Where batch is 0, dweights and
/// dbias are zeros; where out is 0, the sums of dx are zeros. The same call gives the same bits each time. There are
/// one or two kernels for dx, one each for dweights and dbias, and copies of operands where matmul() makes them. The
/// call is enqueued on `stream` and its device. It never synchronises, is safe under stream capture, and allocates
/// only as linear_gradient_options says.
///
/// @throws invalid_argument  shapes disagree or are negative, a null or misaligned pointer, a stride smaller than a
///                           row, an output that overlaps another operand, an activation_of_x whose derivative does
///                           not follow from its result, a workspace that is null, misaligned, too small or overlaps
///                           an operand, an unknown algorithm or precision (nothing is enqueued)
/// @throws unsupported       `fused` was requested and cannot run this problem on this device (nothing is enqueued)
/// @throws cuda_error        a launch or an allocation failed
template <class T>
void linear_gradient(matrix_view<const std::type_identity_t<T>> x,
                     matrix_view<const std::type_identity_t<T>> weights,
                     matrix_view<const std::type_identity_t<T>> gradient, matrix_view<T> dx,
                     matrix_view<float> dweights, vector_view<float> dbias, cuda::stream_ref stream,
                     const linear_gradient_options& options = {});

}  // namespace heddle

#pragma GCC visibility pop
