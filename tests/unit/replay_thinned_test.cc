// SPDX-License-Identifier: GPL-2.0
//
// Recordings from which something was taken away at random, or in which something was changed: an answer
// that differs from the whole recording's never says that it is complete.
#include <catch2/catch.hpp>

#include <cstdlib>

#include "tests/unit/harmed_file.h"

namespace replay_thinned_test {

using namespace dfr;
using namespace dfr::test;

TEST_CASE("an answer from a thinned recording never says that it is complete", "[replay][verdict]") {
	App app;
	Kept kept = recorded_work(app);
	REQUIRE(kept.records() == 16'000);
	const ScratchFolder folder;
	const std::string whole = folder.file("whole.dfr"), thin = folder.file("thin.dfr");
	write_file(whole, kept, [](const dfr_block&) { return true; });
	const auto [truth, complete] = answer(whole);
	REQUIRE(complete);
	REQUIRE(truth.find("4000") != std::string::npos);
	const FileBytes bytes = read_file(whole);
	const char* const asked = std::getenv("DFR_THINNED");
	const unsigned rounds = asked ? static_cast<unsigned>(std::atoi(asked)) : 200;
	std::mt19937 random(
	    std::getenv("DFR_SEED") ? static_cast<unsigned>(std::atoi(std::getenv("DFR_SEED"))) : 1);
	unsigned differ = 0;
	for (unsigned round = 0; round < rounds; round++) {
		INFO("round " << round);
		write_file(thin, harmed(bytes, random));
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
	Kept kept = recorded_work(app);
	const ScratchFolder folder;
	const std::string whole = folder.file("whole.dfr"), thin = folder.file("thin.dfr");
	write_file(whole, kept, [](const dfr_block&) { return true; });
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

} // namespace replay_thinned_test
