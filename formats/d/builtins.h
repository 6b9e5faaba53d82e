// SPDX-License-Identifier: GPL-2.0
//
// The fixed names of D: built-in variables, subroutines, actions and
// aggregating functions, with what the analysis must know about each. Tables
// only; the rules that need code are in sema_*.cc.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "formats/abi/dof.h"
#include "formats/dif/subroutines.h"

namespace dfr::d {

struct Builtin {
	std::string_view name;
	uint32_t id;
	std::string_view type; // "" for args
	bool array = false;
	bool kernel = false; // means kernel state: needs a target that has one
	bool input = true;   // the same again in replay, so it can be captured
};

enum SubroutineFlags : uint8_t {
	kPure = 0x1, // of firing inputs it makes a firing input
	kDestructive = 0x2,
	kUserData = 0x4, // its result comes from user memory
	kKernel = 0x8,
	kWritable = 0x10, // the result points to memory that D may write
	kHidden = 0x20,   // only the compiler calls it
	kAbsent = 0x40    // it asks about what Linux does not have
};

struct Subroutine {
	uint32_t number;
	// C type text of the result. "thread" is the kernel's thread pointer.
	std::string_view result;
	// One letter for each argument: s string, i integer, a address or integer,
	// n address as a number or pointer, w scratch memory, p pointer, 6 an IPv6
	// address, c character, v any scalar; after '?' they may be missing.
	std::string_view arguments;
	std::string_view prototype; // for messages
	uint8_t flags = 0;

	std::string_view name() const { return dif::subroutine_name(number); }
};

enum class ActionGroup : uint8_t {
	Trace,
	Print,
	Tracemem,
	Printf,
	Printa,
	Stack,
	UStack,
	Symbol,
	Libact,
	Exit,
	Speculative,
	Destructive,
	Capture,
	Snapshot,
	Printm
};

struct ActionInfo {
	std::string_view name;
	uint32_t kind; // DFR_ACT_*
	ActionGroup group;
	unsigned min, max; // arguments
	uint32_t libact = 0;
};

struct AggFunction {
	std::string_view name;
	uint32_t kind;      // DFR_ACT_*
	unsigned min, max;  // arguments
	unsigned constants; // how many constant parameters follow the value
};

const Builtin* find_builtin(std::string_view name);
// Whether every record has this built-in variable, whatever was captured.
bool in_every_record(uint32_t id);
const Subroutine* find_subroutine(std::string_view name);
const Subroutine* find_subroutine(uint32_t number);
const ActionInfo* find_action(std::string_view name);
const AggFunction* find_agg_function(std::string_view name);
const AggFunction* find_agg_function(uint32_t kind);

// All names of one kind, for suggestions.
std::vector<std::string_view> builtin_names();
std::vector<std::string_view> function_names();

} // namespace dfr::d
