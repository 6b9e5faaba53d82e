// SPDX-License-Identifier: GPL-2.0
//
// dfr crash report, over recordings of an engine in this process (recorder/CRASH.md).
#include "analyze/cli/crash_report.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>

#include "tests/unit/replay_app.h"

namespace crash_report_test {

using namespace dfr;
using namespace dfr::test;

namespace {

// The text of one member of the report's object, which is a list.
std::string list_of(const std::string& json, const std::string& name) {
	const size_t at = json.find("\"" + name + "\": [");
	REQUIRE(at != std::string::npos);
	size_t end = json.find('[', at), depth = 0;
	const size_t begin = end;
	do {
		depth += json[end] == '[';
		depth -= json[end] == ']';
	} while (++end < json.size() && depth);
	return json.substr(begin, end - begin);
}

size_t count_of(const std::string& text, const std::string& what) {
	size_t count = 0;
	for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
		count++;
	return count;
}

bool has(const std::string& text, const std::string& what) {
	return text.find(what) != std::string::npos;
}

// The probes of block I/O and of waits for locks.
struct Operations {
	explicit Operations(App& app) {
		dfr_provider* const io = app.add_provider("io", nullptr, nullptr);
		dfr_provider* const sdt = app.add_provider("sdt", nullptr, nullptr);
		start = app.add_probe(io, "vmlinux", "", "start", 3, nullptr);
		done = app.add_probe(io, "vmlinux", "", "done", 3, nullptr);
		begin = app.add_probe(sdt, "lock", "", "contention_begin", 3, nullptr);
		end = app.add_probe(sdt, "lock", "", "contention_end", 3, nullptr);
		app.probes_added();
	}
	dfr_probe *start, *done, *begin, *end;
};

// A recording whose ledger tells of losses.
class WithLosses final : public trace::BlockSource {
public:
	explicit WithLosses(Kept& kept) : kept_(kept) {}
	const trace::Catalog& catalog() override { return kept_.catalog(); }
	std::optional<trace::Block> next() override { return kept_.next(); }
	std::vector<trace::BlockRef> index() override { return kept_.index(); }
	std::optional<trace::Block> load(const trace::BlockRef& ref) override { return kept_.load(ref); }
	std::vector<trace::AggEntry> aggregations() override { return {}; }
	trace::Losses losses() override { return ledger; }
	std::string name() const override { return kept_.name(); }
	trace::Losses ledger;

private:
	Kept& kept_;
};

bool lists(const std::string& json, const std::string& member, const std::string& values) {
	return has(list_of(json, member), "\"values\": \"" + values + "\"");
}

// What print() writes to the standard output.
std::string text_of(const cli::CrashReport& report) {
	const int file = memfd_create("text", MFD_CLOEXEC), own = dup(STDOUT_FILENO);
	REQUIRE(std::fflush(stdout) == 0);
	REQUIRE(dup2(file, STDOUT_FILENO) == STDOUT_FILENO);
	report.print();
	std::fflush(stdout);
	dup2(own, STDOUT_FILENO);
	close(own);
	std::string text(static_cast<size_t>(lseek(file, 0, SEEK_END)), '\0');
	CHECK(pread(file, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()));
	close(file);
	return text;
}

} // namespace

TEST_CASE("a crash report names I/O and waits for locks that have no end", "[crash][report]") {
	App app;
	const Operations of(app);
	std::string program = "io:::start,sdt:lock::contention_begin { capture(arg1, arg0); }";
	bool ends = true;
	SECTION("ends are recorded") {
		program += "io:::done { capture(arg0); } sdt:lock::contention_end { capture(arg0); }";
	}
	SECTION("ends are not recorded, so nobody knows") {
		ends = false;
	}
	load(app, program);
	app.fire(of.start, kStart + 1000, 0, 11, "dd", 0xa, 501);
	app.fire(of.start, kStart + 2000, 1, 12, "dd", 0xb, 502);
	app.fire(of.done, kStart + 3000, 1, 0, "swapper/1", 0xa, 0);
	app.fire(of.start, kStart + 4000, 0, 11, "dd", 0xa, 503); // the same bio again
	app.fire(of.done, kStart + 5000, 0, 0, "swapper/0", 0xa, 0);
	app.fire(of.begin, kStart + 6000, 0, 21, "waits", 0xc, 504);
	app.fire(of.begin, kStart + 7000, 1, 22, "waited", 0xc, 505);
	app.fire(of.end, kStart + 8000, 1, 22, "waited", 0xc, 0);
	finish(app);
	Kept kept(app);
	const std::string outstanding = list_of(cli::CrashReport(kept).json(), "outstanding");
	CHECK(count_of(outstanding, "\"probe\"") == (ends ? 2 : 0));
	CHECK(has(outstanding, "\"tid\": 12, \"execname\": \"dd\"") == ends);
	CHECK(has(outstanding, "\"values\": \"502 11\"") == ends);
	CHECK(has(outstanding, "\"values\": \"504 12\"") == ends);
}

TEST_CASE("a crash report: whose end may be overwritten is not called unended", "[crash][report]") {
	App app;
	const Operations of(app);
	load(app, "#pragma D option bufpolicy=ring\n#pragma D option bufsize=256k\n"
	          "io:::start,io:::done { capture(arg0); } app::work:entry { trace(arg0); }");
	app.fire(of.start, kStart + 1000, 0, 11, "dd", 1, 0);
	app.fire(of.done, kStart + 2000, 1, 0, "swapper/1", 1, 0);
	for (unsigned i = 0; i < 60'000; i++)
		app.fire(app.entry, kStart + 3000 + i, 1, 80, "busy", 7, 0);
	app.fire(of.start, kStart + 90'000, 0, 11, "dd", 2, 0);
	finish(app);
	Kept kept(app);
	const std::string json = cli::CrashReport(kept).json();
	CHECK(!lists(json, "outstanding", "1"));
	CHECK(lists(json, "end_not_known", "1"));
	CHECK(lists(json, "outstanding", "2"));
	CHECK(!lists(json, "end_not_known", "2"));
}

TEST_CASE("a crash report: whose end may be thinned or lost is not called unended", "[crash][report]") {
	App app;
	const Operations of(app);
	load(app, "io:::start,app::work:entry { capture(arg0); }\n#pragma D priority low\n"
	          "io:::done { capture(arg0); } app::work:return { capture(arg0); }");
	for (unsigned i = 1; i <= 2; i++) {
		app.fire(of.start, kStart + i * 10'000, 0, 11, "dd", i, 0);
		app.fire(app.entry, kStart + i * 10'000, 0, 20 + i, "calls", i, 0);
	}
	finish(app);
	Kept kept(app);
	WithLosses recording(kept);
	const trace::Losses::Stretch thinned{
	    .cpu = 1, .priority = DFR_PRIORITY_LOW, .from = kStart + 11'000, .to = kStart + 12'000};
	const trace::Losses::Loss lost{.cause = DFR_LOSS_THROTTLE, .cpu = 1, .count = 1};
	unsigned known = 0;
	SECTION("nothing is missing") {}
	SECTION("clauses of another priority were off") {
		recording.ledger.stretches = {thinned};
		recording.ledger.stretches[0].priority = DFR_PRIORITY_NORMAL;
	}
	SECTION("other things than records were lost") {
		recording.ledger.entries = {lost};
		recording.ledger.entries[0].cause = DFR_LOSS_DYNVAR;
	}
	SECTION("they were off for a while") {
		recording.ledger.stretches = {thinned};
		known = 2;
	}
	SECTION("they were still off") {
		recording.ledger.stretches = {thinned};
		recording.ledger.stretches[0].to = 0;
		known = 3;
	}
	SECTION("records were lost, nobody knows when") {
		recording.ledger.entries = {lost};
		known = 3;
	}
	known = known ? known : 1; // the first that is known to be unended
	const std::string json = cli::CrashReport(recording).json();
	for (unsigned i = 1; i <= 2; i++) {
		const std::string value = std::to_string(i);
		CHECK(lists(json, "outstanding", value) == (i >= known));
		CHECK(lists(json, "open", value) == (i >= known));
		CHECK(lists(json, "end_not_known", value) == (i < known));
	}
}

TEST_CASE("a crash report: what a state did not live to see is not called unended", "[crash][report]") {
	App app;
	const Operations of(app);
	load(app, "io:::start,io:::done { capture(arg0); } app::work:entry { capture(arg0); }"
	          "app::work:return { capture(arg0); }");
	app.fire(of.start, kStart + 1000, 0, 11, "dd", 5, 0);
	app.fire(app.entry, kStart + 1000, 1, 12, "calls", 5, 0);
	finish(app);
	Kept kept(app);
	trace::Catalog& catalog = kept.identity();
	uint64_t end = 0, panic = kStart + 2'000'002'000;
	std::string by = "null", said;
	SECTION("an oops in a firing before the panic") {
		end = kStart + 2000;
		by = "\"oops\"";
		said = "an oops of the kernel inside a probe's firing had ended the state: what ended from "
		       "2.000000 "
		       "s before the panic on may have no record\n";
		catalog.events.push_back({.event = DFR_EVENT_KILLED, .value = DFR_KILLED_OOPS, .time = end});
	}
	SECTION("killed before the panic") {
		end = kStart + 2000;
		by = "\"kernel\"";
		catalog.events.push_back({.event = DFR_EVENT_KILLED, .value = DFR_KILLED_COST, .time = end});
	}
	SECTION("exit() before the panic") {
		end = kStart + 2000;
		by = "\"exit\"";
		said =
		    "the program had called exit() 2.000000 s before the panic: what ended since may have no "
		    "record\n";
		catalog.events.push_back({.event = DFR_EVENT_EXIT, .value = 0, .time = end});
	}
	SECTION("stopped before the panic") {
		panic = kStart + 12'000'000'000;
		end = kStart + 10'000'000'000; // finish()
		by = "\"stop\"";
	}
	SECTION("it recorded to the last") {}
	catalog.events.push_back({.event = DFR_EVENT_PANIC, .value = 3, .time = panic});
	const cli::CrashReport report(kept);
	const std::string json = report.json(), text = text_of(report);
	if (end && said.empty())
		said =
		    "the state had ended 2.000000 s before the panic: what ended since may have no record\n";
	CHECK(has(text, "may have no record") == (end != 0));
	CHECK(has(text, said));
	CHECK(has(json, "\"ended_by\": " + by + ","));
	CHECK(has(text, "nothing that is known") == (end != 0));
	CHECK(has(text, "or have come when the state had ended\n") == (end != 0));
	CHECK(lists(json, "outstanding", "5") == !end);
	CHECK(lists(json, "open", "5") == !end);
	CHECK(count_of(list_of(json, "end_not_known"), "\"probe\"") == (end ? 2 : 0));
	CHECK(has(json, "\"ended_before_ns\": " + (end ? std::to_string(panic - end) : "null") + ","));
}

TEST_CASE("a crash report: an exit() in END is a stop", "[crash][report]") {
	App app;
	const Operations of(app);
	load(app, "io:::start,io:::done { capture(arg0); } END { exit(0); }");
	app.fire(of.start, kStart + 1000, 0, 11, "dd", 5, 0);
	finish(app);
	Kept kept(app);
	kept.identity().events.push_back({.event = DFR_EVENT_EXIT, .value = 0, .time = kStart + 2000});
	kept.identity().events.push_back(
	    {.event = DFR_EVENT_PANIC, .value = 3, .time = kStart + 12'000'000'000});
	CHECK(has(cli::CrashReport(kept).json(), "\"ended_by\": \"stop\","));
}

// The machine may die before the catalog is told of an exit().
TEST_CASE("a crash report: the record of an exit() tells when the state ended", "[crash][report]") {
	const bool has_record = GENERATE(false, true);
	App app;
	const Operations of(app);
	load(app, "io:::start,io:::done { capture(arg0); } app::work:entry /arg0 == 7/ { exit(arg1); }");
	app.fire(of.start, kStart + 1000, 0, 11, "dd", 5, 0);
	if (has_record)
		app.fire(app.entry, kStart + 2000, 1, 12, "exits", 7, 0);
	Kept kept(app);
	std::erase_if(kept.identity().events,
	              [](const trace::EventMark& mark) { return mark.event == DFR_EVENT_EXIT; });
	kept.identity().events.push_back(
	    {.event = DFR_EVENT_PANIC, .value = 3, .time = kStart + 2'000'002'000});
	finish(app);
	const std::string json = cli::CrashReport(kept).json();
	CHECK(has(json, has_record ? "\"ended_before_ns\": 2000000000, \"ended_by\": \"exit\","
	                           : "\"ended_before_ns\": null, \"ended_by\": null,"));
	CHECK(lists(json, "outstanding", "5") == !has_record);
	CHECK(lists(json, "end_not_known", "5") == has_record);
}

TEST_CASE("a crash report: whose end could not be armed is not called unended", "[crash][report]") {
	App app;
	const Operations of(app);
	dfr_provider* const more = app.add_provider("more", nullptr, nullptr);
	dfr_probe* const entry = app.add_probe(more, "m", "work", "entry", 3, nullptr);
	app.add_probe(more, "m", "work", "return", 2, nullptr);
	app.probes_added();
	load(app, "io:::start,io:::done { capture(arg0); } :m:work:entry { capture(arg0); } "
	          ":m:work:return { capture(arg0); }");
	app.fire(of.start, kStart + 1000, 0, 11, "dd", 1, 0);
	app.fire(app.entry, kStart + 1000, 0, 12, "calls", 2, 0);
	app.fire(entry, kStart + 1000, 0, 13, "calls", 3, 0);
	finish(app);
	Kept kept(app);
	unsigned ends = 0;
	trace::EventMark mark{.event = DFR_EVENT_UNARMED, .value = 0, .time = kStart, .error = ENOMEM};
	SECTION("all are armed") {
		mark.event = DFR_EVENT_ATTACHED;
	}
	SECTION("clauses were withheld") {
		mark.value = GENERATE(false, true) ? static_cast<int32_t>(app.exit->pb_id) : -2; // one, two
		mark.error = EPERM;
	}
	SECTION("an entry is not") {
		mark.value = static_cast<int32_t>(entry->pb_id);
	}
	SECTION("one return is not") {
		mark.value = static_cast<int32_t>(app.exit->pb_id);
		ends = 1;
	}
	SECTION("the provider cannot say which") {
		ends = 3;
	}
	kept.identity().events.push_back(mark);
	const cli::CrashReport report(kept);
	const std::string json = report.json();
	CHECK(lists(json, "outstanding", "1") == (ends < 3));
	CHECK(lists(json, "open", "2") == (ends == 0));
	CHECK(lists(json, "open", "3") == (ends < 3));
	CHECK(count_of(list_of(json, "end_not_known"), "\"probe\"") == ends);
	CHECK(has(json, "\"ends_not_armed\": " + std::to_string(ends) + ","));
	CHECK(has(text_of(report), ", or be of a probe that could not be armed (dfr info names it)\n") ==
	      (ends != 0));
}

TEST_CASE("a crash report: ends under a predicate are no ends", "[crash][report]") {
	App app;
	const Operations of(app);
	std::string program = "io:::start,app::work:entry { capture(arg0); }";
	bool known = false;
	SECTION("a predicate") {
		program += "io:::done /arg1/ { capture(arg0); } app::work:return /arg1/ { capture(arg0); }";
	}
	SECTION("a speculation") {
		program += "io:::done,app::work:return { speculate(speculation()); capture(arg0); }";
	}
	SECTION("a predicate, and a clause without one") {
		program += "io:::done /arg1/ { capture(arg0); } io:::done { capture(arg0); }"
		           "app::work:return /arg1/ { capture(arg0); } app::work:return { capture(arg0); }";
		known = true;
	}
	load(app, program);
	app.fire(of.start, kStart + 1000, 0, 11, "dd", 5, 0);
	app.fire(app.entry, kStart + 1000, 0, 12, "calls", 5, 0);
	finish(app);
	Kept kept(app);
	const std::string json = cli::CrashReport(kept).json();
	CHECK(lists(json, "outstanding", "5") == known);
	CHECK(lists(json, "open", "5") == known);
}

TEST_CASE("a crash report keeps idle CPUs apart that wait for one lock", "[crash][report]") {
	App app;
	const Operations of(app);
	load(app, "sdt:lock::contention_begin { capture(arg0, arg1); } sdt:lock::contention_end { "
	          "capture(arg0); }");
	for (unsigned cpu = 0; cpu < 2; cpu++)
		app.fire(of.begin, kStart + 1000 + cpu, cpu, 0, "swapper", 9, cpu + 70);
	app.fire(of.end, kStart + 2000, 1, 0, "swapper", 9, 0);
	finish(app);
	Kept kept(app);
	const std::string json = cli::CrashReport(kept).json();
	CHECK(lists(json, "outstanding", "9 70"));
	CHECK(!lists(json, "outstanding", "9 71"));
}

TEST_CASE("a crash report follows the latest operations, and says what it leaves out", "[crash][report]") {
	App app;
	const Operations of(app);
	load(app, "#pragma D option bufsize=4m\nio:::start { capture(arg0); } io:::done { capture(arg0); }");
	for (unsigned i = 0; i < 5000; i++)
		app.fire(of.start, kStart + i, 0, 11, "dd", i + 1, 0);
	app.fire(of.start, kStart + 6000, 0, 11, "dd", 5000, 0); // again
	finish(app);
	Kept kept(app);
	const std::string json = cli::CrashReport(kept).json();
	CHECK(count_of(list_of(json, "outstanding"), "\"probe\"") == 4096);
	CHECK(lists(json, "outstanding", "5000"));
	CHECK(lists(json, "outstanding", "905"));
	CHECK(!lists(json, "outstanding", "904"));
	CHECK(has(json, "\"not_followed\": 904,"));
}

TEST_CASE("a crash report has the panic's registers, stack and log, and trusts none of them",
          "[crash][report]") {
	App app;
	load(app, "app::work:entry { capture(arg0); }");
	app.fire(app.entry, kStart + 1000, 0, 11, "sh", 1, 0);
	finish(app);
	Kept kept(app);
	trace::Catalog& catalog = kept.identity();
	catalog.events.push_back({.event = DFR_EVENT_PANIC, .value = 3, .time = kStart + 2000});
	catalog.modules.push_back({.name = "ext4", .time = 0, .base = 0xffffffffc0000000, .bytes = 0x1000});
	catalog.machine["panic"] = "Fatal exception (Oops)";
	catalog.machine["panic_registers"] = "mode=kernel ip=ffffffff81000010 a\"b=1 =2 lonely";
	catalog.machine["panic_stack"] = "ffffffff81000010 panic+0x10/0x20\n"
	                                 "ffffffffc0000123 0xffffffffc0000123\n"
	                                 "\n\033[2J\n0 \033[2J\n";
	catalog.machine["panic_log"] = "[ 1.0] one\n[ 2.0] \"two\"";
	const std::string json = cli::CrashReport(kept).json();
	CHECK(has(json, R"-("cpu": 3, "comm": "", "reason": "Fatal exception (Oops)", "mode": "kernel")-"));
	CHECK(has(json, R"("registers": {"ip": "ffffffff81000010", "lonely": ""})"));
	CHECK(has(json, R"({"address": "0xffffffff81000010", "name": "panic+0x10/0x20"})"));
	CHECK(has(json, R"({"address": "0xffffffffc0000123", "name": "ext4+0x123"})"));
	CHECK(has(json, "\"name\": \"\\u001b[2J\""));
	CHECK(!has(json, "\033"));
	CHECK(has(json, R"(["[ 1.0] one", "[ 2.0] \"two\""])"));
}

TEST_CASE("a crash report counts apart what came after the panic, and has silent CPUs", "[crash][report]") {
	App app;
	load(app, "app::work:entry { capture(arg0); }");
	const uint64_t panic = kStart + 2'000'000'000;
	app.fire(app.entry, kStart, 2, 30, "hangs", 1, 0);
	for (const uint64_t time : {panic - 1000, panic, panic + 1, panic + 1000})
		app.fire(app.entry, time, 1, 20, "goes on", 1, 0);
	finish(app);
	Kept kept(app);
	kept.identity().events.push_back({.event = DFR_EVENT_PANIC, .value = 3, .time = panic});
	const cli::CrashReport report(kept);
	const std::string json = report.json(), text = text_of(report);
	CHECK(has(text, std::string("  CPU 1    [") + std::string(49, ' ') + ".]  2 after the panic\n"));
	CHECK(has(text, std::string("  CPU 2    [") + std::string(50, ' ') + "]\n"));
	CHECK(list_of(json, "slices").ends_with(", 0, 2]"));
	CHECK(has(list_of(json, "cpus"), "\"after\": 2, \"turns\": [{\"from_before_ns\": 1000, "
	                                 "\"to_before_ns\": -1000, \"records\": 4,"));
	const size_t silent = json.find("\"cpu\": 2, \"slices\"");
	REQUIRE(silent != std::string::npos);
	CHECK(!has(list_of(json.substr(silent), "slices"), "1"));
	CHECK(has(json.substr(silent), "\"after\": 0, \"turns\": [], \"earlier_turns\": 0, \"last\": [{"));
}

TEST_CASE("a crash report keeps speculations in flight apart", "[crash][report]") {
	App app, other;
	load(app, "app::work:entry { capture(arg0); }");
	app.fire(app.entry, kStart + 1000, 0, 11, "sh", 1, 0);
	finish(app);
	load(other, "app::work:entry { capture(arg0); }");
	for (unsigned i = 0; i < 250; i++)
		other.fire(other.entry, kStart + 500 + i, 0, 11, "sh", 7000 + i, 0);
	finish(other);
	Kept kept(app), in_flight(other);
	const std::string json = cli::CrashReport(kept, &in_flight).json();
	CHECK(count_of(list_of(json, "in_flight"), "\"probe\"") == 200);
	CHECK(has(list_of(json, "in_flight"), "\"values\": \"7000\""));
	CHECK(has(json, "\"in_flight_more\": 50,"));
	CHECK(!has(list_of(json, "threads"), "7000"));
}

TEST_CASE("a crash report has each CPU's last second, and who made records there", "[crash][report]") {
	App app;
	load(app, "#pragma D option bufsize=4m\napp::work:entry { capture(arg0); }");
	const uint64_t end = kStart + 5'000'000'000;
	app.fire(app.entry, end - 1'000'000'000, 1, 30, "too early", 1, 0);
	app.fire(app.entry, end - 999'999'000, 0, 20, "first", 1, 0);
	app.fire(app.entry, end - 999'000'000, 0, 20, "first", 1, 0);
	app.fire(app.entry, end - 998'000'000, 0, 20, "first", 1, 0); // a millisecond later
	app.fire(app.entry, end - 1500, 0, 21, "second", 1, 0);
	app.fire(app.entry, end - 1000, 0, 20, "first", 1, 0);
	for (unsigned i = 0; i < 1500; i++) // two that take turns
		app.fire(app.entry, end - 900'000 + uint64_t{i} * 500, 2, 40 + i % 2, "turns", 1, 0);
	app.fire(app.entry, end, 1, 22, "last", 1, 0);
	finish(app);
	Kept kept(app);
	const std::string json = cli::CrashReport(kept).json();
	const size_t second = json.find("\"cpu\": 1, \"slices\""),
	             third = json.find("\"cpu\": 2, \"slices\"");
	REQUIRE(second != std::string::npos);
	REQUIRE(third != std::string::npos);
	INFO(json);
	const std::string first = json.substr(0, second), turns = json.substr(third);
	CHECK(list_of(first, "slices").starts_with("[3, 0, "));
	CHECK(list_of(first, "slices").ends_with(", 0, 2]"));
	const std::string of_first = list_of(first, "turns");
	CHECK(count_of(of_first, "\"records\"") == 4);
	CHECK(has(of_first, "\"from_before_ns\": 999999000, \"to_before_ns\": 999000000, \"records\": 2"));
	CHECK(has(of_first, "\"from_before_ns\": 998000000, \"to_before_ns\": 998000000, \"records\": 1"));
	CHECK(has(of_first, "\"tid\": 21, \"execname\": \"second\", \"last\": \"app:m:work:entry\""));
	CHECK(has(first, "\"earlier_turns\": 0"));
	CHECK(count_of(list_of(json.substr(second), "turns"), "\"records\"") == 1);
	CHECK(count_of(list_of(turns, "turns"), "\"records\"") == 1000);
	CHECK(has(turns, "\"earlier_turns\": 500"));
}

} // namespace crash_report_test
