// SPDX-License-Identifier: GPL-2.0
//
// RecordingTarget: what a program is compiled against in replay: the probes that
// a recording holds, the inputs that every record of each of them has, and the
// timers that its clock can stand in for. It fires nothing (replay.h does).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "formats/d/target.h"
#include "formats/dof/image.h"
#include "formats/trace/catalog.h"
#include "formats/types/kernel_types.h"

namespace dfr::replay {

// Where a recorded field can be found again: in which record, at which place.
struct RecordedInput {
	std::string canon; // canonical text of the expression
	std::string type;
	size_t field = 0;
	bool user_data = false;
};

class RecordingTarget final : public d::Target {
public:
	RecordingTarget(const trace::Catalog& catalog, std::string name);
	~RecordingTarget() override;

	// The inputs that records of an EPID hold, in order of their fields.
	const std::vector<RecordedInput>& inputs(uint32_t epid);
	// Which of the recording's probes a pattern names.
	static bool matches(const d::ProbePattern& pattern, const trace::Probe& probe);
	// Whether some clause recorded every firing of a probe, or every one that `condition` admits
	// (canonical text of the asking clause's predicate; empty: it has none, or no canonical one).
	bool recorded_whole(uint32_t probe, const std::string& condition);
	// Under which conditions a probe was recorded, or only an input of it (canonical text, may be empty: all of
	// it), as a person reads them.
	std::string recorded_where(uint32_t probe, const std::string& input);
	// Probes of which firings left records, by id; dtrace's own are not among them.
	const std::vector<const trace::Probe*>& recorded() const { return recorded_; }
	// Probes that were enabled and left none: their clauses only counted, or set variables.
	const std::vector<const trace::Probe*>& unrecorded() const { return unrecorded_; }
	const dof::Image* image(uint32_t dof);

	std::string description() const override { return name_; }
	void match(const d::ProbePattern& pattern,
	           const std::function<bool(const d::ProbeInfo&)>& visit) override;
	std::vector<d::ProbeArg> args(const d::ProbeInfo& probe) override;
	const types::Container* kernel_types(std::string_view module) override;
	std::vector<std::string> type_modules() override { return {}; }
	std::optional<d::TargetSymbol> symbol(std::string_view, std::string_view) override {
		return std::nullopt;
	}
	bool has_addresses() const override { return false; }
	bool has_kernel() const override;
	const std::vector<d::CapturedInput>* captured(const d::ProbeInfo& probe) override;
	std::string why_absent(const d::ProbePattern& pattern) override;
	bool is_replay() const override { return true; }
	std::string kernel_release() const override;

private:
	std::string machine(const char* key) const;
	// The part of a program that an EPID stands for; null: damaged, or our own ERROR clause.
	const dof::Body* body_of(uint32_t epid, bool* continuation = nullptr);

	const trace::Catalog& catalog_;
	std::string name_;
	std::vector<const trace::Probe*> recorded_, unrecorded_;
	std::unordered_map<uint32_t, std::vector<uint32_t>> epids_; // of each probe
	std::vector<std::unique_ptr<dof::Image>> images_;
	std::map<uint32_t, std::vector<RecordedInput>> inputs_;      // by EPID
	std::map<uint32_t, std::vector<d::CapturedInput>> captured_; // by probe
	std::unique_ptr<types::KernelTypes> types_;
	bool types_tried_ = false;
};

} // namespace dfr::replay
