// SPDX-License-Identifier: GPL-2.0
//
// What chunks of real recordings cost: bytes an event, and how fast they are
// encoded (which includes decoding once, as FileWriter does it) and decoded.
// Times are the process's own processor time, the best of several rounds.
//
//   dfr_format_bench FILE.dfr...
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <malloc.h>
#include <map>

#include "formats/error.h"
#include "formats/trace/chunk.h"
#include "formats/trace/columns.h"
#include "formats/trace/container.h"
#include "formats/trace/decode.h"
#include "formats/trace/file.h"

using namespace dfr::trace;

namespace {

constexpr int kRounds = 5;

double seconds() {
	timespec time;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

template <typename Work> double best_of(const Work& work) {
	double best = 1e9;
	for (int i = 0; i < kRounds; i++) {
		const double start = seconds();
		work();
		best = std::min(best, seconds() - start);
	}
	return best;
}

// The blocks of a file in chunks as FileWriter makes them.
struct Recording {
	std::vector<std::vector<Block>> chunks;
	uint64_t events = 0, bytes = 0;
};

Recording load(FileSource& file) {
	Recording result;
	std::map<uint32_t, std::pair<std::vector<Block>, uint64_t>> pending;
	for (const BlockRef& ref : file.index()) {
		std::optional<Block> block = file.load(ref);
		if (!block)
			continue;
		auto& [blocks, bytes] = pending[ref.head.cpu];
		result.events += ref.head.records;
		result.bytes += block->bytes.size();
		bytes += block->bytes.size();
		blocks.push_back(std::move(*block));
		if (bytes < kChunkBytes)
			continue;
		result.chunks.push_back(std::move(blocks));
		pending.erase(ref.head.cpu);
	}
	for (auto& [cpu, rest] : pending)
		result.chunks.push_back(std::move(rest.first));
	return result;
}

void row(const char* what, const Recording& of, uint64_t bytes, double took) {
	const double events = static_cast<double>(of.events);
	std::printf("  %-38s", what);
	if (bytes)
		std::printf(" %12.2f", static_cast<double>(bytes) / events);
	else
		std::printf(" %12s", "");
	if (took > 0)
		std::printf(" %10.0f %10.1f", static_cast<double>(of.bytes) / took / 1e6,
		            events / took / 1e6);
	std::printf("\n");
}

void measure(const char* path) {
	const auto file = open_file(path);
	const Recording blocks = load(*file);
	std::printf("%s: %lu events in %zu chunks, file of %lu bytes\n", path, blocks.events,
	            blocks.chunks.size(), file->facts().size);
	std::printf("  %-38s %12s %10s %10s\n", "", "bytes/event", "MB/s", "M events/s");
	if (!blocks.events)
		return;
	row("blocks as the kernel writes them", blocks, blocks.bytes, 0);
	std::vector<std::byte> whole;
	uint64_t size = 0;
	const double zstd = best_of([&] {
		size = 0;
		for (const std::vector<Block>& chunk : blocks.chunks) {
			whole.clear();
			for (const Block& block : chunk)
				whole.insert(whole.end(), block.bytes.begin(), block.bytes.end());
			const auto small = compress(whole);
			size += small ? small->size() : whole.size();
		}
	});
	row("the same by zstd -3", blocks, size, zstd);
	std::vector<std::vector<std::byte>> encoded;
	const double encode = best_of([&] {
		encoded.clear();
		for (const std::vector<Block>& chunk : blocks.chunks)
			encoded.push_back(encode_chunk(chunk, file->catalog()));
	});
	size = 0;
	for (const std::vector<std::byte>& chunk : encoded)
		size += chunk.size();
	row("chunks, encode", blocks, size, encode);
	std::vector<Block> back;
	row("chunks, decode to blocks", blocks, 0, best_of([&] {
		    for (const std::vector<std::byte>& chunk : encoded)
			    back = decode_chunk(chunk).value();
	    }));
	std::vector<ChunkHeaders> headers;
	for (const std::vector<std::byte>& chunk : encoded)
		headers.push_back(decode_chunk_headers(chunk, chunk.size()).value());
	const auto each = [&](const auto& ask) {
		for (size_t i = 0; i < encoded.size(); i++)
			if (auto columns = ChunkColumns::open(
			        std::span<const std::byte>(encoded[i]).last(headers[i].head.stored),
			        headers[i].blocks))
				ask(*columns);
	};
	row("columns, order, times and tasks", blocks, 0,
	    best_of([&] { each([](ChunkColumns& columns) { columns.records(); }); }));
	row("columns, the first field of each EPID", blocks, 0, best_of([&] {
		    each([](ChunkColumns& columns) {
			    for (const EpidColumns& epid : columns.epids())
				    if (!epid.fields.empty())
					    columns.integers(epid.fields[0]);
		    });
	    }));
	row("blocks, walk each record", blocks, 0, best_of([&] {
		    BlockDecoder decoder(file->catalog());
		    for (const std::vector<Block>& chunk : blocks.chunks)
			    for (const Block& block : chunk)
				    decoder.decode(block, [](const Record&) { return true; });
	    }));
}

} // namespace

int main(int argc, char** argv) {
	mallopt(M_TRIM_THRESHOLD, 16 << 20); // as the commands do (analyze/cli/main.cc)
	mallopt(M_MMAP_THRESHOLD, 16 << 20);
	try {
		for (int i = 1; i < argc; i++)
			measure(argv[i]);
	} catch (const dfr::Error& error) {
		std::fprintf(stderr, "dfr_format_bench: %s\n", error.what());
		return 1;
	}
	return argc < 2 ? 2 : 0;
}
