// SPDX-License-Identifier: GPL-2.0
//
// A catalog with layouts of every kind of field and blocks as an engine writes
// them, from decisions: contexts only where the task changes, restart points,
// notes, losses, committed speculations, records of one firing. Only the values
// are up to the decisions, so that columns can hold all of it.
#pragma once

#include <algorithm>

#include "formats/abi/dof.h"
#include "tests/fuzz/decisions.h"
#include "tests/unit/trace_builder.h"

namespace dfr::test {

class ProperBlocks {
public:
	explicit ProperBlocks(fuzz::Decisions& in) : in_(in) {
		CatalogLog log;
		log.state("proper", 4, 4096, DFR_BUFPOLICY_RING).clock(5, 500);
		log.probe(1, "syscall", "vmlinux", "read", "entry", 3);
		for (unsigned id = 1; id <= kEpids; id++) {
			Bytes body;
			const unsigned fields = in.byte() % 7;
			body.u32(id).u32(0).u32(0).u32(fields);
			for (unsigned i = 0; i < fields; i++) {
				layouts_[id - 1].push_back(some_field());
				body.put(layouts_[id - 1].back());
			}
			log.entry(DFR_CAT_LAYOUT, body).ecb(epid(id - 1), 1, id);
		}
		catalog_.parse(log.done());
	}
	const trace::Catalog& catalog() const { return catalog_; }

	trace::Block block(uint64_t seq) {
		BlockBytes block(0, seq, time_, kSize);
		unsigned restart = 0;
		bool fresh = true; // the next head is long, and a context comes first
		uint8_t task = 0;
		for (unsigned left = 1 + in_.byte(); left && block.here() < kSize - kRoom; left--) {
			const uint8_t what = in_.byte();
			if (what >= 0xf8 && !fresh)
				put_loss(block);
			if (block.here() >= restart * DFR_RESTART_BYTES) {
				block.restart(block.here() / DFR_RESTART_BYTES);
				restart = block.here() / DFR_RESTART_BYTES + 1;
			}
			const uint8_t level = what & 3;
			uint64_t delta = fresh ? 0 : what & 4 ? in_.number() : what >> 3;
			if (what >= 0xf0 && !fresh) {
				put_head(block, 0, level, delta, false);
				put_group(block);
				delta = 0;
				fresh = false;
				task = 0;
			}
			if (fresh || !task || what % 7 == 0) {
				task = 1 + in_.byte() % 5;
				put_head(block, 0, level, delta, fresh);
				block.context(task, task / 2, task, std::string(task * 3, 'c'));
				delta = 0;
			}
			fresh = false;
			put_record(block, level, delta, what % 11 == 0);
		}
		return in_.byte() % 8 ? block.sealed() : block.open();
	}

private:
	static constexpr unsigned kEpids = 5;
	static constexpr uint32_t kSize = 4096, kRoom = 1200;

	static uint32_t epid(unsigned i) { return i + 1 == kEpids ? 3000 : i + 1; }
	dfr_field some_field() {
		static constexpr uint16_t kKinds[] = {DFR_FIELD_INT,    DFR_FIELD_INT,      DFR_FIELD_STRING,
		                                      DFR_FIELD_BYTES,  DFR_FIELD_VARBYTES, DFR_FIELD_STACK,
		                                      DFR_FIELD_USTACK, DFR_FIELD_USYM};
		const uint8_t choice = in_.byte();
		if (choice == 0xff)
			return plain_field(DFR_FIELD_PROBETEXT, 1);
		const uint16_t kind = kKinds[choice & 7];
		return kind == DFR_FIELD_INT
		           ? int_field(1u << (choice >> 4 & 3), choice & 8)
		           : plain_field(kind, kind == DFR_FIELD_USYM ? 16 : 1 + (choice >> 5));
	}

