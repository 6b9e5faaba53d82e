// SPDX-License-Identifier: GPL-2.0
//
// Builds catalogs and blocks byte by byte, as formats/abi says that the engine
// writes them, for the tests of everything that reads them. It shares no code
// with the readers: sizes and codes are chosen by the test, not computed from
// the layout.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/abi/aggtab.h"
#include "formats/abi/block.h"
#include "formats/abi/catalog.h"
#include "formats/trace/source.h"

namespace dfr::test {

// Bytes in the order in which they are put.
class Bytes {
public:
	template <typename T> Bytes& put(T value) {
		const auto* from = reinterpret_cast<const std::byte*>(&value);
		bytes.insert(bytes.end(), from, from + sizeof(T));
		return *this;
	}
	Bytes& u8(uint8_t v) { return put(v); }
	Bytes& u16(uint16_t v) { return put(v); }
	Bytes& u32(uint32_t v) { return put(v); }
	Bytes& u64(uint64_t v) { return put(v); }
	Bytes& text(std::string_view v) { // with its NUL
		for (char c : v)
			u8(static_cast<uint8_t>(c));
		return u8(0);
	}
	// What follows a head with id 0: a context with task, pid and tid below 256, of a process without a
	// namespace of its own, in cgroup 1.
	Bytes& context_body(uint8_t task, uint8_t pid, uint8_t tid, std::string_view name) {
		return u8(DFR_CONTROL_CONTEXT).u16(0).u8(task).u8(pid).u8(tid).u8(pid).u8(1).text(name);
	}
	// What follows a head with id 0: a loss.
	Bytes& loss_body(uint8_t cause, uint32_t probe, uint64_t count, uint64_t from, uint64_t to) {
		return u8(DFR_CONTROL_LOSS).u8(cause).u32(probe).u64(count).u64(from).u64(to);
	}
	Bytes& pad(size_t alignment) {
		while (bytes.size() % alignment)
			u8(0);
		return *this;
	}
	template <typename T> void patch(size_t at, T value) {
		std::memcpy(bytes.data() + at, &value, sizeof(T));
	}
	std::vector<std::byte> bytes;
};

// CRC32C by a table of its own, apart from the product's.
inline uint32_t slow_crc32c(std::span<const std::byte> bytes) {
	static const std::vector<uint32_t> table = [] {
		std::vector<uint32_t> made(256);
		for (uint32_t i = 0; i < 256; i++) {
			made[i] = i;
			for (int bit = 0; bit < 8; bit++)
				made[i] = made[i] & 1 ? made[i] >> 1 ^ 0x82f63b78 : made[i] >> 1;
		}
		return made;
	}();
	uint32_t crc = ~0u;
	for (std::byte byte : bytes)
		crc = crc >> 8 ^ table[(crc ^ static_cast<uint8_t>(byte)) & 0xff];
	return ~crc;
}

// A program of no sections, so of no actions. (A reader that finds no header takes it for a program that may do anything.)
const std::string kEmptyDof(64, '\0');

class CatalogLog : public Bytes {
public:
	explicit CatalogLog(uint64_t state_id = 7, uint8_t boot = 0xb0) {
		u32(DFR_CATALOG_MAGIC).u32(DFR_CATALOG_VERSION).u64(state_id);
		for (int i = 0; i < 16; i++)
			u8(static_cast<uint8_t>(boot + i));
		u64(0); // committed: set by done()
	}
	std::vector<std::byte> done() {
		patch<uint64_t>(32, bytes.size());
		return bytes;
	}
	CatalogLog& entry(uint32_t type, const Bytes& body) {
		Bytes padded = body;
		padded.pad(8);
		const size_t at = bytes.size();
		u32(type).u32(static_cast<uint32_t>(8 + padded.bytes.size() + sizeof(dfr_cat_tail)));
		bytes.insert(bytes.end(), padded.bytes.begin(), padded.bytes.end());
		u32(static_cast<uint32_t>(at / 8));
		u32(slow_crc32c(std::span(bytes).subspan(at)));
		return *this;
	}
	CatalogLog& state(std::string_view name, uint32_t cpus, uint32_t block_size, uint32_t policy,
	                  uint64_t state_id = 7) {
		Bytes body;
		body.u64(state_id);
		for (size_t i = 0; i < 64; i++)
			body.u8(i < name.size() ? static_cast<uint8_t>(name[i]) : 0);
		body.u32(cpus).u32(block_size).u32(8).u32(policy).u32(256).u32(0);
		return entry(DFR_CAT_STATE, body);
	}
	CatalogLog& clock(uint64_t mono, uint64_t real) {
		return entry(DFR_CAT_CLOCK, Bytes().u64(mono).u64(real).u64(mono));
	}
	CatalogLog& probe(uint32_t id, std::string_view provider, std::string_view module,
	                  std::string_view function, std::string_view name, uint32_t nargs = 0xffffffff) {
		Bytes body;
		body.u32(id).u32(nargs).text(provider).text(module).text(function).text(name);
		return entry(DFR_CAT_PROBE, body);
	}
	CatalogLog& layout(uint32_t id, std::initializer_list<dfr_field> fields) {
		Bytes body;
		body.u32(id).u32(0).u32(0).u32(static_cast<uint32_t>(fields.size()));
		for (const dfr_field& field : fields)
			body.put(field);
		return entry(DFR_CAT_LAYOUT, body);
	}
	CatalogLog& ecb(uint32_t epid, uint32_t probe, uint32_t layout) {
		return entry(DFR_CAT_ECB, Bytes().u32(epid).u32(probe).u32(layout).u32(0));
	}
	CatalogLog& dof(uint32_t number, std::string_view content) {
		Bytes body;
		body.u32(number).u32(static_cast<uint32_t>(content.size()));
		for (char c : content)
			body.u8(static_cast<uint8_t>(c));
		return entry(DFR_CAT_DOF, body);
	}
	CatalogLog& event(uint32_t event, int32_t value, uint64_t time, int32_t error = 0) {
		return entry(DFR_CAT_EVENT,
		             Bytes().u32(event).put<int32_t>(value).u64(time).put<int32_t>(error).u32(0));
	}
};

inline dfr_field int_field(uint32_t size, bool is_signed = false) {
	return {.kind = DFR_FIELD_INT,
	        .flags = static_cast<uint16_t>(is_signed ? DFR_FIELD_SIGNED : 0),
	        .size = size,
	        .action = 0,
	        .argument = -1};
}
inline dfr_field plain_field(uint16_t kind, uint32_t size) {
	return {.kind = kind, .flags = 0, .size = size, .action = 0, .argument = -1};
}

class BlockBytes : public Bytes {
public:
	BlockBytes(uint16_t cpu, uint64_t seq, uint64_t first_time, uint32_t size = 4096,
	           uint64_t state_id = 7)
	    : size_(size) {
		u32(DFR_BLOCK_MAGIC).u16(DFR_BLOCK_VERSION).u16(cpu).u32(size).u32(DFR_BLOCK_HDR_SIZE(size));
		u64(state_id).u64(seq).u64(first_time).u64(0).u64(0).u64(0).u64(0).u64(first_time);
		u32(0).u32(0).u32(0).u32(0);
		while (bytes.size() < DFR_BLOCK_HDR_SIZE(size))
			u8(0);
	}
	uint32_t here() const { return static_cast<uint32_t>(bytes.size()); }
	// Record heads; fields are put by the test.
	BlockBytes& long_head(uint32_t id, uint8_t level, uint64_t time) {
		u32(0x7ffu | level << 11).u32(id).u64(time);
		last_ = time;
		records_ += id != 0;
		head_size_ = 16;
		return *this;
	}
	BlockBytes& short_head(uint32_t id, uint8_t level, uint32_t delta) {
		u32(id | level << 11 | delta << 13);
		last_ += delta;
		records_ += id != 0;
		head_size_ = 4;
		return *this;
	}
	BlockBytes& context(uint8_t task, uint8_t pid, uint8_t tid, std::string_view name) {
		context_ = here() - head_size_;
		context_body(task, pid, tid, name);
		return *this;
	}
	// A control record that tells of a loss.
	BlockBytes& loss(uint8_t cause, uint32_t probe, uint64_t count, uint64_t from, uint64_t to) {
		short_head(0, 0, 0).loss_body(cause, probe, count, from, to);
		return *this;
	}
	// The next record head starts a restart region, number `index` of the table.
	BlockBytes& restart(unsigned index) {
		const size_t at = sizeof(dfr_block) + index * sizeof(dfr_restart);
		patch<uint64_t>(at, last_);
		patch<uint32_t>(at + 8, here());
		patch<uint32_t>(at + 12, context_);
		patch<uint32_t>(at + 16, records_);
		restarts_[index] = here();
		return *this;
	}
	// Bytes of other records, whose times and contexts end with them.
	BlockBytes& splice(const Bytes& part, uint32_t records) {
		bytes.insert(bytes.end(), part.bytes.begin(), part.bytes.end());
		records_ += records;
		context_ = 0;
		return *this;
	}
	BlockBytes& counters(uint64_t lost, uint64_t record_base) {
		patch<uint64_t>(48, lost);
		patch<uint64_t>(56, record_base);
		return *this;
	}
	// When the block before this one had its last record, and when this one was opened.
	BlockBytes& opened(uint64_t before, uint64_t open_time) {
		patch<uint64_t>(64, before);
		patch<uint64_t>(72, open_time);
		return *this;
	}
	// Closed and sealed; `whole`: padded to the block's size, as it is in memory.
	trace::Block sealed(bool whole = false) {
		finish(DFR_BLOCK_CLOSED | DFR_BLOCK_SEALED);
		size_t first = bytes.size();
		for (auto at = restarts_.rbegin(); at != restarts_.rend(); ++at)
			first = seal_interval(at->first, at->second, first);
		const size_t records = DFR_BLOCK_HDR_SIZE(size_);
		std::vector<std::byte> own(bytes.begin(), bytes.begin() + sizeof(dfr_block));
		own.insert(own.end(), bytes.begin() + static_cast<long>(records),
		           bytes.begin() + static_cast<long>(first));
		const uint32_t sum = slow_crc32c(own);
		patch<uint32_t>(84, sum ? sum : 1);
		return block(true, whole);
	}
	trace::Block open(bool whole = false) {
		finish(0);
		return block(false, whole);
	}
	uint32_t records() const { return records_; }

private:
	void finish(uint32_t flags) {
		patch<uint64_t>(40, last_);
		patch<uint32_t>(80, records_);
		patch<uint32_t>(88, flags);
		patch<uint32_t>(92, here() - DFR_BLOCK_HDR_SIZE(size_));
	}
	size_t seal_interval(unsigned index, size_t from, size_t to) {
		const auto all = std::span<const std::byte>(bytes);
		const size_t entry = sizeof(dfr_block) + index * sizeof(dfr_restart);
		uint32_t context;
		std::memcpy(&context, bytes.data() + entry + 12, 4);
		std::vector<std::byte> covered;
		const auto cover = [&](size_t at, size_t size) {
			const auto part = all.subspan(at, std::min(size, all.size() - at));
			covered.insert(covered.end(), part.begin(), part.end());
		};
		cover(24, 8); // seq
		if (context)
			cover(context, 64);
		const uint32_t of_context = slow_crc32c(covered);
		patch<uint32_t>(entry + 20, of_context ? of_context : 1);
		covered.clear();
		cover(entry, 24);
		cover(from, to - from);
		const uint32_t sum = slow_crc32c(covered);
		patch<uint32_t>(entry + 20, sum ? sum : 1);
		return from;
	}
	trace::Block block(bool verified, bool whole) {
		std::vector<std::byte> copy = bytes;
		if (whole)
			copy.resize(size_);
		return {.bytes = std::move(copy), .verified = verified};
	}
	uint32_t size_, context_ = 0, records_ = 0;
	std::map<unsigned, size_t> restarts_; // where each begins
	uint64_t last_ = 0;
	uint32_t head_size_ = 0;
};

// A source that streams the blocks it was given.
class ListSource : public trace::BlockSource {
public:
	const trace::Catalog& catalog() override { return the_catalog; }
	std::optional<trace::Block> next() override {
		if (at == blocks.size())
			return std::nullopt;
		return blocks[at++];
	}
	std::vector<trace::AggEntry> aggregations() override { return aggs; }
	trace::Losses losses() override { return lost; }
	std::string name() const override { return "list"; }
	trace::Catalog the_catalog;
	std::vector<trace::Block> blocks;
	std::vector<trace::AggEntry> aggs;
	trace::Losses lost;
	size_t at = 0;
};

} // namespace dfr::test
