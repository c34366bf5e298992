#pragma once

namespace heddle {

/// Where an operation without a workspace takes scratch memory that makes it faster.
///
/// pool: from heddle's pool of the stream's device (memory_pool::scratch_of), stream-ordered: nothing is synchronised. Where
/// the pool gets no more memory, the call goes on as with none, if a rung can: its bits are those of such a call then.
/// none: it takes none. A call that needs some then throws unsupported.
///
/// Where the stream is being captured, the memory belongs to the graph: it has nodes that allocate and free it. Of a
/// cudaGraph_t with such nodes one executable may exist at a time; it cannot be cloned, its nodes and edges cannot be
/// deleted, and it becomes a child of another graph by moving there alone. Pass a workspace, or none, where that is too little.
enum class scratch { pool, none };

}  // namespace heddle
