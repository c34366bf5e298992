#pragma once

#include <heddle/device.hpp>
#include <heddle/rungs.hpp>
#include <heddle/scratch.hpp>
#include <heddle/types.hpp>

#include <cuda/stream_ref>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#pragma GCC visibility push(default)

namespace heddle {

/// A tensor of trained weights and the state that its optimizer keeps: arrays of `count` contiguous elements in
/// device memory. No array overlaps another, of this parameter or of any other in the list. T is float, half or
/// bfloat16; gradients are of T or float.
template <class T, class Gradient = T>
struct parameter {
    /// The weights, in float for every T, so that small steps are not lost.
    float* master = nullptr;
    /// The weights rounded to T, for the network. Each step writes them and never reads them. Null where they are not
    /// needed. Where T is float, it may also be `master` itself.
    T* value = nullptr;
    const Gradient* gradient = nullptr;
    /// Zero before the first step. sgd's momentum, or adam's average of gradients. Null for sgd without momentum.
    float* first_moment = nullptr;
    /// Zero before the first step. adam's average of squared gradients. Null for sgd.
    float* second_moment = nullptr;
    std::int64_t count = 0;
};

/// The rungs of the optimizers; kernels/optimizer/README.md is their ladder. For each rung, the list has its name,
/// whether `automatic` may take it, and what it needs of a problem, if anything.
#define HEDDLE_OPTIMIZER_RUNGS(RUNG) \
    RUNG(naive, never)               \
    RUNG(one_launch, never)          \
    RUNG(vectorized, always)

/// The rung that a call asks for; `automatic` leaves the choice to heddle.
enum class optimizer_algorithm { automatic, HEDDLE_OPTIMIZER_RUNGS(HEDDLE_ENUMERATOR) };

/// All rungs except `automatic`. Tests, benchmarks and pages iterate over them.
std::span<const optimizer_algorithm> optimizer_algorithms();
std::string_view to_string(optimizer_algorithm algorithm);

/// The facts by which a rung is chosen.
struct optimizer_problem {
    std::int64_t parameters = 0;
    std::int64_t elements = 0;  ///< of all parameters together
};

/// The rung that `automatic` chooses. Pure.
/// @throws invalid_argument  a negative number, more than 2^58 elements, device.sm_count below 1
optimizer_algorithm select(const optimizer_problem& problem, const device_traits& device);

/// The reason, as in `unsupported`, why a rung cannot run a problem; empty if it can, and for `automatic`. Pure.
/// @throws invalid_argument  as select(), and for an unknown algorithm
std::string why_not(optimizer_algorithm algorithm, const optimizer_problem& problem,
                    const device_traits& device);

/// The scalars of sgd. adam_options has members of the same names with the same meaning. The scalars are rounded to
/// float before they meet elements; 1 - beta is rounded as one number.
///
/// A device_learning_rate that is not null is read on the device instead of learning_rate. So a schedule can go on
/// while a captured graph is replayed.
///
/// Gradients are multiplied by gradient_scale, for example by 1 / the factor of a scaled loss. Where clip_norm_of is
/// not null, they are then clipped: multiplied by min(1, max_norm / (norm + 1e-6)). norm is gradient_scale times
/// *clip_norm_of, a number in device memory that gradient_norm() has written. The host does not wait for it. A NaN norm
/// makes all gradients NaN.
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
    /// In device memory. Where it is not null, it is read instead of `step`; see advance().
    const std::int64_t* device_step = nullptr;
    double gradient_scale = 1;
    double max_norm = 1;
    const float* clip_norm_of = nullptr;
    const float* device_learning_rate = nullptr;
    optimizer_algorithm algorithm = optimizer_algorithm::automatic;
};

