// SPDX-License-Identifier: GPL-2.0
//
// A pass asks for everything older than its beginning, and ends although CPUs go on writing.
#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <vector>

#include "recorder/block_pass.h"

namespace recorder_pass_test {

using dfr::recorder::BlockPass;

namespace {

struct Batch {
	bool full;
	std::vector<uint64_t> times; // of the last record in each block
	bool left = false;
};

// What is asked until the pass is over: "all+" is all CPUs with their open blocks, "1" is CPU 1 without.
std::string asked(uint32_t cpus, const std::vector<Batch>& answers) {
	BlockPass pass;
	pass.begin(1000);
	std::string text;
	size_t at = 0;
	while (pass.goes_on(cpus)) {
		const BlockPass::Question question = pass.question();
		text += (text.empty() ? "" : " ") +
		        (question.cpu == BlockPass::kAllCpus ? "all" : std::to_string(question.cpu)) +
		        (question.open_too ? "+" : "");
		const Batch batch = at < answers.size() ? answers[at++] : Batch{};
		pass.answered(batch.full, batch.left);
		for (const uint64_t time : batch.times)
			pass.saw(time);
		if (text.size() > 200)
			return text + " without end";
	}
	CHECK(!pass.under_way());
	return text;
}

} // namespace

TEST_CASE("a pass that finds little asks all CPUs until nothing older comes", "[recorder]") {
	CHECK(asked(2, {}) == "all+");
	CHECK(asked(2, {{false, {999, 1001}}}) == "all+ all");
	CHECK(asked(2, {{false, {1000}}, {false, {5}}}) == "all+ all all");
	CHECK(asked(2, {{false, {1001}}}) == "all+"); // younger ones wait for the next pass
}

TEST_CASE("a pass that finds much asks one CPU after the other", "[recorder]") {
	CHECK(asked(2, {{true, {900}}}) == "all+ 0+ 1+");
	CHECK(asked(2, {{true, {900}}, {true, {900}}, {true, {1001}}, {true, {900}}}) == "all+ 0+ 0 1+ 1");
	CHECK(asked(2, {{false, {900}}, {true, {900}}}) == "all+ all 0+ 1+");
	CHECK(asked(1, {{true, {900}}}) == "all+ 0+");
	// A full batch of younger blocks does not show that all older ones came.
	CHECK(asked(1, {{true, {1001}}}) == "all+ 0+");
}

TEST_CASE("a pass asks a CPU that left blocks until all older ones came", "[recorder]") {
	constexpr bool kLeft = true;
	CHECK(asked(2, {{false, {900}, kLeft}}) == "all+ 0+ 1+");
	// Its open block is closed with the last answer alone.
	CHECK(asked(2, {{false, {}, kLeft}, {false, {900}, kLeft}, {false, {}, kLeft}, {false, {950}}}) ==
	      "all+ 0+ 0+ 0+ 0 1+");
	// Writers faster than the reader: what is left is younger.
	CHECK(asked(2, {{false, {}, kLeft}, {false, {900, 1001}, kLeft}}) == "all+ 0+ 1+");
	// A younger block of another CPU says nothing of this one.
	CHECK(asked(1, {{false, {1001}, kLeft}, {false, {}, kLeft}, {false, {900}}}) == "all+ 0+ 0+ 0");
}

TEST_CASE("a pass ends where what was left cannot be had", "[recorder]") {
	BlockPass pass;
	pass.begin(1000);
	CHECK(pass.goes_on(1));
	pass.answered(false, true);
	CHECK(pass.goes_on(1));
	pass.answered(false, true);
	CHECK(pass.wants_room());
	pass.leave();
	CHECK(!pass.goes_on(1));
}

TEST_CASE("outside of a pass all CPUs are asked for closed blocks, always", "[recorder]") {
	BlockPass pass;
	for (int i = 0; i < 3; i++) {
		CHECK(!pass.under_way());
		CHECK(pass.goes_on(4));
		CHECK(pass.question().cpu == BlockPass::kAllCpus);
		CHECK(!pass.question().open_too);
		pass.answered(i == 1);
		pass.saw(7);
	}
}

TEST_CASE("a block that could not be read may have been older", "[recorder]") {
	BlockPass pass;
	pass.begin(1000);
	CHECK(pass.goes_on(1));
	pass.answered(false);
	pass.saw_unreadable();
	CHECK(pass.goes_on(1));
	pass.answered(false);
	CHECK(!pass.goes_on(1));
}

} // namespace recorder_pass_test
