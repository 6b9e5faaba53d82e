// SPDX-License-Identifier: GPL-2.0
//
// The EVENTS segment (formats/trace/SECOND-FORM.md): what the kernel's own tracer had kept of a boot comes back from
// the file as it was, from a cut file too; each harm is named; a cut keeps those of its part. What redact leaves of
// it: redact_test.cc.
#include <catch2/catch.hpp>

#include "formats/error.h"
#include "formats/trace/container.h"
#include "formats/trace/cut.h"
#include "formats/trace/joined.h"
#include "formats/trace/verify.h"
#include "tests/unit/harmed_file.h"

namespace trace_kernel_events_test {

using namespace dfr;
using namespace dfr::test;

namespace {

trace::KernelEvents some_events() {
	trace::KernelEventsBuilder made;
	made.add(0, 0, 0, "initcall_level", "level=console");
	made.add(1'000'000, 1, 1, "initcall_start", "func=acpi_init+0x0/0x35");
	made.add(2'000'000, 0, 98, "module_load", "virtio ");
	made.add(3'000'000, 1, 1, "initcall_finish", "func=acpi_init+0x0/0x35 ret=0");
	made.events.lost = 7;
	made.events.remarks = {"2 lines that somebody else traced were left out"};
	return made.events;
}

// Each as words, with its texts, so that numbers of texts do not matter.
std::vector<std::string> lines_of(const trace::KernelEvents& kept) {
	std::vector<std::string> all;
	for (const trace::KernelEvents::Event& event : kept.events)
		all.push_back(std::to_string(event.time) + " " + std::to_string(event.cpu) + " " +
		              std::to_string(event.pid) + " " + kept.texts[event.name] + " " +
		              kept.texts[event.text]);
	return all;
}

struct Rig {
	Rig() : kept(recorded_work(app)), path(folder.file("boot.dfr")), part(folder.file("part.dfr")) {
		write(some_events());
	}
	void write(const trace::KernelEvents& events) {
		kept.rewind();
		trace::FileWriter writer(path, true,
		                         [&]() -> const trace::Catalog& { return kept.catalog(); });
		writer.kernel_events(events);
		trace::copy_to_file(kept, writer);
		writer.finish();
	}
	// Writes a file whose segment of events is sound and holds this.
	void write_raw(std::span<const std::byte> payload) {
		kept.rewind();
		trace::FileWriter writer(path, true,
		                         [&]() -> const trace::Catalog& { return kept.catalog(); });
		writer.pass_on({.type = static_cast<uint16_t>(trace::SegmentType::kKernelEvents)}, payload);
		trace::copy_to_file(kept, writer);
		writer.finish();
	}
	trace::Segment segment() const {
		std::optional<trace::Segment> found;
		trace::ContainerReader(path).each_segment([&](const trace::Segment& one) {
			if (one.type() == trace::SegmentType::kKernelEvents)
				found = one;
		});
		REQUIRE(found);
		return *found;
	}
	FileBytes bytes() const {
		std::ifstream in(path, std::ios::binary);
		return {std::istreambuf_iterator<char>(in), {}};
	}
	void store(const FileBytes& bytes) const {
		std::ofstream(part, std::ios::binary)
		    .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
	}
	std::vector<std::string> cut(const trace::Cut& what) {
		trace::cut_file(path, part, what);
		for (const trace::Finding& finding : trace::verify_file(part).findings)
			FAIL_CHECK(finding.text());
		return lines_of(trace::open_file(part)->kernel_events());
	}
	App app;
	Kept kept;
	ScratchFolder folder;
	std::string path, part;
};

// Neither taken for sound by who reads it, nor by who verifies it, nor passed on by a cut without a word.
void check_damaged(const std::string& path, const std::string& part) {
	const auto file = trace::open_file(path);
	CHECK(file->kernel_events().empty());
	CHECK(file->partial());
	REQUIRE_FALSE(file->remarks().empty());
	CHECK(file->remarks().front().find("(the kernel's own events) are damaged") != std::string::npos);
	CHECK_FALSE(trace::verify_file(path).sound());
	trace::cut_file(path, part, {.text = "everything"});
	CHECK(trace::open_file(part)->kernel_events().empty());
	CHECK(trace::open_file(part)->remarks().front().find("(the kernel's own events) are damaged") !=
	      std::string::npos);
}

} // namespace

TEST_CASE("the kernel's own events come back from the file that has them", "[trace][events]") {
	Rig rig;
	const trace::KernelEvents events = some_events();
	const trace::KernelEvents back = trace::open_file(rig.path)->kernel_events();
	CHECK(lines_of(back) == lines_of(events));
	CHECK(back.lost == 7);
	CHECK(back.remarks == events.remarks);
	CHECK(trace::verify_file(rig.path).sound());
	// A copy of the file has them too; and of several files of a boot each event is one.
	{
		const auto file = trace::open_file(rig.path);
		trace::FileWriter writer(rig.part, true,
		                         [&]() -> const trace::Catalog& { return file->catalog(); });
		trace::copy_to_file(*file, writer);
		writer.finish();
	}
	CHECK(lines_of(trace::open_file(rig.part)->kernel_events()) == lines_of(events));
	const auto both = [&rig] {
		trace::JoinedSource joined(std::move(trace::group_by_state({rig.path, rig.part}).at(0)));
		return joined.kernel_events();
	};
	CHECK(lines_of(both()) == lines_of(events));
	CHECK(both().lost == 7);
	CHECK(both().remarks == events.remarks);
	rig.write({});
	CHECK(trace::open_file(rig.path)->kernel_events().empty());
	CHECK(lines_of(both()) == lines_of(events));
}

TEST_CASE("a file with the kernel's own events is read wherever it was cut", "[trace][events]") {
	Rig rig;
	const FileBytes whole = rig.bytes();
	const trace::Segment segment = rig.segment();
	for (uint64_t length = 0; length <= segment.end() + 64; length++) {
		rig.store({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)});
		if (length < sizeof(trace::kFileMagic))
			continue; // it is no .dfr
		const auto file = trace::open_file(rig.part);
		CHECK(file->kernel_events().events.size() == (length < segment.end() ? 0 : 4));
		CHECK_FALSE(file->facts().finished);
		CHECK_FALSE(trace::verify_file(rig.part).sound());
	}
}

