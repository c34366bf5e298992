#include "src/workspace.hpp"

#include "src/ignore.hpp"
#include "src/uncaptured.hpp"
#include <heddle/device.hpp>
#include <heddle/memory_pool.hpp>
#include <heddle/stream.hpp>

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

namespace heddle::detail {

struct ticket_block {
    unsigned* data;
    event used;                      ///< recorded after the last use
    unsigned long long used_on = 0;  ///< the id of the last use's stream
};

namespace {

/// Null if the pool gets no more memory.
std::byte* allocate(std::int64_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
    void* data = nullptr;
    const uncaptured scope;  // the pool may have to grow, which a capture would forbid
    const cudaError_t status = cudaMallocFromPoolAsync(&data, static_cast<std::size_t>(bytes), pool, stream);
    if (status == cudaErrorMemoryAllocation) {
        ignore(status);
        return nullptr;
    }
    check(status);
    return static_cast<std::byte*>(data);
}

bool is_captured(cudaStream_t stream) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    check(cudaStreamIsCapturing(stream, &status));
    return status != cudaStreamCaptureStatusNone;
}

/// The blocks of a device that no call uses. Blocks are never freed: there are as many as calls once ran at a time.
class ticket_list {
  public:
    static ticket_list& of(int device) {
        static auto& mutex = *new std::mutex;
        static auto& lists = *new std::map<int, ticket_list>;
        const std::lock_guard lock(mutex);
        return lists[device];
    }

    /// A block whose last use was on this stream, or else has finished. Null if there is none.
    ticket_block* take(unsigned long long stream_id) {
        const std::lock_guard lock(mutex_);
        auto found =
            std::ranges::find(blocks_, stream_id, [](const ticket_block* block) { return block->used_on; });
        if (found == blocks_.end()) {
            const uncaptured scope;
            found = std::ranges::find_if(blocks_, [](const ticket_block* block) {
                const cudaError_t status = cudaEventQuery(block->used.get());
                if (status != cudaErrorNotReady) ignore(status);
                return status == cudaSuccess;
            });
        }
        if (found == blocks_.end()) return nullptr;
        std::swap(*found, blocks_.back());
        ticket_block* const block = blocks_.back();
        blocks_.pop_back();
        return block;
    }

    void add(ticket_block* block) noexcept {
        const std::lock_guard lock(mutex_);
        blocks_.push_back(block);
    }

    /// Reserves room for one more block, so that add() cannot fail.
    void count_one() {
        const std::lock_guard lock(mutex_);
        blocks_.reserve(++count_);
    }

  private:
    std::mutex mutex_;
    std::vector<ticket_block*> blocks_;
    std::size_t count_ = 0;  ///< all blocks, also those that calls use
};

/// Null if the pool gets no more memory.
ticket_block* make_block(cudaMemPool_t pool, cudaStream_t stream) {
    std::unique_ptr<std::byte, free_scratch> data(allocate(workspace_ticket_bytes, pool, stream), {stream});
    if (!data) return nullptr;
    check(cudaMemsetAsync(data.get(), 0, workspace_ticket_bytes, stream));
    event used({.timing = false});
    return new ticket_block{reinterpret_cast<unsigned*>(data.release()), std::move(used)};
}

}  // namespace

/// Returns a block to the list. It is lost if its last use cannot be recorded.
void return_tickets::operator()(ticket_block* block) const noexcept {
    const cudaError_t status = cudaEventRecord(block->used.get(), stream);
    ignore(status);
    if (status == cudaSuccess) ticket_list::of(device).add(block);
}

void free_scratch::operator()(std::byte* data) const noexcept {
    const uncaptured scope;  // as for the allocation
    ignore(cudaFreeAsync(data, stream));
}

std::optional<call_workspace> call_workspace::from_pool(std::int64_t scratch_bytes, bool needs_tickets,
                                                        cuda::stream_ref stream) {
    const int device = current_device();
    const cudaMemPool_t pool = memory_pool::scratch_of(device).get();
    const cudaStream_t handle = stream.get();
    // A graph keeps its tickets, so they cannot come from a block that other calls use.
    const bool in_graph = needs_tickets && is_captured(handle);
    const std::int64_t own_tickets = in_graph ? workspace_ticket_bytes : 0;

    call_workspace result;
    result.own_ = {allocate(own_tickets + scratch_bytes, pool, handle), {handle}};
    if (!result.own_) return std::nullopt;
    result.scratch_ = result.own_.get() + own_tickets;
    if (in_graph) {
        check(cudaMemsetAsync(result.own_.get(), 0, workspace_ticket_bytes, handle));
        result.tickets_ = reinterpret_cast<unsigned*>(result.own_.get());
    } else if (needs_tickets) {
        unsigned long long id = 0;
        check(cudaStreamGetId(handle, &id));
        ticket_block* block = ticket_list::of(device).take(id);
        if (block == nullptr) {
            ticket_list::of(device).count_one();
            block = make_block(pool, handle);
        }
        if (block == nullptr) return std::nullopt;
        block->used_on = id;
        result.lent_ = {block, {device, handle}};
        result.tickets_ = block->data;
    }
    return result;
}

}  // namespace heddle::detail
