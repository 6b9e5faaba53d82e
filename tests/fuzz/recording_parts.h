// SPDX-License-Identifier: GPL-2.0
//
// A recording as its parts are written, from decisions, with somebody who follows them, and what may happen to
// parts meanwhile and afterwards. And what the fuzzer of recordings (recording_fuzz.cc) has for all of them: a
// catalog, a folder.
#pragma once

#include <filesystem>
#include <fstream>
#include <memory>

#include "formats/dof/image.h"
#include "formats/trace/followed.h"
#include "formats/trace/joined.h"
#include "formats/trace/parts.h"
#include "tests/fuzz/trace_input.h"
#include "tests/unit/trace_builder.h"

namespace dfr::fuzz {

inline void must(bool holds) {
	if (!holds)
		std::abort();
}

// capture() of two arguments and a text at app:m:work:entry (EPID 1), of one at app:m:work:return (EPID 2).
inline const trace::Catalog& replay_catalog() {
	static const trace::Catalog made = [] {
		dif::Difo one;
		one.rtype = {DIF_KIND_CTF, DIF_CK_INTEGER, 0, 0, 4};
		one.integers = {1};
		one.text = {DIF_INSTR_WIDE(DIF_OP_SETX, 0, 1), DIF_INSTR_R(DIF_OP_RET, 0, 0, 1)};
		dof::Image image;
		dof::Body body;
		body.actions.resize(2);
		body.actions[0].kind = DFR_ACT_CAPTURE_ARGS;
		body.actions[1].kind = DFR_ACT_CAPTURE;
		body.actions[1].difo = one;
		body.actions[1].expression = "(copyinstr arg0)";
		image.bodies.push_back(body);
		for (const char* const name : {"entry", "return"}) {
			dof::EcbDesc& ecb = image.ecbs.emplace_back();
			ecb.probe = {
			    .host = {}, .provider = "app", .module = "m", .function = "work", .name = name};
			ecb.uarg = DFR_ECBUARG(image.ecbs.size() - 1, 0);
		}
		const auto dof = dof::write(image);
		test::CatalogLog log;
		log.state("fuzz", 4, 4096, DFR_BUFPOLICY_RING).clock(5, 500);
		log.dof(0, {reinterpret_cast<const char*>(dof.data()), dof.size()});
		log.probe(4, "app", "m", "work", "entry", 3).probe(5, "app", "m", "work", "return", 1);
		dfr_field arg0 = test::int_field(8), arg1 = test::int_field(4, true),
		          text = test::plain_field(DFR_FIELD_STRING, 64);
		arg0.argument = 0;
		arg1.argument = 1;
		text.action = 1;
		log.layout(1, {arg0, arg1, text});
		test::Bytes second;
		second.u32(2).u32(0).u32(1).u32(1).put(arg0); // clause 1
		log.entry(DFR_CAT_LAYOUT, second);
		log.ecb(1, 4, 1).ecb(2, 5, 2);
		trace::Catalog catalog;
		catalog.parse(log.done());
		return catalog;
	}();
	return made;
}

struct NoLosses : test::ListSource {
	NoLosses() { the_catalog = replay_catalog(); }
};

// For the files of one input, also of one that ends with an error.
struct Folder {
	explicit Folder(std::string name) : path(std::move(name)) { std::filesystem::create_directory(path); }
	~Folder() { std::filesystem::remove_all(path); }
	Folder(const Folder&) = delete;
	Folder& operator=(const Folder&) = delete;
	const std::string path;
};

// Records of CPUs 0 and 1 in turns, one in each nanosecond of the clock, sound, in small blocks.
class Recorder {
public:
	explicit Recorder(Decisions& in) : in_(in) {}
	// A block of the next CPU; every record before the time that it gives stands in what was written.
	std::pair<trace::Block, uint64_t> next() {
		const uint16_t cpu = turn_++ % 2;
		const uint32_t count = 1 + in_.byte() % 8;
		test::BlockBytes block(cpu, ++seqs_[cpu], time_);
		block.counters(0, records_[cpu]).opened(lasts_[cpu], time_);
		block.long_head(0, 0, time_).context(1, 1, 1, "sh");
		for (uint32_t i = 0; i < count; i++)
			block.short_head(2, 0, i != 0).u8(0).u8(in_.byte());
		records_[cpu] += count;
		lasts_[cpu] = time_ + count - 1;
		time_ += count;
		return {block.sealed(), time_};
	}
	uint64_t records() const { return records_[0] + records_[1]; }

private:
	Decisions& in_;
	unsigned turn_ = 0;
	uint64_t time_ = 1000;
	uint64_t seqs_[2] = {}, records_[2] = {}, lasts_[2] = {};
};

inline uint64_t records_before(trace::BlockSource& source, uint64_t time) {
	trace::Merger merger(source);
	uint64_t records = 0;
	merger.run([&](const trace::Record& record) {
		records += record.time < time;
		return record.time < time;
	});
	return records;
}

inline trace::Verdict verdict_of(const std::vector<std::string>& paths, size_t& states) {
	auto groups = trace::group_by_state(paths);
	states = groups.size();
	trace::JoinedSource source(std::move(groups.front()));
	trace::Merger merger(source);
	merger.run([](const trace::Record&) { return true; });
	return trace::judge(source, merger);
}

inline void change_bytes(Decisions& in, const std::string& path) {
	std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out | std::ios::ate);
	if (!file)
		return;
	const auto size = static_cast<uint64_t>(file.tellg());
	const auto at = static_cast<std::streamoff>((in.half() | uint64_t{in.byte()} << 16) % size);
	file.seekg(at);
	const auto byte = static_cast<char>(file.get() ^ (in.byte() | 1));
	file.seekp(at);
	file.put(byte);
}

