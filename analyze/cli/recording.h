// SPDX-License-Identifier: GPL-2.0
//
// Recording: a .dfr file that is being written from a session's blocks: keeps the
// catalog in it up to date (with the whole DOF and source of the programs that
// this command loaded) and completes it with the last aggregations and losses.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyze/render/renderer.h"
#include "formats/trace/file.h"
#include "formats/trace/live_source.h"

namespace dfr::cli {

class Recording {
public:
	Recording(const std::string& path, bool replace, trace::LiveSource& session);

	// The n-th program of the session: all of its DOF (the engine keeps the loadable part) and its source.
	void program(size_t index, std::vector<std::byte> dof, std::string source);
	void block(const trace::Block& block);
	// Each record, before it is rendered: the tables that a printa() is going to show stay in the file.
	void record(const trace::Record& record, render::Renderer& renderer);
	void pass();                             // after a pass of the consumer: catalog, if it has grown
	void finish(render::Renderer& renderer); // which has rendered everything
	const std::string& path() const { return path_; }

private:
	trace::Catalog whole_catalog();
	void end_pass();

	std::string path_;
	trace::LiveSource& session_;
	trace::FileWriter writer_;
	struct LoadedProgram {
		size_t index;
		std::vector<std::byte> dof;
		std::string source;
	};
	std::vector<LoadedProgram> programs_;
	std::optional<trace::AggSnapshot> seen_; // by records of this pass
	uint64_t newest_ = 0;                    // time of a record so far
	size_t known_ = 0;                       // entries of the catalog when it was written last
};

} // namespace dfr::cli
