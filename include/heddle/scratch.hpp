#pragma once

#pragma GCC visibility push(default)

namespace heddle {

/// The source of scratch memory, which makes some operations faster, for a call without a workspace.
///
/// pool: heddle's stream-ordered pool of the stream's device (memory_pool::scratch_of); nothing is synchronised. Where
/// the pool gets no more memory, the call runs as with none, and gives the same bits, if a rung can.
/// none: the call plans without scratch memory. A call or rung that needs some throws unsupported.
///
/// While the stream is being captured, the memory belongs to the graph, which has nodes that allocate and free it. Then
/// CUDA allows one executable of the cudaGraph_t at a time, no clones of it, and no deletion of its nodes and edges. It
/// can become a child of another graph only by moving there. A workspace, or none, avoids these limits.
enum class scratch { pool, none };

}  // namespace heddle

#pragma GCC visibility pop