TEST_CASE("harm to the kernel's own events is named, and the rest is read", "[trace][events]") {
	Rig rig;
	const trace::Segment segment = rig.segment();
	const FileBytes whole = rig.bytes();
	for (uint64_t at = segment.payload(); at < segment.payload() + segment.head.stored; at += 7) {
		FileBytes harmed = whole;
		harmed[at] = static_cast<char>(harmed[at] ^ 0x20);
		rig.store(harmed);
		check_damaged(rig.part, rig.folder.file("cut.dfr"));
	}
	// The checksum is right, and what it covers is not.
	trace::KernelEvents wrong = some_events();
	for (uint32_t trace::KernelEvents::Event::*const number :
	     {&trace::KernelEvents::Event::name, &trace::KernelEvents::Event::text}) {
		trace::KernelEvents one = wrong;
		one.events[2].*number = static_cast<uint32_t>(one.texts.size());
		rig.write(one);
		check_damaged(rig.path, rig.part);
		CHECK_THROWS_WITH(trace::decode_kernel_events(trace::encode_kernel_events(one)),
		                  Catch::Contains("text 8 of 8"));
	}
	const std::vector<std::byte> sound = trace::encode_kernel_events(wrong);
	for (size_t length = 0; length < sound.size() - 8; length += 8) {
		rig.write_raw(std::span(sound).first(length));
		check_damaged(rig.path, rig.part);
	}
	CHECK_THROWS_AS(trace::decode_kernel_events({}), Error);
}

TEST_CASE("a cut keeps the kernel's own events of its times, CPUs and processes", "[trace][events][cut]") {
	Rig rig;
	const std::vector<std::string> all = lines_of(some_events());
	using Lines = std::vector<std::string>;
	CHECK(rig.cut({.span = {.from = 1'000'000, .to = 2'000'000}, .text = "a time"}) ==
	      Lines{all[1], all[2]});
	const trace::KernelEvents part = trace::open_file(rig.part)->kernel_events();
	CHECK(part.lost == 7);
	CHECK(part.texts.size() == 4);
	CHECK(part.remarks ==
	      Lines{some_events().remarks[0], "2 events of the kernel's own were left out (cut)"});
	CHECK(rig.cut({.span = {.cpus = {true, false, true, true}}, .text = "CPU 0"}) ==
	      Lines{all[0], all[2]});
	CHECK(rig.cut({.pids = {1}, .text = "pid 1"}) == Lines{all[1], all[3]});
	CHECK(rig.cut({.text = "everything"}) == all);
	CHECK(trace::open_file(rig.part)->kernel_events().remarks == some_events().remarks);
	// Cuts that are read together have what either has, in the order of time, and each event once.
	const std::string other = rig.folder.file("other.dfr");
	trace::cut_file(rig.path, other, {.span = {.from = 2'000'000}, .text = "the end"});
	rig.cut({.span = {.to = 2'000'000}, .text = "the start"});
	for (const auto& files : {Lines{rig.part, other}, Lines{other, rig.part}}) {
		trace::JoinedSource joined(std::move(trace::group_by_state(files).at(0)));
		const trace::KernelEvents both = joined.kernel_events();
		CHECK(lines_of(both) == all);
		CHECK(both.lost == 7);
		// Each cut says what it left out.
		REQUIRE(both.remarks.size() == 3);
		CHECK(both.remarks[0] == some_events().remarks[0]);
		const std::string left_out = " of the kernel's own were left out (cut)";
		for (const std::string& said :
		     {rig.part + ": 1 event" + left_out, other + ": 2 events" + left_out})
			CHECK(std::ranges::count(both.remarks, said) == 1);
	}
	// They are of no probe.
	CHECK(rig.cut({.probes = {1}, .text = "a probe"}).empty());
	CHECK(trace::open_file(rig.part)->kernel_events().remarks.back() ==
	      "4 events of the kernel's own were left out (cut)");
}

} // namespace trace_kernel_events_test
