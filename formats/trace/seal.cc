// SPDX-License-Identifier: GPL-2.0
//
// Sealing and its checks.
#include "formats/trace/seal.h"

#include <algorithm>
#include <bit>

#include "formats/trace/bytes.h"
#include "formats/trace/crc32c.h"

namespace dfr::trace {
namespace {

uint32_t end_of(const dfr_block& head) {
	return head.hdr_size + head.committed;
}

uint32_t never_0(uint32_t sum) {
	return sum ? sum : 1;
}

// Of the header and the bytes before `first`, where the first interval begins. `body`: the block's bytes behind the
// header.
uint32_t own_checksum(dfr_block head, std::span<const std::byte> body, uint32_t first) {
	head.checksum = 0;
	return never_0(crc32c(body.subspan(head.hdr_size - sizeof(head), first - head.hdr_size),
	                      crc32c(std::as_bytes(std::span(&head, 1)))));
}

// The checksums of a block's intervals. `body`: its bytes behind the header.
class IntervalSums {
public:
	IntervalSums(const dfr_block& head, std::span<const std::byte> body) : head_(head), body_(body) {}
	// Of the interval from `entry` to offset `next`.
	uint32_t of(dfr_restart entry, uint32_t next) {
		if (entry.context != context_) {
			context_ = entry.context;
			of_context_ = crc32c(std::as_bytes(std::span(&head_.seq, 1)));
			const uint32_t end = end_of(head_);
			if (context_ >= sizeof(dfr_block) && context_ < end)
				of_context_ = crc32c(
				    bytes(context_, std::min<uint32_t>(end, context_ + DFR_CONTEXT_MAX)),
				    of_context_);
			of_context_ = never_0(of_context_);
		}
		entry.checksum = of_context_;
		return never_0(
		    crc32c(bytes(entry.record, next), crc32c(std::as_bytes(std::span(&entry, 1)))));
	}

private:
	std::span<const std::byte> bytes(uint32_t from, uint32_t to) const {
		return body_.subspan(from - sizeof(dfr_block), to - from);
	}
	const dfr_block& head_;
	std::span<const std::byte> body_;
	uint32_t context_ = UINT32_MAX, of_context_ = 0; // the checksum of the context there
};

// Calls visit(index, entry, end) for each interval, the last one first; returns where the first one begins.
// `entry_at`: gives one of the `count` entries of the block's restart table. Entries that are out of place or order have none.
template <typename EntryAt, typename Visit>
uint32_t each_interval(const dfr_block& head, size_t count, const EntryAt& entry_at, const Visit& visit) {
	uint32_t first = end_of(head);
	for (auto i = static_cast<uint32_t>(count); i-- > 0;) {
		const dfr_restart entry = entry_at(i);
		if (entry.record < head.hdr_size || entry.record >= first || !is_in_place(entry, i))
			continue;
		visit(i, entry, first);
		first = entry.record;
	}
	return first;
}

// Of a block's own table.
template <typename Visit> uint32_t each_interval(std::span<const std::byte> block, const Visit& visit) {
	const auto head = load<dfr_block>(block.data());
	return each_interval(
	    head, restart_count(head), [block](uint32_t i) { return restart_at(block.data(), i); }, visit);
}

} // namespace

bool header_is_sane(const dfr_block& head) {
	return head.magic == DFR_BLOCK_MAGIC && head.version == DFR_BLOCK_VERSION && head.seq != 0 &&
	       std::has_single_bit(head.size) && head.size >= DFR_BLOCK_MIN && head.size <= DFR_BLOCK_MAX &&
	       head.hdr_size >= sizeof(dfr_block) && head.hdr_size <= head.size && head.hdr_size % 8 == 0 &&
	       head.committed <= head.size - head.hdr_size;
}

bool block_is_sane(std::span<const std::byte> bytes) {
	if (bytes.size() < sizeof(dfr_block))
		return false;
	const auto head = load<dfr_block>(bytes.data());
	return header_is_sane(head) && bytes.size() >= end_of(head);
}

dfr_restart restart_at(const std::byte* block, uint32_t index) {
	return load<dfr_restart>(block + sizeof(dfr_block) + index * sizeof(dfr_restart));
}

bool set_checksums(const dfr_block& head, std::span<const std::byte> body, std::span<dfr_restart> table) {
	if (!(head.flags & DFR_BLOCK_SEALED))
		return false;
	IntervalSums sums(head, body);
	const uint32_t first = each_interval(
	    head, table.size(), [table](uint32_t i) { return table[i]; },
	    [&](uint32_t i, const dfr_restart& entry, uint32_t end) {
		    table[i].checksum = sums.of(entry, end);
	    });
	return head.checksum && head.checksum == own_checksum(head, body, first);
}

bool block_is_verified(std::span<const std::byte> bytes) {
	if (!block_is_sane(bytes))
		return false;
	const auto head = load<dfr_block>(bytes.data());
	if (!(head.flags & DFR_BLOCK_SEALED) || !head.checksum)
		return false;
	const std::span body = bytes.subspan(sizeof(head));
	bool sound = true;
	IntervalSums sums(head, body);
	const uint32_t first = each_interval(bytes, [&](uint32_t, const dfr_restart& entry, uint32_t end) {
		sound = sound && entry.checksum == sums.of(entry, end);
	});
	return sound && head.checksum == own_checksum(head, body, first);
}

void seal_block(Block& block) {
	block.verified = block_is_verified(block.bytes);
	auto head = load<dfr_block>(block.bytes.data());
	if (block.verified || head.flags & DFR_BLOCK_SEALED)
		return; // a wrong checksum of the engine stays, so that readers see the damage
	const std::span body = std::span(block.bytes).subspan(sizeof(head));
	IntervalSums sums(head, body);
	const uint32_t first = each_interval(block.bytes, [&](uint32_t i, dfr_restart entry, uint32_t end) {
		entry.checksum = sums.of(entry, end);
		store(body.data() + i * sizeof(entry), entry);
	});
	head.flags |= DFR_BLOCK_CLOSED | DFR_BLOCK_SEALED;
	head.checksum = own_checksum(head, body, first);
	store(block.bytes.data(), head);
	block.verified = true;
}

bool own_is_right(std::span<const std::byte> block, uint32_t most) {
	const auto head = load<dfr_block>(block.data());
	const uint32_t first = each_interval(block, [](uint32_t, const dfr_restart&, uint32_t) {});
	return head.checksum && first - head.hdr_size <= most &&
	       head.checksum == own_checksum(head, block.subspan(sizeof(head)), first);
}

size_t sound_intervals(std::span<const std::byte> block) {
	const auto head = load<dfr_block>(block.data());
	IntervalSums sums(head, block.subspan(sizeof(head)));
	size_t sound = 0;
	each_interval(block, [&](uint32_t, const dfr_restart& entry, uint32_t end) {
		sound += entry.checksum == sums.of(entry, end);
	});
	return sound;
}

bool interval_is_sound(std::span<const std::byte> block, uint32_t from, uint32_t to) {
	const auto head = load<dfr_block>(block.data());
	const std::span body = block.subspan(sizeof(head));
	const uint32_t index = from / DFR_RESTART_BYTES;
	if (from >= head.hdr_size && to <= end_of(head) && index < restart_count(head)) {
		const dfr_restart entry = restart_at(block.data(), index);
		if (entry.record == from)
			return entry.checksum == IntervalSums(head, body).of(entry, to);
	}
	return from == head.hdr_size && head.checksum == own_checksum(head, body, to);
}

std::vector<DamagedInterval> damaged_intervals(std::span<const std::byte> block) {
	const auto head = load<dfr_block>(block.data());
	const std::span body = block.subspan(sizeof(head));
	std::vector<DamagedInterval> damaged;
	uint32_t records = head.records;
	IntervalSums sums(head, body);
	const uint32_t first = each_interval(block, [&](uint32_t, const dfr_restart& entry, uint32_t end) {
		if (entry.checksum != sums.of(entry, end))
			damaged.push_back({.from = entry.record,
			                   .to = end,
			                   .records = records > entry.records ? records - entry.records : 0,
			                   .after = entry.time});
		records = entry.records;
	});
	if (head.checksum != own_checksum(head, body, first))
		damaged.push_back({.from = 0, .to = first, .records = records, .after = head.before});
	std::reverse(damaged.begin(), damaged.end());
	return damaged;
}

} // namespace dfr::trace