// A recorder's parts: their files, and who writes the last one.
struct Parts {
	explicit Parts(std::string name) : name_(std::move(name)) { open(1, {.series = 9, .number = 1}); }
	// What the first one has before any record.
	void begin() {
		writer->catalog();
		writer->account(ledger, 1000);
	}
	// Ends a part and opens the next one, or, by 2, the one behind it.
	void next(unsigned by) {
		writer->finish(true);
		const trace::FilePart part = writer->next_part();
		open(paths.size() + by, part);
	}
	NoLosses ledger;
	std::vector<std::string> paths;
	std::unique_ptr<trace::FileWriter> writer;

private:
	void open(uint64_t number, const trace::FilePart& part) {
		paths.push_back(trace::part_path(name_, number));
		writer = std::make_unique<trace::FileWriter>(
		    paths.back(), true, []() -> const trace::Catalog& { return replay_catalog(); },
		    trace::local_file(), part);
	}
	const std::string name_;
};

// Parts that somebody follows, while those before are removed, or cut, or one is not there yet.
inline void fuzz_leaving(Decisions& in, const std::string& base) {
	const Folder folder(base + "-leaving");
	Parts parts(folder.path + "/r.dfr");
	const uint8_t what = in.byte();
	if (what & 1)
		tolerate([&] { trace::FollowedSource too_early(parts.paths[0]); });
	parts.begin();
	Recorder recorder(in);
	trace::FollowedSource followed(parts.paths[0]);
	for (unsigned steps = 1 + in.byte() % 12; steps; steps--) {
		const auto [block, whole] = recorder.next();
		parts.writer->block(block);
		const uint8_t then = in.byte();
		if (then & 1)
			parts.writer->account(parts.ledger, whole);
		if (then & 2) {
			parts.next(then & 4 ? 2 : 1);
			if (then & 8)
				parts.writer->account(parts.ledger);
		}
		if (then & 0x10)
			unlink(parts.paths[in.byte() % parts.paths.size()].c_str());
		if (then & 0x20)
			change_bytes(in, parts.paths[in.byte() % parts.paths.size()]);
		for (unsigned more = then >> 6; more && followed.grow(); more--)
			;
	}
	parts.writer->finish();
	while (followed.grow())
		;
	followed.take_all();
	followed.remarks();
	records_before(followed, UINT64_MAX);
}

// Parts, as they are written, with somebody who follows them; then something happens to them.
inline void fuzz_parts(Decisions& in, const std::string& base) {
	Parts parts(base);
	const std::vector<std::string>& paths = parts.paths;
	parts.begin();
	Recorder recorder(in);
	trace::FollowedSource followed(paths[0]);
	const uint8_t what = in.byte();
	std::vector<uint64_t> in_parts = {0};
	uint64_t until = 1000;
	for (unsigned steps = 1 + in.byte() % 12; steps; steps--) {
		const uint64_t before = recorder.records();
		auto [block, whole] = recorder.next();
		until = whole;
		parts.writer->block(block);
		in_parts.back() += recorder.records() - before;
		parts.writer->account(parts.ledger, until);
		const uint8_t then = in.byte();
		if (then % 4 == 0 && steps > 1) {
			parts.next(1);
			in_parts.push_back(0);
			parts.writer->account(parts.ledger);
		}
		if (then & 0x40) {
			const uint64_t known = followed.whole_until();
			while (followed.grow())
				;
			must(followed.whole_until() >= known && followed.whole_until() <= until);
		}
	}
	parts.writer->finish();
	size_t states = 0;
	const trace::Verdict whole = verdict_of(paths, states);
	must(states == 1 && whole.complete && whole.records == recorder.records());
	if (what & 0x80) // somebody gives the name to another recording, or cuts the file
		tolerate([&] {
			const bool ended = followed.ended();
			const std::string& harmed = paths.back();
			if (what & 1)
				must(truncate(harmed.c_str(), sizeof(trace::FileHead) + in.byte()) == 0);
			else
				change_bytes(in, harmed);
			while (!ended && followed.grow())
				;
			followed.take_all();
			// What is not refused has records, or is damaged, which reading it tells.
			const uint64_t there = records_before(followed, UINT64_MAX);
			must(there > 0 || followed.partial() || followed.whole_until() == 1000);
		});
	else {
		while (followed.grow() || !followed.ended())
			;
		followed.take_all();
		must(records_before(followed, UINT64_MAX) == recorder.records());
	}
	const size_t which = in.byte() % paths.size();
	const bool inside = which > 0 && which + 1 < paths.size();
	std::vector<std::string> left = paths;
	tolerate([&] {
		switch (what & 0x80 ? 3 : what % 3) {
		case 0: left.erase(left.begin() + static_cast<long>(which)); break;
		case 1: left.push_back(paths[which]); break;
		case 2: change_bytes(in, paths[which]); break;
		default: break;
		}
		if (left.empty())
			return;
		const trace::Verdict verdict = verdict_of(left, states);
		if ((what & 0x80) == 0 && what % 3 == 0) {
			must(verdict.records == recorder.records() - in_parts[which]);
			must(!inside || !verdict.complete);
		} else if ((what & 0x80) == 0 && what % 3 == 1) {
			must(verdict.complete && verdict.records == recorder.records());
		} else if (states == 1 && verdict.complete && !verdict.windowed && !verdict.goes_on) {
			must(verdict.records == recorder.records());
		}
		for (const std::string& path : left)
			fuzz::read_file(path);
	});
	for (const std::string& path : paths)
		unlink(path.c_str());
}
} // namespace dfr::fuzz
