// SPDX-License-Identifier: GPL-2.0
//
// Keys of Catalog::machine: what $pid and $target were in the session that recorded, where a recorder says so.
#pragma once

namespace dfr::trace {

inline constexpr const char* kSessionPidKey = "session_pid";
inline constexpr const char* kSessionTargetKey = "session_target";

} // namespace dfr::trace
