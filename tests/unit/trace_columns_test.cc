// SPDX-License-Identifier: GPL-2.0
//
// Columns give back every byte: of blocks with every kind of field and control
// record, with restart tables, and of blocks that cannot be walked at all.
#include <catch2/catch.hpp>

#include "formats/trace/chunk.h"
#include "formats/trace/columns.h"
#include "formats/trace/crc32c.h"
#include "tests/unit/trace_builder.h"

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
		case 3:
			block.short_head(0, 0, 2).u8(DFR_CONTROL_LOSS).u8(1).u32(1).u64(5).u64(1).u64(2);
			break;
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
	part.u32(0x7ff).u32(0).u64(60).u8(DFR_CONTROL_CONTEXT).u8(0).u8(9).u8(9).u8(9).text("spec");
	part.u32(1 | 2 << 13).u8(0).u8(42).u8(0);
	block.short_head(0, 0, 100).u8(DFR_CONTROL_GROUP).u32(3).u32(part.bytes.size()).u64(200);
	block.bytes.insert(block.bytes.end(), part.bytes.begin(), part.bytes.end());
	block.short_head(0, 0, 0).context(5, 5, 5, "sh");
	block.short_head(1, 0, 10).u8(0).u8(2).u8(0);
	return block.sealed();
}

// The encoding that the chunk got; checks that it gives back the blocks.
trace::ChunkEncoding round_trip(const std::vector<trace::Block>& blocks) {
	const std::vector<std::byte> chunk = trace::encode_chunk(blocks, make_catalog());
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
	const auto decoded = [&](size_t blocks) {
		const auto some = std::span(headers).first(blocks);
		trace::ChunkHead head{.encoding = 1, .cpu = 0, .blocks = static_cast<uint32_t>(blocks)};
		head.raw = static_cast<uint32_t>(blocks * headers[0].committed);
		head.checksum =
		    trace::crc32c(std::as_bytes(some), trace::crc32c(std::as_bytes(std::span(&head, 1))));
		std::vector<std::byte> chunk(sizeof head + some.size_bytes());
		std::memcpy(chunk.data(), &head, sizeof head);
		std::memcpy(chunk.data() + sizeof head, some.data(), some.size_bytes());
		return trace::decode_chunk_headers(chunk, chunk.size()).has_value();
	};
	CHECK(decoded(3)); // 768 KiB
	CHECK_FALSE(decoded(4));
	CHECK_FALSE(decoded(headers.size()));
}

TEST_CASE("a restart table that a walk would not give survives", "[trace][columns]") {
	for (const size_t at : {0, 8, 9, 12, 16, 24, 40}) {
		trace::Block odd = varied_block(1);
		odd.bytes[sizeof(dfr_block) + at] ^= std::byte{0x11};
		round_trip({odd, varied_block(2)});
	}
}

TEST_CASE("columns cut or changed anywhere are refused or harmless", "[trace][columns]") {
	const std::vector<trace::Block> blocks = {varied_block(1)};
	const std::vector<std::byte> good = trace::encode_columns(blocks, make_catalog());
	const std::vector<dfr_block> headers = {blocks[0].header()};
	std::vector<std::byte> bodies(blocks[0].bytes.size() - sizeof(dfr_block));
	REQUIRE(trace::decode_columns(good, headers, bodies));
	CHECK(std::equal(bodies.begin(), bodies.end(), blocks[0].bytes.begin() + sizeof(dfr_block)));
	for (size_t size = 0; size < good.size(); size++)
		CHECK(!trace::decode_columns(std::span(good).first(size), headers, bodies));
	for (size_t at = 0; at < good.size(); at++) {
		std::vector<std::byte> bad = good;
		bad[at] ^= std::byte{0xa5};
		trace::decode_columns(bad, headers, bodies);
	}
}
