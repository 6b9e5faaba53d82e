// SPDX-License-Identifier: GPL-2.0
//
// Columns of chunks, from decisions: of blocks as an engine writes them, whole, with
// bytes changed anywhere, or with a directory whose numbers were changed, so that
// what is behind it is read by them.
#pragma once

#include <cstdlib>

#include "formats/trace/chunk.h"
#include "formats/trace/columns.h"
#include "formats/trace/container.h"
#include "tests/fuzz/decisions.h"
#include "tests/unit/proper_blocks.h"

namespace dfr::fuzz {

// Everything that columns can be asked; they may be damaged.
inline void ask_columns(std::span<const std::byte> stored, std::span<const dfr_block> headers) {
	uint64_t sum = 0;
	const auto read = [&](const std::optional<trace::ByteStrings>& strings) {
		for (size_t i = 0; strings && i < strings->size(); i++)
			for (const std::byte byte : (*strings)[i])
				sum += static_cast<uint8_t>(byte);
	};
	auto columns = trace::ChunkColumns::open(stored, headers);
	if (!columns)
		return;
	columns->tasks();
	read(columns->texts());
	read(columns->bytes());
	if (const auto places = columns->records())
		for (const trace::ControlPlace& control : places->controls)
			read(trace::ByteStrings{control.payload});
	for (const trace::EpidColumns& epid : columns->epids())
		for (const trace::FieldColumn& field : epid.fields)
			if (const auto values = columns->integers(field))
				sum += values->size();
	columns->blocks();
	if (sum == 0x1234567812345678)
		std::abort();
}

// Changes numbers of a directory that is not packed, so that what stands behind it is still read.
inline void damage_directory(Decisions& in, std::vector<std::byte>& columns) {
	trace::VarintReader sizes(columns);
	const uint64_t raw = sizes.next(), stored = sizes.next();
	const size_t start = columns.size() - sizes.left();
	std::vector<std::byte> directory(columns.begin() + start, columns.begin() + start + stored);
	if (raw != stored) {
		std::vector<std::byte> unpacked(raw);
		if (!trace::uncompress(directory, unpacked))
			std::abort();
		directory = std::move(unpacked);
	}
	const std::vector<std::byte> frames(columns.begin() + start + stored, columns.end());
	for (unsigned changes = in.byte() % 4; changes && !directory.empty(); changes--)
		directory[in.half() % directory.size()] = std::byte{in.byte()};
	columns.clear();
	trace::put_varint(columns, directory.size());
	trace::put_varint(columns, directory.size());
	columns.insert(columns.end(), directory.begin(), directory.end());
	columns.insert(columns.end(), frames.begin(), frames.end());
}

// Blocks as an engine writes them become columns, and come out as they went in; damaged columns may give
// anything that fits.
inline void fuzz_columns(Decisions& in) {
	const unsigned damage = in.byte();
	test::ProperBlocks proper(in);
	std::vector<trace::Block> blocks;
	std::vector<dfr_block> headers;
	for (uint64_t seq = 1; seq < 2 + damage % 3; seq++) {
		blocks.push_back(proper.block(seq));
		headers.push_back(blocks.back().header());
	}
	std::optional<std::vector<std::byte>> columns = trace::encode_columns(blocks, proper.catalog());
	if (!columns)
		std::abort();
	if (damage < 0x40) {
		const auto chunk = trace::decode_chunk(trace::encode_chunk(blocks, proper.catalog()));
		if (!chunk || chunk->size() != blocks.size())
			std::abort();
		for (size_t i = 0; i < blocks.size(); i++)
			if ((*chunk)[i].bytes != blocks[i].bytes)
				std::abort();
	}
	if (damage & 0x20)
		damage_directory(in, *columns);
	for (unsigned flips = damage >> 2 & 3; flips; flips--)
		(*columns)[in.half() % columns->size()] ^= std::byte{in.byte()};
	if (damage & 0x10) { // the last block's header says less than the columns hold
		headers.back().committed -= std::min<uint32_t>(in.byte(), headers.back().committed);
	}
	ask_columns({columns->data(), columns->size()}, headers);
}

} // namespace dfr::fuzz
