// SPDX-License-Identifier: GPL-2.0
//
// RecordingTarget: what the compiler compiles a program against in replay: the
// probes of a recording, the inputs that the records of each probe have, and timer
// probes, which replay fires by the times of the records. replay.h fires them.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyze/replay/conditions.h"
#include "formats/d/target.h"
#include "formats/dof/image.h"
#include "formats/trace/united.h"
#include "formats/types/kernel_types.h"

namespace dfr::replay {

inline constexpr uint32_t kBegin = 1, kEnd = 2,
                          kError = 3; // the ids of the engine's own probes, which are below all others

// An input that the records of an EPID have: the expression that was recorded, and its field.
struct RecordedInput {
	std::string canon; // canonical text of the expression
	size_t field = 0;
};

// What one of several recordings holds.
struct RecordedMember {
	std::string name;
	uint32_t first_epid = 1, end_epid = 1;
	// Probes with a clause that leaves records, and those whose clauses leave none, by id, without BEGIN,
	// END and ERROR.
	std::vector<const trace::Probe*> recorded = {}, unrecorded = {};
	std::vector<d::ProbePattern> patterns = {}; // of the clauses that leave records
	bool tells_faults = false;                  // it has a record of each fault
	uint32_t strsize = 0;
	int64_t cpu = -1; // the only one that was recorded; -1: all were
};

// The predicate of a clause that is replayed, as it is held against those that were recorded.
struct AskedCondition {
	explicit AskedCondition(std::string_view canonical);
	std::vector<std::string_view> conjuncts;  // empty: there is no predicate, or it has no canonical text
	std::map<const dof::Body*, bool> implies; // the recorded clause's predicate, as far as it was asked
};

class RecordingTarget final : public d::Target {
public:
	RecordingTarget(const trace::Catalog& catalog, std::string name);
	explicit RecordingTarget(const trace::United& all);
	~RecordingTarget() override;
	RecordingTarget(const RecordingTarget&) = delete;
	RecordingTarget& operator=(const RecordingTarget&) = delete;

	// The inputs that the records of an EPID have, in order of their fields.
	const std::vector<RecordedInput>& inputs(uint32_t epid);
	// Whether a pattern names this probe.
	static bool matches(const d::ProbePattern& pattern, const trace::Probe& probe);
	// Each recording's, in the order of United::members().
	const std::vector<RecordedMember>& members() const { return members_; }
	// Whether a pattern names a probe that replay itself fires: BEGIN, END, ERROR, a timer that was not recorded.
	bool fires_itself(const d::ProbePattern& pattern) const;
	// Whether some clause of each recording that has the probe recorded every firing of it, or at least every one
	// for which `asking` holds, but for those that it has a record of a fault of. With an `input`: a clause that holds
	// that, and cannot fault.
	bool recorded_whole(uint32_t probe, AskedCondition& asking, const std::string& input = {});
	// Of an EPID whose records tell of faults, and the clause's own EPID in such a record: that of the answer, if the
	// clause leaves records; else 0.
	bool tells_faults(uint32_t epid);
	uint32_t faulted(uint32_t epid, uint64_t own_epid);
	// Whether the recorder cut texts in this field that a program with this strsize would not have cut.
	bool may_be_cut(uint32_t epid, const dfr_field& field, int64_t strsize) const;
	// The recording that an EPID is of.
	const RecordedMember& member_of(uint32_t epid) const;
	// Whether an EPID's firings leave records; and how many EPIDs of a probe do.
	bool records(uint32_t epid);
	// Whether each firing does: its clause has no predicate and does not speculate.
	bool records_each(uint32_t epid);
	size_t recording_clauses(uint32_t probe);
	// The conditions under which a probe was recorded, as text for a person. `input`: only those under
	// which this input was recorded (canonical text); empty: any.
	std::string recorded_where(uint32_t probe, const std::string& input);
	// Of all recordings together.
	const std::vector<const trace::Probe*>& recorded() const { return recorded_; }
	const std::vector<const trace::Probe*>& unrecorded() const { return unrecorded_; }
	const dof::Image* image(uint32_t dof);

	std::string description() const override { return name_; }
	void match(const d::ProbePattern& pattern,
	           const std::function<bool(const d::ProbeInfo&)>& visit) override;
	std::vector<d::ProbeArg> args(const d::ProbeInfo& probe) override;
	std::string why_untyped(const d::ProbeInfo& probe) override;
	const types::Container* kernel_types(std::string_view module) override;
	std::vector<std::string> type_modules() override;
	bool has_addresses() const override { return false; }
	bool has_kernel() const override;
	const std::vector<d::CapturedInput>* captured(const d::ProbeInfo& probe) override;
	std::string why_absent(const d::ProbePattern& pattern) override;
	// The hosts of the recordings: their names and their kernels' releases.
	std::vector<std::string> host_names() const override { return host_names_; }
	bool is_replay() const override { return true; }
	bool taken_out(const std::string& canon) const override;
	// Whether an input was taken out and no record has it; and a reason for each such one.
	bool is_nowhere(const std::string& canon);
	std::vector<std::string> why_lacking(const std::vector<std::string>& inputs);
	std::string kernel_release() const override;
	// Which recordings are of other kernels than the one whose types are used, each as a sentence.
	const std::vector<std::string>& other_types() const { return other_types_; }

private:
	void read_taken_out(const trace::Catalog& catalog);
	void read_members();
	void read_types(const trace::United& all);
	types::KernelTypes* types();
	const trace::RecordedTypes::ProbeArguments* recorded_args(const d::ProbeInfo& probe) const;
	// The part of a recorded program that an EPID stands for. Null: damaged, or it is the ERROR clause
	// that the consumer adds (Consumer::report_faults()).
	const dof::Body* body_of(uint32_t epid, bool* continuation = nullptr);
	const dof::EcbDesc* clause_of(uint32_t epid);
	// What a clause's program says of its records, found once.
	struct ClauseFacts {
		bool speculates = false, may_fault = false;
		std::vector<std::string_view> conjuncts;
	};
	const ClauseFacts& facts_of(uint32_t epid, const dof::Body& body);
	// Whether nothing but a predicate keeps a firing of the clause from having a record.
	bool leaves_each(const RecordedMember& member, uint32_t epid, const dof::Body& body);

	const trace::Catalog& catalog_;
	std::string name_;
	std::vector<std::string> host_names_;
	std::vector<RecordedMember> members_;
	std::set<std::string, std::less<>> taken_out_; // words of kRedactedKey, of any of them
	std::vector<const trace::Probe*> recorded_, unrecorded_;
	std::unordered_map<uint32_t, std::vector<uint32_t>> epids_; // of each probe
	std::vector<std::unique_ptr<dof::Image>> images_;
	std::map<const dof::Body*, ClauseFacts> facts_;
	std::map<uint32_t, std::vector<RecordedInput>> inputs_;      // by EPID
	std::map<uint32_t, std::vector<d::CapturedInput>> captured_; // by probe
	std::vector<trace::RecordedTypes> recorded_types_;           // of one kernel
	std::vector<std::string> other_types_;
	bool types_recorded_ = false; // types_ are those of the recording
	std::unique_ptr<types::KernelTypes> types_;
	bool types_tried_ = false;
};

} // namespace dfr::replay
