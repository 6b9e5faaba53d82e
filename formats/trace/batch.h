// SPDX-License-Identifier: GPL-2.0
//
// A batch: records of one CPU, in the order in which the CPU made them, as columns.
// Merger::scan() gives them: a whole chunk that is stored as columns, of which only
// what is asked for is unpacked; or the records of one block that were decoded,
// where the chunk is stored whole, may be damaged, or only a part of it is wanted.
// A reader cannot tell which.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/trace/columns.h"
#include "formats/trace/decode.h"

namespace dfr::trace {

// A chunk that is stored as columns, with the bytes that they are unpacked from.
struct StoredColumns {
	std::vector<std::byte> payload;
	std::vector<dfr_block> headers;
	std::optional<ChunkColumns> columns;
};

// The fault of a captured field, or that it was cut.
struct FieldNote {
	uint64_t record = 0; // index in records()
	uint8_t field = 0, code = 0;
};

class RecordBatch {
public:
	// Null: the columns are damaged, or have something that only a decoder understands.
	static std::unique_ptr<RecordBatch> of(std::unique_ptr<StoredColumns> stored, const Catalog& catalog);
	// Of a block, whose records are then added.
	explicit RecordBatch(Block block) : block_(std::move(block)) {}
	const Block& block() const { return block_; }
	void add(const Record& record, const Layout& layout);

	// The layouts' fields. The least and the greatest value of a column hold for all of its values.
	const std::vector<EpidColumns>& epids() const { return epids_; }
	const std::vector<RecordPlace>& records() const { return places_.records; }
	const std::vector<FieldNote>& notes() const { return notes_; }
	// Of LOSS records, with the number of their block; only of stored columns.
	const std::vector<ControlPlace>& controls() const { return places_.controls; }

	// Each is null if it is damaged. Of integers: their values; of strings: their numbers in texts(). The
	// next value of the column is that of the next record of the EPID.
	const std::vector<uint64_t>* values(size_t epid, size_t field);
	const std::vector<std::string_view>* texts();
	const std::vector<Task>* tasks();

private:
	explicit RecordBatch(std::unique_ptr<StoredColumns> stored) : stored_(std::move(stored)) {}
	bool read(const Catalog& catalog);
	uint64_t number_of(std::string_view text);
	uint32_t task_of(const Context& context);

	std::unique_ptr<StoredColumns> stored_;
	Block block_;
	std::vector<EpidColumns> epids_;
	RecordPlaces places_;
	std::vector<FieldNote> notes_;
	std::map<std::pair<size_t, size_t>, std::vector<uint64_t>> values_;
	std::optional<std::vector<std::string_view>> texts_;
	std::optional<std::vector<Task>> tasks_;
	// Of decoded records.
	std::unordered_map<uint32_t, size_t> epid_numbers_;
	std::unordered_map<std::string_view, uint64_t> text_numbers_;
	Context last_context_;
};

} // namespace dfr::trace
