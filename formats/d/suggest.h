// SPDX-License-Identifier: GPL-2.0
//
// "Did you mean": the nearest known name by edit distance, and what names of
// Solaris, FreeBSD and bpftrace are called here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dfr::d {

// A sentence for a message's hint, or nothing.
std::string suggest(std::string_view name, const std::vector<std::string_view>& candidates);
// What a foreign name (bpftrace's `comm`) is in D, or nothing.
std::string_view foreign_name(std::string_view name);

// What to use instead of a probe that other systems have; empty for all others.
std::string_view foreign_probe(std::string_view provider, std::string_view function);

class Target;

// For a description that matches nothing because its fields are counted from the right: "syscall::read*:" for
// "syscall::read*". Empty if that is not why.
std::string counted_from_left(Target& target, std::string_view text);

} // namespace dfr::d
