// SPDX-License-Identifier: GPL-2.0
//
// DeviceSession: a live state of the kernel's engine as a trace::LiveSource. It
// takes blocks, copies them out of the read-only mapping, checks the copies and
// gives the blocks back; it reads the catalog as that grows. One thread.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>

#include "formats/trace/live_source.h"
#include "recorder/block_pass.h"
#include "recorder/device.h"
#include "recorder/trigger.h"

namespace dfr::recorder {

class DeviceSession : public trace::LiveSource {
public:
	// Only opens the device. The session gets a state by the first enable(), or by claim().
	explicit DeviceSession(const std::string& path = DFR_DEVICE);
	~DeviceSession() override;
	DeviceSession(const DeviceSession&) = delete;
	DeviceSession& operator=(const DeviceSession&) = delete;

	void claim(const std::string& name); // "" or "anonymous": the state that has recorded since boot
	void keep(const std::string& name);  // from now on the state outlives this process, under this name
	void end();                          // end the kept state that this session holds
	// Looks at a kept state, whoever holds it, and changes nothing: of what is below only status(), option(),
	// the catalog, the aggregations and the losses work, and the next seven.
	void view(const std::string& name);
	struct RingList {
		std::vector<dfr_ioc_seen> blocks; // by number of sequence
		dfr_ioc_blocks cpu{};             // where the CPU's records end
	};
	RingList blocks(uint32_t cpu); // that the CPU has now
	// A copy of one of them; if it is open, of what it has now. nullopt: its CPU has begun it anew.
	std::optional<trace::Block> look(uint32_t cpu, const dfr_ioc_seen& seen) {
		return copy({.cpu = cpu, .block = seen.block, .seq = seen.seq});
	}
	void seal(trace::Block& block); // such a copy; one that is open is closed first
	// From now on the catalog says that this is a snapshot, of when and why; the kernel's does not.
	void note_snapshot(uint64_t time, const std::string& reason);
	// An empty block behind all that the CPU has recorded, as the engine writes one for a consumer that begins there: it
	// says up to where records were taken by others, or are missing.
	trace::Block end_of(const RingList& list);
	std::optional<trace::Block> end_of_cpu(uint32_t cpu) override;
	// Of a state that has ended: CPUs that have never recorded, so that nothing of theirs can be missing.
	std::map<uint32_t, trace::Reach> reaches() override;
	// Asks which triggers there have been, one entry for each reason. For a state that records, owned or viewed.
	// Throws with code ENOTTY if the loaded module is of an older version, which knows no triggers.
	std::vector<Trigger> triggers();
	// So many of a reason were asked for by a session before this one: they are not fresh.
	void had_triggers(const std::string& reason, bool oops, uint64_t count) {
		trigger_counts_[{reason, oops}] = count;
	}
	uint64_t triggers_asked() const { return triggers_asked_; } // when they were; 0: not yet
	// Sleeps until there is a trigger that this session has not asked for, the state has ended, or the time or a signal
	// ends the wait. A loop over several sessions polls device().fd() for POLLPRI instead.
	enum class Awaited { Nothing, Trigger, Ended };
	Awaited await_trigger(std::chrono::nanoseconds timeout, const sigset_t* mask = nullptr);
	struct Cost {
		uint32_t budget = 0;   // percent of each CPU; 0: none
		uint32_t detached = 0; // 1 << dfr_priority: the probes of its clauses are detached
		std::vector<dfr_ioc_cpu_cost> cpus;
	};
	// What its probes cost lately, who holds it or looks at it may ask. nullopt: the module is older than the question.
	std::optional<Cost> cost();
	// From now on blocks stay taken until stored(). If this session ends before it has stored a
	// kept state's blocks (a crash included), the kernel gives them to the next session that claims it.
	// What take_left_over() has comes first.
	void hold();
	// Takes what a session before this one had taken and not stored, apart from all else; returns how many blocks that are.
	// They stay in memory, where a viewer sees them, until release_left_over().
	size_t take_left_over();
	void release_left_over();
	const Device& device() const { return device_; }

	uint32_t enable(std::span<const std::byte> dof, bool zero_ok) override;
	uint32_t go() override;
	uint32_t stop() override;
	dfr_ioc_status status() override;
	uint64_t flush() override;
	// Now, as the time until when a file is whole; losses() has what was thinned then.
	uint64_t mark();
	bool flushing() const override { return !taken_.empty() || pass_.under_way(); }
	void wait(std::chrono::nanoseconds timeout, bool blocks, const sigset_t* mask) override;
	void clear_aggregation(uint32_t varid, bool remove) override;
	bool holds() const override { return holding_; }
	bool storing_is_due() const override { return full_; }
	void stored() override;
	int64_t option(uint32_t option) override;

	const trace::Catalog& catalog() override;
	std::optional<trace::Block> next() override;
	std::vector<trace::AggEntry> aggregations() override;
	trace::Losses losses() override;
	std::vector<std::string> remarks() override;
	bool partial() override { return overwritten_ || left_behind_ || senseless_ || losses_unknown_; }
	std::string name() const override;

private:
	class BlockMapping;
	void attach(unsigned long request, const std::string& name, const std::string& what);
	short poll(short events, std::chrono::nanoseconds timeout, const sigset_t* mask);
	// One request, whose blocks come behind `into`; `what`: the error's text.
	dfr_ioc_take take_batch(uint32_t flags, uint32_t cpu, std::deque<dfr_ioc_taken>& into,
	                        const char* what);
	void take();
	void read_catalog();
	std::optional<trace::Block> copy(const dfr_ioc_taken& taken);
	std::optional<dfr_ioc_blocks> end_of_records(uint32_t cpu) const;
	std::optional<trace::Block> take_copy(const dfr_ioc_taken& taken);
	const std::byte* find(const dfr_ioc_taken& taken);
	void release();
	void hold_copied(const dfr_ioc_taken& taken);
	std::vector<trace::Losses::Stretch> running_stretches();

	Device device_;
	trace::Catalog catalog_;
	const std::string machine_id_;        // of this system's installation; empty: it has none
	std::vector<std::byte> catalog_rest_; // an entry of which only a part has been read
	std::unique_ptr<std::byte[]> catalog_piece_;
	uint64_t catalog_read_ = 0;
	std::deque<dfr_ioc_taken> taken_, left_over_;
	std::vector<dfr_ioc_taken> copied_; // release() will give them back
	std::map<uint32_t, uint32_t> held_; // while holding_: how many of copied_ each CPU has
	std::map<uint64_t, std::unique_ptr<BlockMapping>> mappings_;
	std::vector<std::byte> snapshot_;
	uint64_t overwritten_ = 0; // blocks that changed while they were copied
	bool stuck_ = false;       // the kernel has blocks, no spare ones for them, and none to be given back
	bool left_behind_ = false; // the pass ended without blocks that the kernel could not hand out
	uint64_t senseless_ = 0;   // bytes of aggregation tables that could not be read
	std::vector<trace::Losses::Stretch> marked_stretches_;
	int losses_unknown_ = 0; // why losses() could not ask the last time; 0: it could
	std::map<std::pair<std::string, bool>, uint64_t> trigger_counts_; // by reason and oops, as asked for
	uint64_t triggers_asked_ = 0;                                     // when; 0: not yet
	BlockPass pass_;
	bool holding_ = false;
	bool full_ = false;
	std::string claimed_;
};

} // namespace dfr::recorder
