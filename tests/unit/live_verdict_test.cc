// SPDX-License-Identifier: GPL-2.0
//
// The verdict of what was traced live: what is missing makes it partial, or a
// window, as it would in a recording of the same (REPLAY.md, section 7).
#include <catch2/catch.hpp>

#include <functional>

#include "analyze/libdfr/consumer.h"
#include "tests/unit/replay_app.h"
#include "tests/unit/trace_builder.h"

namespace live_verdict_test {

using namespace dfr;
using test::App;
using test::kStart;

namespace {

constexpr uint64_t kStep = 1000;
constexpr uint64_t kEnd = kStart + 1'000'000'000;
const char* const kRing = "#pragma D option bufpolicy=ring\n#pragma D option bufsize=64k\n"
                          "app::work:entry { trace(arg0); }";
const char* const kSwitch = "#pragma D option bufsize=256k\napp::work:entry { trace(arg0); }";

// The engine as it is, but for blocks, remarks and losses that a test wants otherwise.
class Between final : public trace::LiveSource {
public:
	explicit Between(App& app) : app_(app) {}
	uint32_t enable(std::span<const std::byte> dof, bool zero_ok) override {
		return app_.enable(dof, zero_ok);
	}
	uint32_t go() override { return app_.go(); }
	uint32_t stop() override { return app_.stop(); }
	dfr_ioc_status status() override { return app_.status(); }
	uint64_t flush() override { return app_.flush(); }
	bool flushing() const override { return app_.flushing(); }
	void wait(std::chrono::nanoseconds, bool, const sigset_t*) override {}
	void clear_aggregation(uint32_t varid, bool remove) override {
		app_.clear_aggregation(varid, remove);
	}
	int64_t option(uint32_t option) override { return app_.option(option); }
	const trace::Catalog& catalog() override { return app_.catalog(); }
	std::optional<trace::Block> next() override {
		std::optional<trace::Block> block = app_.next();
		while (block && !keep(*block))
			block = app_.next();
		return block;
	}
	std::vector<trace::AggEntry> aggregations() override { return app_.aggregations(); }
	trace::Losses losses() override {
		trace::Losses all = app_.losses();
		for (const trace::Losses::Stretch& stretch : stretches)
			all.add(stretch);
		return all;
	}
	std::vector<std::string> remarks() override {
		return remark.empty() ? std::vector<std::string>{} : std::vector{remark};
	}
	bool partial() override { return !remark.empty(); }
	std::string name() const override { return app_.name(); }

	std::function<bool(trace::Block&)> keep = [](trace::Block&) { return true; };
	std::string remark;
	std::vector<trace::Losses::Stretch> stretches;

private:
	App& app_;
};

// A program that is traced, from go to its verdict.
class Traced {
public:
	explicit Traced(App& app, const std::string& program) : source(app), app_(app) {
		const auto dof = dof::write(test::compiled(program, app).image);
		source.enable(std::as_bytes(std::span(dof)), false);
		consumer.style().quiet = true;
		app.own.ev_time = kStart - 1000;
		dfr_user_env = &app.own;
		consumer.go();
	}
	// One firing each step.
	void fire(unsigned count, unsigned cpu) {
		for (unsigned i = 0; i < count; i++)
			app_.fire(app_.entry, kStart + (fired_ + i) * kStep, cpu, 70, "one", i, 0);
		fired_ += count;
	}
	trace::Verdict end() {
		app_.own.ev_time = kEnd;
		consumer.finish();
		dfr_user_env = nullptr;
		return consumer.judge();
	}

