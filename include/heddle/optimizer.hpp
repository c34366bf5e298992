#pragma once

#include <heddle/device.hpp>
#include <heddle/scratch.hpp>
#include <heddle/types.hpp>

#include <cuda/stream_ref>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace heddle {

/// A tensor of weights that is trained, with what its optimizer keeps of it: arrays of `count` elements side by side, in device
/// memory, none of which overlaps another, of this parameter or any other of the list. T is float, half or bfloat16; gradients
/// are of T or float.
template <class T, class Gradient = T>
struct parameter {
    /// The weights, in float whatever T is, so that small steps are not lost.
    float* master = nullptr;
    /// The weights rounded to T, for the network to use: written by each step, never read. Null where nobody wants them, as where
    /// T is float: then it may also be `master` itself.
    T* value = nullptr;
    const Gradient* gradient = nullptr;
    /// Zero before the first step. sgd's momentum, or adam's average of gradients; null for sgd without momentum.
    float* first_moment = nullptr;
    /// Zero before the first step. adam's average of squared gradients; null for sgd.
    float* second_moment = nullptr;
    std::int64_t count = 0;
};

/// The rungs of the optimizers; kernels/optimizer/README.md is their ladder.
enum class optimizer_algorithm {
    automatic,
    naive,
    one_launch,
    vectorized,
};

/// All rungs, without `automatic`: what tests, benchmarks and pages go through.
std::span<const optimizer_algorithm> optimizer_algorithms();
std::string_view to_string(optimizer_algorithm algorithm);

/// What the choice of a rung depends on.
struct optimizer_problem {
    std::int64_t parameters = 0;
    std::int64_t elements = 0;  ///< of all together
};

/// The rung that `automatic` stands for. Pure.
/// @throws invalid_argument  a negative number, more than 2^58 elements, device.sm_count below 1
optimizer_algorithm select(const optimizer_problem& problem, const device_traits& device);

/// Why a rung cannot run a problem on a device, as `unsupported` says it; empty where it can, and of `automatic`. Pure.
/// @throws invalid_argument  as select(), and for an unknown algorithm
std::string why_not(optimizer_algorithm algorithm, const optimizer_problem& problem,
                    const device_traits& device);

/// The scalars of sgd. Those that adam has too mean the same there. All are rounded to float where they meet elements, 1 - beta
/// as one number.
///
/// device_learning_rate, where it is not null, is read on the device instead of learning_rate, so that a schedule can go on while
/// a captured graph is replayed.
///
/// Gradients are multiplied by gradient_scale, as by 1 / the factor of a scaled loss. Where clip_norm_of is not null, they are then
/// clipped: multiplied by min(1, max_norm / (norm + 1e-6)), norm being gradient_scale times the number in device memory there,
/// which gradient_norm() has written. Nothing waits for it on the host. A norm that is NaN makes all gradients NaN.
struct sgd_options {
    double learning_rate = 1e-3;
    double momentum = 0;  ///< 0 needs no moments
    bool nesterov = false;
    double weight_decay = 0;  ///< times the weight, added to the gradient
    double gradient_scale = 1;
    double max_norm = 1;
    const float* clip_norm_of = nullptr;
    const float* device_learning_rate = nullptr;
    optimizer_algorithm algorithm = optimizer_algorithm::automatic;
};

/// The scalars of adam and adamw; see sgd_options.
struct adam_options {
    double learning_rate = 1e-3;
    double beta1 = 0.9;
    double beta2 = 0.999;
    double epsilon = 1e-8;
    double weight_decay = 0;  ///< PyTorch's AdamW has 0.01 by default
    std::int64_t step = 1;    ///< the number of this step, from 1 on
    /// In device memory, instead of `step`; see advance().
    const std::int64_t* device_step = nullptr;
    double gradient_scale = 1;
    double max_norm = 1;
    const float* clip_norm_of = nullptr;
    const float* device_learning_rate = nullptr;
    optimizer_algorithm algorithm = optimizer_algorithm::automatic;
};

