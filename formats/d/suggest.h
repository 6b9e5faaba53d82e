// SPDX-License-Identifier: GPL-2.0
//
// "Did you mean": the nearest known name by edit distance, and what names of
// Solaris, FreeBSD and bpftrace are called here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/d/diagnostics.h"

namespace dfr::d {

// A sentence for a message's hint, or nothing.
std::string suggest(std::string_view name, const std::vector<std::string_view>& candidates);
// What a foreign name (bpftrace's `comm`) is in D, or nothing.
std::string_view foreign_name(std::string_view name);

// What to use instead of a probe that other systems have; empty for all others.
std::string_view foreign_probe(std::string_view provider, std::string_view function);

class Target;
struct ProbePattern;

// The hint for a pattern that matches nothing because its fields are counted from the right: it names
// 'syscall::read*:' for syscall::read*, quoted for a shell. `option`: as -n takes it, because the pattern was another
// option's (-f, -m). Empty if that is not why.
std::string counted_from_left(Target& target, const ProbePattern& wanted, bool option);

// A hint for a variable that is read above its first assignment: its type is not known there.
std::string assigned_below(const Sources& sources, Place read, uint8_t scope, const std::string& variable);

} // namespace dfr::d