/// One step of stochastic gradient descent for all parameters of a list, by PyTorch's formulas without dampening. w
/// are the weights, g the gradients (scaled and clipped) and b the first moments:
///
///     g += weight_decay w;   b = momentum b + g;   w -= learning_rate b
///
/// Nesterov's variant has (g + momentum b) instead of b in the last formula. Computed in float. A NaN stays in its
/// own element, unless gradients are clipped. The same call gives the same bits each time, for any alignment and for
/// any other parameters in the list. docs/accuracy.md bounds the errors.
///
/// There is one launch for up to 512 parameters, and one for every further 512. It carries the addresses of its parameters;
/// the list is read before the call returns. The call is enqueued on `stream` and its device. It never synchronises or
/// allocates, and is safe under stream capture. A captured graph keeps the addresses, and reads device memory at each
/// launch. Parameters without elements do nothing, with any pointers. Overlaps between parameters are not checked.
///
/// @throws invalid_argument  a negative count, a null or misaligned pointer, arrays of one parameter that overlap, an
///                           option that is not finite or negative, nesterov without momentum, an unknown algorithm
///                           (nothing is enqueued)
/// @throws cuda_error        a launch failed
template <class T, class Gradient = T>
void sgd(std::type_identity_t<std::span<const parameter<T, Gradient>>> parameters, cuda::stream_ref stream,
         const sgd_options& options = {});

/// One step of Adam (Kingma and Ba, "Adam: a method for stochastic optimization", 2015), with moments m, v and step t:
///
///     g += weight_decay w;   m += (1 - beta1) (g - m);   v = beta2 v + (1 - beta2) g^2
///     w -= learning_rate / (1 - beta1^t) * m / (sqrt(v) / sqrt(1 - beta2^t) + epsilon)
///
/// If *device_step is less than 1, weights become NaN or infinite. All else is as for sgd().
///
/// @throws invalid_argument  also for a beta outside [0, 1) and a step below 1
template <class T, class Gradient = T>
void adam(std::type_identity_t<std::span<const parameter<T, Gradient>>> parameters, cuda::stream_ref stream,
          const adam_options& options = {});

/// Adam with decoupled weight decay (Loshchilov and Hutter, "Decoupled weight decay regularization", 2019). The
/// weights are first multiplied by 1 - learning_rate * weight_decay; no decay is added to the gradients. All else is
/// as for adam().
template <class T, class Gradient = T>
void adamw(std::type_identity_t<std::span<const parameter<T, Gradient>>> parameters, cuda::stream_ref stream,
           const adam_options& options = {});

/// *step += 1, in device memory, by a launch of one thread. Call it once before the optimizers of a step, for any
/// number of lists. The optimizers only read the counter, so that all their blocks see one value. A counter that
/// starts at 0 is 1 in the first step.
///
/// @throws invalid_argument  a null or misaligned pointer (nothing is enqueued)
/// @throws cuda_error        the launch failed
void advance(std::int64_t* step, cuda::stream_ref stream);

struct gradient_norm_options {
    /// Device scratch memory, as in heddle::workspace: at least gradient_norm_workspace_bytes(), 16-byte aligned,
    /// zeroed before first use, apart from gradients and result. Each call leaves it ready for the next.
    std::span<std::byte> workspace{};
    /// The source of scratch memory without a workspace. With a workspace nothing is allocated. With scratch::none, one
    /// block computes the whole norm, and a list of more than 512 parameters with elements throws unsupported.
    heddle::scratch scratch = heddle::scratch::pool;
};

/// The most bytes of workspace that gradient_norm() needs. Pure.
/// @throws invalid_argument  as select()
std::int64_t gradient_norm_workspace_bytes(const optimizer_problem& problem, const device_traits& device);

/// *result = the l2 norm of all gradients of a list; 0 where there are none. Only `gradient` and `count` are read.
///
/// `result` is in device memory and does not overlap the gradients. Squares are added in double. The order of the
/// additions depends on the counts, the alignments and the device alone: the same call gives the same bits each time.
/// The norm is NaN where any gradient is NaN. Otherwise it is Inf where any gradient is infinite, or where the norm
/// exceeds float's range. There is one launch for up to 512 parameters, and one for every further 512. The call is
/// enqueued on `stream` and its device. It never synchronises, is safe under stream capture, and allocates only as
/// gradient_norm_options says.
///
/// @throws invalid_argument  a negative count, a null or misaligned pointer, a workspace that is null, misaligned,
///                           too small or overlaps (nothing is enqueued)
/// @throws unsupported       more than 512 parameters without scratch memory
/// @throws cuda_error        a launch or the allocation failed
template <class T, class Gradient = T>
void gradient_norm(std::type_identity_t<std::span<const parameter<T, Gradient>>> parameters, float* result,
                   cuda::stream_ref stream, const gradient_norm_options& options = {});

}  // namespace heddle

#pragma GCC visibility pop
