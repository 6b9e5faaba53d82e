// SPDX-License-Identifier: GPL-2.0
//
// Fuzzes the memory-image harvester: a dead machine's memory is built from
// decisions (anchors with right checksums but any content, catalogs, blocks,
// tables, speculation chunks, counters of losses on frames that overlap as they like), saved as ELF
// core, raw image or kdump-compressed dump, flattened or not, damaged, and harvested whole, with a catalog lent
// or not. Others died in order, with all in its place but for some details.
//
// Targets: recorder/memory_image.cc recorder/found_states.cc recorder/anchors.cc recorder/physical_memory.cc recorder/speculations.cc
// Targets: recorder/dead_kernel.cc recorder/dead_modules.cc recorder/extent.cc recorder/catalog_salvage.cc recorder/ring_blocks.cc recorder/image_budget.cc
// Targets: recorder/dump_file.cc recorder/kdump_pages.cc recorder/page_codec.cc
#include <optional>
#include <zlib.h>

#include "formats/abi/dof.h"
#include "formats/abi/spec.h"
#include "formats/abi/tally.h"
#include "recorder/memory_image.h"
#include "recorder/page_codec.h"
#include "tests/fuzz/trace_input.h"
#include "tests/unit/dead_kernel_builder.h"

using namespace dfr;
using fuzz::Decisions;
using test::Bytes;
using test::Memory;

