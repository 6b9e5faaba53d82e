// SPDX-License-Identifier: GPL-2.0
//
// Writing a recording while it is made.
#include "analyze/cli/recording.h"

#include <algorithm>

namespace dfr::cli {
namespace {

size_t entries(const trace::Catalog& catalog) {
	return catalog.probes.size() + catalog.layouts.size() + catalog.ecbs.size() +
	       catalog.aggregations.size() + catalog.clocks.size() + catalog.modules.size() +
	       catalog.events.size() + catalog.dofs.size() + 1;
}

} // namespace

Recording::Recording(const std::string& path, bool replace, trace::LiveSource& session)
    : path_(path), session_(session), writer_(path, replace) {}

void Recording::program(size_t index, std::vector<std::byte> dof, std::string source) {
	programs_.push_back({index, std::move(dof), std::move(source)});
}

trace::Catalog Recording::whole_catalog() {
	trace::Catalog catalog = session_.catalog();
	catalog.sources.resize(catalog.dofs.size());
	for (const LoadedProgram& program : programs_) {
		if (program.index >= catalog.dofs.size())
			continue;
		catalog.dofs[program.index] = program.dof;
		catalog.sources[program.index] = program.source;
	}
	return catalog;
}

void Recording::block(const trace::Block& block) {
	writer_.block(block);
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

void Recording::pass() {
	end_pass();
	const size_t now = entries(session_.catalog());
	if (now == known_)
		return;
	known_ = now;
	writer_.catalog(whole_catalog());
}

void Recording::finish(render::Renderer& renderer) {
	end_pass();
	writer_.catalog(whole_catalog());
	// As they were printed: a state that goes on has counted since.
	writer_.aggregations(renderer.aggregations().latest());
	writer_.losses(session_.losses());
	writer_.finish();
}

} // namespace dfr::cli
