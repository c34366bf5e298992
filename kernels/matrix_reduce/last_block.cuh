#pragma once

#include "kernels/device/last_block.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/matrix_reduce/launch.hpp"

#include <cstdint>

namespace heddle::kernels::matrix_reduce {

/// There are `count` rows (or strips of rows), each shared by `sharers` blocks. Rows i, i + max_tickets, ... have one
/// ticket. Returns whether this block of row `number` is the last to draw its ticket: then it sees the partials
/// of all these rows. The last draw sets the ticket back to zero. All threads of the block call this.
__device__ inline bool is_last_block(unsigned* tickets, unsigned number, unsigned count, unsigned sharers,
                                     partials_left left) {
    const unsigned ticket = number % max_tickets;
    const unsigned rows_of_ticket = (count - ticket + max_tickets - 1) / max_tickets;
    ptx::sync_threads();
    return kernels::is_last_block(tickets + ticket, rows_of_ticket * sharers - 1, left);
}

}  // namespace heddle::kernels::matrix_reduce
