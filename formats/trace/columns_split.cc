// SPDX-License-Identifier: GPL-2.0
//
// From blocks to columns. Sizes of integers, heads and restart tables are not
// stored but made again, as the engine makes them; encode_chunk() decodes what was
// encoded, so a block of another writer is found there, and kept as it is.
#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "formats/trace/columns_layout.h"
#include "formats/trace/container.h"
#include "formats/trace/interned.h"

namespace dfr::trace {
namespace {

// An EPID with the values of its fields so far.
struct Shape {
	uint32_t epid = 0;
	uint32_t number = 0; // in the order in which they were met
	const std::vector<dfr_field>* fields = nullptr;
	unsigned code_bytes = 0;
	uint64_t records = 0;
	std::vector<std::vector<uint64_t>> columns;
	std::array<uint32_t, 16> symbols{}; // by level, is_long and same: 1 + the number; 0: none yet
};

class Splitter {
public:
	explicit Splitter(const Catalog& catalog) : catalog_(catalog) {}
	bool split(const Block& block);
	std::vector<std::byte> assemble() const;
	void start(uint64_t time) { time_ = time; }

private:
	bool item();
	bool record(uint32_t epid, OrderSymbol symbol);
	bool control(uint32_t at, OrderSymbol symbol);
	bool context();
	bool field(const dfr_field& spec, std::vector<uint64_t>& column);
	void leave_group();
	void add_control(const OrderSymbol& symbol);
	Shape* shape_of(uint32_t epid);
	uint32_t new_symbol(const OrderSymbol& symbol) {
		symbols_.push_back(symbol);
		return static_cast<uint32_t>(symbols_.size());
	}
	size_t left() const { return end_ - at_; }
	const std::byte* take(size_t size) {
		if (left() < size)
			return nullptr;
		return base_ + std::exchange(at_, at_ + size);
	}
	// Up to a NUL, which is taken, too.
	std::optional<std::string_view> take_text() {
		const void* nul = std::memchr(base_ + at_, 0, left());
		if (!nul)
			return std::nullopt;
		const size_t size = static_cast<const std::byte*>(nul) - (base_ + at_);
		return view(take(size + 1), size);
	}

	const Catalog& catalog_;
	std::vector<std::unique_ptr<Shape>> shapes_;
	std::vector<Shape*> by_epid_;
	std::vector<OrderSymbol> symbols_;
	std::unordered_map<uint64_t, uint32_t> control_symbols_;
	std::vector<uint64_t> items_, listed_, order_, times_, contexts_;
	std::vector<uint64_t> tasks_[ChunkColumns::kTaskMembers];
	std::unordered_map<std::string_view, uint64_t> task_numbers_; // by the payload of the context record
	Interned texts_, bytes_;
	std::vector<std::byte> controls_, tables_;
	uint64_t time_ = 0, group_time_ = 0;

