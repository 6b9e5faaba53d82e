// SPDX-License-Identifier: GPL-2.0
//
// The transitions between the stages of a pass (picture: block_pass.h).
#include "recorder/block_pass.h"

namespace dfr::recorder {

void BlockPass::begin(uint64_t now) {
	began_ = now;
	stage_ = Stage::OpenOfAll;
}

void BlockPass::ask_one(uint32_t cpu) {
	cpu_ = cpu;
	stage_ = Stage::OpenOfOne;
}

bool BlockPass::goes_on(uint32_t cpus) {
	const bool older = older_came_, younger = younger_came_;
	const bool one = stage_ == Stage::OpenOfOne || stage_ == Stage::RestOfOne;
	older_came_ = younger_came_ = false;
	const bool all_came = one && left_ && younger;
	if (!all_came && (older || left_ || (stage_ != Stage::RestOfAll && stage_ != Stage::RestOfOne)))
		return true;
	if (one && cpu_ + 1 < cpus) {
		ask_one(cpu_ + 1);
		return true;
	}
	stage_ = Stage::Idle;
	return false;
}

BlockPass::Question BlockPass::question() const {
	switch (stage_) {
	case Stage::OpenOfAll: return {.cpu = kAllCpus, .open_too = true};
	case Stage::OpenOfOne: return {.cpu = cpu_, .open_too = true};
	case Stage::RestOfOne: return {.cpu = cpu_, .open_too = false};
	default: return {};
	}
}

void BlockPass::answered(bool full_batch, bool left) {
	left_ = left;
	of_one_ = stage_ == Stage::OpenOfOne || stage_ == Stage::RestOfOne;
	switch (stage_) {
	case Stage::OpenOfAll:
	case Stage::RestOfAll:
		if (full_batch || left)
			ask_one(0);
		else
			stage_ = Stage::RestOfAll;
		break;
	case Stage::OpenOfOne:
		if (!left)
			stage_ = Stage::RestOfOne;
		break;
	default: break;
	}
}

void BlockPass::leave() {
	left_ = false;
	if (stage_ == Stage::OpenOfOne)
		stage_ = Stage::RestOfOne;
}

} // namespace dfr::recorder
