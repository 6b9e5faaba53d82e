// SPDX-License-Identifier: GPL-2.0
//
// Recordings that somebody made to take a reader's time, memory or stack: what they ask for is bounded by their
// size. Where a bound is of time, a test does not measure it: without the bound it does not end.
#include <catch2/catch.hpp>

#include "formats/d/canon.h"
#include "formats/dof/image.h"
#include "formats/trace/container.h"
#include "formats/trace/schema.h"
#include "formats/trace/verify.h"
#include "tests/unit/harmed_file.h"
#include "tests/unit/trace_builder.h"

using namespace dfr;
using namespace dfr::test;

namespace {

// A catalog's message (dfr.capnp) whose list of modules has `count` elements without bytes. Words by Cap'n Proto's
// encoding: the segments' sizes, the pointer to the root, its 11 pointers, the list's tag.
std::vector<std::byte> empty_modules(uint64_t count) {
	std::vector<uint64_t> words(1 << 16);
	words[0] = (words.size() - 1) << 32;
	words[1] = uint64_t{11} << 48;                 // a struct of 11 pointers behind this
	words[2 + 9] = 1 | 1 << 2 | uint64_t{7} << 32; // a list of structs, 0 words, behind the pointers
	words[2 + 11] = count << 2;
	const auto bytes = std::as_bytes(std::span(words));
	return {bytes.begin(), bytes.end()};
}

std::string chain(size_t depth) {
	std::string text;
	for (size_t i = 0; i < depth; i++)
		text += "(&& pid ";
	return text + "tid" + std::string(depth, ')');
}

} // namespace

