// SPDX-License-Identifier: GPL-2.0
//
// From records to a block (formats/abi/block.h).
#include "formats/trace/remake.h"

#include <algorithm>

#include "formats/error.h"
#include "formats/trace/bytes.h"
#include "formats/trace/columns_layout.h"

namespace dfr::trace {
namespace {

// The bytes of one block, as they grow.
class BlockMaker {
public:
	BlockMaker(const dfr_block& like, uint32_t size) : head_(like), walk_(sized(head_, size)) {
		bytes_.resize(head_.hdr_size);
	}
	bool fits() const { return bytes_.size() <= head_.size; }
	void lost(const Losses::Loss& loss, uint64_t time);
	void record(const Record& record, const RemadeRecord& remade);
	Block done(bool complete);

private:
	static const dfr_block& sized(dfr_block& head, uint32_t size) {
		head.size = size;
		head.hdr_size = DFR_BLOCK_HDR_SIZE(size);
		return head;
	}
	uint32_t here() const { return static_cast<uint32_t>(bytes_.size()); }
	template <typename T> void put(T value) {
		const auto bytes = std::as_bytes(std::span(&value, 1));
		bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
	}
	void put(std::span<const std::byte> bytes) {
		bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
	}
	void put_head(uint32_t id, uint8_t level, uint64_t time);
	void put_integer(const dfr_field& field, uint64_t value, size_t code_at, unsigned shift);
	void put_field(const dfr_field& field, const Value& value);
	void group(const Record& record);
	void leave_group();
	void context(const Context& context, uint8_t level, uint64_t time);
	void notes(const Record& record, std::span<const Value> fields);

