// SPDX-License-Identifier: GPL-2.0
//
// dfr verify: a sound recording is sound, and whatever is done to it is found: bytes that change, segments
// that go, and files whose checksums are right and whose contents do not fit together.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <sys/resource.h>
#include <sys/wait.h>

#include "formats/trace/chunk.h"
#include "formats/trace/container.h"
#include "formats/trace/schema.h"
#include "formats/trace/verify.h"
#include "tests/unit/harmed_file.h"
#include "tests/unit/trace_builder.h"

namespace trace_verify_test {

using namespace dfr;
using namespace dfr::test;

namespace {

using Payload = std::vector<std::byte>;

// A recording in a folder, and a second file for what was done to it.
struct Rig {
	Rig() : kept(recorded_work(app)), whole(folder.file("whole.dfr")), harmed(folder.file("harmed.dfr")) {
		write_file(whole, kept, [](const dfr_block&) { return true; });
	}
	App app;
	Kept kept;
	ScratchFolder folder;
	std::string whole, harmed;
};

std::string text_of(const trace::Inspection& found) {
	std::string text;
	for (const trace::Finding& finding : found.findings)
		text += finding.text() + "\n";
	return text;
}

// What replay and verify say of a file; verify must find something if replay's answer is another one.
struct Said {
	std::string answer, findings;
};
Said said_of(const std::string& path, replay::Way way = replay::Way::kAny) {
	Said said{answer(path, way).first, {}};
	try {
		said.findings = text_of(trace::verify_file(path));
	} catch (const Error& error) {
		said.findings = error.what();
	}
	return said;
}

// Writes a file again with payloads as `change` leaves them (false: without this segment), and checksums,
// index and end mark that are right for that; or the index names the last chunk `more` times more.
void rewrite(const std::string& from, const std::string& to,
             const std::function<bool(trace::SegmentHead&, Payload&)>& change, size_t more = 0) {
	const trace::ContainerReader reader(from);
	trace::ContainerWriter writer(to, true, trace::local_file());
	trace::Index index;
	for (uint64_t at = sizeof(trace::FileHead); at < reader.size();) {
		const auto segment = reader.segment(at);
		REQUIRE(segment);
		at = segment->end();
		if (segment->type() == trace::SegmentType::kIndex ||
		    segment->type() == trace::SegmentType::kEnd)
			continue;
		auto payload = reader.payload(*segment);
		REQUIRE(payload);
		trace::SegmentHead head = segment->head;
		if (!change(head, *payload))
			continue;
		const uint64_t offset = writer.append(static_cast<trace::SegmentType>(head.type),
		                                      head.flags & ~trace::kSegmentZstd, *payload, false);
		const auto headers = trace::decode_chunk_headers(*payload, payload->size());
		if (segment->type() == trace::SegmentType::kChunk && headers)
			index.chunks.push_back({.offset = offset,
			                        .cpu = headers->head.cpu,
			                        .blocks = headers->head.blocks,
			                        .first_seq = headers->blocks.front().seq,
			                        .last_seq = headers->blocks.back().seq});
		else if (segment->type() == trace::SegmentType::kChunk)
			index.chunks.push_back({.offset = offset});
		else
			index.others.push_back({.offset = offset, .type = head.type});
	}
	for (; more; more--)
		index.chunks.push_back(index.chunks.back());
	trace::EndMark end{};
	end.index = writer.append(trace::SegmentType::kIndex, 0, trace::encode_index(index), true);
	end.size = writer.size() + trace::kEndBytes;
	writer.append(trace::SegmentType::kEnd, 0, std::as_bytes(std::span(&end, 1)), false);
	writer.close();
}

// What verify says if every block of every chunk is as `change` leaves it; false: without this block.
std::string with_blocks(Rig& rig, const std::function<bool(trace::Block&)>& change) {
	rewrite(rig.whole, rig.harmed, [&](trace::SegmentHead& head, Payload& payload) {
		if (head.type != static_cast<uint16_t>(trace::SegmentType::kChunk))
			return true;
		auto blocks = trace::decode_chunk(payload);
		REQUIRE(blocks);
		std::erase_if(*blocks, [&](trace::Block& block) { return !change(block); });
		if (blocks->empty())
			return false;
		payload = trace::encode_chunk(*blocks, rig.kept.catalog());
		return true;
	});
	return text_of(trace::verify_file(rig.harmed));
}

// AddressSanitizer ends a process where there is no memory, so there the limit is not set.
#ifdef __SANITIZE_ADDRESS__
constexpr bool kLimited = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool kLimited = false;
#else
constexpr bool kLimited = true;
#endif
#else
constexpr bool kLimited = true;
#endif

// Whether a process that may allocate so many bytes more can verify the file and open it.
bool fits_into(uint64_t bytes, const std::string& path) {
	const pid_t child = fork();
	if (child == 0) {
		uint64_t pages = 0, unused = 0;
		std::ifstream status("/proc/self/statm"); // size resident shared text lib data
		status >> unused >> unused >> unused >> unused >> unused >> pages;
		const rlim_t most = pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) + bytes;
		const rlimit limit{most, most};
		if (kLimited)
			setrlimit(RLIMIT_DATA, &limit);
		try {
			trace::verify_file(path);
			trace::open_file(path);
		} catch (const std::bad_alloc&) {
			_exit(1);
		}
		_exit(0);
	}
	int status = 1;
	waitpid(child, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

dfr_block& head_of(trace::Block& block) {
	return *reinterpret_cast<dfr_block*>(block.bytes.data());
}

} // namespace

TEST_CASE("a sound recording is sound, and each CPU's sum is right", "[inspection]") {
	Rig rig;
	const trace::Inspection found = trace::verify_file(rig.whole);
	CHECK(text_of(found).empty());
	CHECK(found.verdict.complete);
	CHECK(found.records == 16'000);
	CHECK(found.bytes == read_file(rig.whole).size());
	CHECK(found.unsealed == 0);
	REQUIRE(found.cpus.size() == 4);
	for (const trace::CpuSum& sum : found.cpus) {
		CHECK(sum.committed == 4000);
		CHECK(sum.in_file == 4000);
		CHECK(sum.overwritten + sum.lost + sum.missing == 0);
	}
	REQUIRE(found.whole.size() == 1);
	CHECK(found.whole[0].from <= kStart);
	CHECK(found.whole[0].to >= kStart + 15'999'000);
	// Written again by this test, it is as sound.
	CHECK(with_blocks(rig, [](trace::Block&) { return true; }).empty());
}

TEST_CASE("what the ring has overwritten is no damage", "[inspection]") {
	Rig rig;
	const bool ring = GENERATE(true, false); // else only a consumer before can have taken them
	rig.kept.identity().policy = ring ? DFR_BUFPOLICY_RING : DFR_BUFPOLICY_SWITCH;
	write_file(rig.harmed, rig.kept, [](const dfr_block& head) { return head.cpu != 1 || head.seq > 3; });
	const trace::Inspection found = trace::verify_file(rig.harmed);
	CHECK(text_of(found).empty());
	REQUIRE(found.cpus.size() == 4);
	CHECK((found.cpus[1].overwritten > 0) == ring);
	CHECK((found.cpus[1].earlier > 0) == !ring);
	CHECK(found.cpus[1].overwritten + found.cpus[1].earlier + found.cpus[1].in_file == 4000);
	CHECK(found.verdict.windowed);
	REQUIRE(found.whole.size() == 1);
	CHECK(found.whole[0].from == found.verdict.from);
}

TEST_CASE("verify finds whatever makes replay's answer another one", "[inspection][verdict]") {
	Rig rig;
	const std::string truth = answer(rig.whole).first;
	const FileBytes bytes = read_file(rig.whole);
	const char* const asked = std::getenv("DFR_THINNED");
	const unsigned rounds = asked ? static_cast<unsigned>(std::atoi(asked)) : 150;
	std::mt19937 random(2);
	for (unsigned round = 0; round < rounds; round++) {
		INFO("round " << round);
		const FileBytes harm = harmed(bytes, random);
		write_file(rig.harmed, harm);
		const Said said = said_of(rig.harmed);
		if (harm != bytes) // whether replay needs what was harmed or not
			CHECK_FALSE(said.findings.empty());
		if (said.answer != truth)
			CHECK_FALSE(said.findings.empty());
	}
}

TEST_CASE("verify names each segment that is damaged, and reads on", "[inspection]") {
	Rig rig;
	const FileBytes bytes = read_file(rig.whole);
	const std::vector<size_t> starts = segments(bytes);
	REQUIRE(starts.size() > 10);
	for (size_t i = 0; i + 1 < starts.size(); i++) {
		for (const size_t inside :
		     {size_t{6}, sizeof(trace::SegmentHead) + 3}) { // its head, its payload
			FileBytes harm = bytes;
			harm[starts[i] + inside] ^= 0x10;
			write_file(rig.harmed, harm);
			const trace::Inspection found = trace::verify_file(rig.harmed);
			INFO("segment " << i << " byte " << inside << "\n" << text_of(found));
			CHECK(std::any_of(
			    found.findings.begin(), found.findings.end(), [&](const trace::Finding& finding) {
				    return finding.from == starts[i] && finding.to == starts[i + 1];
			    }));
			CHECK(found.segments >= starts.size() - 2);
			for (const trace::CpuSum& sum : found.cpus)
				CHECK(sum.committed == sum.in_file + sum.earlier + sum.overwritten +
				                           sum.lost + sum.cut + sum.missing);
		}
	}
}

TEST_CASE("chunks whose checksum is right and whose bytes are not are found", "[inspection]") {
	Rig rig;
	const std::string truth = answer(rig.whole).first;
	std::mt19937 random(3);
	unsigned differ = 0;
	for (unsigned round = 0; round < 60; round++) {
		unsigned chunk = random() % 5;
		rewrite(rig.whole, rig.harmed, [&](trace::SegmentHead& head, Payload& payload) {
			if (head.type == static_cast<uint16_t>(trace::SegmentType::kChunk) && chunk-- == 0)
				payload[random() % payload.size()] ^= std::byte{1} << random() % 8;
			return true;
		});
		// By columns nothing is unpacked that the program does not name, so only a part of them would be met.
		const Said said = said_of(rig.harmed, replay::Way::kRows);
		INFO("round " << round << "\n" << said.answer);
		differ += said.answer != truth;
		if (said.answer != truth)
			CHECK_FALSE(said.findings.empty());
	}
	CHECK(differ > 10);
}

TEST_CASE("blocks that do not fit together are found", "[inspection]") {
	Rig rig;
	const auto says = [&](const std::function<bool(trace::Block&)>& change, const std::string& text) {
		const std::string found = with_blocks(rig, change);
		INFO(found);
		CHECK(found.find(text) != std::string::npos);
	};
	const auto one = [](const trace::Block& block) {
		return block.header().cpu == 2 && block.header().seq == 4;
	};
	says([&](trace::Block& block) { return !one(block); },
	     "CPU 2, block 5: block 4 before it are not there");
	says([&](trace::Block& block) { return block.header().cpu != 3; }, "CPU 3: blocks 1 to ");
	says([&](trace::Block& block) { return block.header().cpu != 1 || block.header().seq < 3; },
	     "CPU 1: blocks 3 to ");
	says(
	    [&](trace::Block& block) {
		    if (one(block))
			    block.bytes[block.bytes.size() - 5] ^= std::byte{1};
		    return true;
	    },
	    "CPU 2, block 4: the checksum of its bytes ");
	const auto resealed = [&](const std::function<void(dfr_block&)>& change) {
		return [&one, change](trace::Block& block) {
			if (one(block)) {
				change(head_of(block));
				head_of(block).flags &= ~DFR_BLOCK_SEALED;
				trace::seal_block(block);
			}
			return true;
		};
	};
	says(resealed([](dfr_block& head) { head.records--; }), "its header says");
	says(resealed([](dfr_block& head) { head.first_time += 1000; }), "outside of the times");
	says(resealed([](dfr_block& head) { head.record_base += 5; }), "the block before it ended with");
	says(resealed([](dfr_block& head) { head.before -= 1; }), "another time than the block before it");
	says(resealed([](dfr_block& head) { head.state_id += 1; }), "it is of state");
	says(resealed([](dfr_block& head) { head.seq = 3; }), "it is in the file twice");
}

TEST_CASE("catalog, ledger and index that do not fit are found", "[inspection]") {
	Rig rig;
	const auto says = [&](const std::function<bool(trace::SegmentHead&, Payload&)>& change,
	                      const std::string& text) {
		rewrite(rig.whole, rig.harmed, change);
		const std::string found = text_of(trace::verify_file(rig.harmed));
		INFO("'" << text << "' in\n" << found);
		const bool as_said = text.empty() ? found.empty() : found.find(text) != std::string::npos;
		CHECK(as_said);
	};
	const auto is = [](const trace::SegmentHead& head, trace::SegmentType type) {
		return head.type == static_cast<uint16_t>(type);
	};
	const auto catalog = [&](const std::function<void(trace::Catalog&)>& change) {
		return [&is, change](trace::SegmentHead& head, Payload& payload) {
			if (!is(head, trace::SegmentType::kCatalog))
				return true;
			trace::Catalog read;
			trace::CatalogMark mark;
			trace::decode_catalog(payload, read);
			change(read);
			payload = trace::encode_catalog(read, mark);
			return true;
		};
	};
	says(catalog([](trace::Catalog&) {}), "");
	says(catalog([](trace::Catalog& read) { read.layouts.clear(); }),
	     "the catalog has no layout for EPID");
	says(catalog([](trace::Catalog& read) { read.ecbs.clear(); }), "which the catalog does not explain");
	says(catalog([](trace::Catalog& read) { read.probes.clear(); }), "does not say which probe EPID");
	says(catalog([](trace::Catalog& read) { read.dofs.clear(); }), "does not have the program");
	says([&](trace::SegmentHead& head, Payload&) { return !is(head, trace::SegmentType::kCatalog); },
	     "no catalog can be read");
	says(
	    [&](trace::SegmentHead& head, Payload&) { // only the one at the end
		    return !is(head, trace::SegmentType::kCatalog) || head.flags & trace::kSegmentWhole;
	    },
	    "stand before the catalog's entry");
	says(
	    [&](trace::SegmentHead& head, Payload& payload) {
		    if (is(head, trace::SegmentType::kLosses)) {
			    trace::Ledger ledger = trace::decode_ledger(payload);
			    ledger.reaches[1].seq += 3;
			    ledger.reaches[1].records += 77;
			    payload = trace::encode_ledger(ledger);
		    }
		    return true;
	    },
	    "are not there (77 records)");
	bool odd = true;
	const auto newer = [&](uint16_t flags) {
		return [&odd, &is, flags](trace::SegmentHead& head, Payload& payload) {
			if (is(head, trace::SegmentType::kLosses) && odd) {
				head.type = 77;
				head.flags = flags;
				payload.resize(5);
				odd = false;
			}
			return true;
		};
	};
	says(newer(trace::kSegmentNeeded), trace::kNeedsNewer);
	CHECK_FALSE(answer(rig.harmed).second); // nor does replay pass over it
}

TEST_CASE("a ledger that counts blocks behind it is found", "[inspection]") {
	struct Ahead : ListSource {
		std::map<uint32_t, trace::Reach> reaches() override { return {{0, {seq, 0}}}; }
		uint64_t seq = 0;
	} ahead;
	Rig rig;
	for (const uint64_t seq : {1, 2}) { // of CPU 0, one block stands in front of it
		ahead.seq = seq;
		rig.kept.rewind();
		trace::FileWriter writer(rig.harmed, true,
		                         [&]() -> const trace::Catalog& { return rig.kept.catalog(); });
		writer.catalog();
		bool first = true;
		while (const auto block = rig.kept.next()) {
			writer.block(*block);
			if (block->header().cpu == 0 && std::exchange(first, false)) {
				REQUIRE(block->header().seq == 1);
				writer.flush();
				writer.account(ahead);
			}
		}
		REQUIRE_FALSE(first);
		writer.account(rig.kept);
		writer.finish();
		const std::string found = text_of(trace::verify_file(rig.harmed));
		INFO(found);
		CHECK((found.find("the ledger counts blocks that stand behind it") != std::string::npos) ==
		      (seq == 2));
	}
}

TEST_CASE("in the times that verify calls whole, nothing is missing", "[inspection]") {
	Rig rig;
	std::vector<uint64_t> times;
	{
		const auto file = trace::open_file(rig.whole);
		trace::Merger merger(*file);
		merger.run([&](const trace::Record& record) {
			times.push_back(record.time);
			return true;
		});
	}
	const FileBytes bytes = read_file(rig.whole);
	std::mt19937 random(4);
	unsigned spans = 0;
	for (unsigned round = 0; round < 60; round++) {
		write_file(rig.harmed, harmed(bytes, random));
		INFO("round " << round);
		try {
			const trace::Inspection found = trace::verify_file(rig.harmed);
			for (const trace::TimeSpan& span : found.whole) {
				trace::JoinedSource source(
				    std::move(trace::group_by_state({rig.harmed}).at(0)));
				trace::Merger merger(source);
				merger.open();
				merger.select({.from = span.from, .to = span.to});
				uint64_t there = 0;
				merger.run([&](const trace::Record&) { return ++there; });
				const auto wanted =
				    std::count_if(times.begin(), times.end(), [&](uint64_t time) {
					    return time >= span.from && time <= span.to;
				    });
				CHECK(there == static_cast<uint64_t>(wanted));
				spans++;
			}
		} catch (const Error&) {
		}
	}
	CHECK(spans > 30);
}

TEST_CASE("verifying stops when it is told to, and says nothing of the file", "[inspection]") {
	Rig rig;
	for (const unsigned after : {0u, 1u, 3u}) {
		unsigned calls = 0;
		CHECK_THROWS_WITH(
		    trace::verify_file(rig.whole, [&](uint64_t, uint64_t) { return calls++ < after; }),
		    Catch::Contains("ended by a signal"));
	}
}

TEST_CASE("a chunk that the index names often is read once", "[inspection]") {
	Rig rig;
	const auto records = [](const std::string& path) {
		const auto file = trace::open_file(path);
		trace::Merger merger(*file);
		uint64_t count = 0;
		merger.run([&](const trace::Record&) { return ++count; });
		return count;
	};
	rewrite(
	    rig.whole, rig.harmed, [](trace::SegmentHead&, Payload&) { return true; }, 100);
	CHECK(records(rig.harmed) == records(rig.whole));
	CHECK(!trace::open_file(rig.harmed)->remarks().empty());
}

TEST_CASE("a small file asks for little memory, whatever its segments say", "[inspection]") {
	const ScratchFolder folder;
	const std::string path = folder.file("many.dfr");
	const auto write = [&](trace::SegmentType type, const Payload& payload) {
		trace::ContainerWriter writer(path, true, trace::local_file());
		for (unsigned i = 0; i < 40; i++)
			writer.append(type, 0, payload, true);
		writer.close();
		REQUIRE(std::filesystem::file_size(path) < (1 << 20));
	};
	trace::Catalog events;
	events.events.resize(500'000);
	trace::CatalogMark mark;
	// The message of a ledger (dfr.capnp: two words of data, four lists), all of whose remarks are null.
	const auto remarks = [](uint64_t count) {
		std::vector<uint64_t> words(8 + count);
		words[0] = (7 + count) << 32;                     // one segment
		words[1] = uint64_t{2} << 32 | uint64_t{4} << 48; // the root
		words[5] = 2 << 2 | 1 | uint64_t{6} << 32 | count << 35;
		const auto bytes = std::as_bytes(std::span(words));
		return Payload(bytes.begin(), bytes.end());
	};
	write(trace::SegmentType::kLosses, remarks(60'000));
	CHECK(trace::decode_ledger(remarks(60'000)).remarks.size() == 60'000);
	CHECK(fits_into(100 << 20, path));
	write(trace::SegmentType::kLosses, remarks(2'000'000)); // 16 MB of a segment, 64 MB as texts
	CHECK(fits_into(100 << 20, path));
	CHECK(text_of(trace::verify_file(path)).find("remarks, which no recording has") != std::string::npos);
	write(trace::SegmentType::kCatalog, trace::encode_catalog(events, mark));
	CHECK(fits_into(150 << 20, path));
	CHECK(text_of(trace::verify_file(path)).find(trace::kTooLarge) != std::string::npos);
}

TEST_CASE("a file that was killed before its end mark is whole up to what it said before", "[inspection]") {
	Rig rig;
	rig.kept.rewind();
	const uint64_t until = kStart + 20'000'000; // behind every record
	{
		trace::FileWriter writer(rig.harmed, true,
		                         [&]() -> const trace::Catalog& { return rig.kept.catalog(); });
		while (const auto block = rig.kept.next())
			writer.block(*block);
		writer.account(rig.kept, until);
		writer.account(rig.kept); // as a recorder does when it ends, and then it is killed
		writer.flush();
	}
	const trace::Inspection found = trace::verify_file(rig.harmed);
	REQUIRE(found.whole.size() == 1);
	CHECK(found.whole[0].from <= kStart);
	CHECK(found.whole[0].to >= kStart + 15'999'000);
	const auto file = trace::open_file(rig.harmed);
	CHECK(file->facts().whole_until == until);
	CHECK_FALSE(file->partial());
	CHECK(answer(rig.harmed).first == answer(rig.whole).first);
}

} // namespace trace_verify_test
