// SPDX-License-Identifier: GPL-2.0
//
// From records to a block (formats/abi/block.h).
#include "formats/trace/remake.h"

#include <algorithm>
#include <map>
#include <string>

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
	void lost(const Losses& losses, uint64_t time);
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
	void lost(const Losses::Loss& loss, uint64_t time);
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

void BlockMaker::lost(const Losses& losses, uint64_t time) {
	for (const Losses::Loss& loss : losses.entries)
		lost(loss, time);
	for (const Losses::Stretch& stretch : losses.stretches)
		lost(loss_of(stretch), time);
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
	maker.lost(losses, std::max(head.first_time, head.last_time));
	if (!maker.fits())
		return std::nullopt;
	result.block = maker.done(result.left_out == 0 && !result.damage.records);
	return result;
}

// All that a record says.
std::string text_of(const Record& record) {
	std::string text;
	const auto add = [&text](auto value) {
		text.append(reinterpret_cast<const char*>(&value), sizeof value);
	};
	const auto add_bytes = [&](auto bytes) {
		add(bytes.size());
		text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
	};
	const Context& context = record.context;
	for (const uint64_t word : {record.time, record.commit_time, context.cgroup})
		add(word);
	for (const uint32_t word : {record.epid, uint32_t{record.level}, record.speculation, context.task,
	                            context.pid, context.tid, context.nspid})
		add(word);
	add_bytes(context.execname);
	for (const Value& value : record.fields) {
		add(value.number);
		add(value.fault);
		add(value.fault_value);
		add_bytes(value.bytes);
	}
	return text;
}

// Of a block that is joined: where it is read.
struct CutReader {
	CutReader(const Block& block, RecordShapes& shapes) : cursor(shapes) {
		more = cursor.open(block, damage, &losses) && cursor.next();
	}
	const Record& record() const { return cursor.current(); }
	uint64_t place() const { return record().commit_time ? record().commit_time : record().time; }
	RecordCursor cursor;
	DecodeDamage damage;
	Losses losses;
	bool more = false;
};

// nullopt: it does not fit.
std::optional<Block> join(const Block& one, const Block& other, RecordShapes& shapes, uint32_t size,
                          DecodeDamage& damage) {
	std::map<std::string, unsigned> known; // of the first
	for (CutReader first(one, shapes); first.more; first.more = first.cursor.next())
		known[text_of(first.record())]++;
	const dfr_block head = joined_head(one.header(), other.header());
	BlockMaker maker(head, size);
	CutReader first(one, shapes), second(other, shapes);
	while (maker.fits() && (first.more || second.more)) {
		CutReader& next =
		    !second.more || (first.more && first.place() <= second.place()) ? first : second;
		const Record& record = next.record();
		const auto both = &next == &second ? known.find(text_of(record)) : known.end();
		if (both != known.end() && both->second) {
			both->second--;
		} else {
			const RecordShape* const shape = shapes.find(record.epid);
			maker.record(record, {.epid = record.epid,
			                      .context = record.context,
			                      .layout = {shape->fields, shape->count},
			                      .fields = record.fields});
		}
		next.more = next.cursor.next();
	}
	maker.lost(first.losses, std::max(head.first_time, head.last_time)); // each cut has all
	if (!maker.fits())
		return std::nullopt;
	damage.add(first.damage);
	damage.add(second.damage);
	return maker.done(false);
}

} // namespace

void change_head(Block& block, dfr_block head) {
	head.flags &= ~static_cast<uint32_t>(DFR_BLOCK_SEALED);
	store(block.bytes.data(), head);
	seal_block(block);
}

dfr_block joined_head(const dfr_block& one, const dfr_block& other) {
	dfr_block head = one;
	head.size = std::max<uint32_t>({one.size, other.size, DFR_BLOCK_MIN});
	head.flags = DFR_BLOCK_CLOSED | DFR_BLOCK_CUT;
	head.checksum = 0;
	head.before = std::min(one.before, other.before);
	head.record_base = std::min(one.record_base, other.record_base);
	head.first_time = std::min(one.first_time, other.first_time);
	head.last_time = std::max(one.last_time, other.last_time);
	head.records += other.records;
	return head;
}

std::optional<Block> join_cuts(const Block& one, const Block& other, RecordShapes& shapes) {
	if (!block_is_sane(one.bytes) || !block_is_sane(other.bytes))
		return std::nullopt;
	for (uint32_t size = joined_head(one.header(), other.header()).size; size <= DFR_BLOCK_MAX;
	     size *= 2) {
		DecodeDamage damage;
		if (auto block = join(one, other, shapes, size, damage))
			return damage.blocks || damage.regions ? std::nullopt : std::move(block);
	}
	return std::nullopt;
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
