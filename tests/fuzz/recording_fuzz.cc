// SPDX-License-Identifier: GPL-2.0
//
// Fuzzes what is done with whole recordings, made of blocks from decisions: replay by
// rows and by columns must say the same; what cut and redact write must hold together
// and be what they were asked for; of parts, of which one is missing, damaged or there
// twice, no answer is falsely complete; who follows them as they grow sees each record
// once, and is told when a file was replaced or truncated.
//
// Others are of an engine in this process (engine_recording.h): with everything that a recorder puts into
// a file, of one host or two. A program of any kind is asked of them, by rows, by columns, by several threads, and
// while they are written; their own output is printed.
//
// Some have bytes changed, some have chunks changed behind right checksums. Of the
// latter the two ways of replay are held against each other only where blocks and
// columns hold together (REPLAY.md section 8, "Trust").
//
// Not targets: salvage and the engine's log (source.cc, catalog.cc), and checksums; they are dfr_fuzz.cc's.
//
// Targets: formats/trace/[!cs]*.cc formats/trace/chunk.cc formats/trace/co*.cc formats/trace/cut.cc
// Targets: formats/trace/s[ce]*.cc analyze/replay/*.cc
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <tuple>

#include "analyze/render/output.h"
#include "analyze/replay/redaction.h"
#include "analyze/replay/replay.h"
#include "formats/d/compile.h"
#include "formats/dof/image.h"
#include "formats/trace/chunk.h"
#include "formats/trace/container.h"
#include "formats/trace/crc32c.h"
#include "formats/trace/cut.h"
#include "formats/trace/followed.h"
#include "formats/trace/joined.h"
#include "formats/trace/parts.h"
#include "formats/trace/redact.h"
#include "formats/trace/schema.h"
#include "tests/fuzz/engine_recording.h"
#include "tests/fuzz/recording_parts.h"
#include "tests/fuzz/trace_columns.h"
#include "tests/fuzz/trace_input.h"
#include "tests/unit/trace_builder.h"

using namespace dfr;
using fuzz::Decisions;
using fuzz::Folder;
using fuzz::must;
using fuzz::NoLosses;
using fuzz::replay_catalog;
using fuzz::tolerate;

