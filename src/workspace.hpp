#pragma once

#include "src/validate.hpp"
#include <heddle/workspace.hpp>

#include <cuda/stream_ref>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <span>

/// What all operations hold to, so that one workspace serves them one after another.
namespace heddle::detail {

/// The first bytes are tickets: they are zero between calls, whatever a call leaves in the
/// others.
inline constexpr std::int64_t workspace_ticket_bytes = 4096;

/// What is kept in a workspace then lies the same way in every one.
inline constexpr std::int64_t workspace_alignment = 16;

/// Memory of any kind.
inline footprint footprint_of(const void* data, std::size_t bytes) {
    return {reinterpret_cast<std::uintptr_t>(data), bytes, 1, bytes};
}

struct operand {
    const char* name;
    footprint memory;
};

/// An empty workspace stands for the device's pool.
inline void validate_workspace(const char* operation, std::span<std::byte> given,
                               std::initializer_list<operand> operands) {
    if (given.empty()) return;
    const argument_name name{"options", "workspace"};
    require(given.data() != nullptr, operation, name, "null", "a pointer to {} bytes, or an empty span",
            given.size());
    const void* const address = address_of(given.data());
    require(is_aligned(address, workspace_alignment), operation, name, address, "a multiple of {} bytes",
            workspace_alignment);
    for (const operand& other : operands)
        require(!overlap(footprint_of(given.data(), given.size()), other.memory), operation, name, address,
                "memory apart from {}", other.name);
}

inline void validate_workspace_size(const char* operation, std::span<std::byte> given, std::int64_t bytes) {
    require(given.empty() || std::ssize(given) >= bytes, operation, {"options", "workspace"}, given.size(),
            "at least {} bytes", bytes);
}

/// A workspace of tickets and so much scratch memory after them; 0 where there is none.
inline std::int64_t workspace_bytes_for(std::int64_t scratch_bytes) {
    constexpr std::int64_t unit = workspace_alignment;
    return scratch_bytes == 0 ? 0 : workspace_ticket_bytes + (scratch_bytes + unit - 1) / unit * unit;
}

/// A call's workspace: the one that was given or else, for as long as this lives, one from the pool of the stream's device.
class call_workspace {
  public:
    /// @throws invalid_argument  the one that was given is too small
    call_workspace(const char* operation, std::span<std::byte> given, std::int64_t scratch_bytes,
                   cuda::stream_ref stream) {
        const std::int64_t bytes = workspace_bytes_for(scratch_bytes);
        validate_workspace_size(operation, given, bytes);
        if (bytes == 0) return;
        data_ = given.empty() ? own_.emplace(bytes, stream).data() : given.data();
    }

    /// These are null where no scratch memory is needed.
    unsigned* tickets() const { return reinterpret_cast<unsigned*>(data_); }
    std::byte* scratch() const { return data_ == nullptr ? nullptr : data_ + workspace_ticket_bytes; }

  private:
    std::optional<workspace> own_;
    std::byte* data_ = nullptr;
};

}  // namespace heddle::detail
