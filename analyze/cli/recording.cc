// SPDX-License-Identifier: GPL-2.0
//
// Writing a recording while it is made.
#include "analyze/cli/recording.h"

#include <algorithm>

#include "formats/trace/session_words.h"

namespace dfr::cli {
namespace {

constexpr std::chrono::seconds kWriteEvery{1}, kSyncEvery{10};
constexpr size_t kProbesAPass = 1000; // whose types are looked for: others wait for the next pass

size_t entries(const trace::Catalog& catalog) {
	return catalog.probes.size() + catalog.layouts.size() + catalog.ecbs.size() +
	       catalog.aggregations.size() + catalog.clocks.size() + catalog.modules.size() +
	       catalog.events.size() + catalog.dofs.size() + catalog.machine.size() + 1;
}

// Keys with addresses of processes, whose names are asked for before they end.
bool keys_name_processes(const trace::Catalog& catalog) {
	return std::any_of(catalog.aggregations.begin(), catalog.aggregations.end(), [](const auto& one) {
		const auto& keys = one.second.keys;
		return std::any_of(keys.begin(), keys.end(), [](const dfr_field& field) {
			return field.kind == DFR_FIELD_USTACK || field.kind == DFR_FIELD_USYM;
		});
	});
}

} // namespace

Recording::Recording(const std::string& path, const trace::PartsWriter::PartsOptions& options,
                     trace::LiveSource& session, recorder::AddressPlaces& places, d::Target& machine)
    : session_(session), parts_(
                             path, [this]() -> const trace::Catalog& { return whole_catalog(); }, options),
      names_(places), types_(machine) {}

void Recording::program(size_t index, std::vector<std::byte> dof, std::string source) {
	programs_.push_back({index, std::move(dof), std::move(source)});
	known_ = 0;
}

void Recording::session(uint32_t pid, uint32_t target) {
	session_words_ = {{trace::kSessionPidKey, std::to_string(pid)},
	                  {trace::kSessionTargetKey, std::to_string(target)}};
	known_ = 0;
}

const trace::Catalog& Recording::whole_catalog() {
	const trace::Catalog& catalog = session_.catalog();
	if (entries(catalog) == known_)
		return whole_;
	known_ = entries(catalog);
	whole_ = catalog;
	whole_.machine.insert(session_words_.begin(), session_words_.end());
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
	given_ += block.header().records; // first: what the disk has no room for was given, too
	parts_.file().block(block);
	if (session_.storing_is_due())
		store();
}

// Syncs the file, then lets the session give back the blocks that it holds.
void Recording::store() {
	parts_.file().flush();
	session_.stored();
	synced_ = std::chrono::steady_clock::now();
}

void Recording::rotate() {
	parts_.end_part();
	session_.stored();
	synced_ = std::chrono::steady_clock::now();
	parts_.begin_part(session_);
	names_.new_file();
	types_.new_file();
}

void Recording::record(const trace::Record& record, render::Renderer& renderer) {
	newest_ = std::max(newest_, record.time);
	if (!whole_.layout_of(record.epid)) // asking the kernel for each record would make records
		whole_catalog();
	names_.record(record, whole_);
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
	names_.aggregations(seen_->entries, session_.catalog());
	parts_.file().snapshot(*seen_);
	seen_.reset();
}

void Recording::collect_types(size_t most) {
	types_.look(whole_catalog(), most);
	if (const auto types = types_.fresh())
		parts_.file().types(*types);
}

void Recording::pass(uint64_t until, render::Renderer& renderer) {
	end_pass();
	parts_.file().catalog();
	const auto now = std::chrono::steady_clock::now();
	if (!until || now < written_ + kWriteEvery)
		return;
	written_ = now;
	parts_.file().require_there(); // else an hour might be recorded for nothing
	if (keys_name_processes(session_.catalog()))
		names_.aggregations(renderer.aggregations().latest(), session_.catalog());
	parts_.file().names(names_.fresh());
	collect_types(kProbesAPass);
	parts_.file().account(session_, until);
	if (parts_.due())
		return rotate();
	if (session_.holds() && now >= synced_ + kSyncEvery)
		store();
}

// The session keeps the blocks that it holds.
void Recording::give_up(const std::string& why) {
	parts_.file().give_up(session_, why);
}

void Recording::finish(uint64_t until, bool goes_on, render::Renderer& renderer) {
	end_pass();
	// As they were printed: a state that goes on has counted since.
	const std::vector<trace::AggEntry> latest = renderer.aggregations().latest();
	parts_.file().aggregations(latest);
	names_.aggregations(latest, session_.catalog());
	parts_.file().names(names_.fresh());
	collect_types(SIZE_MAX);
	parts_.file().account(session_, until);
	parts_.file().finish(goes_on);
	session_.stored();
}

} // namespace dfr::cli
