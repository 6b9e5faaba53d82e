// SPDX-License-Identifier: GPL-2.0
//
// RecordingTarget: what the compiler compiles a program against in replay: the
// probes of a recording, the inputs that the records of each probe have, and timer
// probes, which replay fires by the times of the records. replay.h fires them.
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

// An input that the records of an EPID have: the expression that was recorded, and its field.
struct RecordedInput {
	std::string canon; // canonical text of the expression
	size_t field = 0;
};

class RecordingTarget final : public d::Target {
public:
	RecordingTarget(const trace::Catalog& catalog, std::string name);
	~RecordingTarget() override;
	RecordingTarget(const RecordingTarget&) = delete;
	RecordingTarget& operator=(const RecordingTarget&) = delete;

	// The inputs that the records of an EPID have, in order of their fields.
	const std::vector<RecordedInput>& inputs(uint32_t epid);
	// Whether a pattern names this probe.
	static bool matches(const d::ProbePattern& pattern, const trace::Probe& probe);
	// Whether some clause recorded every firing of a probe, or at least every one for which `condition`
	// holds. `condition` is the canonical text of the predicate of the clause that is replayed; empty: it
	// has no predicate, or one without canonical text.
	bool recorded_whole(uint32_t probe, const std::string& condition);
	// The conditions under which a probe was recorded, as text for a person. `input`: only those under
	// which this input was recorded (canonical text); empty: any.
	std::string recorded_where(uint32_t probe, const std::string& input);
	// Probes with a clause that leaves records, by id, without BEGIN, END and ERROR.
	const std::vector<const trace::Probe*>& recorded() const { return recorded_; }
	// Probes that were enabled, but whose clauses leave no records (they only count or set variables).
	const std::vector<const trace::Probe*>& unrecorded() const { return unrecorded_; }
	const dof::Image* image(uint32_t dof);

	std::string description() const override { return name_; }
	void match(const d::ProbePattern& pattern,
	           const std::function<bool(const d::ProbeInfo&)>& visit) override;
	std::vector<d::ProbeArg> args(const d::ProbeInfo& probe) override;
	std::string why_untyped(const d::ProbeInfo& probe) override;
	const types::Container* kernel_types(std::string_view module) override;
	bool has_addresses() const override { return false; }
	bool has_kernel() const override;
	const std::vector<d::CapturedInput>* captured(const d::ProbeInfo& probe) override;
	std::string why_absent(const d::ProbePattern& pattern) override;
	bool is_replay() const override { return true; }
	std::string kernel_release() const override;

private:
	std::string machine(const char* key) const;
	// The part of a recorded program that an EPID stands for. Null: damaged, or it is the ERROR clause
	// that the consumer adds (Consumer::report_faults()).
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