	std::vector<std::string> messages;
	Between source;
	render::Output output{-1};
	render::NoSymbols symbols;
	lib::Consumer consumer{source, output, symbols, {.message = [this](const std::string& text) {
		                       messages.push_back(text);
	                       }}};

private:
	App& app_;
	uint64_t fired_ = 0;
};

// CPU 1 has overwritten its oldest records, and CPU 0 has all of its own.
void overwrite(App& app) {
	for (unsigned i = 0; i < 40'000; i++) {
		if (i % 1000 == 0)
			app.fire(app.entry, kStart + i * kStep, 0, 70, "quiet", 1, 0);
		app.fire(app.entry, kStart + i * kStep + 1, 1, 80, "busy", 2, 0);
	}
}

} // namespace

TEST_CASE("live: with nothing lost it is complete, and what went on between passes has no gaps",
          "[live][verdict]") {
	App app(2);
	Traced traced(app, kSwitch);
	for (unsigned pass = 0; pass < 5; pass++) {
		traced.fire(1000, pass % 2);
		CHECK(traced.consumer.work());
	}
	const trace::Verdict verdict = traced.end();
	CHECK(verdict.complete);
	CHECK_FALSE(verdict.windowed);
	CHECK(verdict.reasons.empty());
	CHECK(verdict.records == 5000);
	CHECK(verdict.lost == 0);
	CHECK(verdict.cpus == 2);
	CHECK(verdict.from < kStart);
	CHECK(verdict.to == kEnd);
	CHECK(traced.messages.empty());
}

TEST_CASE("live: a ring that has overwritten its oldest is a window, as in a recording", "[live][verdict]") {
	trace::Verdict live, recorded;
	{
		App app(2);
		Traced traced(app, kRing);
		overwrite(app);
		live = traced.end();
	}
	{
		App app(2);
		test::load(app, kRing);
		overwrite(app);
		app.own.ev_time = kEnd;
		app.stop();
		dfr_user_env = nullptr;
		test::Kept kept(app);
		recorded = trace::judge_whole(kept);
	}
	CHECK(live.complete);
	CHECK(live.windowed);
	CHECK(live.reasons.empty());
	CHECK(live.from > kStart);
	CHECK(live.records < 40'000);
	CHECK(live.records > 0);
	CHECK(recorded.windowed);
	CHECK(live.from == recorded.from);
	CHECK(live.to == recorded.to);
	CHECK(live.records == recorded.records);
}

TEST_CASE("live: a ring that has overwritten nothing is complete", "[live][verdict]") {
	App app(2);
	Traced traced(app, kRing);
	traced.fire(100, 0);
	const trace::Verdict verdict = traced.end();
	CHECK(verdict.complete);
	CHECK_FALSE(verdict.windowed);
	CHECK(verdict.records == 100);
}

TEST_CASE("live: a fill ring that stopped says since when", "[live][verdict]") {
	App app(2);
	Traced traced(app, "#pragma D option bufpolicy=fill\n#pragma D option bufsize=4k\n"
	                   "app::work:entry { trace(arg0); }");
	traced.fire(3000, 0);
	CHECK_FALSE(traced.consumer.work());
	const trace::Verdict verdict = traced.end();
	CHECK_FALSE(verdict.complete);
	REQUIRE_FALSE(verdict.reasons.empty());
	CHECK(verdict.reasons.back().starts_with("stopped, full, at "));
	CHECK(verdict.to < kStart + 3000 * kStep);
}

TEST_CASE("live: what found no room is in the verdict with its cause", "[live][verdict]") {
	App app(2);
	Traced traced(app, kSwitch);
	traced.fire(60'000, 1);
	const trace::Verdict verdict = traced.end();
	CHECK_FALSE(verdict.complete);
	CHECK(verdict.lost > 0);
	CHECK(verdict.lost == traced.consumer.lost());
	CHECK(verdict.records + verdict.lost == 60'000);
	REQUIRE(verdict.reasons.size() == 1);
	CHECK(verdict.reasons[0].ends_with(" (ring full)"));
}

TEST_CASE("live: a probe that could not be armed makes it partial", "[live][verdict]") {
	App app(2);
	dfr_provider_ops ops{};
	ops.arm = [](dfr_provider*, dfr_probe*) { return -EBUSY; };
	dfr_provider* const stuck = app.add_provider("stuck", &ops, nullptr);
	app.add_probe(stuck, "m", "f", "entry", 0, nullptr);
	app.probes_added();
	Traced traced(app, std::string(kSwitch) + " stuck::f:entry { trace(1); }");
	traced.fire(3, 0);
	const trace::Verdict verdict = traced.end();
	CHECK_FALSE(verdict.complete);
	REQUIRE(verdict.reasons.size() == 1);
	CHECK(verdict.reasons[0] == "stuck:m:f:entry could not be armed (Device or resource busy): what "
	                            "fired there is not recorded");
	CHECK(verdict.records == 3);
}

TEST_CASE("live: clauses that are off yet make it partial, whatever the counters say", "[live][verdict]") {
	App app(2);
	Traced traced(app, kSwitch);
	traced.fire(3, 0);
	traced.source.stretches.push_back(
	    {.cpu = 1, .priority = DFR_PRIORITY_NORMAL, .from = kStart + 1, .left_out = 5});
	const trace::Verdict verdict = traced.end();
	CHECK_FALSE(verdict.complete);
	CHECK(verdict.lost == 0);
	REQUIRE(verdict.reasons.size() == 1);
	CHECK(verdict.reasons[0].starts_with("clauses of normal priority (app:m:work:entry) were thinned "));
	CHECK(verdict.reasons[0].ends_with(" on CPU 1 (budget, 5 firings left out)"));
}

TEST_CASE("live: clauses of which a block says that they were off are accounted for", "[live][verdict]") {
	trace::Catalog catalog;
	lib::LiveMerge merge(catalog);
	test::BlockBytes block(0, 1, kStart);
	block.long_head(0, 0, kStart).context(5, 5, 5, "sh");
	block.loss(DFR_LOSS_THINNED, DFR_THINNED(DFR_PRIORITY_LOW, 0), 7, kStart + 1, kStart + 9);
	merge.add(block.sealed());
	merge.run(UINT64_MAX, [](const trace::Record&) { FAIL_CHECK("it has no record"); });
	const trace::Merger::Account account = merge.account();
	REQUIRE(account.losses.stretches.size() == 1);
	CHECK(account.losses.stretches[0].left_out == 7);
	CHECK(account.losses.stretches[0].from == kStart + 1);
	CHECK(account.losses.stretches[0].to == kStart + 9);
}

TEST_CASE("live: a loss that reaches into the window leaves what was lost before it outside",
          "[live][verdict]") {
	constexpr uint64_t kSecond = 1'000'000'000;
	test::ListSource source;
	source.the_catalog.cpus = 1;
	const auto tell = [](test::BlockBytes& block, uint64_t count, uint64_t from, uint64_t to) {
		block.loss(DFR_LOSS_NMI, 0, count, from * kSecond, to * kSecond);
	};
	// 1,050 were lost by when its first block was opened: 50 of them since the last one that is gone.
	test::BlockBytes first(0, 4, 30 * kSecond), second(0, 5, 40 * kSecond);
	first.counters(1050, 30).opened(28 * kSecond, 30 * kSecond);
	first.long_head(0, 0, 30 * kSecond).context(5, 5, 5, "sh");
	tell(first, 50, 29, 30);
	second.counters(1050, 30).opened(30 * kSecond, 40 * kSecond);
	second.long_head(0, 0, 40 * kSecond).context(5, 5, 5, "sh");
	tell(second, 500, 41, 42);
	source.blocks = {first.sealed(), second.sealed()};
	source.lost.add({.cause = DFR_LOSS_NMI, .cpu = 0, .count = 1550});
	lib::LiveMerge merge(source.the_catalog);
	for (const trace::Block& block : source.blocks)
		merge.add(block);
	merge.run(UINT64_MAX, [](const trace::Record&) { FAIL_CHECK("they have no record"); });
	CHECK(trace::judge(source, trace::Merger(source, merge.account())).lost == 550);
	CHECK(trace::judge_whole(source).lost == 550);
}

// It was opened with the time of its CPU's last firing, before they were lost.
TEST_CASE("live: a counter that is younger than its block's opening takes nothing out of the window",
          "[live][verdict]") {
	constexpr uint64_t kSecond = 1'000'000'000;
	test::ListSource source;
	source.the_catalog.cpus = 1;
	test::BlockBytes block(0, 6, 42 * kSecond);
	block.counters(207, 60).opened(30 * kSecond, 30 * kSecond);
	block.long_head(0, 0, 42 * kSecond).context(5, 5, 5, "sh");
	block.loss(DFR_LOSS_THROTTLE, 0, 207, 31 * kSecond, 41 * kSecond);
	source.blocks = {block.sealed()};
	source.lost.add({.cause = DFR_LOSS_THROTTLE, .cpu = 0, .count = 207});
	lib::LiveMerge merge(source.the_catalog);
	merge.add(source.blocks[0]);
	merge.run(UINT64_MAX, [](const trace::Record&) { FAIL_CHECK("it has no record"); });
	CHECK(trace::judge(source, trace::Merger(source, merge.account())).lost == 207);
	CHECK(trace::judge_whole(source).lost == 207);
}

TEST_CASE("live: a block that does not come is missing, and one that is damaged is told, too",
          "[live][verdict]") {
	const bool damaged = GENERATE(false, true);
	App app(2);
	Traced traced(app, kSwitch);
	uint64_t missing = 0;
	traced.source.keep = [&](trace::Block& block) {
		if (block.header().cpu != 0 || block.header().seq != 2)
			return true;
		missing = block.header().records;
		if (damaged)
			block.bytes[0] ^= std::byte{1}; // its magic
		return damaged;
	};
	traced.fire(4000, 0);
	const trace::Verdict verdict = traced.end();
	REQUIRE(missing > 0);
	CHECK_FALSE(verdict.complete);
	CHECK(verdict.lost == missing);
	CHECK(verdict.records == 4000 - missing);
	std::vector<std::string> reasons = {std::to_string(missing) +
	                                    " records missing on CPU 0 (1 block not there)"};
	if (damaged)
		reasons.emplace_back("1 damaged block");
	CHECK(verdict.reasons == reasons);
}

TEST_CASE("live: what the session itself lacks makes it partial", "[live][verdict]") {
	App app(2);
	Traced traced(app, kSwitch);
	traced.fire(3, 0);
	traced.source.remark = "the last blocks of a CPU were left in the kernel";
	const trace::Verdict verdict = traced.end();
	CHECK_FALSE(verdict.complete);
	CHECK(verdict.reasons == std::vector<std::string>{traced.source.remark});
}

TEST_CASE("live: a state that the kernel has ended says why", "[live][verdict]") {
	App app(2);
	Traced traced(app, kSwitch);
	traced.fire(3, 0);
	trace::Verdict verdict = traced.end();
	CHECK(verdict.complete);
	// As the engine's log would have it.
	const_cast<trace::Catalog&>(app.catalog())
	    .events.push_back(
	        {.event = DFR_EVENT_KILLED, .value = DFR_KILLED_CONSUMER, .time = kStart + 9 * kStep});
	verdict = traced.consumer.judge();
	CHECK_FALSE(verdict.complete);
	REQUIRE(verdict.reasons.size() == 1);
	CHECK(verdict.reasons[0].starts_with("ended by the kernel at "));
	CHECK(verdict.to == kStart + 9 * kStep);
}

} // namespace live_verdict_test
