// SPDX-License-Identifier: GPL-2.0
//
// Reading columns. The bytes are hostile: the directory's numbers are checked
// against the sizes in the block headers before anything is allocated for them.
#include "formats/trace/columns.h"

#include <algorithm>

#include "formats/trace/columns_layout.h"
#include "formats/trace/container.h"

namespace dfr::trace {
namespace {

// Takes the directory off the front of `stored`; nullopt: damaged, or larger than `most`. `owned` holds it
// if it had to be unpacked.
std::optional<std::span<const std::byte>> take_directory(std::span<const std::byte>& stored, uint64_t most,
                                                         std::vector<std::byte>& owned) {
	VarintReader sizes(stored);
	const uint64_t raw = sizes.next(), size = sizes.next();
	if (!sizes.good() || size > sizes.left() || size > raw || raw > most)
		return std::nullopt;
	const auto packed = stored.last(sizes.left()).first(size);
	stored = stored.last(sizes.left() - size);
	if (raw == size)
		return packed;
	owned.resize(raw);
	if (!uncompress(packed, owned))
		return std::nullopt;
	return owned;
}

// Whether a decoder of the block would find the same records at the same times, and its header says so: the first
// head is long, notes are followed by their record, and the header tells when the records were and how many there are.
class BlockWalk {
public:
	explicit BlockWalk(const dfr_block& head) : head_(head) {}
	void head(const OrderSymbol& symbol, uint64_t delta) {
		alike_ = alike_ && (symbol.is_long || (timed_ && delta <= DFR_REC_DELTA_MAX));
		timed_ = true;
	}
	void record(uint64_t time) {
		alike_ = alike_ && time >= head_.first_time && time <= head_.last_time;
		records_++;
		notes_ = 0;
	}
	void control(uint32_t kind) {
		notes_ += kind == DFR_CONTROL_NOTE;
		alike_ = alike_ && notes_ <= kNotesMost;
	}
	bool alike() const { return alike_ && !notes_ && records_ == head_.records; }

private:
	static constexpr unsigned kNotesMost = 256; // in front of a record
	const dfr_block& head_;
	uint64_t records_ = 0;
	unsigned notes_ = 0;
	bool timed_ = false, alike_ = true;
};

} // namespace

bool within(const FieldColumn& field, const std::vector<uint64_t>& values) {
	const uint64_t sign = field.is_signed ? 1ull << 63 : 0;
	const uint64_t least = field.column.least ^ sign, greatest = field.column.greatest ^ sign;
	return std::all_of(values.begin(), values.end(), [&](uint64_t value) {
		return (value ^ sign) >= least && (value ^ sign) <= greatest;
	});
}

std::optional<ChunkColumns> ChunkColumns::open(std::span<const std::byte> stored,
                                               std::span<const dfr_block> headers) {
	ChunkColumns result;
	result.headers_ = headers;
	for (const dfr_block& head : headers)
		result.raw_ += head.hdr_size - sizeof(dfr_block) + head.committed;
	std::vector<std::byte> owned;
	// What is read of a directory takes up to forty times its bytes in memory.
	const auto directory = take_directory(stored, (1u << 16) + result.raw_ / 2, owned);
	if (!directory)
		return std::nullopt;
	VarintReader in(*directory);
	// A value in eight bytes may have had one in its block.
	if (!result.read_directory(in) ||
	    !result.frames_.open(in, stored, 8 * (result.raw_ + 8 * headers.size()) + (1u << 16)) ||
	    !result.read_heads(in))
		return std::nullopt;
	return result;
}

bool ChunkColumns::read_directory(VarintReader& in) {
	symbols_.resize(in.count());
	for (OrderSymbol& symbol : symbols_)
		symbol = symbol_of(in.next());
	for (IntegerColumn* column : {&order_, &times_, &contexts_, &tasks_[0], &text_sizes_, &bytes_sizes_})
		column->count = in.next();
	for (Piece* piece : {&controls_, &tables_, &texts_, &bytes_})
		piece->size = in.next();
	items_.count = listed_.count = headers_.size();
	for (IntegerColumn& member : tasks_)
		member.count = tasks_[0].count;
	epids_.resize(in.count());
	for (EpidColumns& epid : epids_) {
		epid.epid = static_cast<uint32_t>(in.next());
		epid.records = in.next();
		epid.fields.resize(in.count());
		for (FieldColumn& field : epid.fields) {
			const uint64_t kind = in.next();
			field.kind = static_cast<uint8_t>(kind >> 1);
			field.is_signed = kind & 1;
			field.size = static_cast<uint32_t>(in.next());
			field.column.count = field.kind == DFR_FIELD_PROBETEXT ? 0 : epid.records;
			if (field.kind < DFR_FIELD_INT || field.kind > DFR_FIELD_PROBETEXT)
				return false;
		}
	}
	for (const OrderSymbol& symbol : symbols_)
		if (symbol.control ? !symbol.id || symbol.id > kGroupEnd : symbol.id >= epids_.size())
			return false;
	return in.good();
}

bool ChunkColumns::read_heads(VarintReader& in) {
	uint64_t next = 0;
	// Each value has at least a byte in a block; but an item's time, context and symbol share its head.
	uint64_t values_left = 2 * raw_ + 16 * headers_.size() + 16;
	const auto head = [&](IntegerColumn& column) {
		if (column.count > values_left || !read_integer_head(in, column.count, column))
			return false;
		values_left -= column.count;
		column.offset = next;
		next += column.bytes();
		return true;
	};
	for (IntegerColumn* column : {&items_, &listed_, &order_, &times_, &contexts_})
		if (!head(*column))
			return false;
	for (IntegerColumn& column : tasks_)
		if (!head(column))
			return false;
	for (EpidColumns& epid : epids_)
		for (FieldColumn& field : epid.fields)
			if (field.kind != DFR_FIELD_PROBETEXT && !head(field.column))
				return false;
	if (!head(text_sizes_) || !head(bytes_sizes_))
		return false;
	for (Piece* piece : {&controls_, &tables_, &texts_, &bytes_}) {
		piece->at = next;
		if (piece->size > frames_.size())
			return false;
		next += piece->size;
	}
	return next == frames_.size() && !in.left();
}

std::optional<std::vector<uint64_t>> ChunkColumns::values(const IntegerColumn& column) {
	const std::byte* from = frames_.bytes(column.offset, column.bytes());
	std::vector<uint64_t> result(column.count);
	if (!from || !decode_integers(column, from, result.data()))
		return std::nullopt;
	return result;
}

std::optional<std::vector<uint64_t>> ChunkColumns::integers(const FieldColumn& field) {
	return values(field.column);
}

std::optional<std::span<const std::byte>> ChunkColumns::piece(const Piece& piece) {
	const std::byte* from = frames_.bytes(piece.at, piece.size);
	if (!from)
		return std::nullopt;
	return std::span(from, piece.size);
}

std::optional<ByteStrings> ChunkColumns::strings(const IntegerColumn& sizes, const Piece& where) {
	const auto lengths = values(sizes);
	auto bytes = piece(where);
	if (!lengths || !bytes)
		return std::nullopt;
	ByteStrings result;
	result.reserve(lengths->size());
	for (const uint64_t length : *lengths) {
		if (length > bytes->size())
			return std::nullopt;
		result.push_back(bytes->first(length));
		bytes = bytes->subspan(length);
	}
	return result;
}

std::optional<ByteStrings> ChunkColumns::texts() {
	return strings(text_sizes_, texts_);
}

std::optional<ByteStrings> ChunkColumns::bytes() {
	return strings(bytes_sizes_, bytes_);
}

std::optional<std::vector<Task>> ChunkColumns::tasks() {
	std::optional<std::vector<uint64_t>> members[kTaskMembers];
	for (size_t i = 0; i < kTaskMembers; i++)
		if (!(members[i] = values(tasks_[i])))
			return std::nullopt;
	std::vector<Task> result(tasks_[0].count);
	for (size_t row = 0; row < result.size(); row++)
		result[row] = {.task = static_cast<uint32_t>((*members[0])[row]),
		               .pid = static_cast<uint32_t>((*members[1])[row]),
		               .tid = static_cast<uint32_t>((*members[2])[row]),
		               .nspid = static_cast<uint32_t>((*members[3])[row]),
		               .cgroup = (*members[4])[row],
		               .execname = static_cast<uint32_t>((*members[5])[row])};
	return result;
}

// Not the integers of the fields: only where the records stand.
std::optional<RecordPlaces> ChunkColumns::records() {
	const auto items = values(items_), order = values(order_), times = values(times_),
	           contexts = values(contexts_);
	auto payloads = piece(controls_);
	if (!items || !order || !times || !contexts || !payloads)
		return std::nullopt;
	RecordPlaces result;
	result.records.reserve(order->size());
	RecordPlace here;
	here.time = start_time();
	uint64_t group_time = 0, place = 0;
	size_t next_time = 0, next_context = 0;
	uint32_t block = 0;
	for (const uint64_t count : *items) {
		here.task = kNoTask;
		BlockWalk walk(headers_[block]);
		if (count > order->size() - place)
			return std::nullopt;
		for (const uint64_t end = place + count; place < end; place++) {
			if ((*order)[place] >= symbols_.size())
				return std::nullopt;
			const OrderSymbol& symbol = symbols_[(*order)[place]];
			if (!symbol.same && next_time == times->size())
				return std::nullopt;
			const uint64_t delta = symbol.same ? 0 : (*times)[next_time++];
			here.time += delta;
			if (!symbol.control || symbol.id != kGroupEnd)
				walk.head(symbol, delta);
			if (!symbol.control) {
				here.epid = symbol.id & 0x3fffffff; // a directory cannot have so many
				here.level = symbol.level & 3;
				result.records.push_back(here);
				walk.record(here.time);
				continue;
			}
			walk.control(symbol.id);
			if (symbol.id == DFR_CONTROL_CONTEXT) {
				if (next_context == contexts->size() ||
				    (*contexts)[next_context] >= tasks_[0].count)
					return std::nullopt;
				here.task = static_cast<uint32_t>((*contexts)[next_context++]);
				continue;
			}
			const size_t size = control_bytes(symbol.id);
			if (size > payloads->size())
				return std::nullopt;
			result.controls.push_back({.record = result.records.size(),
			                           .time = here.time,
			                           .kind = symbol.id,
			                           .block = block,
			                           .payload = payloads->first(size)});
			payloads = payloads->subspan(size);
			if (symbol.id == DFR_CONTROL_GROUP) {
				here.task = kNoTask;
				group_time = here.time;
			} else if (symbol.id == kGroupEnd) {
				here.task = kNoTask;
				here.time = group_time;
			}
		}
		result.decoded_alike = result.decoded_alike && walk.alike();
		block++;
	}
	return result;
}

} // namespace dfr::trace
