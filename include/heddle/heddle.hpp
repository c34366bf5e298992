#pragma once

/// All of heddle for C++ files. Not included are the conversions of heddle/interop, and heddle/elementwise.cuh,
/// heddle/matmul.cuh and heddle/conv.cuh, which .cu files need for functors of their own.
///
/// A call works on the device of its stream, for any current device, and leaves the current device as it was. The
/// legacy and the per-thread default stream belong to the current device. That device must be able to reach the
/// operands.
///
/// Any number of threads may call at once, on one stream or on many. Each call gives the same bits as it gives alone.
/// Callers must not share written operands between concurrent calls. A workspace serves one stream at a time. Only
/// one thread at a time may use an object such as a buffer or an event.

#include <heddle/batched_matmul.hpp>
#include <heddle/buffer.hpp>
#include <heddle/conv.hpp>
#include <heddle/copy.hpp>
#include <heddle/device.hpp>
#include <heddle/elementwise.hpp>
#include <heddle/error.hpp>
#include <heddle/gaussian_blur.hpp>
#include <heddle/graph.hpp>
#include <heddle/histogram.hpp>
#include <heddle/host.hpp>
#include <heddle/image.hpp>
#include <heddle/image_filter.hpp>
#include <heddle/linear.hpp>
#include <heddle/loss.hpp>
#include <heddle/matmul.hpp>
#include <heddle/matmul_tuner.hpp>
#include <heddle/matrix_reduce.hpp>
#include <heddle/memory_pool.hpp>
#include <heddle/norm.hpp>
#include <heddle/optimizer.hpp>
#include <heddle/planes.hpp>
#include <heddle/pool.hpp>
#include <heddle/random.hpp>
#include <heddle/reduce.hpp>
#include <heddle/rungs.hpp>
#include <heddle/scan.hpp>
#include <heddle/scratch.hpp>
#include <heddle/softmax.hpp>
#include <heddle/stream.hpp>
#include <heddle/tensor.hpp>
#include <heddle/transpose.hpp>
#include <heddle/types.hpp>
#include <heddle/version.hpp>
#include <heddle/view.hpp>
#include <heddle/workspace.hpp>
