// SPDX-License-Identifier: GPL-2.0
//
// Columns: the records of a chunk taken apart, so that like stands with like and a
// reader unpacks only what it asks for. A field of an EPID is a column of integers
// (integers.h). Strings and execnames are interned: each text stands once in the
// chunk, and the column holds its number; so do stacks and other bytes. Tasks are
// rows of a table, and each context record is the number of one. Everything is in
// frames (frames.h), ordered by how often questions ask for it.
//
// The order of the records is a column of symbols: what a record is (EPID, level;
// or which control record), whether its head is long, and whether it has the time
// of the record before. Such a record has no value in the column of times; the
// others have what they add to the time before.
//
// A question over one field:
//
//	std::optional<ChunkColumns> chunk = ChunkColumns::open(stored, headers);
//	for (const EpidColumns& epid : chunk->epids())       // nothing is unpacked yet
//		if (... && epid.fields[0].column.greatest > 4096)
//			chunk->integers(epid.fields[0]);             // one for each record of the EPID
//
// chunk->records() then says in which order the records of all EPIDs stand, with
// their times and tasks. Every call may be the first; what was unpacked is kept.
// The bytes are hostile: nullopt says that they are damaged.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "formats/trace/integers.h"
#include "formats/trace/source.h"

namespace dfr::trace {

// nullopt: a block has records that cannot be taken apart.
std::optional<std::vector<std::byte>> encode_columns(std::span<const Block> blocks, const Catalog& catalog);

// One field of one EPID. Integers: the values. Text of the probe: nothing. All others: numbers in the
// chunk's texts or bytes (in_texts() says which).
struct FieldColumn {
	uint8_t kind = 0; // enum dfr_field_kind
	bool is_signed = false;
	uint32_t size = 0;
	IntegerColumn column;
	bool in_texts() const { return kind == DFR_FIELD_STRING; }
};

// Whether each value is between the least and the greatest that the column's head says.
bool within(const FieldColumn& field, const std::vector<uint64_t>& values);

struct EpidColumns {
	uint32_t epid = 0;
	uint64_t records = 0;
	std::vector<FieldColumn> fields;
};

// What the column of order holds numbers of.
struct OrderSymbol {
	uint32_t id = 0;      // index in epids(); of a control record: its kind, or kGroupEnd
	bool control = false; // it is a control record
	uint8_t level = 0;    // enum dfr_level
	bool is_long = false; // its head is long
	bool same = false;    // it has the time of the record before
};
inline constexpr uint32_t kGroupEnd = 5; // stands behind the last record of a GROUP; no record of the block

// A row of the table of tasks.
struct Task {
	uint32_t task = 0, pid = 0, tid = 0, nspid = 0;
	uint64_t cgroup = 0;
	uint32_t execname = 0; // number in texts()
};
inline constexpr uint32_t kNoTask = UINT32_MAX;

// One record, control records left out. Its fields are the next values of its EPID's columns.
struct RecordPlace {
	uint64_t time = 0;
	uint32_t task = 0;      // index in tasks(); or kNoTask
	uint32_t epid : 30 = 0; // index in epids()
	uint32_t level : 2 = 0; // enum dfr_level
};

// A control record that is no context, or kGroupEnd. It stands before the record with this index.
struct ControlPlace {
	uint64_t record = 0;
	uint64_t time = 0;
	uint32_t kind = 0;
	uint32_t block = 0;                 // of the chunk
	std::span<const std::byte> payload; // as in a block, behind the kind
};

struct RecordPlaces {
	std::vector<RecordPlace> records;
	std::vector<ControlPlace> controls;
	// A decoder of the blocks would find these records at these times, and the headers say so.
	bool decoded_alike = true;
};

using ByteStrings = std::vector<std::span<const std::byte>>;

class ChunkColumns {
public:
	// Reads the heads of the columns. `stored` and `headers`, those of the chunk's blocks, must stay in
	// memory. What the headers say bounds how much memory the columns can ask for.
	static std::optional<ChunkColumns> open(std::span<const std::byte> stored,
	                                        std::span<const dfr_block> headers);

	const std::vector<EpidColumns>& epids() const { return epids_; }
	// One value for each record of the field's EPID.
	std::optional<std::vector<uint64_t>> integers(const FieldColumn& field);
	std::optional<ByteStrings> texts(); // without their NUL
	std::optional<ByteStrings> bytes(); // stacks: their frames; user stacks: pid, u8 frames, the frames
	std::optional<std::vector<Task>> tasks();
	std::optional<RecordPlaces> records();
	// All of it, as it was. A restart table that was not stored is made with the checksums that belong to it.
	std::optional<std::vector<Block>> blocks();
	// Whether it is all of these, one for each header, byte for byte.
	bool gives(std::span<const Block> blocks);

	size_t frames_unpacked() const { return frames_.unpacked(); }

	static constexpr size_t kTaskMembers = 6;

private:
	friend class ColumnJoiner;
	struct Piece {
		uint64_t at = 0, size = 0;
	};
	std::optional<std::vector<uint64_t>> values(const IntegerColumn& column);
	std::optional<std::span<const std::byte>> piece(const Piece& piece);
	std::optional<ByteStrings> strings(const IntegerColumn& sizes, const Piece& where);
	bool read_directory(VarintReader& in);
	bool read_heads(VarintReader& in);
	// What the first time is added to.
	uint64_t start_time() const { return headers_.empty() ? 0 : headers_[0].first_time; }

	std::span<const dfr_block> headers_;
	uint64_t raw_ = 0; // bytes that the blocks have behind their headers
	FrameReader frames_;
	std::vector<OrderSymbol> symbols_;
	std::vector<EpidColumns> epids_;
	IntegerColumn items_, listed_, order_, times_, contexts_, tasks_[kTaskMembers], text_sizes_,
	    bytes_sizes_;
	Piece controls_, tables_, texts_, bytes_;
};

} // namespace dfr::trace
