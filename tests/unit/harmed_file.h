// SPDX-License-Identifier: GPL-2.0
//
// A recording of an engine in this process, as a file, and what may happen to such a file: what replay
// answers from it then.
#pragma once

#include <cstring>
#include <fstream>
#include <random>

#include "formats/error.h"
#include "formats/trace/container.h"
#include "formats/trace/joined.h"
#include "tests/unit/replay_app.h"
#include "tests/unit/scratch_folder.h"

namespace dfr::test {

using FileBytes = std::vector<char>;

inline constexpr const char* kQuestion =
    "app::work:entry { @n[cpu] = count(); @s[execname] = sum(arg0); @q = quantize(arg1); }"
    "BEGIN { self->x = 1; }";

// 16,000 firings on four CPUs in many small blocks.
inline Kept recorded_work(App& app) {
	load(app, "#pragma D option bufsize=256k\napp::work:entry { capture(arg0, arg1); }");
	for (unsigned i = 0; i < 16'000; i++)
		app.fire(app.entry, kStart + i * 1000, i * 7 % 4, 100 + i % 3, i % 3 ? "alpha" : "beta",
		         i % 11, i);
	finish(app);
	return Kept(app);
}

// Writes the blocks that `keep` wants, a chunk for every five of a CPU.
inline void write_file(const std::string& path, Kept& kept,
                       const std::function<bool(const dfr_block&)>& keep) {
	kept.rewind();
	trace::FileWriter writer(path, true, [&]() -> const trace::Catalog& { return kept.catalog(); });
	unsigned given = 0;
	while (const auto block = kept.next()) {
		if (!keep(block->header()))
			continue;
		writer.block(*block);
		if (++given % 5 == 0)
			writer.flush();
	}
	writer.account(kept);
	writer.finish();
}

// What replay prints, and whether it says that this is all. An error is no answer.
inline std::pair<std::string, bool> answer(const std::string& path, replay::Way way = replay::Way::kAny) {
	try {
		auto groups = trace::group_by_state({path});
		trace::JoinedSource source(std::move(groups.at(0)));
		replay::RecordingTarget target(source.catalog(), "thinned");
		d::CompileOptions options;
		options.options = {"quiet"};
		d::Diagnostics diagnostics;
		const d::Compiled program = d::compile(kQuestion, options, target, diagnostics);
		if (diagnostics.failed())
			return {"", false};
		render::Output output(-1), by_rows(-1);
		render::NoSymbols symbols;
		replay::ReplayOptions silent;
		silent.style.quiet = true;
		silent.message = [](const std::string&) {};
		silent.way = way;
		const replay::Answer said = replay::replay_program(trace::United({&source}), target, program,
		                                                   output, symbols, silent);
		const std::string text = output.take();
		if (way != replay::Way::kAny)
			return {text, said.verdict.complete && !said.verdict.windowed};
		silent.way = replay::Way::kRows;
		trace::JoinedSource again(std::move(trace::group_by_state({path}).at(0)));
		const replay::Answer rows = replay::replay_program(trace::United({&again}), target, program,
		                                                   by_rows, symbols, silent);
		CHECK(said.by_columns);
		CHECK(text == by_rows.take());
		CHECK(said.verdict == rows.verdict);
		return {text, said.verdict.complete && !said.verdict.windowed};
	} catch (const Error&) {
		return {"", false};
	}
}

// A message of Cap'n Proto whose root has one more word of data than it had, as a newer dfr's has. What pointers point to
// moves with them.
inline std::vector<std::byte> with_another_word(std::span<const std::byte> message) {
	std::vector<std::byte> bytes(message.begin(), message.end());
	uint32_t sizes[2]; // segments - 1, words of the first one
	std::memcpy(sizes, bytes.data(), sizeof sizes);
	REQUIRE(sizes[0] == 0);
	sizes[1]++;
	std::memcpy(bytes.data(), sizes, sizeof sizes);
	uint16_t data_words;
	std::memcpy(&data_words, &bytes[12], sizeof data_words);
	bytes.insert(bytes.begin() + 16 + 8 * data_words, 8, std::byte(1));
	data_words++;
	std::memcpy(&bytes[12], &data_words, sizeof data_words);
	return bytes;
}

// Copies a file's segments, up to its index, each as `change` leaves its payload.
inline void copy_segments(
    const std::string& from, const std::string& to,
    const std::function<std::vector<std::byte>(trace::SegmentType, std::vector<std::byte>)>& change) {
	const trace::ContainerReader reader(from);
	trace::ContainerWriter writer(to, true, trace::local_file());
	reader.each_segment([&](const trace::Segment& segment) {
		const auto flags = static_cast<uint16_t>(segment.head.flags & ~trace::kSegmentZstd);
		if (segment.type() != trace::SegmentType::kIndex &&
		    segment.type() != trace::SegmentType::kEnd)
			writer.append(segment.type(), flags,
			              change(segment.type(), reader.payload(segment).value()), false);
	});
	writer.close();
}

inline FileBytes read_file(const std::string& path) {
	std::ifstream in(path, std::ios::binary);
	return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_file(const std::string& path, const FileBytes& bytes) {
	std::ofstream(path, std::ios::binary | std::ios::trunc)
	    .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

// Where segments begin: at their magic.
inline std::vector<size_t> segments(const FileBytes& bytes) {
	std::vector<size_t> starts;
	for (size_t at = 0; at + 4 <= bytes.size(); at += 8)
		if (std::equal(bytes.begin() + static_cast<long>(at),
		               bytes.begin() + static_cast<long>(at) + 4, "DSEG"))
			starts.push_back(at);
	starts.push_back(bytes.size());
	return starts;
}

// Changes the file's bytes in one of the ways in which disks and people do.
inline FileBytes harmed(FileBytes bytes, std::mt19937& random) {
	const std::vector<size_t> starts = segments(bytes);
	const size_t which = random() % (starts.size() - 1);
	const auto from = bytes.begin() + static_cast<long>(starts[which]);
	const auto to = bytes.begin() + static_cast<long>(starts[which + 1]);
	switch (random() % 5) {
	case 0: bytes.erase(from, to); break;                 // a segment is not there
	case 1: std::fill(from, to, 0); break;                // a segment is empty
	case 2: bytes.resize(random() % bytes.size()); break; // cut
	case 3: bytes[random() % bytes.size()] ^= 1 << random() % 8; break;
	case 4: { // a segment is there twice
		const FileBytes twice(from, to);
		bytes.insert(to, twice.begin(), twice.end());
		break;
	}
	}
	return bytes;
}

} // namespace dfr::test
