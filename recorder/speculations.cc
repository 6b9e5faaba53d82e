// SPDX-License-Identifier: GPL-2.0
//
// Finishing the commits that a crash interrupted. The engine reuses a speculation's
// number, but only after it has moved all chunks of a commit: so a commit of that number
// belongs to a chunk only if it is not earlier than the chunk's first record. Later records
// may be of firings that had begun on other CPUs when the commit took its time. Nothing in memory tells these from
// a firing that had begun before a commit of one CPU alone and got the same number after it.
#include "recorder/speculations.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <set>
#include <tuple>

namespace dfr::recorder {
namespace {

constexpr uint32_t kGroupBytes = 16 + 1 + 4 + 4 + 8;

// When each speculation number was committed, in order of time.
using CommitTimes = std::map<uint32_t, std::set<uint64_t>>;

CommitTimes commit_times(const std::vector<SpeculationChunk>& chunks,
                         const std::vector<trace::GroupMark>& groups) {
	CommitTimes result;
	for (const trace::GroupMark& group : groups)
		result[group.speculation].insert(group.commit_time);
	for (const SpeculationChunk& chunk : chunks)
		if (chunk.head.flags & DFR_SPEC_CHUNK_COMMITTING)
			result[chunk.head.id].insert(chunk.head.commit_time);
	return result;
}

// The time of the chunk's commit; 0: it was not committed.
uint64_t commit_of(const SpeculationChunk& chunk, const CommitTimes& times) {
	const auto found = times.find(chunk.head.id);
	if (found == times.end())
		return 0;
	const auto time = found->second.lower_bound(chunk.head.first_time);
	return time == found->second.end() ? 0 : *time;
}

// A block with one group, as the engine would have written it.
class GroupBlock {
public:
	GroupBlock(const SpeculationChunk& chunk, uint64_t commit_time, const dfr_block* before,
	           uint64_t state_id) {
		head_.magic = DFR_BLOCK_MAGIC;
		head_.version = DFR_BLOCK_VERSION;
		head_.cpu = static_cast<uint16_t>(chunk.head.cpu);
		head_.hdr_size = sizeof(dfr_block);
		head_.state_id = state_id;
		head_.first_time = std::min<uint64_t>(chunk.head.first_time, commit_time);
		head_.last_time = std::max<uint64_t>(chunk.head.last_time, commit_time);
		head_.seq = before ? before->seq + 1 : 1;
		head_.lost = before ? before->lost : 0;
		head_.record_base = before ? before->record_base + before->records : 0;
		head_.before = before ? std::max(before->first_time, before->last_time) : 0;
		head_.open_time = std::max<uint64_t>(commit_time, head_.before);
		head_.records = chunk.head.records;
		head_.flags = DFR_BLOCK_CLOSED;
		head_.committed = kGroupBytes + static_cast<uint32_t>(chunk.records.size());
		head_.size =
		    std::max<uint32_t>(std::bit_ceil(head_.hdr_size + head_.committed), DFR_BLOCK_MIN);
		put(head_);
		put<uint32_t>(DFR_REC_HEAD(DFR_REC_ID_LONG, 0, 0));
		put<uint32_t>(0);
		put<uint64_t>(commit_time);
		put<uint8_t>(DFR_CONTROL_GROUP);
		put<uint32_t>(chunk.head.id);
		put<uint32_t>(static_cast<uint32_t>(chunk.records.size()));
		put<uint64_t>(commit_time);
		block.bytes.insert(block.bytes.end(), chunk.records.begin(), chunk.records.end());
	}
	const dfr_block& header() const { return head_; }
	trace::Block block;

private:
	template <typename T> void put(T value) {
		const auto bytes = std::as_bytes(std::span(&value, 1));
		block.bytes.insert(block.bytes.end(), bytes.begin(), bytes.end());
	}
	dfr_block head_{};
};

// Adds a block with the chunk's group behind the CPU's last one.
void append(std::vector<trace::Block>& blocks, std::map<uint32_t, dfr_block>& last,
            const SpeculationChunk& chunk, uint64_t commit_time, uint64_t state_id) {
	const auto before = last.find(chunk.head.cpu);
	GroupBlock group(chunk, commit_time, before == last.end() ? nullptr : &before->second, state_id);
	last[chunk.head.cpu] = group.header();
	blocks.push_back(std::move(group.block));
}

std::vector<trace::Block> blocks_of(std::vector<const SpeculationChunk*> chunks, uint64_t state_id) {
	std::sort(chunks.begin(), chunks.end(), [](const SpeculationChunk* a, const SpeculationChunk* b) {
		return std::tuple(a->head.cpu, a->head.last_time, a->head.id, a->head.serial) <
		       std::tuple(b->head.cpu, b->head.last_time, b->head.id, b->head.serial);
	});
	std::vector<trace::Block> blocks;
	std::map<uint32_t, dfr_block> last;
	for (const SpeculationChunk* const chunk : chunks)
		append(blocks, last, *chunk, chunk->head.last_time, state_id);
	return blocks;
}

} // namespace

// What its records cannot be read of is not found in the ring either.
CopiedChunks::CopiedChunks(std::span<const SpeculationChunk> chunks, trace::RecordShapes& shapes) {
	trace::RecordCursor cursor(shapes);
	trace::DecodeDamage damage; // told by who reads them
	for (size_t i = 0; i < chunks.size(); i++) {
		const GroupBlock group(chunks[i], chunks[i].head.last_time, nullptr, chunks[i].head.state_id);
		if (!cursor.open(group.block, damage, nullptr) || !cursor.next())
			continue;
		const trace::Record& record = cursor.current();
		first_[{chunks[i].head.cpu, chunks[i].head.id, record.epid, record.time}].chunks.push_back(i);
	}
}

void CopiedChunks::see(const trace::Record& record) {
	if (const auto known = first_.find({record.cpu, record.speculation, record.epid, record.time});
	    known != first_.end())
		known->second.in_ring = true;
}

void CopiedChunks::take_out(std::vector<SpeculationChunk>& chunks) const {
	std::vector<bool> copied(chunks.size());
	for (const auto& [record, sighted] : first_)
		for (const size_t chunk : sighted.chunks)
			copied[chunk] = sighted.in_ring;
	std::vector<SpeculationChunk> left;
	for (size_t i = 0; i < chunks.size(); i++)
		if (!copied[i])
			left.push_back(std::move(chunks[i]));
	chunks = std::move(left);
}

FinishedCommits finish_commits(std::vector<SpeculationChunk> chunks,
                               const std::vector<trace::GroupMark>& groups,
                               std::map<uint32_t, dfr_block> last, uint64_t state_id) {
	FinishedCommits result;
	std::set<uint32_t> in_flight;
	std::vector<const SpeculationChunk*> in_flight_chunks;
	const CommitTimes times = commit_times(chunks, groups);
	std::sort(chunks.begin(), chunks.end(), [](const SpeculationChunk& a, const SpeculationChunk& b) {
		return std::tuple(a.head.cpu, a.head.id, a.head.serial) <
		       std::tuple(b.head.cpu, b.head.id, b.head.serial);
	});
	for (const SpeculationChunk& chunk : chunks) {
		const uint64_t time = commit_of(chunk, times);
		if (!time) {
			in_flight.insert(chunk.head.id);
			in_flight_chunks.push_back(&chunk);
			result.in_flight_records += chunk.head.records;
			continue;
		}
		append(result.blocks, last, chunk, time, state_id);
	}
	result.in_flight = in_flight.size();
	result.in_flight_blocks = blocks_of(std::move(in_flight_chunks), state_id);
	return result;
}

} // namespace dfr::recorder
