// SPDX-License-Identifier: GPL-2.0
//
// What a recording holds besides its blocks, from decisions, and mostly as an
// engine would write it: catalog logs with entries of every type, aggregation
// tables, losses. dfr_fuzz.cc damages it and reads it.
#pragma once

#include "formats/abi/dof.h"
#include "formats/trace/schema.h"
#include "tests/fuzz/decisions.h"
#include "tests/unit/trace_builder.h"

namespace dfr::fuzz {

inline std::string some_text(Decisions& in) {
	static constexpr const char* kTexts[] = {"",      "read",  "vmlinux", "syscall",
	                                         "entry", "a=b=c", "\xff\xfe"};
	const uint8_t choice = in.byte();
	return choice & 0x80 ? std::string(choice & 0x3f, 't') : kTexts[choice % 7];
}

template <size_t N> const char* one_of(Decisions& in, const char* const (&all)[N]) {
	return all[in.byte() % N];
}

inline dfr_field some_field(Decisions& in) {
	const uint8_t choice = in.byte();
	if (choice < 0xf0)
		return test::plain_field(choice % 8 + 1, choice % 8 ? in.byte() % 4 : 1u << in.byte() % 4);
	return test::plain_field(in.half(), in.word());
}

// As much of a DOF as readers of recordings look at: the head, and actions, where they may be told to be.
inline std::string some_dof(Decisions& in) {
	test::Bytes dof;
	dof_header head{};
	head.secnum = in.byte() % 4;
	head.secoff = in.byte() % 8 ? sizeof(head) : in.number();
	dof.put(head);
	for (uint32_t i = 0; i < head.secnum; i++) {
		dof_sec section{};
		section.type = in.byte() % 4 ? DOF_SECT_ACTDESC : in.byte();
		section.offset = in.byte() % 8 ? sizeof(head) + head.secnum * sizeof(section) : in.wide();
		section.size = in.byte() % 8 ? 2 * sizeof(dof_actdesc) : in.wide();
		dof.put(section);
	}
	for (int i = 0; i < 2; i++) {
		dof_actdesc action{};
		action.kind = in.byte() % 2 ? DFR_ACT_COMMIT : DFR_ACT_DIFEXPR;
		dof.put(action);
	}
	return {reinterpret_cast<const char*>(dof.bytes.data()), dof.bytes.size()};
}

// How many fields, now and then more than there are; and these.
inline void put_fields(Decisions& in, test::Bytes& body) {
	const unsigned count = in.byte() % 6;
	body.u32(in.byte() < 0xf0 ? count : in.byte());
	for (unsigned i = 0; i < count; i++)
		body.put(some_field(in));
}

inline void put_entry(Decisions& in, test::CatalogLog& log, uint32_t& dofs) {
	test::Bytes body;
	switch (in.byte() % 10) {
	case 0:
		log.state(some_text(in), in.byte(), 4096u << in.byte() % 4, in.byte() % 4, in.number());
		break;
	case 1:
		for (unsigned lines = in.byte() % 5; lines; lines--) {
			for (const char c : some_text(in) + (in.byte() % 4 ? "=" : "") + some_text(in) +
			                        (lines > 1 ? "\n" : ""))
				body.u8(static_cast<uint8_t>(c));
		}
		log.entry(DFR_CAT_MACHINE, in.byte() % 2 ? body : body.u8(0));
		break;
	case 2: log.clock(in.number(), in.number()); break;
	case 3:
		log.dof(in.byte() % 8 ? dofs++ : in.byte(), in.byte() % 4 ? some_dof(in) : some_text(in));
		break;
	case 4:
		log.probe(in.byte(), some_text(in), some_text(in), some_text(in), some_text(in),
		          in.byte() % 2 ? in.byte() : ~0u);
		break;
	case 5:
		body.u32(in.byte()).u32(in.byte() % 2).u32(in.byte() % 4);
		put_fields(in, body);
		log.entry(DFR_CAT_LAYOUT, body);
		break;
	case 6: log.ecb(in.byte() % 16 ? 1 + in.byte() : in.word(), in.byte(), in.byte()); break;
	case 7:
		body.u32(in.byte()).u32(DFR_ACT_COUNT + in.byte() % 9).u64(in.number()).u32(in.byte() % 2);
		put_fields(in, body);
		log.entry(DFR_CAT_AGG, body);
		break;
	case 8:
		body.u64(in.number()).u64(in.number()).u64(in.number()).u32(in.byte() % 2).u32(0);
		log.entry(DFR_CAT_MODULE, in.byte() % 8 ? body.text(some_text(in)) : body);
		break;
	default: log.event(in.byte() % 10, in.byte(), in.number(), in.byte());
	}
}

inline trace::Catalog some_catalog(Decisions& in) {
	test::CatalogLog log;
	uint32_t dofs = 0;
	for (unsigned left = in.byte() % 32; left && in.left(); left--)
		put_entry(in, log, dofs);
	std::vector<std::byte> bytes = log.done();
	for (unsigned flips = in.byte() % 8; flips > 5; flips--)
		bytes[in.half() % bytes.size()] ^= std::byte{in.byte()};
	// As it comes from a device: in parts, which may end inside of an entry.
	trace::Catalog catalog;
	const size_t part = in.byte() % 4 ? bytes.size() : 40 + in.half() % bytes.size();
	const size_t used = catalog.parse(std::span(bytes).first(std::min(part, bytes.size())));
	catalog.parse(std::span(bytes).subspan(used));
	return catalog;
}

inline unsigned words_for(Decisions& in, uint32_t kind, uint64_t parameters) {
	switch (in.byte() < 0xf0 ? kind : 0) {
	case 0: return in.byte() % 8;
	case DFR_ACT_AVG: return 2;
	case DFR_ACT_STDDEV: return 4;
	case DFR_ACT_QUANTIZE: return DFR_QUANTIZE_BUCKETS;
	case DFR_ACT_LQUANTIZE: return DFR_LQUANTIZE_LEVELS(parameters) + 3u;
	case DFR_ACT_LLQUANTIZE: return 3 + in.byte() % 4;
	default: return 1;
	}
}

// A table of a few variables and keys, so that several of them meet.
inline std::vector<std::byte> some_table(Decisions& in) {
	static constexpr uint32_t kKinds[] = {DFR_ACT_COUNT,    DFR_ACT_SUM,       DFR_ACT_MIN,
	                                      DFR_ACT_MAX,      DFR_ACT_AVG,       DFR_ACT_STDDEV,
	                                      DFR_ACT_QUANTIZE, DFR_ACT_LQUANTIZE, DFR_ACT_LLQUANTIZE};
	test::Bytes table;
	const uint32_t buckets = 1u << in.byte() % 3;
	table.u32(DFR_AGGTAB_MAGIC)
	    .u32(1)
	    .u64(7)
	    .u32(0)
	    .u32(0)
	    .u64(1)
	    .u64(1 << 20)
	    .u64(0)
	    .u32(buckets)
	    .u32(0)
	    .u64(0);
	for (uint32_t i = 0; i < buckets; i++)
		table.u32(0);
	table.pad(8);
	for (unsigned left = in.byte() % 16; left && in.left(); left--) {
		const uint32_t varid = in.byte() % 10,
		               kind = in.byte() % 16 ? kKinds[(varid + 8) % 9] : kKinds[in.byte() % 9];
		const uint64_t parameters = 1ull << 48 | uint64_t{in.byte() % 3u} << 32;
		const unsigned words = words_for(in, kind, parameters), keys = in.byte() % 3;
		table.u32(0)
		    .u32(0)
		    .u32(varid)
		    .u16(static_cast<uint16_t>(kind))
		    .u16(static_cast<uint16_t>(words))
		    .u32(8 * keys)
		    .u32(0);
		for (unsigned i = 0; i < keys; i++)
			table.u64(in.byte() % 2);
		for (unsigned i = 0; i < words; i++)
			table.u64(!i && kind == DFR_ACT_LQUANTIZE ? parameters : words > 8 ? i : in.number());
	}
	table.patch<uint64_t>(48 - 8, in.byte() % 8 ? table.bytes.size() : in.number());
	for (unsigned flips = in.byte() % 8; flips > 5; flips--)
		table.bytes[in.half() % table.bytes.size()] ^= std::byte{in.byte()};
	return table.bytes;
}

// What came to a recording at the time that `time` makes up, with one of these texts.
template <typename Time, size_t N>
trace::EventMark some_mark(Decisions& in, const Time& time, const char* const (&texts)[N]) {
	return {.event = 1u + in.byte() % 12,
	        .value = in.byte() % 8 - 2,
	        .time = time(),
	        .error = in.byte() % 4   ? 0
	                 : in.byte() % 2 ? 1
	                                 : 125,
	        .text = one_of(in, texts)};
}

// Clauses that were left out between two times, or until nobody knows when.
template <typename From, typename To>
trace::Losses::Stretch some_stretch(Decisions& in, const From& from, const To& to) {
	return {.cpu = in.byte() % 4 - 1,
	        .priority = in.byte() % 3u,
	        .from = from(),
	        .to = in.byte() % 4 ? to() : 0,
	        .left_out = in.byte(),
	        .detached = in.byte() % 2 == 1};
}

inline trace::Ledger some_ledger(Decisions& in) {
	trace::Ledger ledger;
	for (unsigned left = in.byte() % 8; left; left--)
		ledger.losses.add({.cause = in.byte() % 24u,
		                   .probe = in.byte() % 2u,
		                   .cpu = in.byte() % 4 - 1,
		                   .count = in.number(),
		                   .from = in.number(),
		                   .to = in.number()});
	for (unsigned left = in.byte() % 3; left; left--)
		ledger.remarks.push_back(some_text(in));
	ledger.partial = in.byte() % 2;
	return ledger;
}

} // namespace dfr::fuzz