namespace {

std::vector<std::byte> make_catalog(Decisions& in) {
	test::CatalogLog log(7, 0xb0);
	log.state("fuzz", 2, 4096, in.byte() % 3).clock(1, in.number()).probe(1, "p", "m", "f", "n");
	log.layout(1, {test::int_field(8)}).ecb(1, 1, 1);
	for (unsigned left = in.byte() % 4; left; left--)
		log.entry(in.byte() % 14, Bytes().u64(in.number()).u64(in.number()).u64(in.number()));
	log.done();
	if (in.byte() % 4 == 0)
		log.patch<uint64_t>(32, in.number());
	return log.bytes;
}

std::vector<std::byte> make_block(Decisions& in) {
	const uint32_t size = 512u << in.byte() % 4;
	test::BlockBytes block(in.byte() % 2, in.byte() % 16, in.number(), size);
	block.long_head(0, 0, in.number()).context(1, 1, 1, "sh");
	for (unsigned left = in.byte() % 20; left; left--)
		block.short_head(1, 0, in.byte()).u8(0).u8(in.byte());
	return in.byte() % 3 ? block.sealed(true).bytes : block.open(true).bytes;
}

std::vector<std::byte> make_table(Decisions& in) {
	Bytes table;
	table.u32(DFR_AGGTAB_MAGIC).u32(1).u64(7).u32(in.byte()).u32(in.byte() % 2).u64(in.byte()).u64(4096);
	table.u64(in.number()).u32(2).u32(1).u64(in.byte() % 4 ? 0 : in.byte()).u32(0).u32(0);
	for (unsigned left = in.byte() % 4; left; left--)
		table.u32(0)
		    .u32(0)
		    .u32(in.byte() % 4)
		    .u16(DFR_ACT_COUNT)
		    .u16(1)
		    .u32(8)
		    .u32(0)
		    .u64(in.byte() % 4)
		    .u64(in.number());
	if (in.byte() % 4)
		table.patch<uint64_t>(40, table.bytes.size());
	return table.bytes;
}

// One key of a variable that the catalog knows, or of others.
std::vector<std::byte> proper_table(Decisions& in, uint32_t cpu, uint32_t half, uint64_t generation) {
	Bytes table;
	const unsigned keys = in.byte() % 4;
	table.u32(DFR_AGGTAB_MAGIC).u32(1).u64(7).u32(cpu).u32(half).u64(generation).u64(4096).u64(0);
	table.u32(2).u32(in.byte() % 8 ? keys : in.byte()).u64(in.byte() % 4 ? 0 : in.byte()).u32(0).u32(0);
	for (unsigned left = keys; left; left--)
		table.u32(0)
		    .u32(0)
		    .u32(in.byte() % 8 ? 1 : in.byte() % 4)
		    .u16(DFR_ACT_COUNT)
		    .u16(in.byte() % 16 ? 1 : 0)
		    .u32(8)
		    .u32(0)
		    .u64(in.byte() % 4)
		    .u64(in.number());
	table.patch<uint64_t>(40, in.byte() % 16 ? table.bytes.size() : in.number());
	return table.bytes;
}

trace::Catalog lent_catalog(Decisions& in) {
	const uint8_t what = in.byte();
	test::CatalogLog log(7 + what % 8 / 7, static_cast<uint8_t>(0xb0 + what / 8 % 8 / 7));
	log.state("lent", 2, 4096, 0, 7 + what % 8 / 7).clock(1, 0xb0).probe(1, "p", "m", "f", "n");
	log.layout(1, {test::int_field(8)}).ecb(1, 1, 1).ecb(2, 1, 1).event(DFR_EVENT_GO, 0, 1);
	log.dof(0, "a program");
	if (what >= 0xf0)
		log.entry(DFR_CAT_MACHINE, Bytes().text("redacted=pid\n"));
	trace::Catalog catalog;
	catalog.parse(log.done());
	return catalog;
}

std::vector<std::byte> make_chunk(Decisions& in) {
	Bytes chunk;
	chunk.u32(DFR_SPEC_MAGIC)
	    .u32(256)
	    .u64(7)
	    .u32(in.byte())
	    .u32(0)
	    .u32(in.byte())
	    .u32(static_cast<uint32_t>(in.number()));
	chunk.u32(in.byte()).u32(in.byte() & 1).u64(1).u64(2).u64(3).u64(in.wide());
	return chunk.bytes;
}

std::vector<std::byte> make_tally(Decisions& in) {
	Bytes tally;
	const uint64_t mark = in.byte() % 4 ? DFR_TALLY_MARK : 0;
	tally.u32(mark ? DFR_TALLY_MAGIC : DFR_TALLY_MAGIC_PLAIN).u32(in.byte() % 3);
	tally.u64(7 + in.byte() % 8 / 7);
	for (uint32_t cause = 0; cause < DFR_LOSS_MAX; cause++)
		tally.u64(mark ^ (in.byte() % 4 ? 0 : in.number()));
	while (tally.bytes.size() < offsetof(dfr_tally, thinned))
		tally.u64(mark);
	for (size_t stretch = 0; stretch < 2 * DFR_TALLY_PRIORITIES; stretch++) {
		const uint64_t from = in.byte() % 2 ? in.number() : 0;
		tally.u64(from).u64(in.byte() % 2 ? in.number() : 0).u64(in.number());
		tally.u64(mark ^ in.byte() % 3);
	}
	for (uint32_t cause = 0; cause < DFR_LOSS_MAX; cause++)
		tally.u64(in.byte() % 4 ? 0 : in.number());
	return tally.bytes;
}

std::vector<uint64_t> frames(Decisions& in) {
	std::vector<uint64_t> result(1 + in.byte() % 3);
	for (uint64_t& frame : result)
		frame = in.byte() % 16 ? in.byte() % 48 : in.number();
	return result;
}

// A dead kernel's tables and types, a few bytes of which are other ones, and a recording that has addresses of it.
void fill_kernel(Decisions& in, Memory& memory) {
	test::Kernel kernel;
	kernel.per_cpu = in.byte() % 2;
	kernel.more_symbols = in.byte() % 8 ? 0 : in.word();
	for (unsigned left = in.byte() % 4; left; left--)
		kernel.symbols[in.byte() % kernel.symbols.size()].name = std::string(in.byte(), 'd');
	kernel.ranges = 1 + in.byte() % 2;
	kernel.btf = test::small_btf(kernel.ranges);
	kernel.five_levels = in.byte() % 2;
	kernel.large = in.byte() % 2;
	for (unsigned left = in.byte() % 4; left; left--)
		kernel.modules.push_back({std::string(in.byte() % 60, 'm'),
		                          {{kernel.code(kernel.modules.size()) + in.byte(), "tone"}}});
	for (unsigned flips = in.byte() % 4; flips; flips--)
		kernel.btf[in.byte() % kernel.btf.size()] = std::byte{in.byte()};
	kernel.put(memory);
	for (unsigned flips = in.byte() % 4; flips; flips--)
		memory.page(kernel.frame + in.byte() % kernel.kTables)[in.word() % Memory::kPageSize] =
		    std::byte{in.byte()};
	for (unsigned flips = kernel.modules.empty() ? 0 : in.byte() % 4; flips; flips--) {
		const bool listed = in.byte() % 2;
		const uint64_t first = listed ? kernel.mapping : kernel.module_frame;
		memory.page(first + in.byte() % (listed ? 5 : 24))[in.word() % Memory::kPageSize] =
		    std::byte{in.byte()};
	}
	if (in.byte() % 4 == 0)
		memory.page(kernel.page)[in.word() % 512] = std::byte{in.byte()};
	test::CatalogLog log(7, 0xb0);
	log.state("named", 1, 4096, DFR_BUFPOLICY_RING, 7)
	    .clock(1, 0xb0)
	    .probe(1, "fbt", "vmlinux", "do_it", "entry");
	log.layout(1, {test::int_field(8)}).ecb(1, 1, 1);
	log.entry(DFR_CAT_MACHINE, Bytes().text(std::string("release=") + kernel.kRelease + "\n"));
	memory.put({112}, log.done());
	test::BlockBytes block(0, 1, 1000, 4096);
	block.long_head(0, 0, 1000).context(1, 1, 1, "sh");
	for (unsigned left = in.byte() % 8; left; left--)
		block.short_head(1, 0, 1).u8(0b11).u64(
		    (in.byte() % 2 ? test::Kernel::kText - 0x80 : kernel.code(in.byte() % 3)) +
		    8 * in.byte());
	block.counters(0, 0).opened(0, 1000);
	memory.put({113}, block.sealed(true).bytes);
	memory.anchor({.pfn = 110, .kind = DFR_ANCHOR_CATALOG, .unit = 4096, .frames = {112}});
	memory.anchor({.pfn = 111, .kind = DFR_ANCHOR_RING, .unit = 4096, .frames = {113}});
}

void fill(Decisions& in, Memory& memory) {
	for (unsigned left = 1 + in.byte() % 12; left && in.left(); left--) {
		const std::vector<uint64_t> at = {in.byte() % 48u, in.byte() % 48u};
		const uint32_t what = in.byte();
		switch (what >= 240 ? 4 : what % 4) {
		case 0: memory.put(at, make_catalog(in)); break;
		case 1: memory.put(at, make_block(in)); break;
		case 2: memory.put(at, make_table(in)); break;
		case 4: memory.put(at, make_tally(in)); break;
		default: memory.put(at, make_chunk(in));
		}
	}
	for (unsigned left = 1 + in.byte() % 12; left; left--) {
		Memory::Anchor anchor{.pfn = 48u + in.byte() % 16,
		                      .kind = in.byte() % 7u,
		                      .cpu = in.byte() % 3u,
		                      .half = in.byte() % 2u,
		                      .part = in.byte() % 3u,
		                      .state_id = 7u + in.byte() % 8 / 7,
		                      .generation = in.byte(),
		                      .unit = in.byte() % 8 ? 256u << in.byte() % 6 : in.word(),
		                      .frames = frames(in),
		                      .boot = static_cast<uint8_t>(0xb0 + in.byte() % 8 / 7)};
		if (anchor.cpu == 2)
			anchor.cpu = DFR_AGGTAB_BASE_CPU;
		memory.anchor(anchor);
	}
	if (in.byte() % 2)
		memory.panic(
		    64, in.number(), "comm", "reason", 0xb0,
		    {.pfn = 80u + in.byte() % 2 * 8,
		     .texts = {"ip=1", std::string(in.byte(), 's'), std::string(in.byte() * 100u, 'l')},
		     .beyond = in.byte() % 4 ? 0 : in.word()});
}

// So many records, some of them spoken in a speculation that was committed; time goes on with each.
void fill_block(Decisions& in, test::BlockBytes& block, uint64_t& time, unsigned records) {
	unsigned restart = 0;
	for (; records; records--) {
		if (block.here() >= (restart + 1) * 1024 && restart < 3)
			block.restart(++restart);
		if (in.byte() == 0xff) {
			Bytes part;
			part.u32(DFR_REC_ID_LONG).u32(0).u64(time).context_body(1, 1, 1, "sh");
			part.u32(DFR_REC_HEAD(1, 0, 0)).u8(0).u8(in.byte());
			block.short_head(0, 0, 0)
			    .u8(DFR_CONTROL_GROUP)
			    .u32(1 + in.byte() % 3)
			    .u32(static_cast<uint32_t>(part.bytes.size()))
			    .u64(time);
			block.splice(part, 1);
		}
		block.short_head(1, 0, 1).u8(0).u8(in.byte());
		time++;
	}
}

// The blocks of a CPU, one behind the other.
std::vector<std::byte> ring_in_order(Decisions& in, unsigned cpu) {
	std::vector<std::byte> ring;
	uint64_t time = 10 + in.byte(), records = 0, seq = 1;
	for (unsigned left = 1 + in.byte() % 5; left; left--) {
		const uint8_t how = in.byte();
		test::BlockBytes block(static_cast<uint16_t>(cpu), seq, time);
		block.counters(0, records).opened(time - 1, time);
		block.long_head(0, 0, time).context(1, 1, 1, "sh");
		fill_block(in, block, time, how & 0x40 ? 200 + in.byte() : 1 + how % 16);
		records += block.records();
		std::vector<std::byte> bytes =
		    left > 1 || how & 0x80 ? block.sealed(true).bytes : block.open(true).bytes;
		if (how % 16 == 15) // its header, or a part of its records
			bytes[in.byte() % 2 ? in.byte() % 96 : in.half() % 4096] ^= std::byte{in.byte()};
		if (how % 32 == 14)
			bytes[4] ^= std::byte{8}; // of another version
		ring.insert(ring.end(), bytes.begin(), bytes.end());
		seq += how % 32 == 13 ? 2 + in.byte() % 3 : 1;
	}
	return ring;
}

// A machine that died in order: its catalog, rings, tables, speculations and tallies stand on the frames that
// their anchors list, and fit together but for what the decisions get wrong; some of it was displaced.
void fill_in_order(Decisions& in, Memory& memory) {
	const unsigned cpus = 1 + in.byte() % 2;
	const bool thin = in.byte() % 4 == 0;
	uint64_t next = 32, anchor_at = 256;
	const auto place = [&](uint32_t kind, unsigned cpu, unsigned half, uint32_t unit, uint64_t generation,
	                       std::span<const std::byte> bytes, unsigned pages) {
		std::vector<uint64_t> frames;
		for (unsigned i = 0; i < pages; i++)
			frames.push_back(next++);
		memory.put(frames, bytes);
		if (thin && in.byte() % 8 == 0)
			return;
		const uint8_t odd = in.byte();
		memory.anchor({.pfn = anchor_at++,
		               .kind = kind,
		               .cpu = cpu,
		               .half = half,
		               .generation = generation,
		               .unit = unit,
		               .frames = frames,
		               .stands_at = odd >= 0xf0 ? anchor_at++ : 0});
	};
	test::CatalogLog log(7, 0xb0);
	log.state("order", cpus, 4096, in.byte() % 3).clock(1, 0xb0).event(DFR_EVENT_GO, 0, 5);
	log.probe(1, "fbt", "vmlinux", "do_it", "entry").layout(1, {test::int_field(8)}).ecb(1, 1, 1);
	Bytes aggregation;
	aggregation.u32(1).u32(DFR_ACT_COUNT).u64(0).u32(0).u32(0);
	log.entry(DFR_CAT_AGG, aggregation);
	if (in.byte() % 2)
		log.event(in.byte() % 2 ? DFR_EVENT_STOP : DFR_EVENT_KILLED, 0, 900);
	log.done();
	for (unsigned flips = in.byte() % 8; flips > 5; flips--)
		log.bytes[in.half() % log.bytes.size()] ^= std::byte{in.byte()};
	if (in.byte() % 16 == 1)
		log.patch<uint32_t>(4, DFR_CATALOG_VERSION + 1);
	place(DFR_ANCHOR_CATALOG, 0, 0, 4096, 1, log.bytes, 1);
	if (in.byte() % 2) // the copy
		place(DFR_ANCHOR_CATALOG, 0, 1, 4096, 1, log.bytes, 1);
	const uint64_t merged = 4 + in.byte() % 2;
	for (unsigned cpu = 0; cpu < cpus; cpu++) {
		const std::vector<std::byte> ring = ring_in_order(in, cpu);
		place(DFR_ANCHOR_RING, cpu, 0, 4096, 1, ring, static_cast<unsigned>(ring.size() / 4096));
		for (unsigned half = 0; half < 2; half++) {
			const uint64_t generation = merged + (in.byte() % 8 ? 1 + half : in.byte() % 4);
			place(DFR_ANCHOR_AGG, cpu, half, 4096, generation,
			      proper_table(in, cpu, half, generation), 1);
		}
		place(DFR_ANCHOR_TALLY, cpu, 0, 4096, 1, make_tally(in), 1);
		const std::vector<std::byte> chunk = make_chunk(in);
		place(DFR_ANCHOR_SPEC, cpu, 0, 256, 1, chunk, 1);
	}
	place(DFR_ANCHOR_AGG, DFR_AGGTAB_BASE_CPU, 0, 4096, merged,
	      proper_table(in, DFR_AGGTAB_BASE_CPU, 0, merged), 1);
	if (in.byte() % 2)
		memory.panic(64 + 512, in.number(), "comm", "reason", 0xb0,
		             {.pfn = 600, .texts = {"ip=1", "stack", "log"}});
}

// Pages that are packed well, and whatever stands in them as a stream of the other decoders.
std::vector<std::byte> pack_zlib(const Memory::Page& page) {
	std::vector<std::byte> packed(compressBound(page.size()));
	uLongf size = packed.size();
	if (compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
	              reinterpret_cast<const Bytef*>(page.data()), page.size(), 1) != Z_OK)
		std::abort();
	packed.resize(size);
	return packed;
}
std::vector<std::byte> pack_half(const Memory::Page& page) {
	return {page.begin(), page.begin() + 2048};
}

