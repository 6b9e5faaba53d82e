// SPDX-License-Identifier: GPL-2.0
//
// Recording: a .dfr file (or parts of one) that is being written from a session's blocks: keeps the
// catalog in it up to date (with the whole DOF and source of the programs that
// this command loaded) and completes it with the last aggregations and losses.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "analyze/render/renderer.h"
#include "formats/trace/live_source.h"
#include "formats/trace/parts.h"
#include "recorder/name_collector.h"
#include "recorder/type_collector.h"

namespace dfr::cli {

class Recording {
public:
	Recording(const std::string& path, const trace::PartsWriter::PartsOptions& options,
	          trace::LiveSource& session, recorder::AddressPlaces& places, d::Target& machine);

	// The n-th program of the session: all of its DOF (the engine keeps the loadable part) and its source.
	void program(size_t index, std::vector<std::byte> dof, std::string source);
	// What $pid and $target are in them.
	void session(uint32_t pid, uint32_t target);
	// Types of the kernel that the programs rely on: the file keeps them.
	void relies_on(const std::unordered_set<types::TypeRef>& types) {
		types_.relies_on({types.begin(), types.end()});
	}
	void kernel_events(const trace::KernelEvents& events) { parts_.file().kernel_events(events); }
	// Of a session that holds its blocks: it is told when they are on the disk.
	void block(const trace::Block& block);
	// Each record, before it is rendered: the tables that a printa() is going to show stay in the file.
	void record(const trace::Record& record, render::Renderer& renderer);
	// After a pass of the consumer, which has given everything that was committed by `until` (0: not known).
	// Once a second what came is written, so that it can be read when this process is killed; and goes on in a
	// next part, if that is due.
	void pass(uint64_t until, render::Renderer& renderer);
	// After the last pass; the renderer has rendered everything. `goes_on`: the state does, so the file is whole until
	// `until` and no further.
	void finish(uint64_t until, bool goes_on, render::Renderer& renderer);
	void give_up(const std::string& why); // after an error: ends the file with what it has
	void store(); // what block() was given is on the disk; the session may forget it
	uint64_t unwritten() const { return given_ - parts_.records(); } // records
	const std::vector<std::string>& paths() const { return parts_.paths(); }
	uint64_t least_chunks() const { return parts_.least_chunks(); } // PartsWriter's

private:
	const trace::Catalog& whole_catalog();
	void end_pass();
	void collect_types(size_t most);
	void rotate();

	trace::LiveSource& session_;
	trace::PartsWriter parts_;
	struct LoadedProgram {
		size_t index;
		std::vector<std::byte> dof;
		std::string source;
	};
	std::vector<LoadedProgram> programs_;
	std::map<std::string, std::string> session_words_; // of the catalog's machine
	recorder::NameCollector names_;
	recorder::TypeCollector types_;
	std::optional<trace::AggSnapshot> seen_; // by records of this pass
	uint64_t newest_ = 0;                    // time of a record so far
	trace::Catalog whole_;                   // the session's, with programs_ and session_words_
	size_t known_ = 0;                       // entries of the session's when whole_ was made
	uint64_t given_ = 0;                     // records
	std::chrono::steady_clock::time_point written_{}, synced_{};
};

} // namespace dfr::cli
