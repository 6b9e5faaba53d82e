// SPDX-License-Identifier: GPL-2.0
//
// What tests of replay share: an engine in this process whose firings are made up, what a file of its
// records would hold, and what replay says of that. Engine, compiler and renderer are the real ones.
#pragma once

#include <catch2/catch.hpp>

#include <algorithm>
#include <regex>

#include "analyze/replay/by_threads.h"
#include "analyze/replay/replay.h"
#include "formats/d/compile.h"
#include "formats/trace/batch.h"
#include "formats/trace/chunk.h"
#include "tests/unit/app_engine.h"

namespace dfr::test {

// What a file would hold; its blocks are indexed, in chunks of a CPU's blocks.
class Kept final : public trace::BlockSource {
public:
	explicit Kept(App& app) : catalog_(app.catalog()) {
		app.flush();
		while (auto block = app.next()) {
			trace::seal_block(*block);
			blocks_.push_back(std::move(*block));
		}
		aggregations_ = app.aggregations();
		losses_ = app.losses();
		catalog_ = app.catalog();
	}
	const trace::Catalog& catalog() override { return catalog_; }
	std::optional<trace::Block> next() override {
		return at_ < blocks_.size() ? std::optional(blocks_[at_++]) : std::nullopt;
	}
	std::vector<trace::BlockRef> index() override {
		std::vector<trace::BlockRef> refs;
		for (const trace::Block& block : blocks_)
			refs.push_back({block.header(), refs.size()});
		return refs;
	}
	std::optional<trace::Block> load(const trace::BlockRef& ref) override {
		return blocks_.at(ref.handle);
	}
	// A chunk is up to five blocks of a CPU.
	std::unique_ptr<trace::StoredColumns> columns(const trace::BlockRef& ref,
	                                              const WantColumns& wanted) override {
		std::vector<trace::Block> chunk;
		for (const trace::Block& block : blocks_)
			if (block.header().cpu == ref.head.cpu && block.header().seq >= ref.head.seq &&
			    block.header().seq < ref.head.seq + 5)
				chunk.push_back(block);
		auto stored = std::make_unique<trace::StoredColumns>();
		stored->payload = trace::encode_chunk(chunk, catalog_);
		auto headers = trace::decode_chunk_headers(stored->payload, stored->payload.size());
		if (headers->head.encoding != static_cast<uint16_t>(trace::ChunkEncoding::kColumns) ||
		    !wanted(headers->blocks))
			return nullptr;
		stored->headers = headers->blocks;
		stored->columns = trace::ChunkColumns::open(
		    std::span<const std::byte>(stored->payload).last(headers->head.stored), stored->headers);
		return stored;
	}
	std::vector<trace::AggEntry> aggregations() override { return aggregations_; }
	trace::Losses losses() override { return losses_; }
	std::string name() const override { return name_; }
	void forget_clocks() { catalog_.clocks.clear(); }
	// As another host, boot and moment would have recorded it: this many ns after the epoch its clock was at 0.
	void place(const std::string& name, const std::string& host, uint8_t boot, uint64_t zero) {
		name_ = name;
		catalog_.machine = {{"host", host}, {"release", "6.9-" + host}};
		catalog_.boot_id = {boot};
		catalog_.clocks = {{.mono = kStart, .real = kStart + zero, .boot = kStart}};
	}
	trace::Catalog& identity() { return catalog_; }
	void rewind() { at_ = 0; }
	uint64_t records() const {
		uint64_t sum = 0;
		for (const trace::Block& block : blocks_)
			sum += block.header().records;
		return sum;
	}

private:
	std::string name_ = "kept";
	trace::Catalog catalog_;
	std::vector<trace::Block> blocks_;
	std::vector<trace::AggEntry> aggregations_;
	trace::Losses losses_;
	size_t at_ = 0;
};

inline d::Compiled compiled(const std::string& program, d::Target& target) {
	d::CompileOptions options;
	options.name = "test";
	options.options = {"quiet"};
	d::Diagnostics diagnostics;
	d::Compiled result = d::compile(program, options, target, diagnostics);
	INFO(diagnostics.render(true));
	REQUIRE_FALSE(diagnostics.failed());
	return result;
}

inline void load(App& app, const std::string& program) {
	load(app, compiled(program, app).image);
}

inline replay::ReplayOptions quiet() {
	replay::ReplayOptions options;
	options.style.quiet = true;
	options.message = [](const std::string& text) { FAIL_CHECK(text); };
	return options;
}

inline std::string recorded_says(Kept& kept, replay::Answer* answer = nullptr) {
	render::Output output(-1);
	render::NoSymbols symbols;
	kept.rewind();
	const auto result = replay::render_recording(kept, output, symbols, quiet());
	if (answer)
		*answer = result;
	return output.take();
}

// What the compiler says of a program that this recording cannot answer.
inline std::string compile_error(Kept& kept, const std::string& program) {
	replay::RecordingTarget target(kept.catalog(), "kept");
	d::Diagnostics diagnostics;
	d::compile(program, {}, target, diagnostics);
	REQUIRE(diagnostics.errors() == 1);
	return diagnostics.render(false);
}

// What replay prints, which must be the same by columns, if it can be, by rows, and by several threads.
// A text that was put together from parts: one of them was empty, or a number does not fit its noun.
inline bool is_unfinished(const std::string& text) {
	static const std::regex kUnfinished(
	    "^ ?$| $|  |[(\\[:]$|\\b(where|which|because|lack|lacks|add|of|and|or|by|to|from|at|in)$|, ,|; "
	    ";|(^|[^0-9,.])1 "
	    "[a-z]+s (of|were|from|may|that)\\b");
	return std::regex_search(text, kUnfinished);
}

inline std::string replay_says(const std::vector<Kept*>& all, const std::string& program,
                               replay::Answer* answer = nullptr, replay::ReplayOptions options = quiet()) {
	render::NoSymbols symbols;
	const trace::United united({all.begin(), all.end()});
	replay::RecordingTarget target(united);
	const d::Compiled compiled_program = compiled(program, target);
	const replay::Way asked = options.way;
	std::string first;
	replay::Answer wanted;
	const std::pair<replay::Way, unsigned> ways[] = {
	    {asked, 1}, {replay::Way::kRows, 1}, {replay::Way::kRows, 2}, {replay::Way::kRows, 4}};
	for (const auto& [way, threads] : ways) {
		render::Output output(-1);
		for (Kept* const kept : all)
			kept->rewind();
		options.way = way;
		options.threads = threads;
		const replay::Answer got =
		    replay::replay_program(united, target, compiled_program, output, symbols, options);
		const std::string said = output.take();
		for (const auto* const texts : {&got.verdict.reasons, &got.verdict.notes})
			for (const std::string& text : *texts) {
				INFO(text);
				CHECK_FALSE(is_unfinished(text));
			}
		if (&way == &ways[0].first) {
			first = said;
			wanted = got;
			if (!got.by_columns && !replay::ByThreads::can_answer(compiled_program, target))
				break;
			continue;
		}
		INFO(threads << " threads");
		CHECK(said == first);
		CHECK(got.firings == wanted.firings);
		CHECK(got.exit_status == wanted.exit_status);
		CHECK(got.verdict == wanted.verdict);
	}
	if (answer)
		*answer = wanted;
	return first;
}

inline std::string replay_says(Kept& kept, const std::string& program, replay::Answer* answer = nullptr,
                               const replay::ReplayOptions& options = quiet()) {
	return replay_says(std::vector{&kept}, program, answer, options);
}

} // namespace dfr::test