/// A step of stochastic gradient descent, of all parameters of a list, by PyTorch's formulas without dampening. With w the
/// weights, g the gradients (scaled and clipped) and b the first moments:
///
///     g += weight_decay w;   b = momentum b + g;   w -= learning_rate b,   or (g + momentum b) for b in Nesterov's
///
/// Computed in float. Elements share nothing but the options: a NaN stays in its own, unless gradients are clipped. The same call
/// gives the same bits each time, whatever the alignment and whatever else is in the list. Errors in docs/accuracy.md.
///
/// Enqueued on `stream` and its device: one launch for up to 512 parameters, whose addresses go with it, and one more for every
/// further 512. The list itself is read before the call returns. Never synchronises, never allocates; safe under stream capture:
/// a graph keeps the addresses, and reads what is in device memory each time. Parameters without elements do nothing, with any
/// pointers. That parameters of a list do not overlap each other is the caller's word: it is not checked.
///
/// @throws invalid_argument  a negative count, a null or misaligned pointer, arrays of one parameter that overlap, an option that is
///                           not finite or negative, nesterov without momentum, an unknown algorithm (nothing is enqueued)
/// @throws cuda_error        a launch failed
template <class T, class Gradient = T>
void sgd(std::type_identity_t<std::span<const parameter<T, Gradient>>> parameters, cuda::stream_ref stream,
         const sgd_options& options = {});

/// A step of Adam (Kingma and Ba, "Adam: a method for stochastic optimization", 2015). With m and v the moments and t the step:
///
///     g += weight_decay w;   m += (1 - beta1) (g - m);   v = beta2 v + (1 - beta2) g^2
///     w -= learning_rate / (1 - beta1^t) * m / (sqrt(v) / sqrt(1 - beta2^t) + epsilon)
///
/// Below the first step, where t is less than 1 in device memory, weights become NaN or infinite. All else is as for sgd();
/// also @throws invalid_argument for a beta outside [0, 1) and a step below 1.
template <class T, class Gradient = T>
void adam(std::type_identity_t<std::span<const parameter<T, Gradient>>> parameters, cuda::stream_ref stream,
          const adam_options& options = {});

/// Adam with decoupled weight decay (Loshchilov and Hutter, "Decoupled weight decay regularization", 2019): gradients stay as
/// they are, and weights are first multiplied by 1 - learning_rate * weight_decay. All else is as for adam().
template <class T, class Gradient = T>
void adamw(std::type_identity_t<std::span<const parameter<T, Gradient>>> parameters, cuda::stream_ref stream,
           const adam_options& options = {});

/// *step += 1, in device memory, by a launch of one thread. Called once before the optimizers of a step, it may count for any
/// number of lists: they read it and never write it, so that their blocks agree whatever their order. A counter that starts at 0
/// then is 1 in the first step.
///
/// @throws invalid_argument  a null or misaligned pointer (nothing is enqueued)
/// @throws cuda_error        the launch failed
void advance(std::int64_t* step, cuda::stream_ref stream);

struct gradient_norm_options {
    /// Device scratch memory, zeroed before its first use (heddle::workspace is), of at least
    /// gradient_norm_workspace_bytes(), 16-byte aligned, apart from gradients and result; ready for the next call when this one
    /// is done.
    std::span<std::byte> workspace{};
    /// Without a workspace, scratch memory that makes the call faster comes, stream-ordered, from heddle's pool of the stream's
    /// device (memory_pool::scratch_of); with a workspace nothing is allocated. scratch::none forbids it: then one block does it
    /// all, and more than 512 parameters that have elements throw unsupported.
    heddle::scratch scratch = heddle::scratch::pool;
};

/// The workspace, in bytes, that gradient_norm() needs at most. Pure.
/// @throws invalid_argument  as select()
std::int64_t gradient_norm_workspace_bytes(const optimizer_problem& problem, const device_traits& device);

/// *result = the l2 norm of all gradients of a list, as of one vector; 0 where there are none. Only `gradient` and `count` of the
/// parameters count.
///
/// `result` is in device memory, apart from gradients. Squares are added in double, in an order that depends on the counts,
/// alignments and the device alone: the same call gives the same bits each time. NaN where any gradient is NaN, else Inf where any
/// is infinite, or where the norm is beyond float. One launch for up to 512 parameters, and one more for every further 512. Enqueued
/// on `stream` and its device; never synchronises; safe under stream capture; allocates only as the options say.
///
/// @throws invalid_argument  a negative count, a null or misaligned pointer, a workspace that is null, misaligned, too small or
///                           overlaps (nothing is enqueued)
/// @throws unsupported       more than 512 parameters without scratch memory
/// @throws cuda_error        a launch or the allocation failed
template <class T, class Gradient = T>
void gradient_norm(std::type_identity_t<std::span<const parameter<T, Gradient>>> parameters, float* result,
                   cuda::stream_ref stream, const gradient_norm_options& options = {});

}  // namespace heddle