TEST_CASE("hostile: a list of elements without bytes is no longer than its message", "[hostile]") {
	trace::Catalog catalog;
	trace::decode_catalog(empty_modules(20'000), catalog);
	CHECK(catalog.modules.size() == 20'000);
	CHECK_THROWS_WITH(trace::decode_catalog(empty_modules(70'000), catalog),
	                  Catch::Contains("cannot be read"));
}

// Without its bound the catalog has 210 bytes for each 8 of such a message.
TEST_CASE("hostile: a catalog takes no more than five times the memory of its message", "[hostile]") {
	constexpr size_t kProbes = 200'000;
	std::vector<uint64_t> words(2 + 11 + 1 + kProbes);
	words[0] = (words.size() - 1) << 32;
	words[1] =
	    uint64_t{11} << 48; // as in empty_modules(); the list of probes has a word for each, their ids
	words[2 + 5] = 1 | uint64_t{5} << 2 | (uint64_t{kProbes} << 3 | 7) << 32;
	words[2 + 11] = uint64_t{kProbes} << 2 | uint64_t{1} << 32;
	for (uint64_t i = 0; i < kProbes; i++)
		words[2 + 11 + 1 + i] = i + 1;
	const auto bytes = std::as_bytes(std::span(words));
	trace::Catalog catalog;
	CHECK_THROWS_WITH(trace::decode_catalog({bytes.begin(), bytes.end()}, catalog),
	                  Catch::Contains("more than five times the memory"));
	CHECK(catalog.probes.size() > 10'000); // it is read as far as that
	CHECK(catalog.probes.size() < 60'000);
}

TEST_CASE("a catalog of a hundred thousand of everything is not crafted", "[hostile]") {
	trace::Catalog there, read;
	for (uint32_t i = 1; i <= 100'000; i++) {
		there.probes[i] = {
		    .id = i, .nargs = {}, .provider = "a", .module = "", .function = "f", .name = "e"};
		there.layouts[i] = {.id = i, .dof = 0, .clause = i, .fields = {}};
		if (i % 2)
			there.layouts[i].fields = {int_field(8)};
		there.add_ecb({.epid = i, .probe = i, .layout = i});
		there.aggregations[i] = {.varid = i, .kind = 0, .flags = 0, .arg = 0, .keys = {}};
		there.modules.push_back({.name = "m"});
		there.events.push_back({.event = 1, .value = 1, .time = i, .error = 0, .text = {}});
		there.clocks.push_back({.mono = i});
		there.dofs.emplace_back();
		there.sources.emplace_back();
		there.machine[std::to_string(i)] = "v";
	}
	trace::CatalogMark mark;
	trace::decode_catalog(trace::encode_catalog(there, mark), read);
	CHECK(read.probes.size() == 100'000);
	CHECK(read.events.size() == 100'000);
}

TEST_CASE("hostile: clock entries from the last to the first", "[hostile]") {
	trace::Catalog there, read;
	for (uint64_t i = 0; i < 3'000'000; i++)
		there.clocks.push_back({.mono = 3'000'000 - i, .real = i, .boot = 0});
	trace::CatalogMark mark;
	trace::decode_catalog(trace::encode_catalog(there, mark), read);
	REQUIRE(read.clocks.size() == 3'000'000);
	CHECK(std::is_sorted(read.clocks.begin(), read.clocks.end(),
	                     [](const trace::Clock& a, const trace::Clock& b) { return a.mono < b.mono; }));
	// What comes later of the same time stands behind what was there.
	read.add_clocks({{.mono = 5, .real = 7, .boot = 0}});
	CHECK(read.clocks[4].real != 7);
	CHECK(read.clocks[5].real == 7);
}

TEST_CASE("hostile: losses of very many probes are counted, and in bounded lists", "[hostile]") {
	trace::Losses losses;
	constexpr uint32_t kProbes = 2'000'000;
	for (uint32_t probe = kProbes; probe > 0; probe--)
		losses.add(
		    {.cause = probe % 2, .probe = probe, .cpu = 1, .count = 3, .from = probe, .to = probe});
	CHECK(losses.total() == 3ull * kProbes);
	CHECK(losses.entries.size() <= trace::Losses::kEntriesMost + 2);
	CHECK(losses.entries.front().probe == 0);
	CHECK(losses.entries.front().from == 2); // all times are in it
}

TEST_CASE("hostile: stretches of thinning from the last to the first stay in a bounded list",
          "[hostile][thin]") {
	trace::Losses losses;
	constexpr uint64_t kStretches = 200'000;
	for (uint64_t i = kStretches; i > 0; i--)
		losses.add(trace::Losses::Stretch{
		    .cpu = static_cast<int32_t>(1 + i / 65'000), // those of CPUs 2 and 1 come when it is full
		    .priority = DFR_PRIORITY_LOW,
		    .from = 2 * i,
		    .to = 2 * i + 1,
		    .left_out = 1});
	CHECK(losses.stretches.size() <= trace::Losses::kEntriesMost + 1);
	const trace::Losses::Stretch& front = losses.stretches.front();
	CHECK(front.cpu == -1); // not known
	CHECK(front.from == 2);
	uint64_t left_out = 0;
	for (const auto& stretch : losses.stretches)
		left_out += stretch.left_out;
	CHECK(left_out == kStretches);
}

TEST_CASE("hostile: of very much damage the first hundred places are named", "[hostile]") {
	const ScratchFolder folder;
	const std::string path = folder.file("damaged.dfr");
	{
		trace::ContainerWriter writer(path, true, trace::local_file());
		for (unsigned i = 0; i < 2000; i++)
			writer.append(trace::SegmentType::kLosses, 0, std::vector<std::byte>(8), false);
		writer.close();
	}
	const auto file = trace::open_file(path);
	CHECK(file->partial());
	const std::vector<std::string> remarks = file->remarks();
	CHECK(remarks.size() == 102);
	CHECK_THAT(remarks[100], Catch::Contains("there is more damage"));
	CHECK(remarks[101] == file->facts().cut); // the file was not ended
	CHECK(trace::verify_file(path).findings.size() + trace::verify_file(path).more > 2000);
}

TEST_CASE("hostile: conditions that are very deep end no reader", "[hostile]") {
	CHECK(d::readable(chain(3)) == "pid && pid && pid && tid");
	CHECK(d::readable(chain(1'000'000)).size() < 100'000);
	App app;
	const d::Compiled program = compiled("app::work:entry /pid == 7/ { capture(arg0); }", app);
	load(app, program.image);
	app.fire(app.entry, kStart, 0, 70, "one", 1, 2);
	finish(app);
	Kept kept(app);
	dof::Image image = program.image;
	for (dof::Body& body : image.bodies)
		body.condition = chain(1'000'000);
	const auto dof = dof::write(image);
	const auto bytes = std::as_bytes(std::span(dof));
	kept.identity().dofs = {{bytes.begin(), bytes.end()}};
	replay::Answer answer;
	CHECK(replay_says(kept, "app::work:entry /pid == 7/ { trace(arg0); }", &answer).find('1') !=
	      std::string::npos);
	REQUIRE_FALSE(answer.verdict.complete);
	CHECK(answer.verdict.reasons.front().find("was recorded only where") != std::string::npos);
}
