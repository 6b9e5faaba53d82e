// SPDX-License-Identifier: GPL-2.0
//
// Packs whole blocks into a chunk, and unpacks chunks. Chunks are hostile: the
// sizes in the block headers must add up to the size in the chunk's head.
#include "formats/trace/chunk.h"

#include <algorithm>
#include <cstring>

#include "formats/trace/columns.h"
#include "formats/trace/container.h"
#include "formats/trace/crc32c.h"
#include "formats/trace/decode.h"

namespace dfr::trace {
namespace {

uint64_t body_size(const dfr_block& head) {
	return head.hdr_size - sizeof(dfr_block) + head.committed;
}

uint32_t headers_checksum(ChunkHead head, std::span<const dfr_block> blocks) {
	head.checksum = 0;
	return crc32c(std::as_bytes(blocks), crc32c(std::as_bytes(std::span(&head, 1))));
}

// Of what the blocks hold behind their headers. A sealed block's restart table stands for all of it, because it has
// the intervals' checksums.
uint32_t unpacked_checksum(std::span<const Block> blocks) {
	uint32_t sum = 0;
	for (const Block& block : blocks) {
		const dfr_block& head = block.header();
		const bool sealed = head.flags & DFR_BLOCK_SEALED;
		const uint64_t covered = sealed ? head.hdr_size - sizeof(dfr_block) : body_size(head);
		sum = crc32c(std::span(block.bytes).subspan(sizeof(dfr_block), covered), sum);
	}
	return sum ? sum : 1;
}

template <typename T> void append(std::vector<std::byte>& to, std::span<const T> values) {
	const auto bytes = std::as_bytes(values);
	to.insert(to.end(), bytes.begin(), bytes.end());
}

// Checks only the fields that give the body's extent; the decoder checks the rest.
bool extent_is_sane(const dfr_block& head) {
	return head.size <= DFR_BLOCK_MAX && head.hdr_size >= sizeof(dfr_block) &&
	       head.hdr_size <= head.size && head.committed <= head.size - head.hdr_size;
}

struct EncodedBody {
	ChunkEncoding encoding;
	std::vector<std::byte> bytes;
};

// Decodes the columns again and uses them only if they give back the same bytes, because a defect in the
// encoder must not damage a recording.
bool columns_hold(const std::vector<std::byte>& columns, const std::vector<dfr_block>& headers,
                  std::span<const Block> blocks) {
	std::optional<ChunkColumns> read = ChunkColumns::open(columns, headers);
	return read && read->gives(blocks);
}

// Appends frames that zstd passes over.
void pad_zstd(std::vector<std::byte>& body, uint64_t least) {
	constexpr uint32_t kSkippable = 0x184d2a50;
	if (body.size() >= least)
		return;
	const auto more = static_cast<uint32_t>(least - body.size());
	const uint32_t head[] = {kSkippable, more};
	append(body, std::span<const uint32_t>(head));
	body.resize(body.size() + more);
}

EncodedBody encode_body(const std::vector<dfr_block>& headers, uint64_t raw, std::span<const Block> blocks,
                        const Catalog& catalog) {
	// Columns do not tell whether a block was damaged already, so only blocks that are sound are stored so.
	const auto sound = [](const Block& block) {
		return block.verified || !(block.header().flags & DFR_BLOCK_SEALED) ||
		       block_is_verified(block.bytes);
	};
	const uint64_t least = raw / kChunkTimesMost;
	std::optional<std::vector<std::byte>> columns;
	if (std::all_of(blocks.begin(), blocks.end(), sound))
		columns = encode_columns(blocks, catalog);
	if (columns && columns->size() >= least && columns->size() < raw &&
	    columns_hold(*columns, headers, blocks))
		return {ChunkEncoding::kColumns, std::move(*columns)};
	std::vector<std::byte> body;
	for (const Block& block : blocks)
		append(body, std::span<const std::byte>(block.bytes)
		                 .subspan(sizeof(dfr_block), body_size(block.header())));
	if (std::optional<std::vector<std::byte>> small = compress(body)) {
		pad_zstd(*small, least);
		return {ChunkEncoding::kZstd, std::move(*small)};
	}
	return {ChunkEncoding::kPlain, std::move(body)};
}

} // namespace

std::vector<std::byte> encode_chunk(std::span<const Block> blocks, const Catalog& catalog) {
	std::vector<dfr_block> headers;
	uint64_t raw = 0;
	for (const Block& block : blocks) {
		headers.push_back(block.header());
		raw += body_size(block.header());
	}
	const auto [encoding, stored] = encode_body(headers, raw, blocks, catalog);
	ChunkHead head{.encoding = static_cast<uint16_t>(encoding),
	               .cpu = headers.empty() ? uint16_t{0} : headers[0].cpu,
	               .blocks = static_cast<uint32_t>(headers.size()),
	               .raw = static_cast<uint32_t>(raw),
	               .stored = static_cast<uint32_t>(stored.size()),
	               .checksum = 0,
	               .unpacked = unpacked_checksum(blocks)};
	head.checksum = headers_checksum(head, headers);
	std::vector<std::byte> result;
	append(result, std::span<const ChunkHead>(&head, 1));
	append(result, std::span<const dfr_block>(headers));
	append(result, std::span<const std::byte>(stored));
	return result;
}

uint64_t chunk_headers_need(std::span<const std::byte> start) {
	if (start.size() < sizeof(ChunkHead))
		return sizeof(ChunkHead);
	ChunkHead head;
	std::memcpy(&head, start.data(), sizeof(head));
	return head.blocks > kChunkBlocksMax ? sizeof(ChunkHead)
	                                     : sizeof(ChunkHead) + uint64_t{head.blocks} * sizeof(dfr_block);
}

std::optional<ChunkHeaders> decode_chunk_headers(std::span<const std::byte> start, uint64_t payload_size) {
	ChunkHeaders result;
	const uint64_t need = chunk_headers_need(start);
	if (start.size() < need || payload_size < need)
		return std::nullopt;
	std::memcpy(&result.head, start.data(), sizeof(ChunkHead));
	if (result.head.blocks > kChunkBlocksMax || result.head.stored != payload_size - need)
		return std::nullopt;
	result.blocks.resize(result.head.blocks);
	if (result.head.blocks)
		std::memcpy(result.blocks.data(), start.data() + sizeof(ChunkHead), need - sizeof(ChunkHead));
	if (headers_checksum(result.head, result.blocks) != result.head.checksum)
		return std::nullopt;
	uint64_t raw = 0;
	for (const dfr_block& head : result.blocks) {
		if (!extent_is_sane(head) || head.cpu != result.head.cpu)
			return std::nullopt;
		raw += body_size(head);
	}
	if (raw != result.head.raw || result.head.stored < raw / kChunkTimesMost ||
	    raw + result.head.blocks * sizeof(dfr_block) > kChunkBytesMax)
		return std::nullopt;
	return result;
}

namespace {

// The blocks of a chunk that is stored whole; `body` has all of their bytes, one after another.
std::vector<Block> whole_blocks(const ChunkHeaders& headers, std::span<const std::byte> body) {
	std::vector<Block> result;
	for (const dfr_block& head : headers.blocks) {
		Block block;
		block.bytes.reserve(head.hdr_size + head.committed);
		append(block.bytes, std::span<const dfr_block>(&head, 1));
		append(block.bytes, body.first(body_size(head)));
		body = body.subspan(body_size(head));
		block.verified = block_is_verified(block.bytes);
		result.push_back(std::move(block));
	}
	return result;
}

std::optional<std::vector<Block>> decode_body(const ChunkHeaders& headers, std::span<const std::byte> body) {
	std::vector<std::byte> raw;
	switch (static_cast<ChunkEncoding>(headers.head.encoding)) {
	case ChunkEncoding::kPlain:
		if (body.size() != headers.head.raw)
			return std::nullopt;
		return whole_blocks(headers, body);
	case ChunkEncoding::kZstd:
		raw.resize(headers.head.raw);
		if (!uncompress(body, raw))
			return std::nullopt;
		return whole_blocks(headers, raw);
	case ChunkEncoding::kColumns:
		if (std::optional<ChunkColumns> columns = ChunkColumns::open(body, headers.blocks))
			return columns->blocks();
		return std::nullopt;
	default: return std::nullopt;
	}
}

} // namespace

std::optional<std::vector<Block>> decode_chunk(std::span<const std::byte> payload) {
	const std::optional<ChunkHeaders> headers = decode_chunk_headers(payload, payload.size());
	if (!headers)
		return std::nullopt;
	std::optional<std::vector<Block>> result = decode_body(*headers, payload.last(headers->head.stored));
	if (result && headers->head.unpacked && unpacked_checksum(*result) != headers->head.unpacked)
		return std::nullopt;
	return result;
}

} // namespace dfr::trace
