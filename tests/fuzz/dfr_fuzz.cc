// SPDX-License-Identifier: GPL-2.0
//
// Fuzzes the readers of recordings. The first byte chooses what is read: a whole
// file as it stands; the payload of a segment, behind the checksums that would
// keep damage out; an engine's catalog log; an aggregation table; a block whose
// records were built from decisions, so that most of them parse; blocks as an engine
// writes them (proper_blocks.h) as columns, whole, damaged, and with a directory
// that says something else; a file that was written from blocks and then damaged; or catalogs, tables and losses that hold together (trace_entries.h),
// which must come back from a file as they went in.
//
// Targets: formats/trace/*.cc
#include "formats/abi/dof.h"
#include "formats/trace/batch.h"
#include "formats/trace/chunk.h"
#include "formats/trace/file.h"
#include "formats/trace/schema.h"
#include "formats/trace/seal.h"
#include "tests/fuzz/trace_columns.h"
#include "tests/fuzz/trace_entries.h"
#include "tests/fuzz/trace_input.h"
#include "tests/unit/trace_builder.h"

using namespace dfr;
using fuzz::Decisions;
using fuzz::tolerate;

namespace {

trace::Catalog make_catalog() {
	test::CatalogLog log;
	log.state("fuzz", 4, 4096, DFR_BUFPOLICY_RING).clock(5, 500);
	log.probe(1, "syscall", "vmlinux", "read", "entry", 3).probe(2, "fbt", "", "f", "return");
	log.layout(1, {test::int_field(8), test::int_field(4, true)});
	log.layout(2, {test::plain_field(DFR_FIELD_STRING, 64), test::int_field(1),
	               test::plain_field(DFR_FIELD_BYTES, 5), test::plain_field(DFR_FIELD_VARBYTES, 64),
	               test::plain_field(DFR_FIELD_STACK, 8), test::plain_field(DFR_FIELD_USTACK, 8),
	               test::plain_field(DFR_FIELD_USYM, 16), test::plain_field(DFR_FIELD_PROBETEXT, 1)});
	log.layout(3, {}).ecb(1, 1, 1).ecb(2, 2, 2).ecb(3000, 1, 3);
	trace::Catalog catalog;
	catalog.parse(log.done());
	return catalog; // without a DOF: any block may hold speculations
}

void put_head(Decisions& in, test::BlockBytes& block, uint32_t id) {
	if (id > DFR_REC_ID_SHORT_MAX || in.byte() % 8 == 0)
		block.long_head(id, in.byte() & 3, in.number());
	else
		block.short_head(id, in.byte() & 3, in.half() & 0x7ff);
}

void put_control(Decisions& in, test::BlockBytes& block) {
	put_head(in, block, 0);
	switch (in.byte() % 5) {
	case 0: block.context(in.byte(), in.byte(), in.byte(), std::string(in.byte() % 20, 'c')); break;
	case 1: block.u8(DFR_CONTROL_NOTE).u8(in.byte() % 10).u8(in.byte()).u64(in.number()); break;
	case 2: block.u8(DFR_CONTROL_GROUP).u32(in.byte() % 4).u32(in.byte()).u64(in.number()); break;
	case 3:
		block.u8(DFR_CONTROL_LOSS)
		    .u8(in.byte() % 20)
		    .u32(in.byte())
		    .u64(in.number())
		    .u64(in.number())
		    .u64(in.number());
		break;
	default: block.u8(in.byte());
	}
}

void put_record(Decisions& in, test::BlockBytes& block) {
	const uint32_t epids[] = {1, 1, 2, 3000, in.byte()};
	const uint32_t epid = epids[in.byte() % 5];
	put_head(in, block, epid);
	if (epid == 1) {
		const uint8_t codes = in.byte() & 15;
		block.u8(codes);
		for (int i = 0; i < (1 << (codes & 3)) + (1 << (codes >> 2)); i++)
			block.u8(in.byte());
	} else if (epid == 2) {
		block.u8(0).text(std::string(in.byte() % 30, 's')).u8(in.byte());
		for (int i = 0; i < 5; i++)
			block.u8(in.byte());
		const uint16_t bytes = in.byte() % 16;
		block.u16(bytes);
		for (int i = 0; i < bytes; i++)
			block.u8(in.byte());
		const uint8_t frames = in.byte() % 4;
		block.u8(frames);
		for (int i = 0; i < frames; i++)
			block.u64(in.number());
		block.u32(in.byte()).u8(1).u64(in.number());
		block.u64(in.byte()).u64(in.number());
	}
}

trace::Block make_block(Decisions& in, uint64_t seq) {
	test::BlockBytes block(in.byte() % 3, seq, in.number());
	block.counters(in.byte(), in.byte());
	block.long_head(0, 0, in.number()).context(1, 1, 1, "sh");
	unsigned restart = 0;
	for (unsigned left = in.byte(); left && in.left() && block.here() < 3900; left--) {
		if (block.here() >= (restart + 1) * 1024 && restart < 3)
			block.restart(++restart);
		if (in.byte() % 4)
			put_record(in, block);
		else
			put_control(in, block);
	}
	trace::Block result = in.byte() % 2 ? block.sealed() : block.open();
	if (result.bytes.size() > 4096) // the last record went over the end
		result.bytes.resize(4096);
	for (unsigned flips = in.byte() % 4; flips > 1; flips--)
		result.bytes[in.half() % result.bytes.size()] ^= std::byte{in.byte()};
	result.bytes = {result.bytes.begin(), result.bytes.end()}; // no room behind it
	result.verified = in.byte() % 8 == 0 || trace::block_is_verified(result.bytes);
	return result;
}

void fuzz_blocks(Decisions& in) {
	test::ListSource source;
	source.the_catalog = make_catalog();
	for (uint64_t seq = 1; in.left() && seq < 6; seq++)
		source.blocks.push_back(make_block(in, in.byte() % 8 ? seq : in.number()));
	fuzz::read_everything(source);
}

void fuzz_written_file(Decisions& in) {
	static const fuzz::MemoryFile file;
	const std::string path = "/dev/shm/dfr-fuzz-" + std::to_string(getpid());
	std::vector<std::byte> bytes;
	{
		const trace::Catalog catalog = make_catalog();
		trace::FileWriter writer(path, true, [&]() -> const trace::Catalog& { return catalog; });
		writer.catalog();
		const unsigned damage = in.byte();
		for (uint64_t seq = 1; in.left() && seq < 5; seq++) {
			writer.block(make_block(in, seq));
			if (in.byte() % 2)
				writer.flush();
		}
		writer.aggregations({{.varid = 1, .kind = DFR_ACT_COUNT, .key = {}, .words = {1}}});
		if (damage % 4)
			writer.finish();
		else
			writer.flush();
		bytes.resize(writer.size());
	}
	FILE* stream = std::fopen(path.c_str(), "rb");
	if (!stream || std::fread(bytes.data(), 1, bytes.size(), stream) != bytes.size())
		std::abort();
	std::fclose(stream);
	unlink(path.c_str());
	for (unsigned flips = in.byte() % 4; flips; flips--)
		bytes[in.half() % bytes.size()] ^= std::byte{in.byte()};
	if (in.byte() % 4 == 0)
		bytes.resize(in.half() % (bytes.size() + 1));
	if (in.byte() % 8 == 1) { // behind another one, which may be cut
		const std::vector<std::byte> second = bytes;
		bytes.resize(in.byte() % 2 ? bytes.size() : in.half() % (bytes.size() + 1));
		bytes.insert(bytes.end(), second.begin(), second.end());
	}
	file.fill(bytes);
	fuzz::read_file(file.path());
}

// Any blocks in a chunk come out as they went in.
void fuzz_odd_chunk(Decisions& in) {
	const trace::Catalog catalog = make_catalog();
	trace::Block block = make_block(in, 1);
	if (!trace::block_is_sane(block.bytes))
		return;
	block.bytes.resize(block.header().hdr_size + block.header().committed);
	const auto chunk = trace::decode_chunk(trace::encode_chunk({&block, 1}, catalog));
	if (!chunk || chunk->size() != 1 || chunk->front().bytes != block.bytes)
		std::abort();
}

// Entries of every type, with any words and texts in them.
void fuzz_catalog(Decisions& in) {
	test::CatalogLog log;
	for (unsigned left = in.byte() % 8; left; left--) {
		test::Bytes body;
		for (unsigned words = in.byte() % 12; words; words--) {
			if (in.byte() % 4)
				body.u32(static_cast<uint32_t>(in.number()));
			else
				body.text("name=value");
		}
		log.entry(in.byte() % 16, body);
	}
	const std::vector<std::byte> bytes = log.done();
	trace::Catalog salvaged; // as of a log whose head is gone
	salvaged.begin(1, {});
	for (size_t at = 0; at < bytes.size(); at += 8)
		if (const auto entry = trace::whole_entry(bytes, at, nullptr); !entry.empty())
			tolerate([&] { salvaged.add_entry(entry, at); });
	trace::Catalog catalog;
	catalog.parse(std::vector<std::byte>(bytes.begin(), bytes.end()));
}

void require(bool same) {
	if (!same)
		std::abort();
}

// What is written of a catalog is read as it was, in one part or as it grows.
void fuzz_proper_catalog(Decisions& in) {
	const trace::Catalog catalog = fuzz::some_catalog(in);
	trace::CatalogMark once, again;
	const std::vector<std::byte> written = trace::encode_catalog(catalog, once);
	require(trace::encode_catalog(catalog, once).empty());
	trace::Catalog back;
	trace::decode_catalog(written, back);
	require(trace::encode_catalog(back, again) == written);
	const uint64_t time = in.number();
	require(back.walltime(time) == catalog.walltime(time));
	for (uint32_t epid = 0; epid < 8; epid++)
		require(!back.probe_of(epid) == !catalog.probe_of(epid) &&
		        !back.layout_of(epid) == !catalog.layout_of(epid));
}

void fuzz_proper_aggregations(Decisions& in) {
	std::vector<trace::AggEntry> entries;
	for (unsigned tables = 1 + in.byte() % 3; tables; tables--)
		trace::merge_aggregation_table(fuzz::some_table(in), entries);
	const std::vector<trace::AggEntry> back =
	    trace::decode_aggregations(trace::encode_aggregations(entries));
	require(back.size() == entries.size());
	for (size_t i = 0; i < back.size(); i++)
		require(back[i].key == entries[i].key && back[i].words == entries[i].words &&
		        back[i].kind == entries[i].kind);
	const trace::Ledger ledger = fuzz::some_ledger(in);
	const std::vector<std::byte> written = trace::encode_ledger(ledger);
	require(trace::encode_ledger(trace::decode_ledger(written)) == written);
}

template <typename... Lists> size_t bytes_of(const Lists&... lists) {
	return (0 + ... + (lists.size() * sizeof(lists[0])));
}

// What was read of a message takes no more than its size, some times, whatever its lists say.
void require_inside(std::span<const std::byte> message, size_t read) {
	require(read <= 8 * message.size());
}

void fuzz_index(Decisions& in) {
	const auto message = in.rest();
	const trace::Index index = trace::decode_index(message);
	require_inside(message, bytes_of(index.chunks, index.others));
}

// Types come back as they were; what is in them is read as the compiler reads it.
void fuzz_types(Decisions& in) {
	if (in.byte() & 1)
		return fuzz::read_types(trace::decode_types(in.rest()));
	trace::RecordedTypes types{.digest = in.number(), .left_out = in.byte(), .btf = {}, .probes = {}};
	for (unsigned left = in.byte() % 4; left; left--) {
		auto& probe = types.probes[fuzz::some_text(in)];
		probe.why_untyped = fuzz::some_text(in);
		for (unsigned args = in.byte() % 4; args; args--)
			probe.args.push_back({fuzz::some_text(in), fuzz::some_text(in), fuzz::some_text(in),
			                      in.byte(), (in.byte() & 1) != 0});
	}
	const auto rest = in.rest();
	types.btf[fuzz::some_text(in)] = {rest.begin(), rest.end()};
	const std::vector<std::byte> written = trace::encode_types(types);
	const trace::RecordedTypes back = trace::decode_types(written);
	require(trace::encode_types(back) == written && back.btf == types.btf);
	fuzz::read_types(back);
}

// Events that hold together come back as they were; others are refused.
void fuzz_kernel_events(Decisions& in) {
	if (in.byte() & 1) {
		const auto message = in.rest();
		const trace::KernelEvents events = trace::decode_kernel_events(message);
		require_inside(message, bytes_of(events.texts, events.events, events.remarks));
		fuzz::read_kernel_events(events);
		return;
	}
	trace::KernelEventsBuilder made;
	made.events.lost = in.number();
	for (unsigned left = in.byte() % 16; left; left--)
		made.add(in.number(), in.byte(), in.half(), fuzz::some_text(in), fuzz::some_text(in));
	for (unsigned left = in.byte() % 4; left; left--)
		made.events.remarks.push_back(fuzz::some_text(in));
	const std::vector<std::byte> written = trace::encode_kernel_events(made.events);
	const trace::KernelEvents back = trace::decode_kernel_events(written);
	require(trace::encode_kernel_events(back) == written);
	fuzz::read_kernel_events(back);
}

// Names that hold together come back as they were, and answer; others are refused.
void fuzz_names(Decisions& in) {
	if (in.byte() & 1) {
		trace::KnownNames known;
		const auto message = in.rest();
		const trace::AddressNames names = trace::decode_names(message);
		require_inside(message, bytes_of(names.texts, names.kernel, names.files, names.symbols,
		                                 names.mappings, names.modules));
		known.add(names);
		known.kernel(in.number(), in.number());
		known.user(1, in.number(), in.number());
		return;
	}
	trace::KnownNames known;
	std::vector<uint64_t> starts;
	for (unsigned left = in.byte() % 16; left; left--) {
		const uint64_t start = in.half(), size = in.byte(), since = in.byte();
		const uint32_t file = known.add_file(fuzz::some_text(in), fuzz::some_text(in));
		const std::string module = fuzz::some_text(in);
		starts.push_back(start);
		known.add_kernel(start, size, since, module, fuzz::some_text(in));
		known.add_symbol(file, in.byte(), size, fuzz::some_text(in));
		known.add_mapping({.pid = in.byte() % 4u,
		                   .file = file,
		                   .start = start,
		                   .end = start + size,
		                   .offset = in.byte(),
		                   .since = since,
		                   .seen = in.byte(),
		                   .until = in.byte()});
		known.add_module(in.byte() % 4 ? module : fuzz::some_text(in),
		                 {.start = start, .size = size, .since = since, .until = in.byte()});
	}
	trace::KnownNames back;
	back.add(trace::decode_names(trace::encode_names(known.fresh())));
	for (unsigned asked = 0; asked < 16; asked++) {
		const uint16_t near = in.half();
		const uint64_t address = starts.empty() || near % 4 == 0
		                             ? near
		                             : starts[near % starts.size()] + (near >> 12),
		               time = in.byte();
		const auto one = known.kernel(address, time), other = back.kernel(address, time);
		require(one.has_value() == other.has_value() && (!one || address - one->offset <= address));
		for (uint32_t pid = 0; pid < 4; pid++)
			known.user(pid, address, time);
	}
	require(back.size() >= known.size() - known.files());
}

// Blocks that are sealed late, in a chunk with a few bytes wrong.
void fuzz_chunk(Decisions& in) {
	const trace::Catalog catalog = make_catalog();
	std::vector<trace::Block> blocks;
	trace::BlockDecoder decoder(catalog);
	trace::DecodeDamage damage;
	trace::Losses losses;
	for (uint64_t seq = 1; in.left() && seq < 4; seq++) {
		trace::Block block = make_block(in, seq);
		if (!trace::block_is_sane(block.bytes))
			continue;
		trace::seal_block(block);
		unsigned left = in.byte();
		decoder.decode(
		    block, [&](const trace::Record&) { return left-- != 0; }, &losses);
		damage.add(decoder.damage());
		const dfr_block head = block.header();
		block.bytes.resize(head.hdr_size + head.committed);
		blocks.push_back(std::move(block));
	}
	if (blocks.empty())
		return;
	std::vector<std::byte> chunk = trace::encode_chunk(blocks, catalog);
	for (unsigned flips = in.byte() % 4; flips; flips--)
		chunk[(in.byte() % 2 ? in.byte() % 64 : in.half()) % chunk.size()] ^= std::byte{in.byte()};
	if (in.byte() % 8 == 0)
		chunk.resize(in.half() % (chunk.size() + 1));
	trace::decode_chunk(chunk);
	// As a harvest asks of memory, parts of which are lost.
	for (const trace::Block& block : blocks) {
		trace::own_is_right(block.bytes);
		trace::sound_intervals(block.bytes);
	}
}

// Also of a part that was cut out of a recording.
struct CopiedSource : test::ListSource {
	std::map<uint32_t, trace::PartOf> parts() override { return of; }
	std::map<uint32_t, trace::PartOf> of;
};

// What came to the recording, and what was lost or left out of it.
void put_more(Decisions& in, trace::Catalog& catalog, trace::Losses& losses) {
	static constexpr const char* kTexts[] = {"", "app:::open*"};
	for (trace::Ecb& ecb : catalog.ecbs)
		ecb.priority = in.byte() % 4;
	for (unsigned left = in.byte() % 4; left; left--)
		catalog.events.push_back(fuzz::some_mark(
		    in, [&] { return in.number(); }, kTexts));
	for (unsigned left = in.byte() % 4; left; left--)
		losses.add(fuzz::some_stretch(
		    in, [&] { return in.number(); }, [&] { return in.number(); }));
}

// Names, types and events of the kernel, some of which no reader can make sense of.
void write_more(Decisions& in, trace::FileWriter& writer) {
	const uint8_t what = in.byte();
	trace::KnownNames names;
	for (unsigned left = in.byte() % 4; left; left--)
		names.add_kernel(in.half(), in.byte(), in.byte(), fuzz::some_text(in), "vmlinux");
	writer.names(names.fresh());
	if (what & 1)
		writer.types({.digest = 1, .btf = {{"vmlinux", {}}}, .probes = {}});
	if (what & 2) {
		trace::KernelEventsBuilder made;
		made.add(in.number(), in.byte(), in.half(), fuzz::some_text(in), fuzz::some_text(in));
		writer.kernel_events(made.events);
	}
	if (what & 4)
		writer.pass_on({.type = static_cast<uint16_t>(5 + in.byte() % 12),
		                .flags = static_cast<uint16_t>(in.byte() % 8)},
		               {});
	if (what & 8)
		writer.require_there();
	require(writer.chunk_bytes() <= writer.size() && writer.catalog_bytes() <= writer.size());
	require(writer.next_part().number > 0 && writer.unusable() <= writer.size());
}

trace::FilePart some_part(Decisions& in) {
	if (in.byte() % 2)
		return {};
	trace::FilePart part{.series = in.number(), .number = in.byte(), .since = in.number()};
	for (unsigned left = in.byte() % 3; left; left--)
		part.before[in.byte() % 4u] = {.seq = in.number(), .records = in.number()};
	return part;
}

// As who asks for a part of it, and of some probes.
void read_parts(Decisions& in, trace::FileSource& file) {
	trace::Merger merger(file);
	merger.open();
	merger.select({.from = in.number(), .to = in.byte() % 2 ? in.number() : UINT64_MAX, .cpus = {}});
	merger.run([](const trace::Record&) { return true; });
	const uint32_t wanted = in.byte() % 4;
	trace::judge(file, merger, trace::asked_about(file.catalog(), [&](const trace::Probe& probe) {
		             return probe.id == wanted;
	             }));
	merger.losses().total();
	file.catalog().entered();
	for (const trace::BlockRef& ref : file.index())
		if (const auto stored = file.columns(ref, [](const auto&) { return true; }))
			stored->columns->tasks();
}

// A source with a bit of everything, copied to a file, which is read.
void fuzz_copy(Decisions& in) {
	const std::string path = "/dev/shm/dfr-fuzz-copy-" + std::to_string(getpid());
	CopiedSource source;
	source.the_catalog = in.byte() % 4 ? make_catalog() : fuzz::some_catalog(in);
	trace::merge_aggregation_table(fuzz::some_table(in), source.aggs);
	source.lost = fuzz::some_ledger(in).losses;
	const uint8_t end = in.byte();
	Decisions more = in.last_quarter();
	for (uint64_t seq = 1; in.left() && seq < 5; seq++)
		source.blocks.push_back(make_block(in, seq));
	{
		const auto now = [&]() -> const trace::Catalog& { return source.the_catalog; };
		trace::FileWriter writer(path, true, now, trace::local_file(), some_part(more));
		tolerate([&] { trace::FileWriter(path, false, now); }); // it is there
		for (unsigned left = more.byte() % 4; left; left--)
			source.of[more.byte() % 4u] = {more.number(), more.byte(), more.byte()};
		put_more(more, source.the_catalog, source.lost);
		trace::copy_to_file(source, writer);
		writer.snapshot({.time = 1, .entries = source.aggs});
		write_more(more, writer);
		writer.account(source, more.byte() % 2 ? more.number() : 0);
		if (end >= 0xf0)
			writer.give_up(source, "no room");
		if (end % 4)
			writer.finish();
		if (end % 4 == 2)
			writer.finish();
	}
	const auto file = trace::open_file(path);
	tolerate([&] { fuzz::read_file(path); });
	unlink(path.c_str());
	require(file->facts().finished == (end % 4 != 0 || end >= 0xf0));
	while (file->next_snapshot())
		;
	fuzz::read_everything(*file);
	read_parts(more, *file);
}

void fuzz_proper(uint8_t choice, Decisions& in) {
	switch (choice % 4) {
	case 0: return fuzz_proper_catalog(in);
	case 1: return fuzz_proper_aggregations(in);
	case 2: return fuzz_chunk(in);
	default: return fuzz_copy(in);
	}
}

void fuzz_whole_file(Decisions& in) {
	static const fuzz::MemoryFile file;
	file.fill(in.rest());
	fuzz::read_file(file.path());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
	Decisions in(data, size);
	const uint8_t choice = in.byte();
	if (choice >= 240) {
		tolerate([&] { fuzz_proper(choice, in); });
		return 0;
	}
	switch (choice % 12) {
	case 0: tolerate([&] { fuzz_whole_file(in); }); break;
	case 1: tolerate([&] { fuzz_written_file(in); }); break;
	case 2:
		tolerate([&] {
			trace::Catalog catalog;
			trace::decode_catalog(in.rest(), catalog);
		});
		break;
	case 3: tolerate([&] { trace::decode_aggregations(in.rest()); }); break;
	case 4:
		tolerate([&] {
			const uint8_t what = in.byte();
			if (what >= 240)
				return fuzz_kernel_events(in);
			if (what % 3)
				return what % 3 == 1 ? fuzz_names(in) : fuzz_types(in);
			trace::decode_ledger(in.rest());
		});
		break;
	case 5: tolerate([&] { fuzz_index(in); }); break;
	case 6:
		tolerate([&] {
			if (in.byte() & 1)
				return fuzz_catalog(in);
			trace::Catalog catalog;
			catalog.parse(in.rest());
		});
		break;
	case 7: {
		std::vector<trace::AggEntry> entries;
		trace::merge_aggregation_table(in.rest(), entries);
		trace::decode_chunk(in.rest());
		break;
	}
	case 8: {
		dfr_block head = test::BlockBytes(0, 1, 1, 512).sealed().header();
		head.committed = in.byte();
		fuzz::ask_columns(in.rest(), {&head, 1});
		break;
	}
	case 9: (in.byte() % 4 ? fuzz::fuzz_columns : fuzz_odd_chunk)(in); break;
	case 10: fuzz::fuzz_columns(in); break;
	default: fuzz_blocks(in);
	}
	return 0;
}
