// SPDX-License-Identifier: GPL-2.0
//
// From records' values to what the engine reads.
#include "analyze/replay/firing.h"

#include <algorithm>
#include <cstring>

namespace dfr::replay {

void Firing::clear() {
	probe = nullptr;
	argument_count = 0;
	texts_.clear();
	bytes_.clear();
	stack_.clear();
	ustack_.clear();
	most_ = umost_ = 0;
}

void Firing::set_stack(const trace::Value& value, uint32_t most, bool of_user) {
	uint32_t& known = of_user ? umost_ : most_;
	known = std::max(known, most);
	std::vector<u64>& stack = of_user ? ustack_ : stack_;
	const size_t frames = value.bytes.size() / sizeof(u64);
	if (frames <= stack.size())
		return;
	stack.resize(frames);
	std::memcpy(stack.data(), value.bytes.data(), frames * sizeof(u64));
}

size_t Firing::short_of(uint32_t wanted, bool of_user) const {
	const size_t frames = of_user ? ustack_.size() : stack_.size();
	return frames && frames < wanted && frames >= (of_user ? umost_ : most_) ? frames : 0;
}

void Firing::begin(const trace::Record& record, const trace::Probe& of, size_t captures) {
	clear();
	probe = &of;
	time = record.time;
	cpu = record.cpu;
	// Nobody writes to the other members of `env`, and clearing all of it for each firing takes long.
	env.ev_level = record.level;
	env.ev_task = record.context.task;
	env.ev_pid = record.context.pid;
	env.ev_tid = record.context.tid;
	env.ev_nspid = record.context.nspid;
	env.ev_cgroup = record.context.cgroup;
	std::memset(env.ev_comm, 0, sizeof env.ev_comm);
	record.context.execname.copy(env.ev_comm, sizeof env.ev_comm - 1);
	env.ev_time = record.time;
	std::memset(arguments, 0, sizeof arguments);
	dfr_captured missing{};
	missing.fault = DFR_CAPTURED_MISSING; // stays if no record of the firing has the input
	captured_.assign(captures, missing);
}

void Firing::set_argument(uint32_t index, uint64_t value) {
	if (index >= kArguments)
		return;
	arguments[index] = value;
	argument_count = std::max(argument_count, index + 1);
}

void Firing::set_capture(size_t index, const trace::Value& value, const dfr_field& field) {
	dfr_captured& captured = captured_[index];
	captured = {};
	if (value.fault != 0 && value.fault != DFR_NOTE_CUT) {
		captured.fault = value.fault + 1u;
		captured.fault_addr = value.fault_value;
		return;
	}
	if (field.kind == DFR_FIELD_INT) {
		captured.value = value.number;
		return;
	}
	captured.size = value.bytes.size() + 1;
	texts_.push_back({index, bytes_.size()});
	const auto* const from = reinterpret_cast<const char*>(value.bytes.data());
	bytes_.insert(bytes_.end(), from, from + value.bytes.size());
	bytes_.resize((bytes_.size() + 8) & ~size_t{7}); // adds at least one NUL, and aligns to 8
}

void Firing::settle() {
	for (const CapturedText& text : texts_)
		captured_[text.capture].value = reinterpret_cast<uint64_t>(bytes_.data() + text.offset);
	env.ev_stack = stack_.data();
	env.ev_nstack = static_cast<uint32_t>(stack_.size());
	env.ev_ustack = ustack_.data();
	env.ev_nustack = static_cast<uint32_t>(ustack_.size());
	env.ev_captured = captured_.data();
	env.ev_ncaptured = static_cast<uint32_t>(captured_.size());
}

} // namespace dfr::replay
