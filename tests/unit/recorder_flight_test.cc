// SPDX-License-Identifier: GPL-2.0
//
// dfrd's mode flight: which triggers get a snapshot, what its options' file may say, and what it tells dfr status; and what
// both modes share.
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <fstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "analyze/cli/status_json.h"
#include "formats/error.h"
#include "formats/trace/parts.h"
#include "recorder/daemon.h"
#include "recorder/daemon_options.h"
#include "recorder/daemon_status.h"
#include "recorder/state_overview.h"
#include "recorder/trigger_gate.h"
#include "tests/unit/scratch_folder.h"

namespace recorder_flight_test {

using namespace dfr;
using namespace std::chrono_literals;
using recorder::DaemonMode;
using recorder::DaemonOptions;
using recorder::TriggerGate;

namespace {

const TriggerGate::Steady::time_point kStart{1h};

DaemonOptions read(const std::string& text, const std::vector<std::string>& arguments) {
	const test::ScratchFolder folder;
	std::ofstream(folder.file("dfrd.conf")) << text;
	std::vector<std::string> all = {"--config", folder.file("dfrd.conf")};
	all.insert(all.end(), arguments.begin(), arguments.end());
	return recorder::read_daemon_options(all);
}

std::string refusal(const std::string& text, const std::vector<std::string>& arguments) {
	try {
		read(text, arguments);
	} catch (const Error& error) {
		const std::string said = error.what();
		return said.substr(said.find("dfrd.conf") == std::string::npos ? 0 : said.find("dfrd.conf"));
	}
	return {};
}

} // namespace

TEST_CASE("a reason has one snapshot in its interval, and the others are counted", "[recorder][flight]") {
	TriggerGate gate;
	gate.every(60s);
	gate.trigger({"slow"}, 100, 3, kStart);
	const auto first = gate.next();
	REQUIRE(first);
	CHECK(first->reason.text == "slow");
	CHECK(first->time == 100);
	CHECK(first->held_back == 0);
	CHECK_FALSE(gate.next());
	CHECK(gate.held_back() == 2);

	gate.trigger({"slow"}, 200, 5, kStart + 59s);
	CHECK_FALSE(gate.next());
	CHECK_FALSE(gate.ended(kStart + 59s));
	gate.trigger({"slow"}, 300, 1, kStart + 60s);
	const auto second = gate.next();
	REQUIRE(second);
	CHECK(second->time == 300);
	CHECK(second->held_back == 7);
	CHECK(gate.held_back() == 7);
	CHECK_FALSE(gate.ended(kStart + 1h)); // all was said with the snapshot
}

TEST_CASE("one reason's interval is not another's, and the earliest trigger is first", "[recorder][flight]") {
	TriggerGate gate;
	gate.every(60s);
	gate.trigger({"oops"}, 500, 1, kStart);
	gate.trigger({"low disk"}, 400, 1, kStart);
	gate.trigger({"oops"}, 600, 1, kStart);
	const auto first = gate.next(), second = gate.next();
	REQUIRE((first && second));
	CHECK(first->reason.text == "low disk");
	CHECK(second->reason.text == "oops");
	CHECK(second->time == 500);
	CHECK_FALSE(gate.next());
	CHECK(gate.held_back() == 1);
}

TEST_CASE("triggers that got no snapshot are told once when the interval ends", "[recorder][flight]") {
	TriggerGate gate;
	gate.every(10s);
	gate.trigger({"slow"}, 1, 1, kStart);
	gate.next();
	gate.trigger({"slow"}, 2, 9, kStart + 1s);
	CHECK_FALSE(gate.ended(kStart + 9s));
	const auto told = gate.ended(kStart + 10s);
	REQUIRE(told);
	CHECK(told->reason.text == "slow");
	CHECK(told->held_back == 9);
	CHECK_FALSE(gate.ended(kStart + 10s));
	// The next snapshot tells of them too, whenever it comes.
	gate.trigger({"slow"}, 3, 3, kStart + 1h);
	const auto next = gate.next();
	REQUIRE(next);
	CHECK(next->held_back == 9);
	CHECK(gate.ended(kStart + 2h)->held_back == 2);
}

TEST_CASE("a noisy reason leaves room for a rare one", "[recorder][flight]") {
	TriggerGate gate;
	gate.every(1s);
	std::vector<recorder::TriggerReason> under_way;
	const auto begin = [&gate, &under_way] {
		while (under_way.size() < 4) {
			const auto next = gate.next(under_way);
			if (!next)
				break;
			under_way.push_back(next->reason);
		}
	};
	// A snapshot takes half a minute, and the noisy reason may have one each second.
	for (uint64_t second = 1; second <= 10; second++) {
		gate.trigger({"noisy"}, second, 100, kStart + second * 1s);
		begin();
	}
	CHECK(under_way.size() == 2);
	gate.trigger({"SIGUSR1", true}, 11, 1, kStart + 11s);
	gate.trigger({"slow"}, 12, 1, kStart + 12s);
	begin();
	REQUIRE(under_way.size() == 4);
	CHECK(under_way[2].text == "SIGUSR1");
	CHECK(under_way[3].text == "slow");
	REQUIRE(gate.waiting().size() == 1);
	CHECK(gate.waiting()[0].time == 3);
	under_way.resize(1); // the others have ended
	begin();
	CHECK(under_way.size() == 2);
	CHECK(gate.waiting().empty());
}

TEST_CASE("no trigger is none, and without an interval each has its snapshot", "[recorder][flight]") {
	TriggerGate gate;
	gate.every(0s);
	gate.trigger({"none"}, 1, 0, kStart);
	CHECK_FALSE(gate.next());
	for (uint64_t i = 1; i <= 3; i++) {
		gate.trigger({"each"}, i, 1, kStart);
		const auto admitted = gate.next();
		REQUIRE(admitted);
		CHECK(admitted->time == i);
	}
	CHECK(gate.held_back() == 0);
}

TEST_CASE("a program's reason is none of dfrd's own", "[recorder][flight]") {
	TriggerGate gate;
	gate.trigger({"SIGUSR1"}, 1, 1, kStart);
	gate.trigger({"SIGUSR1", true}, 2, 1, kStart);
	CHECK(gate.waiting().size() == 2);
	const auto program = gate.next(), own = gate.next();
	REQUIRE((program && own));
	CHECK_FALSE(program->reason.own);
	CHECK(own->reason.own);
	CHECK(gate.waiting().empty());
	CHECK(gate.held_back() == 0);
}

TEST_CASE("a reason whose snapshot failed has one again soon", "[recorder][flight]") {
	TriggerGate gate;
	gate.every(60s);
	gate.trigger({"slow"}, 1, 1, kStart);
	gate.next();
	gate.failed({.reason = {"slow"}, .held_back = 4}, kStart + 1s);
	gate.trigger({"slow"}, 2, 1, kStart + 2s); // and not at once
	CHECK_FALSE(gate.next());
	gate.trigger({"slow"}, 3, 1, kStart + 6s);
	const auto second = gate.next();
	REQUIRE(second);
	CHECK(second->time == 3);
	CHECK(second->held_back == 6); // the one that failed, the 4 that it would have told of, and one more
	gate.failed({.reason = {"never"}}, kStart);
	// However short the interval is, a full disk is not filled and emptied all the time.
	gate.every(0s);
	gate.failed({.reason = {"slow"}}, kStart + 7s);
	gate.trigger({"slow"}, 4, 1, kStart + 11s);
	CHECK_FALSE(gate.next());
	gate.trigger({"slow"}, 5, 1, kStart + 12s);
	CHECK(gate.next());
	gate.trigger({"slow"}, 6, 1, kStart + 12s);
	CHECK(gate.next());
}

TEST_CASE("dfrd's options: the file's, the section's, the command line's", "[recorder][flight]") {
	const std::string text = "# of all\nretain 1g\nretain = 7d\nfree 512m\n\nmode stream\nrotate 64m\n"
	                         "[flight]\nmode = flight\nlast 30s\nafter 5\nevery 2min\nretain 20\n"
	                         "run logger \"a # b\" = $DFR_SNAPSHOT\nlow-disk 2g\n[ other ]\nrotate 1h\n";
	const DaemonOptions flight = read(text, {"--name", "flight"});
	CHECK(flight.mode == DaemonMode::kFlight);
	CHECK(flight.span.last == 30s);
	CHECK(flight.span.after == 5s);
	CHECK(flight.every == 2min);
	CHECK(flight.low_disk == uint64_t{2} << 30);
	CHECK(flight.run == "logger \"a # b\" = $DFR_SNAPSHOT");
	CHECK(flight.retain.parts == 20);
	CHECK(flight.retain.bytes == 0); // the section's bounds replace those of all
	CHECK(flight.retain.free == uint64_t{512} << 20);

	const DaemonOptions other = read(text, {"--name=other", "--checkpoint", "3"});
	CHECK(other.mode == DaemonMode::kStream);
	CHECK(other.rotate.time == 1h);
	CHECK(other.retain.bytes == uint64_t{1} << 30);
	CHECK(other.retain.age == 24h * 7);
	CHECK(other.retain.free == uint64_t{512} << 20);
	CHECK(other.checkpoint == 3s);

	const DaemonOptions mine = read(text, {"-n", "flight", "--retain", "3", "--last", "all", "-s"});
	CHECK(mine.retain.parts == 3);
	CHECK(mine.span.last == 0s);
	CHECK(mine.stop);

	const DaemonOptions none = recorder::read_daemon_options({"-nx", "-r", "1m"});
	CHECK(none.name == "x");
	CHECK(none.rotate.bytes == 1 << 20);
	CHECK(none.every == 60s);
	CHECK(recorder::read_daemon_options({"--help", "--mode", "x"}).help);
}

TEST_CASE("options that are wrong are refused by their place", "[recorder][flight]") {
	CHECK(refusal("", {"--nosuch"}) == "'--nosuch' is not an option");
	CHECK(refusal("", {"x"}) == "'x' is not an option");
	CHECK(refusal("", {"--name"}) ==
	      "--name takes a name of up to 58 bytes without /, which does not end in .next");
	CHECK(refusal("", {"--name", "a/b"}).starts_with("--name takes"));
	CHECK(refusal("", {"--name", "a.next"}).starts_with("--name takes"));
	CHECK(refusal("[anonymous]\nlast 3s\n", {}) == "dfrd.conf:2: last means nothing in mode stream");
	CHECK_THROWS_AS(recorder::read_daemon_options({"--config", "/nonexistent/dfrd.conf"}), Error);
	CHECK(refusal("", {"--name", std::string(59, 'x')})
	          .starts_with("--name takes a name of up to 58 bytes"));
	CHECK(read("", {"--name", std::string(58, 'x')}).name.size() == 58);
	CHECK(refusal("", {"--check"}) == "--check tries a program");
	CHECK(refusal("", {"--stop=1"}) == "--stop takes no value");
	CHECK(refusal("", {"--mode", "fly"}) == "--mode takes stream or flight, not 'fly'");
	CHECK(refusal("", {"--rotate", "64"}).starts_with("--rotate takes a size"));
	CHECK(refusal("", {"--checkpoint", "0"}).starts_with("--checkpoint takes a time"));
	CHECK(refusal("", {"--retain", "3"}) == "--retain and --free remove parts, which --rotate makes");
	CHECK(refusal("last 3s\nretain 3\n[anonymous]\nfree 1g\n", {}) ==
	      "dfrd.conf:4: retain and free remove parts, which rotate makes");
	CHECK(refusal("retain 3\n", {}) == "dfrd.conf:1: retain and free remove parts, which rotate makes");
	CHECK(refusal("retain 3\n", {"--free", "1g"}).starts_with("--retain and --free"));
	CHECK(refusal("", {"--last", "3s"}) == "--last means nothing in mode stream");
	CHECK(refusal("", {"--mode", "flight", "--rotate", "1m"}) == "--rotate means nothing in mode flight");
	CHECK(refusal("rotate\n", {}).starts_with("dfrd.conf:1: rotate takes a size"));
	CHECK(refusal("\nname x\n", {}) ==
	      "dfrd.conf:2: name stands on dfrd's command line, not in this file");
	CHECK(refusal("[anonymous]\nbogus 1\n", {}) == "dfrd.conf:2: there is no option 'bogus'");
	CHECK(refusal("bogus 1\n", {}) == "dfrd.conf:1: there is no option 'bogus'");
	CHECK(refusal("[other\n", {}) == "dfrd.conf:1: a section is [NAME]");
	CHECK(refusal(std::string(2 << 20, 'x'), {}).starts_with("dfrd.conf: it has more than 1 MiB"));
	CHECK(refusal(std::string(1 << 20, '#'), {}).empty());
	CHECK_THROWS_WITH(recorder::read_daemon_options({"--config", "/dev/zero"}),
	                  Catch::Contains("/dev/zero: it has more than 1 MiB"));
}

TEST_CASE("what is wrong in another state's section is said, and refused by --check", "[recorder][flight]") {
	const std::string text = "[a]\nmode flight\nlast 7s\n[b]\nretian 3\nmode fly\n[a]\nretain 5\n";
	const DaemonOptions options = read(text, {"--name", "a"});
	CHECK(options.span.last == 7s);
	CHECK(options.retain.parts == 5);
	REQUIRE(options.remarks.size() == 2);
	CHECK(options.remarks[0].ends_with("dfrd.conf:5: there is no option 'retian'"));
	CHECK(options.remarks[1].ends_with("dfrd.conf:6: mode takes stream or flight, not 'fly'"));
	CHECK(refusal(text, {"--name", "b"}) == "dfrd.conf:5: there is no option 'retian'");
	CHECK(refusal(text, {"--name", "a", "--program", "x", "--check"}) ==
	      "dfrd.conf:5: there is no option 'retian'");
}

TEST_CASE("an options' file that cannot be read is told from one that is wrong", "[recorder][flight]") {
	const auto code = [](const std::vector<std::string>& arguments) {
		try {
			recorder::read_daemon_options(arguments);
		} catch (const Error& error) {
			return error.code();
		}
		return -1;
	};
	CHECK(code({"--config", "/nonexistent/dfrd.conf"}) == ENOENT);
	CHECK(code({"--config", "/"}) == EISDIR);
	CHECK(code({"--nosuch"}) == 0);
}

TEST_CASE("a reload of a program that cannot be read changes nothing", "[recorder][flight]") {
	const test::ScratchFolder folder;
	const std::ofstream empty(folder.file("empty.dof"));
	for (const std::string& program :
	     {folder.path(), folder.file("empty.dof"), folder.file("nosuch"), std::string("/dev/zero")}) {
		recorder::Daemon daemon({"--name", "x", "--program", program});
		CHECK_FALSE(daemon.reload());
	}
}

TEST_CASE("starts within one second have files of their own, and none has a part's name",
          "[recorder][flight]") {
	const test::ScratchFolder folder;
	DaemonOptions options;
	options.output = folder.file("flight.dfr");
	for (size_t i = 0; i < 12; i++) {
		const std::string name = recorder::output_name(options);
		CHECK_FALSE(std::filesystem::exists(name));
		std::ofstream(name) << "a recording";
	}
	CHECK(trace::recordings_in(folder.path()).size() == 12);
	CHECK(trace::parts_of(options.output).empty());
}

TEST_CASE("a second request to end is told from the first", "[recorder][flight]") {
	const pid_t child = ::fork();
	if (child == 0) {
		recorder::catch_daemon_signals();
		if (recorder::end_is_asked())
			::_exit(1);
		::raise(SIGTERM);
		if (!recorder::end_is_asked() || recorder::end_requests() != 1)
			::_exit(2);
		::raise(SIGINT);
		::_exit(recorder::end_requests() == 2 ? 0 : 3);
	}
	int status = 0;
	::waitpid(child, &status, 0);
	CHECK(WIFEXITED(status));
	CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("a ring begins behind the last hole between its blocks", "[recorder][flight]") {
	const auto begins = [](const std::vector<uint64_t>& blocks, uint64_t newest) {
		recorder::DeviceSession::RingList ring{.cpu = {.newest = newest}};
		for (const uint64_t seq : blocks)
			ring.blocks.push_back({.seq = seq});
		const auto run = recorder::newest_run(ring);
		return run.empty() ? 0 : run.front().seq;
	};
	CHECK(begins({}, 0) == 0);
	CHECK(begins({1}, 1) == 1);
	CHECK(begins({1, 2, 3}, 3) == 1);
	CHECK(begins({1, 2, 9, 10, 11}, 11) == 9);     // somebody has taken two, and stores them not
	CHECK(begins({5, 8, 9, 10, 12, 13}, 10) == 8); // the CPU went on while the list was made
	CHECK(begins({12, 13}, 10) == 12);
}

TEST_CASE("dfr status --json tells since when something is off, and what is under way",
          "[recorder][flight]") {
	const auto has = [](const std::string& json, const std::string& pair) {
		return json.find(pair) != std::string::npos;
	};
	recorder::DeviceSession::Cost cost{.budget = 1};
	cost.cpus = {{.cpu = 0, .throttled_since = 7'000'000'000},
	             {.cpu = 1, .throttled_since = 4'000'000'000},
	             {.cpu = 2}};
	cost.cpus[2].thinned_since[DFR_PRIORITY_LOW] = 9'500'000'000;
	const std::string said = cli::cost_json(cost, 10'000'000'000);
	INFO(said);
	CHECK(has(said, "\"throttled_cpus\": 2"));
	CHECK(has(said, "\"throttled_seconds\": 6.0"));
	CHECK(has(said, "\"thinned_cpus_low\": 1"));
	CHECK(has(said, "\"thinned_seconds_low\": 0.5"));
	CHECK(has(cli::cost_json(recorder::DeviceSession::Cost{}, 10), "\"throttled_seconds\": 0.0"));

	const std::string daemon = cli::daemon_json(recorder::DaemonStatus{
	    .mode = "flight", .under_way = {{.number = 3}, {.number = 4}, {.number = 0}}});
	INFO(daemon);
	CHECK(has(daemon, "\"under_way\": 2"));
	CHECK(has(daemon, "\"waiting\": 1"));
}

TEST_CASE("what dfrd tells of itself is read again", "[recorder][flight]") {
	const test::ScratchFolder folder;
	const recorder::DaemonStatus told{.mode = "flight",
	                                  .pid = 4711,
	                                  .state = UINT64_MAX,
	                                  .program = "100-200",
	                                  .output = "/srv/a b-*.dfr",
	                                  .files = 3,
	                                  .bytes = 1,
	                                  .free = 2,
	                                  .snapshots = 5,
	                                  .failed = 6,
	                                  .held_back = 7,
	                                  .last = "/srv/a b-0003.dfr",
	                                  .last_reason = "two\nlines",
	                                  .last_verdict = "complete: all",
	                                  .last_time = -1,
	                                  .under_way = {{3, 100, 12, false, "a reason  of\nsome words"},
	                                                {0, UINT64_MAX, 0, true, "SIGUSR1"}},
	                                  .asked = 99,
	                                  .triggers = {{3, false, " slow  read"}, {1, true, "oops"}}};
	recorder::write_daemon_status(folder.file("a.status"), told);
	const auto read = recorder::read_daemon_status(folder.file("a.status"));
	REQUIRE(read);
	CHECK(read->mode == told.mode);
	CHECK(read->pid == told.pid);
	CHECK(read->state == told.state);
	CHECK(read->program == told.program);
	CHECK(read->output == told.output);
	CHECK(read->files == told.files);
	CHECK(read->bytes == told.bytes);
	CHECK(read->free == told.free);
	CHECK(read->snapshots == told.snapshots);
	CHECK(read->failed == told.failed);
	CHECK(read->held_back == told.held_back);
	CHECK(read->last == told.last);
	CHECK(read->last_reason == "two lines");
	CHECK(read->last_verdict == told.last_verdict);
	CHECK(read->last_time == told.last_time);
	REQUIRE(read->under_way.size() == 2);
	CHECK(read->under_way[0].number == 3);
	CHECK(read->under_way[0].time == 100);
	CHECK(read->under_way[0].held_back == 12);
	CHECK_FALSE(read->under_way[0].own);
	CHECK(read->under_way[0].reason == "a reason  of some words");
	CHECK(read->under_way[1].number == 0);
	CHECK(read->under_way[1].time == UINT64_MAX);
	CHECK(read->under_way[1].own);
	CHECK(read->under_way[1].reason == "SIGUSR1");
	CHECK(read->asked == 99);
	REQUIRE(read->triggers.size() == 2);
	CHECK(read->triggers[0].count == 3);
	CHECK_FALSE(read->triggers[0].oops);
	CHECK(read->triggers[0].reason == " slow  read");
	CHECK(read->triggers[1].oops);
	CHECK_FALSE(recorder::read_daemon_status(folder.file("none")));
	std::ofstream(folder.file("odd")) << "state x\npid\nlast\nunder-way\nunder-way 1 x\nunder-way 1 2 "
	                                     "own\ntrigger x\ntrigger 1\nunder-way"
	                                  << std::string(1 << 20, 'y');
	const auto odd = recorder::read_daemon_status(folder.file("odd"));
	REQUIRE(odd);
	CHECK(odd->state == 0);
	CHECK(odd->last.empty());
	CHECK(odd->under_way.empty());
	CHECK(odd->triggers.empty());
}

} // namespace recorder_flight_test
