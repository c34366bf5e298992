#pragma once

namespace heddle::bench {

/// Puts into the output's context what ran: the GPU, the CPU, and the versions of CUDA and of the libraries.
void add_context();

}  // namespace heddle::bench