namespace {

void put_integer(test::BlockBytes& block, uint64_t value, unsigned code) {
	for (unsigned i = 0; i < 1u << code; i++)
		block.u8(static_cast<uint8_t>(value >> 8 * i));
}

// A block of one CPU; `time` goes on from the block before.
trace::Block replay_block(Decisions& in, uint16_t cpu, uint64_t seq, uint64_t& time, uint64_t& records) {
	test::BlockBytes block(cpu, seq, time);
	block.counters(0, records);
	block.opened(time - 1, time);
	const auto context = [&](uint32_t delta, bool is_long) {
		const uint8_t task = in.byte();
		if (is_long)
			block.long_head(0, 0, time);
		else
			block.short_head(0, 0, delta);
		block.context(task % 5, task % 3, task % 5,
		              std::string(task >= 0xf8 ? 15 + task % 8 : 1 + task % 3,
		                          static_cast<char>('p' + task % 3)));
	};
	context(0, true);
	unsigned restart = 0;
	for (unsigned left = 1 + in.byte() % 64; left && block.here() < 3800; left--) {
		const uint8_t what = in.byte();
		const uint32_t delta = what & 8 ? 0 : in.byte();
		if (block.here() >= restart * DFR_RESTART_BYTES) {
			block.restart(block.here() / DFR_RESTART_BYTES);
			restart = block.here() / DFR_RESTART_BYTES + 1;
		}
		time += delta;
		if (what >= 0xfc) {
			block.short_head(0, 0, delta).loss_body(in.byte() % 20, 4, 1, time, time);
			continue;
		}
		if (what >= 0xe0) {
			context(delta, false);
			continue;
		}
		if (what >= 0xdc) {
			block.short_head(0, 0, delta)
			    .u8(DFR_CONTROL_NOTE)
			    .u8(in.byte() % 4)
			    .u8(in.byte() % 2 ? 1 : DFR_NOTE_CUT);
			block.u64(0);
			block.short_head(1, 0, 0);
		} else {
			block.short_head(what % 3 ? 1 : 2, 0, delta);
			if (what % 3 == 0) {
				block.u8(0);
				put_integer(block, in.byte(), 0);
				continue;
			}
		}
		const unsigned codes = in.byte() & 15;
		block.u8(static_cast<uint8_t>(codes));
		put_integer(block, in.number(), codes & 3);
		put_integer(block, in.byte(), codes >> 2);
		block.text(std::string(in.byte() % 12, static_cast<char>('a' + in.byte() % 4)));
	}
	records += block.records();
	trace::Block made = in.byte() % 8 ? block.sealed() : block.open();
	const uint8_t odd = in.byte();
	if (odd >= 0xc0) { // its header says something else, and is sealed as it is
		auto head = made.header();
		switch (odd & 7) {
		case 0: head.first_time += in.byte(); break;
		case 1: head.last_time -= std::min<uint64_t>(in.byte(), head.last_time - 1); break;
		case 2: head.records += in.byte() % 3 - 1u; break;
		case 3: head.before = in.number(); break;
		case 4: head.record_base += in.byte(); break;
		case 5: head.last_time = 0; break;
		case 6: head.lost += in.byte(); break;
		default: head.seq += in.byte() % 3; break;
		}
		head.flags &= ~static_cast<uint32_t>(DFR_BLOCK_SEALED);
		std::memcpy(made.bytes.data(), &head, sizeof head);
		made.verified = false;
		if (odd & 8 && head.last_time) // an open block is not sealed
			trace::seal_block(made);
	}
	return made;
}

// The columns of a chunk, and the headers before them, changed; the checksums are right again.
void damage_chunk(Decisions& in, std::vector<std::byte>& payload) {
	const auto headers = trace::decode_chunk_headers(payload, payload.size());
	if (!headers || headers->blocks.empty())
		return;
	trace::ChunkHead head = headers->head;
	std::vector<dfr_block> blocks = headers->blocks;
	std::vector<std::byte> body(payload.end() - head.stored, payload.end());
	const uint8_t what = in.byte();
	if (what & 1 && head.encoding == static_cast<uint16_t>(trace::ChunkEncoding::kColumns))
		fuzz::damage_directory(in, body);
	if (what & 2 && !body.empty())
		body[in.half() % body.size()] ^= std::byte{in.byte()};
	dfr_block& one = blocks[in.byte() % blocks.size()];
	switch (what >> 2 & 7) {
	case 0: one.first_time += in.byte(); break;
	case 1: one.last_time -= in.byte(); break;
	case 2: one.records ^= in.byte(); break;
	case 3: one.seq += in.byte() % 4; break;
	case 4:
		for (dfr_block& block : blocks)
			block.cpu = in.byte() % 4 ? head.cpu : 9;
		head.cpu = blocks[0].cpu;
		break;
	default: break;
	}
	if (what & 0x20)
		head.unpacked = 0;
	head.stored = static_cast<uint32_t>(body.size());
	head.checksum = 0;
	head.checksum = trace::crc32c(std::as_bytes(std::span(blocks)),
	                              trace::crc32c(std::as_bytes(std::span(&head, 1))));
	const auto put = [&payload](std::span<const std::byte> bytes) {
		payload.insert(payload.end(), bytes.begin(), bytes.end());
	};
	payload.clear();
	put(std::as_bytes(std::span(&head, 1)));
	put(std::as_bytes(std::span(blocks)));
	put(body);
}

// Writes the file again with some chunks damaged; index and end mark are right for that.
void damage_file(Decisions& in, const std::string& from, const std::string& to) {
	const trace::ContainerReader reader(from);
	trace::ContainerWriter writer(to, true, trace::local_file());
	trace::Index index;
	for (uint64_t at = sizeof(trace::FileHead); at < reader.size();) {
		const auto segment = reader.segment(at);
		must(segment.has_value());
		at = segment->end();
		if (segment->type() == trace::SegmentType::kIndex ||
		    segment->type() == trace::SegmentType::kEnd)
			continue;
		auto payload = reader.payload(*segment);
		must(payload.has_value());
		const bool chunk = segment->type() == trace::SegmentType::kChunk;
		if (chunk && in.byte() % 2)
			damage_chunk(in, *payload);
		const uint64_t offset = writer.append(
		    segment->type(), segment->head.flags & ~trace::kSegmentZstd, *payload, false);
		if (chunk)
			index.chunks.push_back({.offset = offset});
		else
			index.others.push_back({.offset = offset, .type = segment->head.type});
	}
	trace::EndMark end{};
	end.index = writer.append(trace::SegmentType::kIndex, 0, trace::encode_index(index), true);
	end.size = writer.size() + trace::kEndBytes;
	writer.append(trace::SegmentType::kEnd, 0, std::as_bytes(std::span(&end, 1)), false);
	writer.close();
}

struct ReplayedAnswer {
	std::string text, failed;
	trace::Verdict verdict;
	bool cut_short = false;
};

// Timers fire as often as the recorded time has room for, which may be years. A replay asks each 4096 firings.
class Patience {
public:
	bool ends() { return ++looks_ > 16; }
	bool ended() const { return looks_ > 16; }

private:
	unsigned looks_ = 0;
};

ReplayedAnswer replayed(const std::string& path, const d::Compiled& program, replay::Way way,
                        const replay::Wanted& wanted) {
	ReplayedAnswer said;
	trace::JoinedSource source(std::move(trace::group_by_state({path}).at(0)));
	replay::RecordingTarget target(source.catalog(), "fuzz");
	render::Output output(-1);
	render::NoSymbols symbols;
	replay::ReplayOptions options;
	options.style.quiet = true;
	options.message = [&said](const std::string& text) { said.text += text + "\n"; };
	options.way = way;
	options.wanted = wanted;
	try {
		said.verdict = replay::replay_program(trace::United({&source}), target, program, output,
		                                      symbols, options)
		                   .verdict;
		said.text += output.take();
	} catch (const Error& error) {
		said.failed = error.what();
	}
	return said;
}

// Whether each chunk that can be read has the blocks that were sealed: else somebody has crafted it.
bool holds_together(const std::string& path) {
	const trace::ContainerReader reader(path);
	bool holds = true;
	reader.each_segment([&](const trace::Segment& segment) {
		const auto payload =
		    segment.type() == trace::SegmentType::kChunk ? reader.payload(segment) : std::nullopt;
		if (!payload)
			return;
		const auto blocks = trace::decode_chunk(*payload);
		holds = holds && blocks;
		for (size_t i = 0; holds && i < blocks->size(); i++)
			holds = (*blocks)[i].verified || !((*blocks)[i].header().flags & DFR_BLOCK_SEALED);
	});
	return holds;
}

void replay_both_ways(Decisions& in, const std::string& path) {
	static const std::vector<d::Compiled> programs = [] {
		std::vector<d::Compiled> made;
		for (const char* const text : {"app::work:entry { @n[arg0] = count(); @s[execname] = "
		                               "sum((int)arg1); @q = quantize(arg1); }",
		                               "app::work: /arg0 > 100/ { @[cpu, tid, probename] = "
		                               "max(timestamp); @m[pid] = min(arg0); }",
		                               "app::work:entry /copyinstr(arg0) != \"b\"/ { "
		                               "@[copyinstr(arg0), execname] = count(); } END { "
		                               "printf(\"%d\", timestamp); }"}) {
			replay::RecordingTarget target(replay_catalog(), "fuzz");
			d::Diagnostics diagnostics;
			d::CompileOptions options;
			options.options = {"quiet"};
			made.push_back(d::compile(text, options, target, diagnostics));
			must(!diagnostics.failed());
		}
		return made;
	}();
	replay::Wanted wanted;
	const uint8_t part = in.byte();
	if (part & 1)
		wanted.from = replay::parse_when("@" + std::to_string(1000 + in.byte() * 16));
	if (part & 2)
		wanted.to = replay::parse_when("@" + std::to_string(1000 + in.byte() * 64));
	const d::Compiled& program = programs[part / 4 % programs.size()];
	const ReplayedAnswer any = replayed(path, program, replay::Way::kAny, wanted);
	const ReplayedAnswer rows = replayed(path, program, replay::Way::kRows, wanted);
	if (holds_together(path))
		must(any.failed == rows.failed && any.text == rows.text && any.verdict == rows.verdict);
}

// Some of the words that --from and --to take.
std::string some_when(Decisions& in) {
	static constexpr const char* kTexts[] = {"+5us",
	                                         "-10us",
	                                         "+1.5ms",
	                                         "-0.002s",
	                                         "22:30:00",
	                                         "22:30:00.00001",
	                                         "2023-11-14 22:30:00.00002",
	                                         "2023-11-14T22:30:00",
	                                         "+",
	                                         "@",
	                                         "2023-02-30 10:00:00",
	                                         "23:59:59",
	                                         "@1000000020000",
	                                         "+1",
	                                         "1970-01-01 00:00:01",
	                                         "+99999999999h",
	                                         "00:00:01.1234567890"};
	const uint8_t choice = in.byte();
	return choice & 0x80 ? "@" + std::to_string(test::kStart + (choice & 0x7f) * 1000u)
	                     : kTexts[choice % std::size(kTexts)];
}

replay::Wanted some_wanted(Decisions& in) {
	static constexpr const char* kCpus[] = {"0", "0-1", "2,0", "7", "1-", "0-9999999"};
	replay::Wanted wanted;
	const uint8_t what = in.byte();
	if (what & 1)
		wanted.from = replay::parse_when(some_when(in));
	if (what & 2)
		wanted.to = replay::parse_when(some_when(in));
	if (what & 4)
		wanted.cpus = replay::parse_cpus(fuzz::one_of(in, kCpus)).value_or(std::vector<bool>{});
	wanted.all = what & 8;
	return wanted;
}

// Recordings, each of the files of one state, as one.
class Opened {
public:
	explicit Opened(const std::vector<std::string>& paths) {
		std::vector<trace::BlockSource*> all;
		for (auto& group : trace::group_by_state(paths)) {
			sources_.push_back(std::make_unique<trace::JoinedSource>(std::move(group)));
			all.push_back(sources_.back().get());
		}
		united_.emplace(all);
	}
	const trace::United& united() const { return *united_; }
	trace::JoinedSource& first() { return *sources_.front(); }

private:
	std::vector<std::unique_ptr<trace::JoinedSource>> sources_;
	std::optional<trace::United> united_;
};

// An answer, or why there is none. Without a program: what the recorded one printed.
struct Asked {
	std::vector<std::string> paths;
	std::string program = {};
	replay::ReplayOptions options = {};
	ReplayedAnswer answer(replay::Way way = replay::Way::kAny, unsigned threads = 1) const {
		ReplayedAnswer said;
		render::Output output(-1);
		render::NoSymbols symbols;
		replay::ReplayOptions own = options;
		own.style.quiet = true;
		own.message = [&said](const std::string& text) { said.text += text + "\n"; };
		own.way = way;
		own.threads = threads;
		Patience patience;
		own.interrupted = [&] {
			return patience.ends() || (options.interrupted && options.interrupted());
		};
		try {
			Opened opened(paths);
			if (program.empty()) {
				said.verdict =
				    replay::render_recording(opened.first(), output, symbols, own).verdict;
			} else {
				replay::RecordingTarget target(opened.united());
				d::Diagnostics diagnostics;
				const d::Compiled made =
				    d::compile(program, {.options = {"quiet"}}, target, diagnostics);
				said.failed = diagnostics.failed() ? diagnostics.render(true) : "";
				if (said.failed.empty())
					said.verdict = replay::replay_program(opened.united(), target, made,
					                                      output, symbols, own)
					                   .verdict;
			}
			said.text += output.take();
		} catch (const Error& error) {
			said.failed = error.what();
		}
		said.cut_short = patience.ended();
		return said;
	}
};

// One answer, whichever way it was found.
void ask_all_ways(Decisions& in, const std::vector<std::string>& paths) {
	Asked asked{.paths = paths, .program = fuzz::asked_program(in)};
	asked.options.wanted = some_wanted(in);
	const uint8_t what = in.byte();
	asked.options.strict = what % 16 == 1;
	if (what >= 0xf0)
		asked.options.interrupted = [] { return true; };
	const ReplayedAnswer any = asked.answer();
	const ReplayedAnswer rows = asked.answer(replay::Way::kRows, 2 - what % 4 / 3);
	if (what < 0xf0 && !any.cut_short && !rows.cut_short)
		must(any.failed == rows.failed && any.text == rows.text && any.verdict == rows.verdict);
	if (!any.failed.empty()) // there is an answer at least to this
		Asked{.paths = paths, .program = "app::work:entry { @[execname] = count(); }"}.answer();
}

// What the recorded program printed, or a part of that.
void print_again(Decisions& in, const std::vector<std::string>& paths) {
	Asked asked{.paths = paths};
	const uint8_t what = in.byte();
	if (what & 1)
		asked.options.wanted = some_wanted(in);
	if (what >= 0xe0)
		asked.options.interrupted = [] { return true; };
	asked.answer();
}

// The first of the recordings while it is written, block by block.
void ask_while_it_grows(Decisions& in, fuzz::EngineRecording& made, const std::string& path) {
	size_t next = 0;
	trace::FileWriter writer(path, true,
	                         [&]() -> const trace::Catalog& { return made.kept.the_catalog; });
	writer.catalog();
	writer.account(made.kept, 1);
	trace::FollowedSource followed(path);
	replay::ReplayOptions options;
	options.style.quiet = true;
	options.message = [](const std::string&) {};
	options.wanted = some_wanted(in);
	options.followed = &followed;
	Patience timers;
	options.interrupted = [&] { return timers.ends(); };
	unsigned patience = in.byte();
	options.await = [&] {
		const std::vector<trace::Block>& blocks = made.kept.blocks;
		if (next < blocks.size())
			writer.block(blocks[next++]);
		else if (next++ == blocks.size()) {
			writer.aggregations(made.kept.aggs);
			writer.account(made.kept);
			writer.finish();
		}
		if (next < blocks.size() && blocks[next].header().first_time)
			writer.account(made.kept, blocks[next].header().first_time);
		return patience-- != 0;
	};
	render::Output output(-1);
	render::NoSymbols symbols;
	if (in.byte() % 4 == 0) {
		replay::render_recording(followed, output, symbols, options);
		return;
	}
	const trace::United united({&followed});
	replay::RecordingTarget target(united);
	d::Diagnostics diagnostics;
	const d::Compiled program =
	    d::compile(fuzz::asked_program(in), {.options = {"quiet"}}, target, diagnostics);
	if (!diagnostics.failed())
		replay::replay_program(united, target, program, output, symbols, options);
}

using PlainRecord = std::tuple<uint64_t, uint32_t, uint32_t, uint32_t, std::string, std::vector<std::string>>;

std::vector<PlainRecord> plain_records(const std::string& path, const trace::Cut* cut) {
	std::vector<PlainRecord> all;
	const auto file = trace::open_file(path);
	trace::Merger merger(*file);
	merger.run([&](const trace::Record& record) {
		if (cut && !cut->wants(record, file->catalog()))
			return true;
		std::vector<std::string> fields;
		for (const trace::Value& value : record.fields)
			fields.push_back(std::to_string(value.number) + "," + std::to_string(value.fault) +
			                 "," + std::string(value.text()));
		all.emplace_back(record.time, record.cpu, record.epid, record.context.pid,
		                 std::string(record.context.execname), std::move(fields));
		return true;
	});
	std::sort(all.begin(), all.end()); // headers may have lied of the order
	return all;
}

// What is cut out of a sound file is sound and has the records that were wanted; of another one, it can be read.
void cut_and_redact(Decisions& in, const std::string& path, uint64_t start = 1000) {
	const std::string made = path + "-made";
	const trace::Inspection whole = trace::verify_file(path);
	const bool sound = whole.sound() && !whole.unsealed; // an open block does not say when it ended
	trace::Cut cut{.text = "a part"};
	const uint8_t what = in.byte();
	if (what & 1)
		cut.pids = {in.byte() % 3u};
	if (what & 2)
		cut.probes = {4 + in.byte() % 2u};
	if (what & 4)
		cut.span.from = start + in.byte() * 16;
	if (what & 8)
		cut.span.to = start + in.byte() * 64;
	if (what & 16)
		cut.span.cpus = {true, false, true};
	tolerate([&] {
		trace::cut_file(path, made, cut);
		const trace::Inspection part = trace::verify_file(made);
		if (sound)
			must(part.sound() && plain_records(made, nullptr) == plain_records(path, &cut));
		must(!part.verdict.complete);
	});
	tolerate([&] {
		const auto source = trace::open_file(path);
		replay::RecordingTarget target(source->catalog(), "fuzz");
		const auto allowed =
		    replay::make_redaction(*source, target, {what & 32 ? "arg0" : "execname"});
		trace::redact_file(path, made, allowed);
		const trace::RedactProof proof = trace::prove_redacted(path, made, allowed);
		must(proof.wrong.empty());
		if (sound)
			must(trace::verify_file(made).sound());
	});
	unlink(made.c_str());
}

// The blocks of up to three CPUs, in the order in which a recorder may get them.
std::vector<trace::Block> some_blocks(Decisions& in) {
	std::vector<trace::Block> blocks;
	for (uint16_t cpu = 0; cpu < uint16_t(1 + in.byte() % 3); cpu++) {
		uint64_t time = 1000 + in.byte(), records = 0;
		for (uint64_t seq = 1; seq < 2u + in.byte() % 4 && in.left(); seq++)
			blocks.push_back(replay_block(in, cpu, seq, time, records));
	}
	return blocks;
}

// What stays is named by words that the recording has, or by others; what is made of it says so.
void redact_by_words(Decisions& in, const std::string& path) {
	static constexpr const char* kWords[] = {
	    "pid",      "execname",     "arg0",    "app::work:entry/arg*", "names",  "events",
	    "walltime", "arg?",         "nothing", "a:b:c:d:e/arg0",       "cgroup", "types",
	    "stack()",  "capture(arg0", "*/*"};
	const std::string made = path + "-made";
	const auto source = trace::open_file(path);
	replay::RecordingTarget target(source->catalog(), "fuzz");
	std::vector<std::string> keep;
	const uint8_t what = in.byte();
	for (const replay::Keepable& one : replay::keepable(*source, target))
		if (in.byte() % 2)
			keep.push_back(one.input && what & 1 ? one.example + "/" + one.word : one.word);
	if (what % 4 == 0)
		for (const std::string& word : replay::split_words(fuzz::one_of(in, kWords)))
			keep.push_back(word);
	unsigned patience = what >= 0xf0 ? in.byte() % 4 : ~0u;
	const trace::Going going = [&patience](uint64_t, uint64_t) { return patience-- != 0; };
	const trace::Redaction allowed = replay::make_redaction(*source, target, keep);
	trace::redact_file(path, made, allowed, going);
	if (patience > 4 && trace::verify_file(path).sound())
		must(trace::prove_redacted(path, made, allowed).wrong.empty() &&
		     trace::verify_file(made).sound());
	else
		trace::prove_redacted(path, made, allowed, going);
	trace::prove_redacted(path, path, allowed); // of which much is wrong
	if (patience <= 4)
		return;
	if (what & 8)
		ask_all_ways(in, {made});
	else
		Asked{.paths = {made}}.answer();
}

// What was cut out twice is one recording again, as far as both have of it.
void cut_and_join(Decisions& in, const std::string& path) {
	std::vector<std::string> made;
	for (const char* const name : {"-one", "-other"}) {
		trace::Cut cut{.text = name};
		const uint8_t what = in.byte();
		if (what & 1)
			for (uint32_t pid = 7; pid < 10; pid++)
				if (what >> pid & 1 || in.byte() % 2)
					cut.pids.insert(pid);
		if (what & 2)
			cut.probes = {4 + in.byte() % 2u};
		if (what & 4)
			cut.span.from = test::kStart + in.byte() * 200;
		if (what & 8)
			cut.span.to = test::kStart + in.byte() * 800;
		if (what & 16)
			cut.span.cpus = {(what & 32) != 0, true, (what & 64) != 0};
		made.push_back(path + name);
		trace::cut_file(path, made.back(), cut);
	}
	if (in.byte() % 4 == 0)
		made.push_back(path);
	{
		auto groups = trace::group_by_state(made);
		trace::JoinedSource joined(std::move(groups.front()));
		fuzz::read_everything(joined);
	}
	ask_all_ways(in, made);
}

// What addresses are called, most of which put_knowledge() has named.
void ask_names(Decisions& in, const std::string& path) {
	trace::KnownNames names;
	trace::open_file(path)->names(names);
	for (unsigned left = 16; left; left--) {
		const uint64_t address = in.half(), time = test::kStart + in.byte() * 2000u;
		names.kernel(0xffffffff81000000 + address % 80, time);
		names.kernel(address, time);
		for (uint32_t pid = 7; pid < 11; pid++)
			names.user(pid, address % 5200, time);
	}
}

// One file that holds several recordings, the first of which may have been cut.
void read_appended(Decisions& in, const std::vector<std::string>& paths, const std::string& path) {
	std::vector<char> bytes;
	for (const std::string& one : {paths.front(), paths.back()}) {
		std::ifstream file(one, std::ios::binary);
		bytes.insert(bytes.end(), std::istreambuf_iterator<char>(file), {});
		if (in.byte() % 2)
			bytes.resize(bytes.size() - std::min<size_t>(in.half(), bytes.size()));
	}
	std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
	fuzz::read_file(path);
	Asked{.paths = {path + "#" + std::to_string(in.byte() % 4)}}.answer();
	tolerate([&] { trace::FollowedSource followed(path); });
	for (const std::string& recording : trace::recordings_of(path))
		ask_all_ways(in, {recording});
}

// As a recorder that rotates writes it; the paths of its files.
std::vector<std::string> write_parts(Decisions& in, fuzz::EngineRecording& made, const std::string& path) {
	static constexpr const char* kTexts[] = {"256k", "64m", "30s", "10min",          "1",
	                                         "1h",   "5q",  "",    "20261121-150233"};
	const std::string text = fuzz::one_of(in, kTexts);
	trace::PartsWriter::PartsOptions options;
	options.rotation = trace::parse_rotation(text).value_or(trace::Rotation{.bytes = 1});
	options.old = static_cast<trace::PartsWriter::OldParts>(in.byte() % 3);
	must(!trace::parse_time(text) || !trace::parse_size(text));
	must(trace::is_time_stamp(text) == (text.size() == 15) && trace::is_time_stamp(trace::time_stamp()));
	if (in.byte() % 16 == 0)
		options.rotation = {};
	std::vector<std::string> written;
	for (unsigned runs = 1 + in.byte() % 2; runs; runs--) {
		trace::PartsWriter writer(
		    path, [&]() -> const trace::Catalog& { return made.kept.the_catalog; }, options);
		const std::vector<trace::Block>& blocks = made.kept.blocks;
		for (size_t i = 0; i < blocks.size(); i++) {
			writer.file().block(blocks[i]);
			const bool due = writer.due() || writer.least_chunks();
			if (i + 1 == blocks.size() || in.byte() % (due ? 2 : 4))
				continue;
			writer.file().account(made.kept, blocks[i + 1].header().first_time);
			writer.end_part();
			writer.begin_part(made.kept);
		}
		writer.file().account(made.kept);
		if (in.byte() % 4)
			writer.file().finish();
		must(writer.size() >= writer.file().size() && writer.records() >= writer.file().records());
		written.insert(written.end(), writer.paths().begin(), writer.paths().end());
	}
	std::ranges::sort(written);
	written.erase(std::unique(written.begin(), written.end()), written.end());
	for (const std::string& one : written)
		must(trace::later_parts(one).size() <= trace::parts_of(path).size());
	return written;
}

// Recordings of an engine, in one file each or in parts, whole or with harm done to one. The last quarter of the
// decisions is about what is asked of them.
void fuzz_engine(Decisions& in, const std::string& base) {
	const uint8_t what = in.byte();
	Decisions about = in.last_quarter();
	const Folder folder(base + "-engine");
	const std::string path = folder.path + "/r.dfr";
	std::vector<std::string> paths;
	std::vector<fuzz::EngineRecording> all;
	for (unsigned number = 0; number < (what & 1 ? 2u : 1u); number++) {
		all.push_back(fuzz::some_recording(in, number));
		fuzz::EngineRecording& made = all.back();
		const std::string own = folder.path + "/" + std::to_string(number) + ".dfr";
		std::vector<std::string> files = {own};
		if (what & 0x20) {
			files = write_parts(about, made, own);
		} else {
			trace::FileWriter writer(
			    own, true, [&]() -> const trace::Catalog& { return made.kept.the_catalog; });
			made.write(in, writer);
			if (about.byte() % 8)
				writer.finish();
		}
		paths.insert(paths.end(), files.begin(), files.end());
	}
	const bool harm = (what & 0xc0) == 0x40;
	tolerate([&] {
		if (harm) {
			damage_file(about, paths.back(), path + "-harmed");
			paths.back() = path + "-harmed";
		}
		switch (what >> 2 & 7) {
		case 0:
			if (about.byte() % 2)
				cut_and_join(about, paths.back());
			else
				cut_and_redact(about, paths.back(), test::kStart);
			break;
		case 1: redact_by_words(about, paths.back()); break;
		case 2: ask_while_it_grows(about, all.front(), path); break;
		case 3: print_again(about, paths); break;
		case 4:
			if (about.byte() % 2)
				return read_appended(about, paths, path);
			fuzz::read_file(paths.back());
			ask_names(about, paths.back());
			fuzz::read_everything(Opened(trace::recordings_in(folder.path)).first());
			break;
		default:
			if (!harm || holds_together(paths.back()))
				ask_all_ways(about, paths);
		}
	});
}

void fuzz_file(Decisions& in, const std::string& path) {
	const std::string damaged = path + "-damaged";
	{
		NoLosses ledger;
		trace::FileWriter writer(path, true,
		                         []() -> const trace::Catalog& { return replay_catalog(); });
		for (const trace::Block& block : some_blocks(in)) {
			writer.block(block);
			if (in.byte() % 4 == 0)
				writer.flush();
		}
		writer.account(ledger);
		writer.finish();
	}
	const uint8_t what = in.byte();
	const bool harm = what & 1;
	if (harm)
		damage_file(in, path, damaged);
	const std::string& used = harm ? damaged : path;
	tolerate([&] {
		if (what & 6)
			replay_both_ways(in, used);
		else
			cut_and_redact(in, used);
		fuzz::read_file(used);
	});
	unlink(path.c_str());
	unlink(damaged.c_str());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
	Decisions in(data, size);
	const std::string path = "/dev/shm/dfr-fuzz-recording-" + std::to_string(getpid());
	const uint8_t what = in.byte();
	if (what >= 0x80)
		tolerate([&] { fuzz_engine(in, path); });
	else if (what % 8 == 4)
		tolerate([&] { fuzz::fuzz_leaving(in, path); });
	else if (what % 4)
		fuzz_file(in, path);
	else
		fuzz::fuzz_parts(in, path + ".dfr");
	return 0;
}
