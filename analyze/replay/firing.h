// SPDX-License-Identifier: GPL-2.0
//
// Firing: one recorded firing, with copies of its inputs, because a record points into
// a block that the merger may free before the firing is complete.
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/engine/engine_c.h"
#include "formats/trace/decode.h"

namespace dfr::replay {

class Firing {
public:
	static constexpr uint32_t kArguments = 10;

	bool empty() const { return probe == nullptr; }
	void clear();
	void begin(const trace::Record& record, const trace::Probe& of, size_t captures);
	void set_argument(uint32_t index, uint64_t value);
	void set_capture(size_t index, const trace::Value& value, const dfr_field& field);
	// Sets the frames of a stack, of which at most `most` were recorded. If the firing has several stacks, the longest is
	// used for all.
	void set_stack(const trace::Value& value, uint32_t most, bool of_user);
	// How many frames of a stack were recorded, if these are fewer than `wanted` and it may go on; else 0.
	size_t short_of(uint32_t wanted, bool of_user) const;
	// Fills `env` once all records of the firing were read, because the copies may have moved until then.
	void settle();

	const trace::Probe* probe = nullptr;
	dfr_probe* fires = nullptr;
	bool speaks = false;
	uint64_t time = 0;
	uint32_t cpu = 0, boot = 0;
	dfr_env env{};
	u64 arguments[kArguments] = {};
	unsigned argument_count = 0;

private:
	struct CapturedText {
		size_t capture, offset;
	};
	std::vector<dfr_captured> captured_;
	std::vector<CapturedText> texts_;
	std::vector<char> bytes_;
	std::vector<u64> stack_, ustack_;
	uint32_t most_ = 0, umost_ = 0; // frames
};

} // namespace dfr::replay
