#pragma once

#include <cstdint>

/// What all operations hold to, so that one workspace serves them one after another.
namespace heddle::detail {

/// The first bytes are the reductions' ticket: they are zero between calls, whatever a call leaves in the
/// others.
inline constexpr std::int64_t workspace_ticket_bytes = 256;

/// What is kept in a workspace then lies the same way in every one.
inline constexpr std::int64_t workspace_alignment = 16;

}  // namespace heddle::detail
