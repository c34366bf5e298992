#pragma once

/// All of heddle for C++ files. Included by those who want them: the conversions of heddle/interop, and
/// heddle/elementwise.cuh, heddle/matmul.cuh and heddle/conv.cuh, which .cu files need for functors of their own.
///
/// A call works on the device of its stream, whichever device is current, and leaves the current device as it was. The legacy
/// and the per-thread default stream are the current device's. Operands lie where that device can reach them.
///
/// Any number of threads may call at once, on one stream or on many, and each call gives the bits that it gives alone. What a
/// caller brings is the caller's to share out: operands that are written, a workspace, which serves one stream at a time, and
/// an object such as a buffer or an event, which one thread uses at a time.

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
