// SPDX-License-Identifier: GPL-2.0
//
// The loop of a recording: what it calls in which order, and what remains of it after an error.
#include <catch2/catch.hpp>
#include <new>
#include <string>

#include "formats/error.h"
#include "recorder/recording_loop.h"

namespace recorder_loop_test {

namespace {

// Writes down each call by its first letter.
class Told final : public dfr::recorder::RecordingLoop {
public:
	int sleeps = 100, passes = 100; // so many of them, then false
	int fails_in_pass = 0;
	bool fails_in_salvage = false, no_memory = false;
	std::string calls;

private:
	bool sleep() override {
		calls += 's';
		return sleeps-- > 0;
	}
	bool pass() override {
		calls += 'p';
		if (fails_in_pass && --fails_in_pass == 0) {
			if (no_memory)
				throw std::bad_alloc();
			throw dfr::Error("the first");
		}
		return passes-- > 0;
	}
	void finish() override { calls += 'f'; }
	void salvage(const dfr::Error& error) override {
		CHECK(std::string(error.what()) == (no_memory ? "there is not enough memory" : "the first"));
		calls += 'v';
		if (fails_in_salvage && no_memory)
			throw std::bad_alloc();
		if (fails_in_salvage)
			throw dfr::Error("the second");
	}
};

} // namespace

TEST_CASE("a recording sleeps and takes until it is told to end or there is no more", "[recorder]") {
	Told told;
	told.sleeps = 2;
	told.record();
	CHECK(told.calls == "spspsf");
	Told ended;
	ended.passes = 1;
	ended.record();
	CHECK(ended.calls == "spspf");
	Told none;
	none.sleeps = 0;
	none.record();
	CHECK(none.calls == "sf");
}

TEST_CASE("after an error a recording is salvaged, and the first error is told", "[recorder]") {
	for (const bool twice : {false, true}) {
		Told told;
		told.fails_in_pass = 2;
		told.fails_in_salvage = twice;
		CHECK_THROWS_WITH(told.record(), "the first");
		CHECK(told.calls == "spspv");
	}
}

TEST_CASE("where there is no memory a recording is salvaged, too, and it is an error", "[recorder]") {
	for (const bool twice : {false, true}) {
		Told told;
		told.no_memory = true;
		told.fails_in_pass = 2;
		told.fails_in_salvage = twice;
		CHECK_THROWS_AS(told.record(), dfr::Error);
		CHECK(told.calls == "spspv");
	}
}

} // namespace recorder_loop_test