	dfr_block head_;
	RestartWalk walk_;
	std::vector<std::byte> bytes_;
	Context context_;
	uint64_t time_ = 0, group_time_ = 0, first_ = UINT64_MAX, last_ = 0;
	uint32_t speculation_ = 0;
	uint64_t commit_time_ = 0;
	size_t group_at_ = 0; // where the group's size stands; 0: not in a group
	bool long_head_ = true;
};

void BlockMaker::put_head(uint32_t id, uint8_t level, uint64_t time) {
	walk_.at(here());
	const bool is_short =
	    !long_head_ && id <= DFR_REC_ID_SHORT_MAX && time >= time_ && time - time_ <= DFR_REC_DELTA_MAX;
	if (is_short) {
		put<uint32_t>(DFR_REC_HEAD(id, level, static_cast<uint32_t>(time - time_)));
	} else {
		put<uint32_t>(DFR_REC_HEAD(DFR_REC_ID_LONG, level, 0));
		put<uint32_t>(id);
		put<uint64_t>(time);
	}
	long_head_ = false;
	walk_.time = time_ = time;
	first_ = std::min(first_, time);
	last_ = std::max(last_, time);
}

void BlockMaker::lost(const Losses::Loss& loss, uint64_t time) {
	put_head(0, 0, time);
	put<uint8_t>(DFR_CONTROL_LOSS);
	put<uint8_t>(static_cast<uint8_t>(loss.cause));
	put<uint32_t>(loss.probe);
	put<uint64_t>(loss.count);
	put<uint64_t>(loss.from);
	put<uint64_t>(loss.to);
}

void BlockMaker::leave_group() {
	if (!group_at_)
		return;
	store<uint32_t>(bytes_.data() + group_at_, static_cast<uint32_t>(bytes_.size() - group_at_ - 12));
	group_at_ = 0;
	walk_.time = time_ = group_time_;
	walk_.context = 0;
	walk_.held = false;
	context_ = {};
	long_head_ = true;
}

// Enters and leaves the groups of committed speculations as the records do.
void BlockMaker::group(const Record& record) {
	if (record.speculation == speculation_ && record.commit_time == commit_time_)
		return;
	leave_group();
	speculation_ = record.speculation;
	commit_time_ = record.commit_time;
	if (!speculation_)
		return;
	put_head(0, 0, commit_time_);
	put<uint8_t>(DFR_CONTROL_GROUP);
	put<uint32_t>(speculation_);
	group_at_ = bytes_.size();
	put<uint32_t>(0);
	put<uint64_t>(commit_time_);
	group_time_ = time_;
	walk_.context = 0;
	walk_.held = true;
	context_ = {};
	long_head_ = true;
}

void BlockMaker::context(const Context& context, uint8_t level, uint64_t time) {
	if (context == context_)
		return;
	const uint32_t start = here();
	put_head(0, level, time);
	put<uint8_t>(DFR_CONTROL_CONTEXT);
	const size_t codes_at = bytes_.size();
	put<uint16_t>(0);
	unsigned integer = 0;
	for (const uint64_t word : {uint64_t{context.task}, uint64_t{context.pid}, uint64_t{context.tid},
	                            uint64_t{context.nspid}, context.cgroup}) {
		put_integer({.kind = DFR_FIELD_INT, .flags = 0, .size = 8, .action = 0, .argument = 0}, word,
		            codes_at + integer / 4, integer % 4 * 2);
		integer++;
	}
	put(std::as_bytes(std::span(context.execname)));
	put<uint8_t>(0);
	walk_.context = start;
	context_ = context;
}

void BlockMaker::notes(const Record& record, std::span<const Value> fields) {
	for (size_t i = 0; i < fields.size() && i < 256; i++) {
		if (!fields[i].fault)
			continue;
		put_head(0, record.level, record.time);
		put<uint8_t>(DFR_CONTROL_NOTE);
		put<uint8_t>(static_cast<uint8_t>(i));
		put<uint8_t>(fields[i].fault);
		put<uint64_t>(fields[i].fault_value);
		walk_.held = true;
	}
}

void BlockMaker::record(const Record& record, const RemadeRecord& remade) {
	group(record);
	context(remade.context, record.level, record.time);
	notes(record, remade.fields);
	put_head(remade.epid, record.level, record.time);
	walk_.held = group_at_ != 0;
	walk_.records++;
	const auto integers = std::count_if(remade.layout.begin(), remade.layout.end(),
	                                    [](const dfr_field& one) { return one.kind == DFR_FIELD_INT; });
	const size_t codes_at = bytes_.size();
	bytes_.resize(codes_at + (static_cast<size_t>(integers) + 3) / 4);
	unsigned integer = 0;
	for (size_t i = 0; i < remade.layout.size(); i++) {
		const dfr_field& field = remade.layout[i];
		if (field.kind == DFR_FIELD_INT) {
			put_integer(field, remade.fields[i].number, codes_at + integer / 4, integer % 4 * 2);
			integer++;
		} else {
			put_field(field, remade.fields[i]);
		}
	}
}

// In as few bytes as hold it; how many goes into the code byte.
void BlockMaker::put_integer(const dfr_field& field, uint64_t value, size_t code_at, unsigned shift) {
	unsigned code = 0;
	for (; code < 3; code++) {
		const unsigned unused = 64 - (8u << code);
		const uint64_t back =
		    field.flags & DFR_FIELD_SIGNED
		        ? static_cast<uint64_t>(static_cast<int64_t>(value << unused) >> unused)
		        : value << unused >> unused;
		if (back == value)
			break;
	}
	bytes_[code_at] |= std::byte(code << shift);
	put(std::as_bytes(std::span(&value, 1)).first(size_t{1} << code));
}

void BlockMaker::put_field(const dfr_field& field, const Value& value) {
	switch (field.kind) {
	case DFR_FIELD_STRING: put(value.bytes); return put<uint8_t>(0);
	case DFR_FIELD_VARBYTES: put<uint16_t>(static_cast<uint16_t>(value.bytes.size())); break;
	case DFR_FIELD_USTACK: put<uint32_t>(static_cast<uint32_t>(value.number)); [[fallthrough]];
	case DFR_FIELD_STACK: put<uint8_t>(static_cast<uint8_t>(value.bytes.size() / 8)); break;
	case DFR_FIELD_PROBETEXT: return;
	default: break; // bytes, and the address of a symbol
	}
	put(value.bytes);
}

Block BlockMaker::done(bool complete) {
	leave_group();
	if (first_ == UINT64_MAX) // nothing is left: the time at which the old block began
		first_ = last_ = head_.first_time;
	if (!complete || !head_.last_time) { // else the block beside it knows these times
		head_.first_time = first_;
		head_.last_time = last_;
	}
	head_.records = walk_.records;
	head_.committed = here() - head_.hdr_size;
	head_.flags = DFR_BLOCK_CLOSED | (complete ? head_.flags & DFR_BLOCK_CUT : DFR_BLOCK_CUT);
	head_.checksum = 0;
	store(bytes_.data(), head_);
	std::copy_n(std::as_bytes(std::span(walk_.table)).begin(), walk_.table.size() * sizeof(dfr_restart),
	            bytes_.begin() + sizeof(dfr_block));
	Block block{.bytes = std::move(bytes_)};
	seal_block(block);
	return block;
}

std::optional<Remade> remake(const Block& block, RecordShapes& shapes, const Remake& wanted, uint32_t size) {
	Remade result;
	const dfr_block& head = block.header();
	BlockMaker maker(head, size);
	RecordCursor cursor(shapes);
	Losses losses;
	if (cursor.open(block, result.damage, &losses)) {
		while (maker.fits() && cursor.next()) {
			const Record& record = cursor.current();
			if (const auto remade = wanted(record)) {
				maker.record(record, *remade);
				result.kept++;
			} else {
				result.left_out++;
				result.out_in_front += result.kept == 0;
			}
		}
	}
	for (const Losses::Loss& loss : losses.entries)
		maker.lost(loss, std::max(head.first_time, head.last_time));
	for (const Losses::Stretch& stretch : losses.stretches)
		maker.lost(loss_of(stretch), std::max(head.first_time, head.last_time));
	if (!maker.fits())
		return std::nullopt;
	result.block = maker.done(result.left_out == 0 && !result.damage.records);
	return result;
}

} // namespace

void change_head(Block& block, dfr_block head) {
	head.flags &= ~static_cast<uint32_t>(DFR_BLOCK_SEALED);
	store(block.bytes.data(), head);
	seal_block(block);
}

Remade remake_block(const Block& block, RecordShapes& shapes, const Remake& wanted) {
	const dfr_block& head = block.header();
	// Where records were taken out, the next one may need a longer head.
	for (uint32_t size = std::max<uint32_t>(head.size, DFR_BLOCK_MIN); size <= DFR_BLOCK_MAX; size *= 2)
		if (auto result = remake(block, shapes, wanted, size))
			return std::move(*result);
	throw Error("what remains of block " + std::to_string(head.seq) + " of CPU " +
	            std::to_string(head.cpu) + " does not fit into a block");
}

} // namespace dfr::trace