	// The block that is being split.
	const std::byte* base_ = nullptr;
	size_t at_ = 0, end_ = 0, group_end_ = 0;
	RestartWalk* restarts_ = nullptr;
};

Shape* Splitter::shape_of(uint32_t epid) {
	if (epid < by_epid_.size() && by_epid_[epid]) [[likely]]
		return by_epid_[epid];
	const Layout* layout = catalog_.layout_of(epid);
	if (!layout)
		return nullptr;
	by_epid_.resize(std::max<size_t>(by_epid_.size(), epid + 1));
	auto shape = std::make_unique<Shape>();
	shape->epid = epid;
	shape->number = static_cast<uint32_t>(shapes_.size());
	shape->fields = &layout->fields;
	shape->code_bytes = (count_integers(layout->fields) + 3) / 4;
	shape->columns.resize(layout->fields.size());
	by_epid_[epid] = shape.get();
	shapes_.push_back(std::move(shape));
	return by_epid_[epid];
}

bool Splitter::split(const Block& block) {
	const dfr_block& head = block.header();
	if ((head.hdr_size - sizeof(dfr_block)) % sizeof(dfr_restart))
		return false;
	RestartWalk restarts(head);
	const size_t before = order_.size();
	restarts_ = &restarts;
	base_ = block.bytes.data();
	at_ = head.hdr_size;
	end_ = head.hdr_size + head.committed;
	while (left())
		if (!item())
			return false;
	if (group_end_)
		leave_group();
	items_.push_back(order_.size() - before);
	const auto table =
	    std::span(block.bytes).subspan(sizeof(dfr_block), head.hdr_size - sizeof(dfr_block));
	set_checksums(head, std::span(block.bytes).subspan(sizeof(dfr_block)), restarts.table);
	const bool made = table.empty() || !std::memcmp(table.data(), restarts.table.data(), table.size());
	listed_.push_back(!made);
	if (!made)
		tables_.insert(tables_.end(), table.begin(), table.end());
	return true;
}

void Splitter::leave_group() {
	group_end_ = 0;
	restarts_->time = time_ = group_time_;
	restarts_->context = 0;
	restarts_->held = false;
	add_control({.id = kGroupEnd, .control = true, .same = true});
}

bool Splitter::item() {
	if (group_end_ && at_ >= group_end_)
		leave_group();
	const auto start = static_cast<uint32_t>(at_);
	restarts_->at(start);
	const std::byte* head = take(4);
	if (!head)
		return false;
	const auto word = load<uint32_t>(head);
	OrderSymbol symbol{.level = static_cast<uint8_t>(DFR_REC_LEVEL(word))};
	uint32_t id = DFR_REC_ID(word);
	uint64_t delta = DFR_REC_DELTA(word);
	if (id == DFR_REC_ID_LONG) {
		const std::byte* rest = take(12);
		if (!rest)
			return false;
		symbol.is_long = true;
		id = load<uint32_t>(rest);
		delta = load<uint64_t>(rest + 4) - time_;
	}
	symbol.same = delta == 0;
	if (delta) {
		times_.push_back(delta);
		time_ += delta;
	}
	restarts_->time = time_;
	return id ? record(id, symbol) : control(start, symbol);
}

bool Splitter::record(uint32_t epid, OrderSymbol symbol) {
	Shape* shape = shape_of(epid);
	if (!shape)
		return false;
	restarts_->held = group_end_ != 0;
	restarts_->records++;
	uint32_t& number = shape->symbols[symbol.level << 2 | symbol.is_long << 1 | symbol.same];
	if (!number) [[unlikely]] {
		symbol.id = shape->number;
		number = new_symbol(symbol);
	}
	order_.push_back(number - 1);
	shape->records++;
	const std::byte* codes = take(shape->code_bytes);
	if (!codes)
		return false;
	unsigned integer = 0;
	size_t at = at_; // because each value that is kept could change at_, as far as the compiler knows
	const std::byte* const base = base_;
	const size_t end = end_;
	auto column = shape->columns.begin();
	for (const dfr_field& spec : *shape->fields) {
		if (spec.kind != DFR_FIELD_INT) [[unlikely]] {
			at_ = at;
			if (!field(spec, *column++))
				return false;
			at = at_;
			continue;
		}
		const unsigned code = std::to_integer<unsigned>(codes[integer / 4]) >> integer % 4 * 2 & 3;
		integer++;
		const size_t size = size_t{1} << code;
		uint64_t value = 0;
		if (end - at >= 8) [[likely]]
			value = load<uint64_t>(base + at);
		else if (end - at >= size)
			std::memcpy(&value, base + at, size);
		else
			return false;
		at += size;
		const unsigned shift = 64 - 8 * static_cast<unsigned>(size);
		value <<= shift;
		(column++)->push_back(spec.flags & DFR_FIELD_SIGNED
		                          ? static_cast<uint64_t>(static_cast<int64_t>(value) >> shift)
		                          : value >> shift);
	}
	at_ = at;
	return true;
}

bool Splitter::field(const dfr_field& spec, std::vector<uint64_t>& column) {
	size_t head = 0, size = 0; // bytes that are not kept in front of the field, and its own
	switch (spec.kind) {
	case DFR_FIELD_STRING:
		if (const auto text = take_text()) {
			column.push_back(texts_.number(*text));
			return true;
		}
		return false;
	case DFR_FIELD_BYTES: size = spec.size; break;
	case DFR_FIELD_VARBYTES:
		head = 2;
		if (left() >= head)
			size = load<uint16_t>(base_ + at_);
		break;
	case DFR_FIELD_STACK:
		head = 1;
		if (left() >= head)
			size = 8 * load<uint8_t>(base_ + at_);
		break;
	case DFR_FIELD_USTACK: // the pid, which comes before the number of frames, is kept
		if (left() >= 5)
			size = 5 + 8 * load<uint8_t>(base_ + at_ + 4);
		else
			return false;
		break;
	case DFR_FIELD_USYM: size = 16; break;
	case DFR_FIELD_PROBETEXT: return true;
	default: return false;
	}
	if (left() < head + size)
		return false;
	at_ += head;
	column.push_back(bytes_.number(view(take(size), size)));
	return true;
}

bool Splitter::control(uint32_t at, OrderSymbol symbol) {
	const std::byte* kind = take(1);
	if (!kind)
		return false;
	symbol.id = std::to_integer<uint32_t>(*kind);
	symbol.control = true;
	add_control(symbol);
	restarts_->held = group_end_ != 0;
	if (symbol.id == DFR_CONTROL_CONTEXT) {
		restarts_->context = at;
		return context();
	}
	const size_t size = control_bytes(symbol.id);
	const std::byte* payload = take(size);
	if (!size || !payload)
		return false;
	controls_.insert(controls_.end(), payload, payload + size);
	if (symbol.id == DFR_CONTROL_NOTE)
		restarts_->held = true;
	if (symbol.id != DFR_CONTROL_GROUP)
		return true;
	if (group_end_)
		return false;
	restarts_->context = 0;
	if (const auto bytes = load<uint32_t>(payload + 4)) {
		group_end_ = at_ + bytes;
		group_time_ = time_;
		restarts_->held = true;
	}
	return true;
}

void Splitter::add_control(const OrderSymbol& symbol) {
	uint32_t& number = control_symbols_[symbol_code(symbol)];
	if (!number)
		number = new_symbol(symbol);
	order_.push_back(number - 1);
}

bool Splitter::context() {
	const size_t start = at_;
	const std::byte* at = take(2);
	if (!at)
		return false;
	uint16_t codes;
	std::memcpy(&codes, at, sizeof codes);
	uint64_t words[5] = {};
	for (unsigned i = 0; i < 5; i++) {
		const size_t size = size_t{1} << (codes >> 2 * i & 3);
		const std::byte* from = take(size);
		if (!from || (size > 4 && i < 4))
			return false;
		std::memcpy(&words[i], from, size);
	}
	const auto name = take_text();
	if (!name)
		return false;
	const auto [row, added] =
	    task_numbers_.try_emplace(view(base_ + start, at_ - start), tasks_[0].size());
	contexts_.push_back(row->second);
	if (!added)
		return true;
	for (unsigned i = 0; i < 5; i++)
		tasks_[i].push_back(words[i]);
	tasks_[5].push_back(texts_.number(*name));
	return true;
}

std::vector<std::byte> Splitter::assemble() const {
	std::vector<std::byte> directory, heads, packed;
	FrameWriter frames;
	put_varint(directory, symbols_.size());
	for (const OrderSymbol& symbol : symbols_)
		put_varint(directory, symbol_code(symbol));
	for (const uint64_t count : {order_.size(), times_.size(), contexts_.size(), tasks_[0].size(),
	                             texts_.count(), bytes_.count(), controls_.size(), tables_.size()})
		put_varint(directory, count);
	put_varint(directory, texts_.bytes());
	put_varint(directory, bytes_.bytes());
	put_varint(directory, shapes_.size());
	encode_integers(items_, false, frames, heads);
	encode_integers(listed_, false, frames, heads);
	encode_integers(order_, false, frames, heads);
	encode_integers(times_, true, frames, heads);
	encode_integers(contexts_, false, frames, heads);
	for (const std::vector<uint64_t>& member : tasks_)
		encode_integers(member, false, frames, heads);
	for (const auto& shape : shapes_) {
		put_varint(directory, shape->epid);
		put_varint(directory, shape->records);
		put_varint(directory, shape->fields->size());
		for (size_t i = 0; i < shape->fields->size(); i++) {
			const dfr_field& field = (*shape->fields)[i];
			const bool is_signed = field.flags & DFR_FIELD_SIGNED;
			put_varint(directory, uint64_t{field.kind} << 1 | is_signed);
			put_varint(directory, field.size);
			if (field.kind != DFR_FIELD_PROBETEXT)
				encode_integers(shape->columns[i], field.kind == DFR_FIELD_INT && is_signed,
				                frames, heads);
		}
	}
	encode_integers(texts_.sizes(), false, frames, heads);
	encode_integers(bytes_.sizes(), false, frames, heads);
	frames.piece(controls_);
	frames.piece(tables_);
	texts_.write(frames);
	bytes_.write(frames);
	frames.pack(directory, packed);
	directory.insert(directory.end(), heads.begin(), heads.end());
	const std::optional<std::vector<std::byte>> small = compress(directory);
	const std::vector<std::byte>& stored = small ? *small : directory;
	std::vector<std::byte> result;
	put_varint(result, directory.size());
	put_varint(result, stored.size());
	result.insert(result.end(), stored.begin(), stored.end());
	result.insert(result.end(), packed.begin(), packed.end());
	return result;
}

} // namespace

std::optional<std::vector<std::byte>> encode_columns(std::span<const Block> blocks, const Catalog& catalog) {
	Splitter splitter(catalog);
	if (!blocks.empty())
		splitter.start(blocks[0].header().first_time);
	for (const Block& block : blocks)
		if (!splitter.split(block))
			return std::nullopt;
	return splitter.assemble();
}

} // namespace dfr::trace
