// SPDX-License-Identifier: GPL-2.0
//
// Writing a recording while it is made.
#include "analyze/cli/recording.h"

#include <algorithm>

namespace dfr::cli {
namespace {

constexpr std::chrono::seconds kWriteEvery{1}, kSyncEvery{10};

size_t entries(const trace::Catalog& catalog) {
	return catalog.probes.size() + catalog.layouts.size() + catalog.ecbs.size() +
	       catalog.aggregations.size() + catalog.clocks.size() + catalog.modules.size() +
	       catalog.events.size() + catalog.dofs.size() + catalog.machine.size() + 1;
}

} // namespace

Recording::Recording(const std::string& path, bool replace, trace::LiveSource& session)
    : path_(path), session_(session),
      writer_(path, replace, [this]() -> const trace::Catalog& { return whole_catalog(); }) {}

void Recording::program(size_t index, std::vector<std::byte> dof, std::string source) {
	programs_.push_back({index, std::move(dof), std::move(source)});
	known_ = 0;
}

const trace::Catalog& Recording::whole_catalog() {
	const trace::Catalog& catalog = session_.catalog();
	if (entries(catalog) == known_)
		return whole_;
	known_ = entries(catalog);
	whole_ = catalog;
	whole_.sources.resize(whole_.dofs.size());
	for (const LoadedProgram& program : programs_) {
		if (program.index >= whole_.dofs.size())
			continue;
		whole_.dofs[program.index] = program.dof;
		whole_.sources[program.index] = program.source;
	}
	return whole_;
}

void Recording::block(const trace::Block& block) {
	writer_.block(block);
	given_ += block.header().records;
	if (session_.storing_is_due())
		store();
}

// Syncs the file, then lets the session give back the blocks that it holds.
void Recording::store() {
	writer_.flush();
	session_.stored();
	synced_ = std::chrono::steady_clock::now();
}

void Recording::record(const trace::Record& record, render::Renderer& renderer) {
	newest_ = std::max(newest_, record.time);
	if (seen_)
		return;
	const render::Rendering* const rendering = renderer.programs().rendering_of(record.epid);
	if (rendering && rendering->reads_aggregations())
		seen_ = trace::AggSnapshot{0, renderer.aggregations().latest()};
}

void Recording::end_pass() {
	if (!seen_)
		return;
	seen_->time = newest_;
	writer_.snapshot(*seen_);
	seen_.reset();
}

void Recording::pass(uint64_t until) {
	end_pass();
	writer_.catalog();
	const auto now = std::chrono::steady_clock::now();
	if (!until || now < written_ + kWriteEvery)
		return;
	written_ = now;
	writer_.account(session_, until);
	if (session_.holds() && now >= synced_ + kSyncEvery)
		store();
}

// The session keeps the blocks that it holds.
void Recording::give_up(const std::string& why) {
	writer_.give_up(session_, why);
}

void Recording::finish(render::Renderer& renderer) {
	end_pass();
	// As they were printed: a state that goes on has counted since.
	writer_.aggregations(renderer.aggregations().latest());
	writer_.account(session_);
	writer_.finish();
	session_.stored();
}

} // namespace dfr::cli
