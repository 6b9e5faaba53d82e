// SPDX-License-Identifier: GPL-2.0
//
// The decoder of blocks (formats/abi/block.h). The bytes may be damaged or hostile:
// it reads nothing beyond the committed bytes, and after bytes that do not parse it
// goes on at the block's next restart point and counts what it skipped. It does not
// allocate for each record: values live in one vector, views point into the block.
// A decoder is used by one thread; any number of decoders may run in parallel.
#include "formats/trace/decode.h"

#include <algorithm>
#include <cstring>

#include "formats/abi/dof.h"
#include "formats/trace/bytes.h"

namespace dfr::trace {
namespace {

// Whether a DOF has an action COMMIT; true also for a DOF that cannot be read, because it might.
bool dof_may_commit(const std::vector<std::byte>& dof) {
	if (dof.size() < sizeof(dof_header))
		return true;
	const auto header = load<dof_header>(dof.data());
	for (uint64_t i = 0; i < header.secnum; i++) {
		const uint64_t at = header.secoff + i * sizeof(dof_sec);
		if (at > dof.size() || dof.size() - at < sizeof(dof_sec))
			return true;
		const auto section = load<dof_sec>(dof.data() + at);
		if (section.type != DOF_SECT_ACTDESC)
			continue;
		if (section.offset > dof.size() || section.size > dof.size() - section.offset)
			return true;
		for (uint64_t a = 0; a + sizeof(dof_actdesc) <= section.size; a += sizeof(dof_actdesc))
			if (load<dof_actdesc>(dof.data() + section.offset + a).kind == DFR_ACT_COMMIT)
				return true;
	}
	return false;
}

} // namespace

void DecodeDamage::add(const DecodeDamage& other) {
	blocks += other.blocks;
	regions += other.regions;
	bytes += other.bytes;
	records += other.records;
}

const RecordShape* RecordShapes::compile(uint32_t epid) {
	const Layout* layout = catalog_.layout_of(epid);
	if (!layout || layout->fields.size() > UINT16_MAX)
		return nullptr;
	if (epid >= shapes_.size())
		shapes_.resize(std::max<size_t>(epid + 1, catalog_.ecbs.size() + 1));
	RecordShape& shape = shapes_[epid];
	shape.fields = layout->fields.data();
	shape.count = static_cast<uint16_t>(layout->fields.size());
	shape.integers = static_cast<uint16_t>(count_integers(layout->fields));
	shape.least = (shape.integers + 3u) / 4;
	for (const dfr_field& field : layout->fields)
		shape.least += least_bytes(field);
	shape.probe = catalog_.probe_of(epid);
	shape.known = true;
	return &shape;
}

bool RecordShapes::may_commit() {
	for (; dofs_seen_ < catalog_.dofs.size(); dofs_seen_++)
		may_commit_ = may_commit_ || dof_may_commit(catalog_.dofs[dofs_seen_]);
	return may_commit_ || catalog_.dofs.empty();
}

bool RecordCursor::open(const Block& block, DecodeDamage& damage, Losses* losses) {
	damage_ = &damage;
	losses_ = losses;
	state_ = {};
	sorted_ = false;
	places_.clear();
	notes_.clear();
	end_ = region_ = 0;
	if (!block_is_sane(block.bytes)) {
		damage.blocks++;
		return false;
	}
	const dfr_block& head = block.header();
	base_ = block.bytes.data();
	state_.at = region_ = head.hdr_size;
	end_ = head.hdr_size + head.committed;
	record_ = {};
	record_.cpu = head.cpu;
	record_.seq = head.seq;
	bytes_ = std::span(block.bytes).first(end_);
	records_ = head.records;
	restarts_ = restart_count(head);
	next_restart_ = 0;
	trusting_ = block.verified;
	sealed_ = head.flags & DFR_BLOCK_SEALED;
	if (trusting_)
		region_ = end_; // one region, which enter_region() never checks
	return true;
}

bool RecordCursor::next() {
	if (!sorted_)
		return next_in_place();
	if (next_place_ == places_.size())
		return false;
	state_ = places_[next_place_++].state;
	notes_.clear();
	Passed done;
	quiet_ = true; // losses were counted when the places were collected
	do
		done = step();
	while (done == Passed::kControl);
	quiet_ = false;
	return done == Passed::kRecord;
}

void RecordCursor::sort() {
	places_.clear();
	const DecodeState start = state_;
	const uint32_t start_region = region_, start_restart = next_restart_;
	const bool was_trusting = trusting_;
	const DecodeDamage before = *damage_;
	bool grouped = false;
	DecodeState place = state_;
	quiet_ = true;
	// The place to decode a record from: the state before the first of its NOTEs, group included.
	for (;;) {
		if (!state_.notes)
			place = state_;
		if (state_.at >= region_ && !enter_region())
			break;
		if (!state_.notes)
			place = state_;
		const Passed done = step();
		if (done == Passed::kRecord) {
			places_.push_back({record_.time, place});
			grouped = grouped || record_.speculation;
		} else if (done == Passed::kDamage) {
			skip_region();
		} else if (done == Passed::kEnd) {
			break;
		}
	}
	quiet_ = false;
	*damage_ = before;
	state_ = start;
	region_ = start_region;
	next_restart_ = start_restart;
	trusting_ = was_trusting;
	notes_.clear();
	if (!grouped) { // no committed records, so they are in order already: walking in place is cheaper
		places_.clear();
		return;
	}
	// Walk once more without quiet_, to count losses and damage; then sort by time.
	while (next_in_place()) {
	}
	std::stable_sort(places_.begin(), places_.end(),
	                 [](const TimedState& a, const TimedState& b) { return a.time < b.time; });
	sorted_ = true;
	next_place_ = 0;
}

bool RecordCursor::next_in_place() {
	for (;;) {
		if (state_.at >= region_ && !enter_region())
			return false;
		switch (step()) {
		case Passed::kRecord: return true;
		case Passed::kControl: break;
		case Passed::kEnd: return false;
		case Passed::kDamage: skip_region(); break;
		}
	}
}

// Finds the next region whose walk ends exactly at the next restart point (or at the block's end); skips
// and counts the regions before it. False: there is none.
bool RecordCursor::enter_region() {
	while (state_.at < end_) {
		find_region(state_.at);
		if (region_holds())
			return true;
		skip_region();
	}
	return false;
}

// Sets region_ to the first restart point after `from`, or to the block's end.
void RecordCursor::find_region(uint32_t from) {
	region_ = end_;
	for (; next_restart_ < restarts_; next_restart_++) {
		const dfr_restart restart = restart_at(base_, next_restart_);
		if (restart.record > from && restart.record < end_ && is_in_place(restart, next_restart_)) {
			region_ = restart.record;
			return;
		}
	}
}

// Of a sealed block the region's checksum decides. Else it walks the region without giving records, and restores the
// state. True: it ends where it should, with the restart point's time and outside of a group.
bool RecordCursor::region_holds() {
	if (sealed_)
		return interval_is_sound(bytes_, state_.at, region_);
	const DecodeState start = state_;
	const bool was_quiet = quiet_;
	quiet_ = true;
	Passed done = Passed::kControl;
	while (state_.at < region_ && done != Passed::kDamage)
		done = step();
	bool holds = done != Passed::kDamage && state_.at == region_;
	if (holds && region_ < end_) {
		const dfr_restart restart = restart_at(base_, next_restart_);
		if (state_.group_end == state_.at)
			leave_group();
		holds = restart.time == state_.time && !state_.group_end;
	}
	quiet_ = was_quiet;
	state_ = start;
	notes_.clear();
	return holds;
}

// Skips the bytes from here to the end of the region, and counts them; sets the state to what the
// restart point there says.
void RecordCursor::skip_region() {
	if (trusting_) { // the bytes are sound, but this reader cannot decode them (a layout is missing ...)
		trusting_ = false;
		find_region(step_start_);
		state_.at = step_start_;
	}
	const dfr_restart restart = region_ < end_ ? restart_at(base_, next_restart_) : dfr_restart{};
	DecodeState after;
	after.at = region_;
	after.records = region_ < end_ ? restart.records : records_;
	// An open block does not say how many records it has, and a damaged entry may say anything.
	if (after.records < state_.records || (records_ && after.records > records_))
		after.records = state_.records;
	damage_->regions++;
	damage_->bytes += region_ - std::min(region_, state_.at);
	damage_->records += after.records - state_.records;
	state_ = after;
	notes_.clear();
	if (region_ >= end_)
		return;
	state_.time = restart.time;
	state_.timed = true;
	if (restart.context < sizeof(dfr_block) || restart.context >= end_)
		return;
	// Read only the context record that the restart point names.
	DecodeState resume = state_;
	state_.at = restart.context;
	const bool was_quiet = quiet_;
	quiet_ = true;
	if (step() == Passed::kControl)
		resume.context = state_.context;
	quiet_ = was_quiet;
	state_ = resume;
	notes_.clear();
}

void RecordCursor::leave_group() {
	state_.group_end = 0;
	state_.speculation = 0;
	state_.commit_time = 0;
	state_.time = state_.group_time;
	state_.context = {};
}

// Its callers know the size, so that it is a load for them and no call.
[[gnu::always_inline]] inline bool RecordCursor::take(void* to, uint32_t size) {
	if (end_ - state_.at < size)
		return false;
	std::memcpy(to, base_ + state_.at, size);
	state_.at += size;
	return true;
}

RecordCursor::Passed RecordCursor::step() {
	if (state_.group_end && state_.at >= state_.group_end) {
		if (state_.at > state_.group_end)
			return Passed::kDamage;
		leave_group();
	}
	if (state_.at >= end_)
		return state_.notes ? Passed::kDamage : Passed::kEnd;
	step_start_ = state_.at;
	uint32_t head;
	if (!take(&head, sizeof(head)))
		return Passed::kDamage;
	uint32_t id = DFR_REC_ID(head);
	if (id == DFR_REC_ID_LONG) {
		if (DFR_REC_DELTA(head) || !take(&id, sizeof(id)) || !take(&state_.time, sizeof(state_.time)))
			return Passed::kDamage;
		state_.timed = true;
	} else if (!state_.timed) {
		return Passed::kDamage;
	} else {
		state_.time += DFR_REC_DELTA(head);
	}
	if (id == 0)
		return control();
	record_.offset = step_start_;
	return record(id, DFR_REC_LEVEL(head));
}

RecordCursor::Passed RecordCursor::control() {
	uint8_t kind;
	bool good = take(&kind, 1);
	if (good) {
		switch (kind) {
		case DFR_CONTROL_CONTEXT: good = context(); break;
		case DFR_CONTROL_NOTE: good = note(); break;
		case DFR_CONTROL_GROUP: good = group(); break;
		case DFR_CONTROL_LOSS: good = loss(); break;
		default: good = false;
		}
	}
	return good ? Passed::kControl : Passed::kDamage;
}

bool RecordCursor::context() {
	uint16_t codes;
	uint64_t words[5] = {};
	if (!take(&codes, 2) || codes >> 10)
		return false;
	for (unsigned i = 0; i < 5; i++) {
		const uint32_t size = 1u << (codes >> 2 * i & 3);
		if ((size > 4 && i < 4) || !take(&words[i], size))
			return false;
	}
	const std::byte* name = base_ + state_.at;
	const void* nul = std::memchr(name, 0, end_ - state_.at);
	if (!nul)
		return false;
	const size_t length = static_cast<const std::byte*>(nul) - name;
	state_.at += length + 1;
	state_.context = {.task = static_cast<uint32_t>(words[0]),
	                  .pid = static_cast<uint32_t>(words[1]),
	                  .tid = static_cast<uint32_t>(words[2]),
	                  .nspid = static_cast<uint32_t>(words[3]),
	                  .cgroup = words[4],
	                  .execname = {reinterpret_cast<const char*>(name), length}};
	return true;
}

bool RecordCursor::note() {
	Note entry;
	if (!take(&entry.field, 1) || !take(&entry.code, 1) || !take(&entry.value, 8))
		return false;
	if (!state_.notes)
		notes_.clear();
	notes_.push_back(entry);
	state_.notes++;
	return state_.notes <= 256;
}

bool RecordCursor::group() {
	uint32_t id, bytes;
	uint64_t commit;
	if (state_.group_end || state_.notes || !take(&id, 4) || !take(&bytes, 4) || !take(&commit, 8))
		return false;
	if (id == 0 || bytes > end_ - state_.at)
		return false;
	if (group_marks_ && !quiet_)
		group_marks_->push_back({.speculation = id, .commit_time = commit});
	if (!bytes)
		return true;
	state_.group_end = state_.at + bytes;
	state_.group_time = state_.time;
	state_.speculation = id;
	state_.commit_time = commit;
	state_.context = {};
	return true;
}

bool RecordCursor::loss() {
	uint8_t cause;
	Losses::Loss entry;
	if (!take(&cause, 1) || !take(&entry.probe, 4) || !take(&entry.count, 8) || !take(&entry.from, 8) ||
	    !take(&entry.to, 8) || !loss_is_sane(cause, entry.probe))
		return false;
	entry.cause = cause;
	entry.cpu = static_cast<int32_t>(record_.cpu);
	if (losses_ && !quiet_)
		losses_->add(entry);
	return true;
}

RecordCursor::Passed RecordCursor::record(uint32_t epid, uint8_t level) {
	const RecordShape* shape = shapes_.find(epid);
	if (!shape || !fields(*shape))
		return Passed::kDamage;
	if (state_.notes) {
		for (const Note& entry : notes_) {
			if (entry.field >= shape->count)
				continue;
			values_[entry.field].fault = entry.code;
			values_[entry.field].fault_value = entry.value;
		}
		notes_.clear();
		state_.notes = 0;
	}
	state_.records++;
	record_.time = state_.time;
	record_.epid = epid;
	record_.level = level;
	record_.context = state_.context;
	record_.fields = {values_.data(), shape->count};
	record_.speculation = state_.speculation;
	record_.commit_time = state_.commit_time;
	return Passed::kRecord;
}

bool RecordCursor::fields(const RecordShape& shape) {
	// First, because a crafted layout has very many fields.
	if (end_ - state_.at < shape.least)
		return false;
	if (values_.size() < shape.count)
		values_.resize(shape.count);
	const uint32_t code_bytes = (shape.integers + 3u) / 4;
	const std::byte* codes = base_ + state_.at;
	uint32_t at = state_.at + code_bytes;
	unsigned integer = 0;
	Value* next = values_.data();
	for (unsigned i = 0; i < shape.count; i++) {
		const dfr_field& spec = shape.fields[i];
		Value& value = *next++;
		value.bytes = {};
		value.fault = 0;
		value.fault_value = 0;
		if (spec.kind != DFR_FIELD_INT) [[unlikely]] {
			value.number = 0;
			state_.at = at;
			if (!field(spec, shape, value))
				return false;
			at = state_.at;
			continue;
		}
		const unsigned code = std::to_integer<unsigned>(codes[integer / 4]) >> integer % 4 * 2 & 3;
		integer++;
		const uint32_t size = 1u << code, left = end_ - at;
		uint64_t word = 0;
		if (left >= 8) [[likely]]
			std::memcpy(&word, base_ + at, 8);
		else if (left >= size)
			std::memcpy(&word, base_ + at, size);
		else
			return false;
		const unsigned shift = 64 - 8 * size;
		word <<= shift;
		value.number = spec.flags & DFR_FIELD_SIGNED
		                   ? static_cast<uint64_t>(static_cast<int64_t>(word) >> shift)
		                   : word >> shift;
		at += size;
	}
	state_.at = at;
	return true;
}

bool RecordCursor::take_bytes(Value& value, uint64_t size) {
	if (end_ - state_.at < size)
		return false;
	value.bytes = {base_ + state_.at, size};
	state_.at += static_cast<uint32_t>(size);
	return true;
}

bool RecordCursor::field(const dfr_field& spec, const RecordShape& shape, Value& value) {
	uint8_t frames;
	uint16_t length;
	uint32_t pid;
	switch (spec.kind) {
	case DFR_FIELD_STRING: {
		const std::byte* text = base_ + state_.at;
		const void* nul = std::memchr(text, 0, end_ - state_.at);
		return nul && take_bytes(value, static_cast<const std::byte*>(nul) - text) && ++state_.at;
	}
	case DFR_FIELD_BYTES: return take_bytes(value, spec.size);
	case DFR_FIELD_VARBYTES: return take(&length, 2) && take_bytes(value, length);
	case DFR_FIELD_STACK: return take(&frames, 1) && take_bytes(value, 8ull * frames);
	case DFR_FIELD_USTACK:
		if (!take(&pid, 4))
			return false;
		value.number = pid;
		return take(&frames, 1) && take_bytes(value, 8ull * frames);
	case DFR_FIELD_USYM:
		if (!take_bytes(value, 16))
			return false;
		value.number = load<uint64_t>(value.bytes.data() + 8);
		return true;
	case DFR_FIELD_PROBETEXT: {
		if (!shape.probe)
			return true;
		const std::string* text[] = {&shape.probe->provider, &shape.probe->module,
		                             &shape.probe->function, &shape.probe->name};
		value.bytes = std::as_bytes(std::span(*text[spec.size & 3]));
		return true;
	}
	default: return false;
	}
}

Losses losses_in(const Block& block, RecordShapes& shapes) {
	RecordCursor cursor(shapes);
	DecodeDamage damage; // of what was not asked for
	Losses losses;
	if (cursor.open(block, damage, &losses))
		while (cursor.next()) {
		}
	return losses;
}

void BlockDecoder::decode(const Block& block, const std::function<bool(const Record&)>& visit,
                          Losses* losses) {
	if (!cursor_.open(block, damage_, losses))
		return;
	while (cursor_.next())
		if (!visit(cursor_.current()))
			return;
}

} // namespace dfr::trace
