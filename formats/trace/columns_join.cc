// SPDX-License-Identifier: GPL-2.0
//
// From columns to the bytes of the blocks: heads, sizes of integers and restart
// tables are made as the engine makes them (kmod/engine/recording/encode.h).
#include <algorithm>
#include <bit>

#include "formats/trace/columns_layout.h"

namespace dfr::trace {
namespace {

// A head and a record's integers are written before it is known whether they fit into their block: so much
// room is behind it. Longer ones are not stored as columns.
constexpr size_t kRoom = 2048;

struct FieldCursor {
	const uint64_t* next = nullptr;
	uint8_t kind = 0;
	bool is_signed = false;
	uint32_t size = 0;
};

struct EpidCursor {
	uint32_t epid = 0;
	uint64_t records = 0; // that have not been written yet
	unsigned code_bytes = 0;
	std::vector<FieldCursor> fields;
};

} // namespace

class ColumnJoiner {
public:
	explicit ColumnJoiner(ChunkColumns& from) : from_(from) {}
	bool open();
	bool join(std::vector<Block>& blocks);
	// Whether it is what join() would give, byte for byte.
	bool gives(std::span<const Block> blocks);

private:
	bool block(size_t number, Block& result);
	bool item(const OrderSymbol& symbol);
	bool head(const OrderSymbol& symbol, uint32_t id);
	bool record(EpidCursor& epid);
	bool field(FieldCursor& cursor);
	bool control(const OrderSymbol& symbol, uint32_t start);
	bool context();
	void leave_group();
	uint32_t offset() const { return static_cast<uint32_t>(at_ - block_); }
	bool write(const void* bytes, size_t size) {
		if (static_cast<size_t>(end_ - at_) < size)
			return false;
		std::memcpy(at_, bytes, size);
		at_ += size;
		return true;
	}

	ChunkColumns& from_;
	std::vector<std::vector<uint64_t>> owned_; // the values that the cursors point to
	std::vector<uint64_t> items_, listed_, order_, times_, contexts_;
	std::vector<Task> tasks_;
	ByteStrings texts_, bytes_;
	std::span<const std::byte> controls_, tables_;
	std::vector<EpidCursor> epids_;
	const uint64_t *next_ = nullptr, *next_time_ = nullptr, *next_context_ = nullptr;
	uint64_t time_ = 0, group_time_ = 0;
	bool in_group_ = false;

