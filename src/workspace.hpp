#pragma once

#include "kernels/device/math.hpp"
#include "src/rungs.hpp"
#include "src/validate.hpp"
#include <heddle/error.hpp>
#include <heddle/workspace.hpp>

#include <cuda/stream_ref>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <utility>

/// The layout of workspaces, which all operations share so that one workspace serves them in turn, and a call's memory.
namespace heddle::detail {

/// A workspace begins with tickets, which are zero between calls. The other bytes have no defined value then.
inline constexpr std::int64_t workspace_ticket_bytes = 4096;

/// The alignment of a workspace in bytes. Its parts then have the same alignment in every workspace.
inline constexpr std::int64_t workspace_alignment = 16;

struct named_footprint {
    const char* name;
    footprint memory;
};

/// Checks the caller's workspace. An empty one means memory from the pool, or none.
inline void validate_workspace(const char* operation, std::span<std::byte> given,
                               std::initializer_list<named_footprint> operands) {
    if (given.empty()) return;
    const argument_name name{"options", "workspace"};
    require(given.data() != nullptr, operation, name, "null", "a pointer to {} bytes, or an empty span",
            given.size());
    const void* const address = address_of(given.data());
    require(is_aligned(address, workspace_alignment), operation, name, address, "a multiple of {} bytes",
            workspace_alignment);
    for (const named_footprint& other : operands)
        require(!overlap(footprint_of(given.data(), std::ssize(given), {}), other.memory), operation, name,
                address, "memory apart from {}", other.name);
}

inline void validate_scratch(const char* operation, scratch from) {
    require(from == scratch::pool || from == scratch::none, operation, {"options", "scratch"},
            static_cast<int>(from), "an enumerator of scratch");
}

/// The bytes of a workspace with tickets and then this much scratch memory; 0 without scratch memory.
inline std::int64_t workspace_bytes_for(std::int64_t scratch_bytes) {
    if (scratch_bytes == 0) return 0;
    return workspace_ticket_bytes + kernels::round_up(scratch_bytes, workspace_alignment);
}

/// A block of tickets. One call at a time uses it, and leaves its tickets zero.
struct ticket_block;
struct return_tickets {
    int device;
    cudaStream_t stream;
    void operator()(ticket_block* block) const noexcept;
};

struct free_scratch {
    cudaStream_t stream;
    void operator()(std::byte* data) const noexcept;
};

/// A call's tickets and scratch memory, in the caller's workspace or from heddle's pool. Memory from the pool is
/// returned at this object's end, after all work of the call is enqueued.
class call_workspace {
  public:
    /// Without tickets and scratch memory: both are null.
    call_workspace() = default;
    explicit call_workspace(std::span<std::byte> given)
        : tickets_(reinterpret_cast<unsigned*>(given.data())),
          scratch_(given.data() + workspace_ticket_bytes) {}

    /// Takes memory on the current device, which must be the stream's. Empty if the pool gets no more memory.
    static std::optional<call_workspace> from_pool(std::int64_t scratch_bytes, bool needs_tickets,
                                                   cuda::stream_ref stream);

    unsigned* tickets() const { return tickets_; }
    std::byte* scratch() const { return scratch_; }

  private:
    std::unique_ptr<ticket_block, return_tickets> lent_;
    std::unique_ptr<std::byte, free_scratch> own_;
    unsigned* tickets_ = nullptr;
    std::byte* scratch_ = nullptr;
};

// The memory of a chosen rung's plan. kernels/<op>/launch.hpp defines scratch_bytes() of a plan. It also defines
// needs_tickets() if some plans with scratch memory need no tickets.
template <class Rung>
std::int64_t scratch_bytes(const planned<Rung>& chosen) {
    return scratch_bytes(chosen.plan);
}
template <class Rung>
bool needs_tickets(const planned<Rung>& chosen) {
    if constexpr (requires { needs_tickets(chosen.plan); })
        return needs_tickets(chosen.plan);
    else
        return true;
}

/// Whether a call with these options may take scratch memory.
template <class Options>
bool has_scratch(const Options& options) {
    return !options.workspace.empty() || options.scratch == scratch::pool;
}

/// Plans a call and takes its memory. plan(true) may use scratch memory, and plan(false) uses none. If the pool gets no
/// more memory, the call uses plan(false).
/// @throws invalid_argument  the caller's workspace is too small
/// @throws unsupported       plan() throws it
/// @throws cuda_error        the pool gets no more memory, and plan(false) fails
template <class Options, class Plan>
auto plan_with_workspace(const char* operation, const Options& options, cuda::stream_ref stream, Plan plan) {
    validate_scratch(operation, options.scratch);
    const std::span<std::byte> given = options.workspace;
    std::pair result(plan(has_scratch(options)), call_workspace());
    const std::int64_t bytes = scratch_bytes(result.first);
    if (bytes == 0) return result;
    if (!given.empty()) {
        require(std::ssize(given) >= workspace_bytes_for(bytes), operation, {"options", "workspace"},
                given.size(), "at least {} bytes", workspace_bytes_for(bytes));
        result.second = call_workspace(given);
        return result;
    }
    if (auto taken = call_workspace::from_pool(bytes, needs_tickets(result.first), stream)) {
        result.second = *std::move(taken);
        return result;
    }
    try {
        result.first = plan(false);
    } catch (const unsupported&) {
        check(cudaErrorMemoryAllocation);
    }
    return result;
}

}  // namespace heddle::detail
