// SPDX-License-Identifier: GPL-2.0
//
// Columns give back every byte: of blocks with every kind of field and control
// record, with restart tables, and of blocks that cannot be walked at all.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "formats/trace/chunk.h"
#include "formats/trace/columns.h"
#include "formats/trace/crc32c.h"
#include "formats/trace/decode.h"
#include "tests/unit/proper_blocks.h"
#include "tests/unit/trace_builder.h"

namespace trace_columns_test {

using namespace dfr;
using test::BlockBytes;
using test::Bytes;

namespace {

trace::Catalog make_catalog() {
	test::CatalogLog log;
	log.probe(1, "p", "m", "f", "n");
	log.layout(1, {test::int_field(8), test::int_field(4, true)});
	log.layout(2, {test::plain_field(DFR_FIELD_STRING, 64), test::int_field(2),
	               test::plain_field(DFR_FIELD_BYTES, 3), test::plain_field(DFR_FIELD_VARBYTES, 64),
	               test::plain_field(DFR_FIELD_STACK, 8), test::plain_field(DFR_FIELD_USTACK, 8),
	               test::plain_field(DFR_FIELD_USYM, 16), test::plain_field(DFR_FIELD_PROBETEXT, 2)});
	log.layout(3, {}).ecb(1, 1, 1).ecb(2, 1, 2).ecb(3000, 1, 3);
	trace::Catalog catalog;
	catalog.parse(log.done());
	return catalog;
}

// Records of all kinds, a restart point in each KiB.
trace::Block varied_block(uint64_t seq) {
	BlockBytes block(0, seq, 1000, 4096);
	block.long_head(0, 0, 1000).context(1, 1, 1, "shell");
	unsigned restart = 0;
	for (unsigned i = 0; block.here() < 3600; i++) {
		if (block.here() >= (restart + 1) * DFR_RESTART_BYTES)
			block.restart(++restart);
		switch (i % 6) {
		case 0:
			block.short_head(1, 1, 30 + i).u8(0b0011).u64(0xffff888000000000 + i).u8(i & 7);
			break;
		case 1: block.long_head(3000, 2, 5'000'000 * (i + 1)); break;
		case 2:
			block.short_head(0, 0, 1).u8(DFR_CONTROL_NOTE).u8(1).u8(1).u64(0xdead);
			block.short_head(2, 0, 7).u8(0).text("hello").u8(9).u8('a').u8('b').u8('c');
			block.u16(2).u8('x').u8('y').u8(1).u64(0x1111).u32(77).u8(1).u64(0x3333).u64(77).u64(
			    0x44);
			break;
		case 3: block.short_head(0, 0, 2).loss_body(DFR_LOSS_PRINCIPAL, 1, 5, 1, 2); break;
		case 4: block.short_head(0, 0, 3).context(2, 2, 2, "a-fifteen-chars"); break;
		default: block.short_head(1, 0, 0x7ffff).u8(0).u8(1).u8(2);
		}
	}
	return block.sealed();
}

trace::Block speculative_block() {
	BlockBytes block(0, 9, 60, 4096);
	block.long_head(0, 0, 100).context(5, 5, 5, "sh");
	Bytes part;
	part.u32(0x7ff).u32(0).u64(60).context_body(9, 9, 9, "spec");
	part.u32(1 | 2 << 13).u8(0).u8(42).u8(0);
	block.short_head(0, 0, 100).u8(DFR_CONTROL_GROUP).u32(3).u32(part.bytes.size()).u64(200);
	block.splice(part, 1);
	block.short_head(0, 0, 0).context(5, 5, 5, "sh");
	block.short_head(1, 0, 10).u8(0).u8(2).u8(0);
	return block.sealed();
}

// Blocks as columns, without the chunk around them.
struct Chunk {
	Chunk(const std::vector<trace::Block>& blocks, const trace::Catalog& catalog)
	    : stored(trace::encode_columns(blocks, catalog).value()) {
		for (const trace::Block& block : blocks)
			headers.push_back(block.header());
	}
	std::optional<trace::ChunkColumns> open() const { return trace::ChunkColumns::open(stored, headers); }
	std::vector<std::byte> stored;
	std::vector<dfr_block> headers;
};

// The encoding that the chunk got; checks that it gives back the blocks.
trace::ChunkEncoding round_trip(const std::vector<trace::Block>& blocks,
                                const trace::Catalog& catalog = make_catalog()) {
	const std::vector<std::byte> chunk = trace::encode_chunk(blocks, catalog);
	const auto back = trace::decode_chunk(chunk);
	REQUIRE(back);
	REQUIRE(back->size() == blocks.size());
	for (size_t i = 0; i < blocks.size(); i++)
		CHECK((*back)[i].bytes == blocks[i].bytes);
	trace::ChunkHead head;
	std::memcpy(&head, chunk.data(), sizeof(head));
	return static_cast<trace::ChunkEncoding>(head.encoding);
}

} // namespace

TEST_CASE("columns give back blocks with every kind of record", "[trace][columns]") {
	CHECK(round_trip({varied_block(1), varied_block(2), varied_block(3)}) ==
	      trace::ChunkEncoding::kColumns);
	CHECK(round_trip({speculative_block(), varied_block(10), varied_block(11)}) ==
	      trace::ChunkEncoding::kColumns);
}

TEST_CASE("blocks that cannot be walked are kept as they are", "[trace][columns]") {
	trace::Block bad = varied_block(2);
	// An EPID that the catalog does not know, right behind the first context (16 + 5 + 6 bytes).
	bad.bytes[bad.header().hdr_size + 27] ^= std::byte{0x70};
	bad.verified = false;
	round_trip({varied_block(1), bad, varied_block(3)});
	trace::Block empty = varied_block(4);
	dfr_block head = empty.header();
	head.committed = 0;
	std::memcpy(empty.bytes.data(), &head, sizeof(head));
	empty.bytes.resize(head.hdr_size);
	round_trip({empty});
	round_trip({empty, varied_block(5)});
}

TEST_CASE("a chunk cannot ask for more memory than a writer's chunk has", "[trace][columns]") {
	// Sixteen thousand headers, each of a block of 256 KiB: 4 GiB from 1.3 MB.
	std::vector<dfr_block> headers(16'384);
	for (dfr_block& head : headers) {
		head.size = DFR_BLOCK_MAX;
		head.hdr_size = sizeof(dfr_block);
		head.committed = DFR_BLOCK_MAX - sizeof(dfr_block);
	}
	const auto decoded = [&](size_t blocks, uint32_t stored) {
		const auto some = std::span(headers).first(blocks);
		trace::ChunkHead head{.encoding = 1, .cpu = 0, .blocks = static_cast<uint32_t>(blocks)};
		head.raw = static_cast<uint32_t>(blocks * headers[0].committed);
		head.stored = stored;
		head.checksum =
		    trace::crc32c(std::as_bytes(some), trace::crc32c(std::as_bytes(std::span(&head, 1))));
		std::vector<std::byte> chunk(sizeof head + some.size_bytes() + stored);
		std::memcpy(chunk.data(), &head, sizeof head);
		std::memcpy(chunk.data() + sizeof head, some.data(), some.size_bytes());
		return trace::decode_chunk_headers(chunk, chunk.size()).has_value();
	};
	CHECK(decoded(3, 64 << 10)); // 768 KiB
	CHECK_FALSE(decoded(4, 64 << 10));
	CHECK_FALSE(decoded(headers.size(), 64 << 10));
	// Nor for more than 256 times what it has in the file: zstd makes 768 KiB of 38 bytes.
	CHECK(decoded(3, 3 * headers[0].committed / 256));
	CHECK_FALSE(decoded(3, 3 * headers[0].committed / 256 - 1));
	CHECK_FALSE(decoded(3, 38));
}

TEST_CASE("blocks that zstd makes very small are stored in so many bytes that readers believe them",
          "[trace][columns]") {
	for (const unsigned records : {1, 2, 40}) {
		test::BlockBytes block(0, 1, 1'000'000, DFR_BLOCK_MAX);
		block.long_head(0, 0, 1'000'000).context(1, 1, 1, "sh");
		for (unsigned i = 0; i < records; i++) {
			block.short_head(1, 0, 1);
			block.bytes.resize(block.bytes.size() + 200'000 / records);
		}
		const std::vector<trace::Block> blocks = {block.sealed()};
		test::CatalogLog log;
		trace::Catalog catalog;
		catalog.parse(log.state("zeros", 1, DFR_BLOCK_MAX, DFR_BUFPOLICY_SWITCH)
		                  .probe(1, "p", "", "", "n")
		                  .layout(1, {test::plain_field(DFR_FIELD_BYTES, 200'000 / records)})
		                  .ecb(1, 1, 1)
		                  .done());
		const std::vector<std::byte> chunk = trace::encode_chunk(blocks, catalog);
		CHECK(chunk.size() < 10'000);
		const auto back = trace::decode_chunk(chunk);
		REQUIRE(back);
		CHECK(back->front().bytes == blocks.front().bytes);
	}
}

TEST_CASE("a restart table that a walk would not give survives", "[trace][columns]") {
	for (const size_t at : {0, 8, 9, 12, 16, 24, 40}) {
		trace::Block odd = varied_block(1);
		odd.bytes[sizeof(dfr_block) + at] ^= std::byte{0x11};
		round_trip({odd, varied_block(2)});
	}
}

namespace {

std::string_view text_of(std::span<const std::byte> bytes) {
	return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void same_value(const trace::FieldColumn& field, const std::vector<uint64_t>& column, size_t at,
                const trace::Value& value, const trace::ByteStrings& table) {
	if (field.kind == DFR_FIELD_PROBETEXT)
		return;
	const uint64_t number = column.at(at);
	if (field.kind == DFR_FIELD_INT) {
		CHECK(number == value.number);
		return;
	}
	std::span<const std::byte> bytes = table.at(number);
	if (field.kind == DFR_FIELD_USTACK) { // pid and number of frames stand in front
		CHECK(trace::load<uint32_t>(bytes.data()) == value.number);
		bytes = bytes.subspan(5);
	}
	CHECK(text_of(bytes) == value.text());
}

// Every value of every record as the rows have it and as the columns have it.
void same_as_rows(const std::vector<trace::Block>& blocks, const trace::Catalog& catalog) {
	const Chunk chunk(blocks, catalog);
	auto columns = chunk.open();
	REQUIRE(columns);
	const auto places = columns->records();
	const auto tasks = columns->tasks();
	const auto texts = columns->texts(), bytes = columns->bytes();
	REQUIRE((places && tasks && texts && bytes));
	std::map<const trace::FieldColumn*, std::vector<uint64_t>> values;
	for (const trace::EpidColumns& epid : columns->epids())
		for (const trace::FieldColumn& field : epid.fields)
			values[&field] = columns->integers(field).value();
	std::map<uint32_t, size_t> met; // by EPID
	size_t row = 0;
	trace::BlockDecoder decoder(catalog);
	for (const trace::Block& block : blocks)
		decoder.decode(block, [&](const trace::Record& record) {
			const trace::RecordPlace& place = places->records.at(row++);
			const trace::EpidColumns& epid = columns->epids().at(place.epid);
			CHECK(epid.epid == record.epid);
			CHECK(place.time == record.time);
			CHECK(place.level == record.level);
			CHECK((place.task == trace::kNoTask) == record.context.execname.empty());
			if (place.task != trace::kNoTask) {
				const trace::Task& task = tasks->at(place.task);
				CHECK(task.task == record.context.task);
				CHECK(task.pid == record.context.pid);
				CHECK(task.tid == record.context.tid);
				CHECK(text_of(texts->at(task.execname)) == record.context.execname);
			}
			const size_t at = met[record.epid]++;
			REQUIRE(epid.fields.size() == record.fields.size());
			for (size_t i = 0; i < epid.fields.size(); i++)
				same_value(epid.fields[i], values[&epid.fields[i]], at, record.fields[i],
				           epid.fields[i].kind == DFR_FIELD_STRING ? *texts : *bytes);
			return true;
		});
	CHECK(row == places->records.size());
}

} // namespace

TEST_CASE("single columns are what the rows have", "[trace][columns]") {
	same_as_rows({varied_block(1), varied_block(2)}, make_catalog());
	same_as_rows({speculative_block(), varied_block(10)}, make_catalog());
	for (uint32_t seed = 1; seed <= 100; seed++) {
		INFO("seed " << seed);
		std::minstd_rand random(seed);
		std::vector<uint8_t> bytes(16 * 1024);
		std::generate(bytes.begin(), bytes.end(),
		              [&] { return static_cast<uint8_t>(random() >> 8); });
		fuzz::Decisions in(bytes.data(), bytes.size());
		test::ProperBlocks proper(in);
		const std::vector<trace::Block> blocks = {proper.block(1), proper.block(2), proper.block(3)};
		CHECK(round_trip(blocks, proper.catalog()) == trace::ChunkEncoding::kColumns);
		same_as_rows(blocks, proper.catalog());
	}
}

TEST_CASE("what stands between records is found in the columns", "[trace][columns]") {
	const std::vector<trace::Block> blocks = {speculative_block(), varied_block(10)};
	const Chunk chunk(blocks, make_catalog());
	auto columns = chunk.open();
	REQUIRE(columns);
	const auto places = columns->records();
	REQUIRE(places);
	const std::vector<trace::ControlPlace>& controls = places->controls;
	REQUIRE(controls.size() > 4);
	CHECK(controls[0].kind == DFR_CONTROL_GROUP);
	CHECK(controls[0].record == 0);
	CHECK(controls[0].time == 200);
	CHECK(controls[0].payload.size() == 16);
	CHECK(controls[1].kind == trace::kGroupEnd); // behind the one record of the group
	CHECK(controls[1].record == 1);
	CHECK(places->records[0].time == 62);
	CHECK(places->records[1].time == 210);
	const auto note = std::find_if(controls.begin(), controls.end(),
	                               [](const auto& c) { return c.kind == DFR_CONTROL_NOTE; });
	REQUIRE(note != controls.end());
	CHECK(note->payload.size() == 10);
	CHECK(note->payload[0] == std::byte{1}); // of the field 1 of the record that follows
	CHECK(columns->epids()[places->records[note->record].epid].epid == 2);
}

TEST_CASE("a column's head knows its least and greatest value", "[trace][columns]") {
	BlockBytes block(0, 1, 1000, 4096);
	block.long_head(0, 0, 1000).context(1, 1, 1, "shell");
	block.short_head(1, 0, 5).u8(0b0000).u8(200).u8(0xff); // 200, -1
	block.short_head(1, 0, 5).u8(0b0000).u8(7).u8(0x80);   // 7, -128
	block.short_head(1, 0, 5).u8(0b0011).u64(~0ull).u8(5);
	const Chunk chunk({block.sealed()}, make_catalog());
	const auto columns = chunk.open();
	REQUIRE(columns);
	REQUIRE(columns->epids().size() == 1);
	const auto& fields = columns->epids()[0].fields;
	CHECK(fields[0].column.least == 7);
	CHECK(fields[0].column.greatest == ~0ull);
	CHECK(static_cast<int64_t>(fields[1].column.least) == -128);
	CHECK(static_cast<int64_t>(fields[1].column.greatest) == 5);
	CHECK(columns->frames_unpacked() == 0);
}

TEST_CASE("a question unpacks only what it asks for", "[trace][columns]") {
	// 4,000 records of noise in two fields of 8 and 4 bytes: several frames.
	std::vector<trace::Block> blocks;
	std::minstd_rand noise(7);
	for (uint64_t seq = 1; seq <= 2; seq++) {
		BlockBytes block(0, seq, 1000, 64 * 1024);
		block.long_head(0, 0, 1000).context(1, 1, 1, "shell");
		for (int i = 0; i < 2000; i++)
			block.short_head(1, 0, 1 + noise() % 1000)
			    .u8(0b1011)
			    .u64(noise() * 77777ull << 28)
			    .u32(noise() | 1u << 24);
		blocks.push_back(block.sealed());
	}
	const Chunk chunk(blocks, make_catalog());
	auto columns = chunk.open(), all = chunk.open();
	REQUIRE((columns && all));
	REQUIRE(all->blocks());
	REQUIRE(columns->integers(columns->epids()[0].fields[1]));
	CHECK(columns->frames_unpacked() < all->frames_unpacked());
}

TEST_CASE("columns cut or changed anywhere are refused or harmless", "[trace][columns]") {
	const std::vector<trace::Block> blocks = {varied_block(1), speculative_block()};
	const Chunk good(blocks, make_catalog());
	REQUIRE(good.open()->blocks());
	for (size_t size = 0; size < good.stored.size(); size++) {
		const std::vector<std::byte> cut(good.stored.begin(), good.stored.begin() + size);
		CHECK_FALSE(trace::ChunkColumns::open(cut, good.headers));
	}
	for (size_t at = 0; at < good.stored.size(); at++)
		for (const unsigned flip : {0x01, 0x80, 0xa5}) {
			std::vector<std::byte> bad = good.stored;
			bad[at] ^= std::byte(flip);
			auto columns = trace::ChunkColumns::open(bad, good.headers);
			if (!columns)
				continue;
			columns->blocks();
			columns->records();
			columns->tasks();
			columns->texts();
			columns->bytes();
			for (const trace::EpidColumns& epid : columns->epids())
				for (const trace::FieldColumn& field : epid.fields)
					columns->integers(field);
		}
}

TEST_CASE("columns of any integers come back", "[trace][columns]") {
	std::minstd_rand noise(3);
	const auto round = [](const std::vector<uint64_t>& values, bool is_signed) {
		trace::FrameWriter frames;
		std::vector<std::byte> head, sizes, packed;
		trace::encode_integers(values, is_signed, frames, head);
		frames.pack(sizes, packed);
		trace::VarintReader heads(head), frame_sizes(sizes);
		trace::IntegerColumn column;
		REQUIRE(trace::read_integer_head(heads, values.size(), column));
		trace::FrameReader reader;
		REQUIRE(reader.open(frame_sizes, packed, 1 << 20));
		CHECK(reader.size() == column.bytes());
		std::vector<uint64_t> back(values.size());
		REQUIRE(trace::decode_integers(column, reader.bytes(0, column.bytes()), back.data()));
		CHECK(back == values);
		return column;
	};
	CHECK(round({}, false).bytes() == 0);
	CHECK(round({42}, false).bytes() == 0);
	CHECK(round(std::vector<uint64_t>(1000, ~0ull), true).bytes() == 0);
	for (unsigned bits = 1; bits <= 64; bits++)
		for (const size_t count : {2, 100, 3000}) {
			std::vector<uint64_t> values, few;
			for (size_t i = 0; i < count; i++) {
				values.push_back(
				    (uint64_t{noise()} << 33 ^ uint64_t{noise()} << 11 ^ noise()) >>
				    (64 - bits));
				few.push_back(values[values[i] % std::min<size_t>(i + 1, 20)]);
			}
			round(values, false);
			round(values, true);
			CHECK(round(few, false).bytes() <= count * ((bits + 7) / 8));
		}
	std::vector<uint64_t> signs = {1ull << 63, ~(1ull << 63), 0, ~0ull};
	CHECK(round(signs, true).least == 1ull << 63);
	CHECK(round(signs, false).least == 0);
}

} // namespace trace_columns_test