	// The block that is being made; `end_` is behind its last byte, and kRoom follows.
	std::byte *block_ = nullptr, *at_ = nullptr, *end_ = nullptr;
	RestartWalk* restarts_ = nullptr;
};

namespace {

template <typename T> bool take(std::optional<T>&& value, T& to) {
	if (!value)
		return false;
	to = std::move(*value);
	return true;
}

} // namespace

bool ColumnJoiner::open() {
	if (!take(from_.values(from_.items_), items_) || !take(from_.values(from_.listed_), listed_) ||
	    !take(from_.values(from_.order_), order_) || !take(from_.values(from_.times_), times_) ||
	    !take(from_.values(from_.contexts_), contexts_) || !take(from_.tasks(), tasks_) ||
	    !take(from_.texts(), texts_) || !take(from_.bytes(), bytes_) ||
	    !take(from_.piece(from_.controls_), controls_) || !take(from_.piece(from_.tables_), tables_))
		return false;
	for (const EpidColumns& columns : from_.epids_) {
		EpidCursor& epid = epids_.emplace_back();
		epid.epid = columns.epid;
		epid.records = columns.records;
		unsigned integers = 0;
		for (const FieldColumn& field : columns.fields) {
			if (field.kind == DFR_FIELD_PROBETEXT)
				continue; // nothing in a record, which is not to walk very many of them
			FieldCursor cursor{
			    .kind = field.kind, .is_signed = field.is_signed, .size = field.size};
			if (!take(from_.integers(field), owned_.emplace_back()))
				return false;
			cursor.next = owned_.back().data();
			epid.fields.push_back(cursor);
			integers += field.kind == DFR_FIELD_INT;
		}
		epid.code_bytes = (integers + 3) / 4;
		if (16 + epid.code_bytes + 8ull * integers > kRoom)
			return false;
	}
	next_ = order_.data();
	next_time_ = times_.data();
	next_context_ = contexts_.data();
	time_ = from_.start_time();
	return true;
}

bool ColumnJoiner::join(std::vector<Block>& blocks) {
	for (size_t i = 0; i < from_.headers_.size(); i++)
		if (!block(i, blocks.emplace_back()))
			return false;
	return true;
}

bool ColumnJoiner::gives(std::span<const Block> blocks) {
	Block made;
	for (size_t i = 0; i < from_.headers_.size(); i++)
		if (!block(i, made) || made.bytes.size() > blocks[i].bytes.size() ||
		    std::memcmp(made.bytes.data(), blocks[i].bytes.data(), made.bytes.size()) != 0)
			return false;
	return true;
}

bool ColumnJoiner::block(size_t number, Block& result) {
	const dfr_block& head = from_.headers_[number];
	const uint64_t items = items_[number];
	const bool table_kept = listed_[number];
	if (items > static_cast<uint64_t>(order_.data() + order_.size() - next_))
		return false;
	std::vector<std::byte>& to = result.bytes;
	to.resize(head.hdr_size + head.committed + kRoom);
	block_ = to.data();
	at_ = block_ + head.hdr_size;
	end_ = at_ + head.committed;
	RestartWalk restarts(head);
	restarts_ = &restarts;
	in_group_ = false;
	for (const uint64_t* const last = next_ + items; next_ < last; next_++)
		if (*next_ >= from_.symbols_.size() || !item(from_.symbols_[*next_]))
			return false;
	if (at_ != end_ || in_group_)
		return false;
	to.resize(head.hdr_size + head.committed);
	store(block_, head);
	const bool right = set_checksums(head, std::span(to).subspan(sizeof(dfr_block)), restarts.table);
	const size_t size = head.hdr_size - sizeof(dfr_block);
	std::span<const std::byte> made = std::as_bytes(std::span(restarts.table));
	std::span<const std::byte>& table = table_kept ? tables_ : made;
	if (table.size() < size)
		return false;
	std::copy_n(table.begin(), size, block_ + sizeof(dfr_block));
	table = table.subspan(size);
	result.verified = table_kept ? block_is_verified(to) : right && block_is_sane(to);
	return true;
}

void ColumnJoiner::leave_group() {
	in_group_ = false;
	restarts_->time = time_ = group_time_;
	restarts_->context = 0;
	restarts_->held = false;
}

bool ColumnJoiner::item(const OrderSymbol& symbol) {
	if (symbol.control && symbol.id == kGroupEnd) {
		leave_group();
		return true;
	}
	const uint32_t start = offset();
	restarts_->at(start);
	if (symbol.control)
		return head(symbol, 0) && control(symbol, start);
	EpidCursor& epid = epids_[symbol.id];
	restarts_->held = in_group_;
	restarts_->records++;
	return epid.records && epid.records-- && head(symbol, epid.epid) && record(epid);
}

bool ColumnJoiner::head(const OrderSymbol& symbol, uint32_t id) {
	uint64_t delta = 0;
	if (!symbol.same) {
		if (next_time_ == times_.data() + times_.size())
			return false;
		delta = *next_time_++;
	}
	time_ += delta;
	restarts_->time = time_;
	if (at_ > end_) // then the head would perhaps not be in the room behind the block
		return false;
	if (symbol.is_long) {
		store<uint32_t>(at_, DFR_REC_HEAD(DFR_REC_ID_LONG, symbol.level, 0));
		store<uint32_t>(at_ + 4, id);
		store<uint64_t>(at_ + 8, time_);
		at_ += 16;
		return true;
	}
	store<uint32_t>(at_, DFR_REC_HEAD(id, symbol.level, delta));
	at_ += 4;
	return id <= DFR_REC_ID_SHORT_MAX && delta <= DFR_REC_DELTA_MAX;
}

bool ColumnJoiner::record(EpidCursor& epid) {
	if (at_ > end_)
		return false;
	std::byte* codes = at_;
	std::byte* at = at_ + epid.code_bytes; // not at_, which each store would read and write again
	unsigned bits = 0, integers = 0;
	for (FieldCursor& cursor : epid.fields) {
		if (cursor.kind != DFR_FIELD_INT) [[unlikely]] {
			at_ = at;
			if (!field(cursor))
				return false;
			at = at_;
			continue;
		}
		const uint64_t value = *cursor.next++;
		const uint64_t sign = cursor.is_signed ? value ^ (0 - (value >> 63)) : value >> 1;
		// The number of the highest bit that must be stored; a signed integer needs one for its sign.
		const int top = 63 - std::countl_zero(2 * sign + 1);
		const unsigned code = (top >= 8) + (top >= 16) + (top >= 32);
		store(at, value);
		at += size_t{1} << code;
		bits |= code << integers % 4 * 2;
		if (++integers % 4 == 0) {
			*codes++ = std::byte(bits);
			bits = 0;
		}
	}
	if (integers % 4)
		*codes = std::byte(bits);
	at_ = at;
	return at <= end_;
}

bool ColumnJoiner::field(FieldCursor& cursor) {
	const ByteStrings& table = cursor.kind == DFR_FIELD_STRING ? texts_ : bytes_;
	const uint64_t number = *cursor.next++;
	if (at_ > end_ || number >= table.size())
		return false;
	const std::span<const std::byte> value = table[number];
	const size_t size = value.size();
	const auto length = static_cast<uint16_t>(size);
	const auto frames = static_cast<uint8_t>(size / 8);
	switch (cursor.kind) {
	case DFR_FIELD_STRING: return write(value.data(), size) && write("", 1);
	case DFR_FIELD_BYTES: return size == cursor.size && write(value.data(), size);
	case DFR_FIELD_VARBYTES: return size == length && write(&length, 2) && write(value.data(), size);
	case DFR_FIELD_STACK: return size == 8u * frames && write(&frames, 1) && write(value.data(), size);
	case DFR_FIELD_USTACK: // its number of frames is in the value, behind the pid
		return size >= 5 && size == 5 + 8 * std::to_integer<size_t>(value[4]) &&
		       write(value.data(), size);
	default: return size == 16 && write(value.data(), size);
	}
}

bool ColumnJoiner::control(const OrderSymbol& symbol, uint32_t start) {
	const auto kind = static_cast<uint8_t>(symbol.id);
	if (at_ > end_ || !write(&kind, 1))
		return false;
	restarts_->held = in_group_ || kind == DFR_CONTROL_NOTE;
	if (kind == DFR_CONTROL_CONTEXT) {
		restarts_->context = start;
		return context();
	}
	const size_t size = control_bytes(kind);
	if (controls_.size() < size || !write(controls_.data(), size))
		return false;
	if (kind == DFR_CONTROL_GROUP) {
		restarts_->context = 0;
		if (load<uint32_t>(controls_.data() + 4)) {
			in_group_ = restarts_->held = true;
			group_time_ = time_;
		}
	}
	controls_ = controls_.subspan(size);
	return true;
}

bool ColumnJoiner::context() {
	if (next_context_ == contexts_.data() + contexts_.size() || *next_context_ >= tasks_.size())
		return false;
	const Task& task = tasks_[*next_context_++];
	if (task.execname >= texts_.size())
		return false;
	uint16_t codes = 0;
	std::byte* const at = at_;
	if (!write(&codes, sizeof codes))
		return false;
	unsigned i = 0;
	for (const uint64_t word : {uint64_t{task.task}, uint64_t{task.pid}, uint64_t{task.tid},
	                            uint64_t{task.nspid}, task.cgroup}) {
		const unsigned code = (word >= 1u << 8) + (word >= 1u << 16) + (word >= 1ull << 32);
		codes |= code << 2 * i++;
		if (!write(&word, size_t{1} << code))
			return false;
	}
	std::memcpy(at, &codes, sizeof codes);
	return write(texts_[task.execname].data(), texts_[task.execname].size()) && write("", 1);
}

bool ChunkColumns::gives(std::span<const Block> blocks) {
	ColumnJoiner joiner(*this);
	return joiner.open() && joiner.gives(blocks);
}

std::optional<std::vector<Block>> ChunkColumns::blocks() {
	ColumnJoiner joiner(*this);
	std::vector<Block> result;
	result.reserve(headers_.size());
	if (!joiner.open() || !joiner.join(result))
		return std::nullopt;
	return result;
}

} // namespace dfr::trace
