// SPDX-License-Identifier: GPL-2.0
//
// libdfr's C interface where the command does not go: records and aggregations
// as values, text in a callback, what follows an error. The rest of it is what
// tests/conformance runs all day, since dtrace is its client.
#include "analyze/include/dfr.h"

#include <catch2/catch.hpp>

#include <chrono>
#include <csignal>
#include <memory>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include "analyze/libdfr/child.h"

namespace libdfr_test {

namespace {

struct Maps final : dfr::render::Symboliser {
	dfr::render::SymbolName kernel(uint64_t) override { return {}; }
	dfr::render::SymbolName user(uint32_t, uint64_t) override { return {}; }
	void remember(uint32_t, const std::string& maps) override { text += maps; }
	std::string text;
};

// What is said when the command has ended.
std::string follow(const std::vector<std::string>& command, Maps& maps) {
	dfr::lib::Children children;
	const int pid = children.hold(command);
	children.release(true);
	std::vector<std::string> ends;
	while (ends.empty()) {
		::usleep(1000);
		ends = children.ended();
	}
	children.remember_in(maps);
	CHECK(ends.size() == 1);
	CHECK(children.all_ended());
	return ends[0].substr(("pid " + std::to_string(pid) + ' ').size());
}

// Sandboxes may forbid it; then names are missing, and nothing else.
bool may_trace() {
	const pid_t pid = ::fork();
	if (pid == 0) {
		::pause();
		::_exit(0);
	}
	const auto follower = dfr::lib::Follower::start(pid);
	::kill(pid, SIGKILL);
	while (follower && !follower->ended())
		::usleep(1000);
	return follower != nullptr;
}

struct Close {
	void operator()(dfr_session* session) const { dfr_session_close(session); }
};
using Handle = std::unique_ptr<dfr_session, Close>;

Handle session_with(const char* program) {
	Handle session(dfr_session_open(DFR_SESSION_PROCESS));
	REQUIRE(session);
	REQUIRE(dfr_session_program(session.get(), DFR_BY_NAME, program) == 0);
	return session;
}

void run(dfr_session* session) {
	REQUIRE(dfr_session_compile(session) == 0);
	REQUIRE(dfr_session_go(session) == 0);
	int going;
	do {
		dfr_session_sleep(session);
		going = dfr_session_work(session);
	} while (going == DFR_WORK_GOING);
	REQUIRE(going == DFR_WORK_DONE);
	REQUIRE(dfr_session_stop(session) == 0);
}

void collect(const char* text, size_t size, void* to) {
	static_cast<std::string*>(to)->append(text, size);
}

} // namespace

TEST_CASE("libdfr: text, records and aggregations come to callbacks") {
	const Handle session =
	    session_with("BEGIN { @n[\"a\", 3] = sum(5); @n[\"a\", 3] = sum(6); trace(7); exit(4); }");
	std::string text;
	std::vector<int64_t> values;
	dfr_session_on_text(session.get(), collect, &text);
	dfr_session_on_record(
	    session.get(),
	    [](const dfr_record* record, void* to) {
		    if (std::string(record->name) == "BEGIN" && record->nvalues != 0)
			    static_cast<std::vector<int64_t>*>(to)->push_back(record->values[0].number);
	    },
	    &values);
	REQUIRE(dfr_session_option(session.get(), "quiet", nullptr) == 0);
	CHECK(dfr_session_is_set(session.get(), "quiet") == 1);
	run(session.get());
	CHECK(text.starts_with("7"));
	CHECK(values.size() == 1);
	CHECK(values.at(0) == 7);
	CHECK(dfr_session_exit_status(session.get()) == 4);
	CHECK(dfr_session_lost(session.get()) == 0);

	const auto visit = [](const dfr_aggregation* one, void* to) {
		CHECK(std::string(one->name) == "n");
		REQUIRE(one->nkeys == 2);
		CHECK(std::string(static_cast<const char*>(one->keys[0].bytes), 1) == "a");
		CHECK(one->keys[1].number == 3);
		*static_cast<int64_t*>(to) += one->value;
		return 0;
	};
	int64_t sum = 0;
	CHECK(dfr_session_aggregations(session.get(), "n", visit, &sum) == 0);
	CHECK(sum == 11);
	CHECK(dfr_session_aggregations(session.get(), "other", visit, &sum) == 0);
	CHECK(sum == 11);
	int complete = 0;
	CHECK(std::string(dfr_session_verdict(session.get(), 1, &complete)).find("\"complete\": true") !=
	      std::string::npos);
	CHECK(complete == 1);
}

TEST_CASE("libdfr: an error has its reason, its place and dtrace's words") {
	const Handle session = session_with("BEGIN { trace(nosuch); }");
	CHECK(dfr_session_compile(session.get()) == -1);
	CHECK(std::string(dfr_session_error(session.get())).find(": 1 error") != std::string::npos);
	CHECK(std::string(dfr_session_classic(session.get()))
	          .rfind("invalid probe specifier BEGIN { trace(nosuch); }: ", 0) == 0);
	CHECK(std::string(dfr_session_diagnostics(session.get())).find(":1:15: error:") != std::string::npos);
	CHECK(dfr_session_go(session.get()) == -1);
	CHECK(dfr_session_option(session.get(), "quiet", "maybe") == -1);
	CHECK(std::string(dfr_session_classic(session.get())) ==
	      "failed to set -x quiet: Invalid value for specified option");
}

TEST_CASE("libdfr: calls before their time are errors, not crashes") {
	const Handle session(dfr_session_open(DFR_SESSION_PROCESS));
	CHECK(dfr_session_go(session.get()) == -1);
	CHECK(dfr_session_work(session.get()) == DFR_WORK_ERROR);
	CHECK(dfr_session_stop(session.get()) == -1);
	CHECK(dfr_session_print(session.get(), "x") == -1);
	int complete = 7;
	CHECK(std::string(dfr_session_verdict(session.get(), 0, &complete)).empty());
	CHECK(dfr_session_compile(session.get()) == 0); // to claim, which is not asked for
	CHECK(dfr_session_go(session.get()) == -1);
	CHECK(std::string(dfr_session_error(session.get())) == "no program was given");
	CHECK(std::string(dfr_session_stability(session.get())).empty());

	const Handle boot(dfr_session_open(DFR_SESSION_BOOT));
	CHECK(dfr_session_compile(boot.get()) == -1);
	CHECK(std::string(dfr_session_error(boot.get())) == "no program was given");
}

TEST_CASE("libdfr: a signal that was held back comes in while it sleeps") {
	static volatile sig_atomic_t came;
	came = 0;
	struct sigaction action {
	}, before{};
	action.sa_handler = [](int) { came = 1; };
	REQUIRE(sigaction(SIGUSR1, &action, &before) == 0);
	const Handle session = session_with("tick-1h { }");
	REQUIRE(dfr_session_compile(session.get()) == 0);
	REQUIRE(dfr_session_go(session.get()) == 0);
	sigset_t held, mask;
	sigemptyset(&held);
	sigaddset(&held, SIGUSR1);
	REQUIRE(sigprocmask(SIG_BLOCK, &held, &mask) == 0);
	REQUIRE(raise(SIGUSR1) == 0);
	CHECK(came == 0);
	dfr_session_sleep_with(session.get(), &mask);
	CHECK(came == 1);
	sigprocmask(SIG_SETMASK, &mask, nullptr);
	sigaction(SIGUSR1, &before, nullptr);
	CHECK(dfr_session_stop(session.get()) == 0);
}

TEST_CASE("libdfr: a session is closed while its timers run") { // AddressSanitizer sees what outlives them
	const Handle session = session_with("tick-1ms { }");
	REQUIRE(dfr_session_compile(session.get()) == 0);
	REQUIRE(dfr_session_go(session.get()) == 0);
	std::this_thread::sleep_for(std::chrono::milliseconds(20));
	CHECK(dfr_session_work(session.get()) == DFR_WORK_GOING);
	dfr_session_sleep(session.get());
}

TEST_CASE("libdfr: a timer that is due at the end fires, and tells what it skipped") {
	const Handle session = session_with("tick-10ms { @n = count(); }");
	REQUIRE(dfr_session_compile(session.get()) == 0);
	REQUIRE(dfr_session_go(session.get()) == 0);
	std::this_thread::sleep_for(std::chrono::milliseconds(100));
	REQUIRE(dfr_session_stop(session.get()) == 0);
	int64_t fired = 0;
	const auto visit = [](const dfr_aggregation* one, void* to) {
		*static_cast<int64_t*>(to) += one->value;
		return 0;
	};
	CHECK(dfr_session_aggregations(session.get(), "n", visit, &fired) == 0);
	CHECK(fired == 1);
	CHECK(dfr_session_lost(session.get()) >= 8);
}

TEST_CASE("libdfr: a session that runs is not compiled again") {
	const Handle session(dfr_session_open(DFR_SESSION_PROCESS));
	dfr_session_on_message(session.get(), nullptr, nullptr);
	REQUIRE(dfr_session_program(session.get(), DFR_BY_NAME, "BEGIN { trace(1); }") == 0);
	REQUIRE(dfr_session_compile(session.get()) >= 0);
	REQUIRE(dfr_session_go(session.get()) == 0);
	CHECK(dfr_session_compile(session.get()) == -1);
	CHECK(dfr_session_go(session.get()) == -1);
	CHECK(dfr_session_work(session.get()) == DFR_WORK_GOING);
	CHECK(dfr_session_stop(session.get()) == 0);
}

TEST_CASE("libdfr: a program for a boot is compiled and saved, not run") {
	const Handle session(dfr_session_open(DFR_SESSION_BOOT));
	REQUIRE(dfr_session_program(session.get(), DFR_BY_FUNCTION, "later") == 0);
	size_t size = 0;
	REQUIRE(dfr_session_compile(session.get()) == 0);
	const auto* const dof = static_cast<const char*>(dfr_session_dof(session.get(), &size));
	REQUIRE(size > 64);
	CHECK(std::string(dof + 1, 3) == "DOF");
	CHECK(dfr_session_go(session.get()) == -1);
}

TEST_CASE("libdfr: the list says what matches nothing") {
	const Handle session = session_with("BEGIN");
	REQUIRE(dfr_session_program(session.get(), DFR_BY_PROVIDER, "nosuch") == 0);
	std::string trouble;
	dfr_session_on_message(
	    session.get(),
	    [](dfr_message, const char* line, void* to) { *static_cast<std::string*>(to) += line; },
	    &trouble);
	std::vector<std::string> names;
	const auto visit = [](const dfr_listed_probe* probe, void* to) {
		static_cast<std::vector<std::string>*>(to)->emplace_back(probe->name);
		return 0;
	};
	CHECK(dfr_session_list(session.get(), 0, visit, &names) == 1);
	CHECK(names == std::vector<std::string>{"BEGIN"});
	CHECK(trouble == "failed to match nosuch:::: No probe matches description");
}

TEST_CASE("libdfr: a command is followed to its end, however short its life") {
	Maps maps;
	CHECK(follow({"true"}, maps) == "has exited");
	if (may_trace())
		CHECK(maps.text.find("true\n") != std::string::npos);
	CHECK(follow({"sh", "-c", "exit 3"}, maps) == "exited with status 3");
}

TEST_CASE("libdfr: a followed command gets its signals") {
	Maps maps;
	CHECK(follow({"sh", "-c", "trap 'exit 7' USR1; kill -WINCH $$; kill -USR1 $$; sleep 60"}, maps) ==
	      "exited with status 7");
	CHECK(follow({"sh", "-c", "kill -TERM $$"}, maps) == "terminated by SIGTERM");
	CHECK(follow({"sh", "-c",
	              "(until grep -q '^State:.T' /proc/$$/status; do :; done; kill -CONT $$) & kill -STOP "
	              "$$; exit 5"},
	             maps) == "exited with status 5");
}

} // namespace libdfr_test
