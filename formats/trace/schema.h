// SPDX-License-Identifier: GPL-2.0
//
// Encodes and decodes, by dfr.capnp, the payloads of all segments that are not
// chunks (those of names: names.h). Only the sources that do it include Cap'n Proto's
// headers, which keeps other files quick to compile. The decoders take hostile bytes and throw dfr::Error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "formats/trace/source.h"

namespace dfr::trace {

// How much of a catalog has been written; the next part starts after it.
struct CatalogMark {
	size_t clocks = 0, dofs = 0, ecbs = 0, modules = 0, events = 0, machine = 0;
	size_t probe_count = 0, layout_count = 0, aggregation_count = 0;
	std::vector<bool> probes, layouts, aggregations; // by id
	bool anything = false;
};

// Encodes what `catalog` has beyond `mark`, and moves `mark`; empty: nothing is new.
std::vector<std::byte> encode_catalog(const Catalog& catalog, CatalogMark& mark);
// Reads a catalog from its parts, one after another.
class CatalogReader {
public:
	explicit CatalogReader(Catalog& into) : into_(into) {}
	// Where it throws, the catalog has what stands in front of that.
	void part(std::span<const std::byte> payload);
	// The EPIDs that the last part names.
	const std::vector<uint32_t>& epids() const { return epids_; }
	// After the last part: only then the catalog has the clocks, because they are sorted once.
	void end() { into_.add_clocks(std::move(clocks_)); }

private:
	Catalog& into_;
	std::vector<uint32_t> epids_;
	std::vector<Clock> clocks_;
	size_t memory_left_ = 1 << 20; // of all parts: very many would take it again each
};
// One that is a single part.
void decode_catalog(std::span<const std::byte> payload, Catalog& into);

std::vector<std::byte> encode_aggregations(const std::vector<AggEntry>& entries);
std::vector<AggEntry> decode_aggregations(std::span<const std::byte> payload);

// Losses, remarks and partial() of the source that was recorded (FileWriter::account()).
struct Ledger {
	Losses losses;
	std::vector<std::string> remarks = {};
	bool partial = false;
	// Every record before this time is in the file, in front of this; 0: not known.
	uint64_t whole_until = 0;
	std::map<uint32_t, Reach> reaches = {}; // by CPU
	std::map<uint32_t, PartOf> parts = {};  // by CPU
	FilePart part = {};
};
std::vector<std::byte> encode_ledger(const Ledger& ledger);
Ledger decode_ledger(std::span<const std::byte> payload);

struct Index {
	struct Chunk {
		uint64_t offset = 0;
		uint32_t cpu = 0, blocks = 0;
		uint64_t first_seq = 0, last_seq = 0, first_time = 0, last_time = 0, records = 0;
	};
	struct Other {
		uint64_t offset = 0;
		uint16_t type = 0;
	};
	std::vector<Chunk> chunks;
	std::vector<Other> others;
	bool goes_on = false; // the recorder went on in a next file
};
std::vector<std::byte> encode_index(const Index& index);
Index decode_index(std::span<const std::byte> payload);

} // namespace dfr::trace
