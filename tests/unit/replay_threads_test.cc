// SPDX-License-Identifier: GPL-2.0
//
// Programs that several threads answer together print the same bytes, verdict and status as one engine does.
// replay_says() runs each of them by 1, 2 and 4 threads and compares; here is which programs those are.
#include <catch2/catch.hpp>

#include "tests/unit/replay_app.h"

namespace replay_threads_test {

using namespace dfr;
using namespace dfr::test;

namespace {

// 20,000 calls of 50 threads that move between four CPUs: entries and returns, some of these without an entry.
Kept recorded(App& app, const std::string& program = "app::work: { capture(); }") {
	static const char* const kNames[] = {"alpha", "beta", "gamma"};
	load(app, "#pragma D option bufsize=1m\n" + program);
	uint64_t noise = 1;
	for (unsigned i = 0; i < 20'000; i++) {
		noise = noise * 6364136223846793005u + 1442695040888963407u;
		const unsigned who = noise >> 40 & 0xff ? noise % 50 : i % 3;
		app.fire(noise >> 50 & 1 ? app.entry : app.exit, kStart + i * 1000, noise >> 62, 100 + who,
		         kNames[who % 3], noise >> 20 & 0xff, i);
	}
	finish(app);
	return Kept(app);
}

replay::Answer answer_of(Kept& kept, const std::string& program, unsigned threads, std::string& said) {
	const trace::United united({&kept});
	replay::RecordingTarget target(united);
	render::Output output(-1);
	render::NoSymbols symbols;
	replay::ReplayOptions options = quiet();
	options.threads = threads;
	options.message = [](const std::string&) {};
	kept.rewind();
	auto answer =
	    replay::replay_program(united, target, compiled(program, target), output, symbols, options);
	said = output.take();
	return answer;
}

bool goes_by_threads(Kept& kept, const std::string& program) {
	std::string one, three;
	CHECK_FALSE(answer_of(kept, program, 1, one).by_threads);
	const replay::Answer answer = answer_of(kept, program, 3, three);
	CHECK(one == three);
	CHECK(one.find_first_not_of('\n') != std::string::npos);
	return answer.by_threads;
}

} // namespace

TEST_CASE("by threads: self-> and every function", "[replay][parallel]") {
	App app;
	Kept kept = recorded(app);
	const std::string latency =
	    "app::work:entry { self->t = timestamp; self->a = arg0; } app::work:return /self->t/ ";
	for (const char* use : {
	         "{ @ = count(); self->t = 0; }",
	         "{ @a[execname] = sum(timestamp - self->t); @b[tid] = avg(self->a); @c[cpu] = stddev(arg1); "
	         "}",
	         "{ @a = min(timestamp - self->t); @b = max(self->a); @c[self->a & 7] = count(); self->t = "
	         "0; }",
	         "{ this->d = timestamp - self->t; @a[execname] = quantize(this->d, self->a); self->t = 0; "
	         "@b = lquantize(this->d, 0, 1000000, 1000); @c = llquantize(this->d, 10, 0, 8, 20); }",
	         "{ if (self->a > 100) @big[execname] = count(); else @small[execname] = count(); self->t = "
	         "0; }",
	         "{ @a[execname] = sum(timestamp - self->t); } END { trunc(@a, 2); printa(\"%s %@d\\n\", "
	         "@a); }",
	         "{ @a[strjoin(execname, \"!\")] = max(self->t); } BEGIN { printf(\"%s\\n\", execname); n = "
	         "3; } "
	         "END { printf(\"%d %d\\n\", n, timestamp); exit(4); }",
	     }) {
		INFO(use);
		CHECK(goes_by_threads(kept, latency + use));
		replay_says(kept, latency + use);
	}
	CHECK(goes_by_threads(kept,
	                      "app::work:entry { self->name[arg0 & 3] = execname; } "
	                      "app::work:return /self->name[1] != NULL/ { @[self->name[1]] = count(); }"));
}

TEST_CASE("by threads: what is shared, printed or in order is one engine's", "[replay][parallel]") {
	App app;
	Kept kept = recorded(app);
	for (const char* program : {
	         "app::work:entry { n++; @ = max(n); }",
	         "app::work:entry { last[tid] = arg1; @ = sum(last[100]); }",
	         "app::work:entry { self->t = 1; trace(tid); }",
	         "app::work:entry { self->t = 1; @ = count(); } tick-1s { printa(@); }",
	         "app::work:entry { self->t++; @ = count(); } app::work:return /self->t > 20/ { exit(0); }",
	         "BEGIN { self->b = 7; } app::work:entry { self->t = self->b; @ = count(); }",
	         "app::work:entry { self->s = speculation(); @ = count(); }",
	         "app::work:entry { self->e = epid; @[self->e] = count(); }",
	         "app::work:entry { self->t = rand() & 0; @ = sum(self->t); }",
	     }) {
		INFO(program);
		CHECK_FALSE(goes_by_threads(kept, program));
	}
}

// A fault fires ERROR, and its message stands where it came; what has no room is lost by another count.
TEST_CASE("by threads: faults and losses are left to one engine", "[replay][parallel]") {
	App app;
	Kept kept = recorded(app);
	for (const char* program : {
	         "app::work:entry { self->d = 1000 / arg0; @ = sum(self->d); } ERROR { errors++; } END { "
	         "printf(\"%d\\n\", errors); }",
	         "#pragma D option dynvarsize=256k\napp::work:entry { self->text[arg1] = execname; @ = "
	         "count(); }",
	     }) {
		INFO(program);
		CHECK_FALSE(goes_by_threads(kept, program));
	}
}

// Firings that lack an input are counted by each thread and named together.
TEST_CASE("by threads: firings without an input", "[replay][parallel]") {
	App app;
	Kept kept =
	    recorded(app, "app::work:entry { capture(arg0); } app::work:entry /execname == \"beta\"/ { "
	                  "capture(arg1 * 2); } app::work:return { capture(arg1); }");
	replay::Answer answer;
	replay_says(kept, "app::work:entry { self->t = arg0; @[arg1 * 2 > 5000] = sum(self->t); }", &answer);
	CHECK_FALSE(answer.verdict.complete);
}

} // namespace replay_threads_test
