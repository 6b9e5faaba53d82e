// SPDX-License-Identifier: GPL-2.0
//
// Recordings from which something was taken away at random, or in which something was changed: an answer
// that differs from the whole recording's never says that it is complete.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <fstream>
#include <random>

#include "formats/error.h"
#include "formats/trace/joined.h"
#include "tests/unit/replay_app.h"
#include "tests/unit/scratch_folder.h"

using namespace dfr;
using namespace dfr::test;

namespace {

using Bytes = std::vector<char>;

const char* const kQuestion =
    "app::work:entry { @n[cpu] = count(); @s[execname] = sum(arg0); @q = quantize(arg1); }"
    "BEGIN { self->x = 1; }";

// 16,000 firings on four CPUs in many small blocks.
Kept recorded(App& app) {
	load(app, "#pragma D option bufsize=256k\napp::work:entry { capture(arg0, arg1); }");
	for (unsigned i = 0; i < 16'000; i++)
		app.fire(app.entry, kStart + i * 1000, i * 7 % 4, 100 + i % 3, i % 3 ? "alpha" : "beta",
		         i % 11, i);
	finish(app);
	return Kept(app);
}

// Writes the blocks that `keep` wants, a chunk for every five of a CPU.
void write(const std::string& path, Kept& kept, const std::function<bool(const dfr_block&)>& keep) {
	kept.rewind();
	trace::FileWriter writer(path, true, [&]() -> const trace::Catalog& { return kept.catalog(); });
	unsigned given = 0;
	while (const auto block = kept.next()) {
		if (!keep(block->header()))
			continue;
		writer.block(*block);
		if (++given % 5 == 0)
			writer.flush();
	}
	writer.account(kept);
	writer.finish();
}

// What replay prints, and whether it says that this is all. An error is no answer.
std::pair<std::string, bool> answer(const std::string& path) {
	try {
		auto groups = trace::group_by_state({path});
		trace::JoinedSource source(std::move(groups.at(0)));
		replay::RecordingTarget target(source.catalog(), "thinned");
		d::CompileOptions options;
		options.options = {"quiet"};
		d::Diagnostics diagnostics;
		const d::Compiled program = d::compile(kQuestion, options, target, diagnostics);
		if (diagnostics.failed())
			return {"", false};
		render::Output output(-1);
		render::NoSymbols symbols;
		replay::ReplayOptions silent;
		silent.style.quiet = true;
		silent.message = [](const std::string&) {};
		const replay::Answer said =
		    replay::replay_program(source, target, program, output, symbols, silent);
		return {output.take(), said.verdict.complete && !said.verdict.windowed};
	} catch (const Error&) {
		return {"", false};
	}
}

Bytes read(const std::string& path) {
	std::ifstream in(path, std::ios::binary);
	return {std::istreambuf_iterator<char>(in), {}};
}

void write(const std::string& path, const Bytes& bytes) {
	std::ofstream(path, std::ios::binary | std::ios::trunc)
	    .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

// Where segments begin: at their magic.
std::vector<size_t> segments(const Bytes& bytes) {
	std::vector<size_t> starts;
	for (size_t at = 0; at + 4 <= bytes.size(); at += 8)
		if (std::equal(bytes.begin() + static_cast<long>(at),
		               bytes.begin() + static_cast<long>(at) + 4, "DSEG"))
			starts.push_back(at);
	starts.push_back(bytes.size());
	return starts;
}

// Changes the file's bytes in one of the ways in which disks and people do.
Bytes harmed(Bytes bytes, std::mt19937& random) {
	const std::vector<size_t> starts = segments(bytes);
	const size_t which = random() % (starts.size() - 1);
	const auto from = bytes.begin() + static_cast<long>(starts[which]);
	const auto to = bytes.begin() + static_cast<long>(starts[which + 1]);
	switch (random() % 5) {
	case 0: bytes.erase(from, to); break;                 // a segment is not there
	case 1: std::fill(from, to, 0); break;                // a segment is empty
	case 2: bytes.resize(random() % bytes.size()); break; // cut
	case 3: bytes[random() % bytes.size()] ^= 1 << random() % 8; break;
	case 4: { // a segment is there twice
		const Bytes twice(from, to);
		bytes.insert(to, twice.begin(), twice.end());
		break;
	}
	}
	return bytes;
}

} // namespace

TEST_CASE("an answer from a thinned recording never says that it is complete", "[replay][verdict]") {
	App app;
	Kept kept = recorded(app);
	REQUIRE(kept.records() == 16'000);
	const ScratchFolder folder;
	const std::string whole = folder.file("whole.dfr"), thin = folder.file("thin.dfr");
	write(whole, kept, [](const dfr_block&) { return true; });
	const auto [truth, complete] = answer(whole);
	REQUIRE(complete);
	REQUIRE(truth.find("4000") != std::string::npos);
	const Bytes bytes = read(whole);
	const char* const asked = std::getenv("DFR_THINNED");
	const unsigned rounds = asked ? static_cast<unsigned>(std::atoi(asked)) : 200;
	std::mt19937 random(
	    std::getenv("DFR_SEED") ? static_cast<unsigned>(std::atoi(std::getenv("DFR_SEED"))) : 1);
	unsigned differ = 0;
	for (unsigned round = 0; round < rounds; round++) {
		INFO("round " << round);
		write(thin, harmed(bytes, random));
		const auto [said, all] = answer(thin);
		differ += said != truth;
		if (said != truth)
			CHECK_FALSE(all);
	}
	CHECK(differ > rounds / 4); // the harm is real
}

TEST_CASE("blocks that a writer never wrote are missed, also a CPU's last ones, or all of it",
          "[replay][verdict]") {
	App app;
	Kept kept = recorded(app);
	const ScratchFolder folder;
	const std::string whole = folder.file("whole.dfr"), thin = folder.file("thin.dfr");
	write(whole, kept, [](const dfr_block&) { return true; });
	const auto file = trace::open_file(whole);
	const auto reaches = file->reaches();
	REQUIRE(reaches.size() == 4);
	CHECK(reaches.at(1).records == 4000);
	// A source that knows of more than it has, as a file of which a chunk is gone without a trace.
	class Thinned final : public trace::BlockSource {
	public:
		Thinned(trace::FileSource& file, uint32_t cpu, uint64_t last)
		    : file_(file), cpu_(cpu), last_(last) {}
		const trace::Catalog& catalog() override { return file_.catalog(); }
		std::optional<trace::Block> next() override { return std::nullopt; }
		std::vector<trace::BlockRef> index() override {
			auto refs = file_.index();
			std::erase_if(refs, [this](const trace::BlockRef& ref) {
				return ref.head.cpu == cpu_ && ref.head.seq > last_;
			});
			return refs;
		}
		std::optional<trace::Block> load(const trace::BlockRef& ref) override {
			return file_.load(ref);
		}
		std::vector<trace::AggEntry> aggregations() override { return {}; }
		trace::Losses losses() override { return file_.losses(); }
		std::map<uint32_t, trace::Reach> reaches() override { return file_.reaches(); }
		std::string name() const override { return "thinned"; }

	private:
		trace::FileSource& file_;
		uint32_t cpu_;
		uint64_t last_;
	};
	for (const uint64_t last : {uint64_t{0}, reaches.at(2).seq - 1}) {
		Thinned source(*file, 2, last);
		trace::Merger merger(source);
		merger.run([](const trace::Record&) { return true; });
		const trace::Verdict verdict = trace::judge(source, merger);
		CHECK_FALSE(verdict.complete);
		CHECK(verdict.lost + verdict.records >= 16'000);
		REQUIRE(verdict.reasons.size() == 1);
		CHECK(verdict.reasons[0].find("missing on CPU 2 (its last blocks are not there)") !=
		      std::string::npos);
	}
}