	void put_head(BlockBytes& block, uint32_t id, uint8_t level, uint64_t delta, bool is_long) {
		time_ += delta;
		if (is_long || id > DFR_REC_ID_SHORT_MAX || delta > DFR_REC_DELTA_MAX)
			block.long_head(id, level, time_);
		else
			block.short_head(id, level, static_cast<uint32_t>(delta));
	}
	void put_loss(BlockBytes& block) {
		put_head(block, 0, 0, 1, false);
		const uint8_t cause = in_.byte() % DFR_LOSS_MAX;
		block.loss_body(cause, 1, 1 + in_.byte(), 1, 2);
	}
	// One record with a context, committed by a speculation.
	void put_group(BlockBytes& block) {
		const uint64_t before = time_ - std::min<uint64_t>(time_, in_.byte());
		Bytes part;
		part.u32(DFR_REC_ID_LONG).u32(0).u64(before).context_body(9, 9, 9, "spec");
		const unsigned i = in_.byte() % (kEpids - 1);
		part.u32(DFR_REC_HEAD(epid(i), 0, in_.byte()));
		put_fields(part, layouts_[i]);
		block.u8(DFR_CONTROL_GROUP).u32(3).u32(static_cast<uint32_t>(part.bytes.size())).u64(time_);
		block.splice(part, 1);
	}
	void put_record(BlockBytes& block, uint8_t level, uint64_t delta, bool noted) {
		const unsigned i = in_.byte() % kEpids;
		if (noted) { // the note's head is long, whatever its time
			put_head(block, 0, level, delta, true);
			block.u8(DFR_CONTROL_NOTE).u8(in_.byte() % 3).u8(1).u64(in_.number());
			delta = 0;
		}
		put_head(block, epid(i), level, delta, false);
		put_fields(block, layouts_[i]);
	}

	static unsigned code_of(uint64_t value, bool is_signed) {
		for (unsigned code = 0; code < 3; code++) {
			const unsigned bits = 8u << code;
			const uint64_t half = 1ull << (bits - 1);
			if (is_signed ? value + half < 2 * half : value < 2 * half)
				return code;
		}
		return 3;
	}
	void put_fields(Bytes& to, const std::vector<dfr_field>& fields) {
		std::vector<uint64_t> integers;
		std::vector<uint8_t> codes;
		for (const dfr_field& field : fields) {
			if (field.kind != DFR_FIELD_INT)
				continue;
			uint64_t value = in_.number();
			if (field.flags & DFR_FIELD_SIGNED && value & 1)
				value = ~value;
			if (integers.size() % 4 == 0)
				codes.push_back(0);
			codes.back() |= code_of(value, field.flags & DFR_FIELD_SIGNED)
			                << integers.size() % 4 * 2;
			integers.push_back(value);
		}
		for (const uint8_t code : codes)
			to.u8(code);
		size_t next = 0;
		for (const dfr_field& field : fields) {
			if (field.kind == DFR_FIELD_INT) {
				const uint64_t value = integers[next++];
				for (unsigned i = 0; i < 1u << code_of(value, field.flags & DFR_FIELD_SIGNED);
				     i++)
					to.u8(static_cast<uint8_t>(value >> 8 * i));
			} else {
				put_other(to, field);
			}
		}
	}
	void put_other(Bytes& to, const dfr_field& field) {
		const uint8_t n = in_.byte();
		switch (field.kind) {
		case DFR_FIELD_STRING: to.text(std::string(n % 8, static_cast<char>('a' + n % 26))); break;
		case DFR_FIELD_BYTES:
			for (uint32_t i = 0; i < field.size; i++)
				to.u8(n);
			break;
		case DFR_FIELD_VARBYTES:
			to.u16(n % 8);
			for (int i = 0; i < n % 8; i++)
				to.u8(static_cast<uint8_t>(n + i));
			break;
		case DFR_FIELD_USTACK: to.u32(n); [[fallthrough]];
		case DFR_FIELD_STACK:
			to.u8(n % 4);
			for (int i = 0; i < n % 4; i++)
				to.u64(0xffffffff81000000 + n);
			break;
		case DFR_FIELD_USYM: to.u64(n).u64(0x5555'0000'0000 + n); break;
		default: break;
		}
	}

	fuzz::Decisions& in_;
	trace::Catalog catalog_;
	std::vector<dfr_field> layouts_[kEpids];
	uint64_t time_ = 1000;
};

} // namespace dfr::test