std::vector<std::byte> make_dump(Decisions& in, const Memory& memory) {
	static constexpr uint32_t kCodecs[] = {recorder::kZlib, recorder::kLzo, recorder::kSnappy,
	                                       recorder::kZstd};
	const uint32_t codec = kCodecs[in.byte() % 8 < 4 ? 0 : in.byte() % 4];
	std::vector<std::byte> file = memory.kdump(codec, codec == recorder::kZlib ? pack_zlib : pack_half);
	return in.byte() % 2 ? Memory::flattened(file, 256u << in.byte() % 8) : file;
}

// The streams themselves, without a dump around them.
void unpack(Decisions& in) {
	static constexpr uint32_t kCodecs[] = {recorder::kLzo, recorder::kSnappy};
	const uint32_t codec = kCodecs[in.byte() % 2];
	std::vector<std::byte> page(1 + in.word() % 4096);
	const std::vector<std::byte> packed = in.rest();
	recorder::unpack_page(codec, packed, page);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
	static const fuzz::MemoryFile file;
	Decisions in(data, size);
	const uint8_t mode = in.byte();
	std::vector<std::byte> image;
	if (mode == 8)
		return unpack(in), 0;
	if (mode == 16) {
		Memory memory;
		fill_kernel(in, memory);
		image = memory.elf();
	} else if (mode == 24 || mode == 40) {
		Memory memory;
		fill_in_order(in, memory);
		image = mode == 24 ? memory.elf() : memory.raw();
	} else if (mode % 8 == 0) {
		image = in.rest();
	} else {
		Memory memory;
		fill(in, memory);
		image = mode % 3 == 0 ? make_dump(in, memory) : mode % 2 ? memory.elf() : memory.raw();
		for (unsigned flips = in.byte() % 4; flips > 1; flips--)
			image[in.word() % image.size()] ^= std::byte{in.byte()};
		if (in.byte() % 8 == 0)
			image.resize(in.word() % (image.size() + 1));
	}
	file.fill(image);
	// What the image has lost of its catalog may be lent by another recording, and somebody may watch.
	std::optional<trace::Catalog> lent;
	if (in.byte() % 4 == 1)
		lent = lent_catalog(in);
	const auto watch = [](uint64_t done, uint64_t all) {
		if (done > all)
			std::abort();
	};
	fuzz::tolerate([&] {
		for (const auto& source :
		     recorder::open_memory_image(file.path(), lent ? &*lent : nullptr, watch)) {
			fuzz::read_everything(*source);
			if (const auto in_flight = source->in_flight())
				fuzz::read_everything(*in_flight);
			if (const auto held = source->held())
				fuzz::read_everything(*held);
		}
	});
	return 0;
}
