// SPDX-License-Identifier: GPL-2.0
//
// The live session. TAKE hands out closed blocks by number; this maps them,
// copies their committed bytes, seals the copy (so that later readers can check
// it) and gives the block back: soon, or, after hold(), once the copy is on the
// disk, because until then a crash dump must still find the block in memory.
#include "recorder/device_session.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <poll.h>
#include <sys/mman.h>

#include "formats/clock.h"
#include "formats/error.h"
#include "formats/trace/counted.h"
#include "formats/trace/decode.h"

namespace dfr::recorder {
namespace {

constexpr uint32_t kTakeBatch = 256;
constexpr uint32_t kSeenBatch = 1024;
constexpr uint32_t kCostBatch = 256; // CPUs
constexpr size_t kReleaseBatch = 64;
constexpr std::chrono::milliseconds kStuckWait{100};
constexpr size_t kReleaseMost = 4096; // the device accepts no more in one RELEASE
constexpr size_t kCatalogBytes = 256 * 1024;
constexpr size_t kPageSize = 4096;
constexpr size_t kMappingsMax = 8192; // far below vm.max_map_count
constexpr uint64_t kSnapshotMax = 1ull << 30;

// True: the DOF is well-formed, but an option that it sets was refused.
bool asks_too_much(const dfr_ioc_enable& io) {
	return io.error_section == 0xffffffff && io.error_offset == 0;
}

std::string refusal(const dfr_ioc_enable& io, int code) {
	std::string text = "the kernel refused the program: ";
	if (!io.reason[0])
		return text + std::strerror(code);
	text.append(io.reason, strnlen(io.reason, sizeof(io.reason)));
	if (asks_too_much(io))
		return text;
	if (io.error_section == 0xffffffff)
		return text + " (header, byte " + std::to_string(io.error_offset) + ")";
	return text + " (section " + std::to_string(io.error_section) + ", byte " +
	       std::to_string(io.error_offset) + ")";
}

dfr_ioc_name named(const std::string& name) {
	dfr_ioc_name io{.size = sizeof(io)};
	if (name.size() >= sizeof(io.name))
		throw Error("the name " + name + " is too long", "a state's name has at most " +
		                                                     std::to_string(sizeof(io.name) - 1) +
		                                                     " characters");
	std::memcpy(io.name, name.data(), name.size());
	return io;
}

} // namespace

// One block, mapped read-only when it is taken for the first time. The engine allocates blocks while
// the state runs, so one mapping of the whole ring, made at the start, would lack the later ones.
// The mapping holds references to its pages, so it stays readable even after the state is gone.
class DeviceSession::BlockMapping {
public:
	BlockMapping(const Device& device, const dfr_ioc_taken& taken, size_t size) : size_(size) {
		const off_t offset = static_cast<off_t>(DFR_MAP_OFFSET(taken.cpu, taken.block));
		base_ = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, device.fd(), offset);
		if (base_ == MAP_FAILED)
			throw Error::from_errno("cannot map a block of CPU " + std::to_string(taken.cpu));
	}
	~BlockMapping() { ::munmap(base_, size_); }
	BlockMapping(const BlockMapping&) = delete;
	BlockMapping& operator=(const BlockMapping&) = delete;
	const std::byte* bytes() const { return static_cast<const std::byte*>(base_); }

private:
	void* base_;
	size_t size_;
};

namespace {

// Entries of what was recorded while the block was copied.
void drop_later_restarts(std::span<std::byte> block, const dfr_block& head) {
	for (uint32_t i = 0; i < trace::restart_count(head); i++)
		if (trace::restart_at(block.data(), i).record >= head.hdr_size + head.committed)
			std::memset(&block[sizeof(head) + i * sizeof(dfr_restart)], 0, sizeof(dfr_restart));
}

// Fills in what the engine writes when it closes a block, into the copy of one that was open.
void close_copy(trace::Block& block, const trace::Catalog& catalog) {
	dfr_block head = block.header();
	if (head.flags & DFR_BLOCK_CLOSED)
		return;
	drop_later_restarts(block.bytes, head);
	head.records = 0;
	head.last_time = head.first_time;
	trace::BlockDecoder(catalog).decode(block, [&head](const trace::Record& record) {
		head.records++;
		head.last_time = std::max<uint64_t>(head.last_time, record.time);
		return true;
	});
	head.flags = DFR_BLOCK_CLOSED;
	std::memcpy(block.bytes.data(), &head, sizeof(head));
}

std::string read_machine_id() {
	std::ifstream file("/etc/machine-id");
	std::string id;
	std::getline(file, id);
	return id.size() <= 64 ? id : std::string{};
}

} // namespace

DeviceSession::DeviceSession(const std::string& path) : device_(path), machine_id_(read_machine_id()) {
	device_.info();
}

// Gives copied blocks back, unless the session holds its blocks: those were not stored, and the
// next owner of the state gets them.
DeviceSession::~DeviceSession() {
	dfr_ioc_release io{.size = sizeof(io),
	                   .count = static_cast<uint32_t>(copied_.size()),
	                   .taken = reinterpret_cast<uint64_t>(copied_.data())};
	if (io.count && !holding_)
		device_.try_call(DFR_IOC_RELEASE, &io);
}

std::string DeviceSession::name() const {
	return device_.path() + (claimed_.empty() ? "" : " (" + claimed_ + ")");
}

// Gets the kept state that the name means, by CLAIM or VIEW.
void DeviceSession::attach(unsigned long request, const std::string& name, const std::string& what) {
	const std::string full = name.empty() ? DFR_ANONYMOUS_NAME : name;
	dfr_ioc_name io = named(name == DFR_ANONYMOUS_NAME ? "" : name);
	device_.call(request, &io, (what + " state " + full).c_str());
	claimed_ = full;
}

void DeviceSession::claim(const std::string& name) {
	attach(DFR_IOC_CLAIM, name, "cannot claim");
}

void DeviceSession::view(const std::string& name) {
	attach(DFR_IOC_VIEW, name, "cannot look at");
}

void DeviceSession::keep(const std::string& name) {
	dfr_ioc_name io = named(name);
	device_.call(DFR_IOC_KEEP, &io, ("cannot keep the state as " + name).c_str());
	claimed_ = name;
}

DeviceSession::RingList DeviceSession::blocks(uint32_t cpu) {
	RingList list;
	std::vector<dfr_ioc_seen> piece(kSeenBatch);
	for (uint32_t from = 0; from != 0xffffffff;) {
		dfr_ioc_blocks io{.size = sizeof(io),
		                  .cpu = cpu,
		                  .block = from,
		                  .count = kSeenBatch,
		                  .seen = reinterpret_cast<uint64_t>(piece.data())};
		device_.call(DFR_IOC_BLOCKS, &io, "cannot list the blocks in memory");
		if (from == 0)
			list.cpu = io; // what comes later may be in a piece that was read already
		list.blocks.insert(list.blocks.end(), piece.begin(),
		                   piece.begin() + std::min(io.count, kSeenBatch));
		if (io.block <= from)
			break;
		from = io.block;
	}
	std::sort(list.blocks.begin(), list.blocks.end(),
	          [](const dfr_ioc_seen& a, const dfr_ioc_seen& b) { return a.seq < b.seq; });
	return list;
}

std::optional<DeviceSession::Cost> DeviceSession::cost() {
	Cost result;
	std::vector<dfr_ioc_cpu_cost> piece(kCostBatch);
	for (uint32_t from = 0; from != 0xffffffff;) {
		dfr_ioc_cost io{.size = sizeof(io),
		                .cpu = from,
		                .count = kCostBatch,
		                .costs = reinterpret_cast<uint64_t>(piece.data())};
		const int code = device_.try_call(DFR_IOC_COST, &io);
		if (code == ENOTTY)
			return std::nullopt;
		if (code)
			throw Error(std::string("cannot ask what the state costs: ") + std::strerror(code),
			            "", code);
		result.budget = io.budget;
		result.detached = io.detached;
		result.cpus.insert(result.cpus.end(), piece.begin(),
		                   piece.begin() + std::min(io.count, kCostBatch));
		if (io.cpu <= from)
			break;
		from = io.cpu;
	}
	return result;
}

trace::Block DeviceSession::end_of(const RingList& list) {
	const dfr_block head{.magic = DFR_BLOCK_MAGIC,
	                     .version = DFR_BLOCK_VERSION,
	                     .cpu = static_cast<uint16_t>(list.cpu.cpu),
	                     .size = catalog_.block_size,
	                     .hdr_size = DFR_BLOCK_HDR_SIZE(catalog_.block_size),
	                     .state_id = catalog_.state_id,
	                     .seq = list.cpu.newest + 1,
	                     .first_time = list.cpu.last,
	                     .last_time = list.cpu.last,
	                     .lost = list.cpu.lost,
	                     .record_base = list.cpu.records,
	                     .before = list.cpu.last,
	                     .open_time = list.cpu.last,
	                     .flags = DFR_BLOCK_CLOSED};
	trace::Block block;
	block.bytes.resize(head.hdr_size);
	std::memcpy(block.bytes.data(), &head, sizeof(head));
	return block;
}

// nullopt: a module of before tells viewers only.
std::optional<dfr_ioc_blocks> DeviceSession::end_of_records(uint32_t cpu) const {
	dfr_ioc_seen first{};
	dfr_ioc_blocks io{
	    .size = sizeof(io), .cpu = cpu, .count = 1, .seen = reinterpret_cast<uint64_t>(&first)};
	return device_.try_call(DFR_IOC_BLOCKS, &io) == 0 ? std::optional(io) : std::nullopt;
}

std::optional<trace::Block> DeviceSession::end_of_cpu(uint32_t cpu) {
	const std::optional<dfr_ioc_blocks> end = end_of_records(cpu);
	if (!end || !end->newest)
		return std::nullopt;
	trace::Block block = end_of({.blocks = {}, .cpu = *end});
	seal(block);
	return block;
}

std::map<uint32_t, trace::Reach> DeviceSession::reaches() {
	std::map<uint32_t, trace::Reach> none;
	if (status().activity == DFR_ACTIVE)
		return none;
	for (uint32_t cpu = 0; cpu < catalog_.cpus; cpu++)
		if (const auto end = end_of_records(cpu); end && !end->newest)
			none[cpu] = {};
	return none;
}

void DeviceSession::note_snapshot(uint64_t time, const std::string& reason) {
	catalog_.events.push_back({.event = DFR_EVENT_SNAPSHOT, .time = time, .text = reason});
}

void DeviceSession::seal(trace::Block& block) {
	close_copy(block, catalog_);
	trace::seal_block(block);
}

void DeviceSession::end() {
	if (claimed_.empty())
		throw Error("cannot end this state: it has no name",
		            "it ends with the process that holds it");
	device_.end(claimed_ == DFR_ANONYMOUS_NAME ? "" : claimed_);
	claimed_.clear();
}

uint32_t DeviceSession::enable(std::span<const std::byte> dof, bool zero_ok) {
	dfr_ioc_enable io{.size = sizeof(io)};
	io.flags = zero_ok ? DFR_ENABLE_ZERO_OK : 0;
	io.dof = reinterpret_cast<uint64_t>(dof.data());
	io.dof_size = dof.size();
	io.error_section = 0xffffffff;
	const int code = device_.try_call(DFR_IOC_ENABLE, &io);
	if (code)
		throw Error(refusal(io, code),
		            code == EINVAL && asks_too_much(io)
		                ? "correct the option that is named; if none is, "
		                  "compile it again with this version of dfr"
		                : rights_hint(code),
		            code);
	return io.matched;
}

uint32_t DeviceSession::go() {
	dfr_ioc_go io{.size = sizeof(io)};
	try {
		device_.call(DFR_IOC_GO, &io, "cannot start recording");
	} catch (const Error& error) {
		dfr_ioc_room room{.size = sizeof(room), .pad = 0, .wanted = 0, .left = 0};
		if (error.code() != ENOMEM || device_.try_call(DFR_IOC_ROOM, &room) != 0 ||
		    room.wanted <= room.left)
			throw;
		throw Error(
		    "cannot start recording: it takes " + trace::grouped(room.wanted >> 10) +
		        " KiB of reserved memory, and " + trace::grouped(room.left >> 10) + " KiB are free",
		    "take smaller sizes (-x bufsize=, -x aggsize=, -x specpool=), or reserve more", ENOMEM);
	}
	return io.cpu;
}

uint32_t DeviceSession::stop() {
	dfr_ioc_go io{.size = sizeof(io)};
	device_.call(DFR_IOC_STOP, &io, "cannot stop recording");
	return io.cpu;
}

dfr_ioc_status DeviceSession::status() {
	dfr_ioc_status io{};
	io.size = sizeof(io);
	device_.call(DFR_IOC_STATUS, &io, "cannot read the state's status");
	return io;
}

int64_t DeviceSession::option(uint32_t option) {
	dfr_ioc_option io{.size = sizeof(io), .option = option, .value = 0};
	device_.call(DFR_IOC_OPTION, &io, "cannot read an option");
	return io.value;
}

// Returns what has come. When the state ends, that is POLLHUP, which needs no bit in `events`.
short DeviceSession::poll(short events, std::chrono::nanoseconds timeout, const sigset_t* mask) {
	pollfd poller{.fd = device_.fd(), .events = events, .revents = 0};
	const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(timeout);
	const timespec limit{.tv_sec = seconds.count(), .tv_nsec = (timeout - seconds).count()};
	const int ready = ::ppoll(&poller, 1, &limit, mask);
	if (ready < 0 && errno != EINTR)
		throw Error::from_errno("cannot wait for " + name());
	return ready > 0 ? poller.revents : 0;
}

void DeviceSession::wait(std::chrono::nanoseconds timeout, bool blocks, const sigset_t* mask) {
	if (stuck_) // what is there cannot be had yet, and would end the wait at once
		poll(0, std::min<std::chrono::nanoseconds>(timeout, kStuckWait), mask);
	else if (!flushing())
		poll(blocks ? POLLIN : 0, timeout, mask);
}

DeviceSession::Awaited DeviceSession::await_trigger(std::chrono::nanoseconds timeout, const sigset_t* mask) {
	const short events = poll(POLLPRI, timeout, mask);
	return events & POLLPRI ? Awaited::Trigger : events ? Awaited::Ended : Awaited::Nothing;
}

std::vector<Trigger> DeviceSession::triggers() {
	std::vector<dfr_ioc_trigger> entries(DFR_REASONS_MAX + 1);
	dfr_ioc_triggers io{.size = sizeof(io),
	                    .count = static_cast<uint32_t>(entries.size()),
	                    .triggers = reinterpret_cast<uint64_t>(entries.data())};
	device_.call(DFR_IOC_TRIGGERS, &io, "cannot ask for triggers");
	entries.resize(std::min<size_t>(io.count, entries.size()));
	std::vector<Trigger> result;
	for (const dfr_ioc_trigger& entry : entries) {
		Trigger trigger{.reason =
		                    std::string(entry.reason, strnlen(entry.reason, sizeof(entry.reason))),
		                .oops = (entry.flags & DFR_TRIGGER_OOPS) != 0,
		                .count = entry.count,
		                .last = entry.last};
		uint64_t& known = trigger_counts_[{trigger.reason, trigger.oops}];
		trigger.fresh = trigger.count - known;
		known = trigger.count;
		if (trigger
		        .fresh) // `first` is the first since anybody has asked, who need not be this session
			trigger.first =
			    triggers_asked_ && io.asked != triggers_asked_ ? triggers_asked_ : entry.first;
		result.push_back(std::move(trigger));
	}
	triggers_asked_ = io.time;
	return result;
}

void DeviceSession::clear_aggregation(uint32_t varid, bool remove) {
	dfr_ioc_aggclear io{.size = sizeof(io), .varid = varid, .remove = remove, .pad = 0};
	device_.call(DFR_IOC_AGGCLEAR, &io, "cannot clear an aggregation");
}

const trace::Catalog& DeviceSession::catalog() {
	read_catalog();
	if (!catalog_.machine.empty() && !machine_id_.empty()) // what the kernel does not know
		catalog_.machine.try_emplace("machineid", machine_id_);
	return catalog_;
}

// Reads everything that is committed so far. That covers every block taken before this call, because
// the engine commits a catalog entry before it writes a record that needs it.
void DeviceSession::read_catalog() {
	if (!catalog_piece_)
		catalog_piece_ = std::make_unique_for_overwrite<std::byte[]>(kCatalogBytes);
	const std::byte* const piece = catalog_piece_.get();
	for (;;) {
		dfr_ioc_catalog io{.size = sizeof(io)};
		io.offset = catalog_read_;
		io.buffer = reinterpret_cast<uint64_t>(piece);
		io.bytes = kCatalogBytes;
		const int code = device_.try_call(DFR_IOC_CATALOG, &io);
		if (code == ENXIO)
			return; // no state yet
		if (code)
			throw Error(std::string("cannot read the catalog: ") + std::strerror(code), "", code);
		if (io.bytes == 0 || io.bytes > kCatalogBytes)
			return;
		catalog_read_ += io.bytes;
		catalog_rest_.insert(catalog_rest_.end(), piece, piece + io.bytes);
		const size_t used = catalog_.parse(catalog_rest_);
		catalog_rest_.erase(catalog_rest_.begin(), catalog_rest_.begin() + used);
		if (catalog_read_ >= io.committed)
			return;
	}
}

// The clock last: the engine tells in a block what is over by the question, and a block that begins behind the mark is
// not read for what was before it.
uint64_t DeviceSession::mark() {
	read_catalog(); // it says whether the state has clauses that may be thinned
	marked_stretches_ = running_stretches();
	return now_ns();
}

uint64_t DeviceSession::flush() {
	const uint64_t now = mark();
	left_behind_ = false;
	pass_.begin(now);
	return now;
}

dfr_ioc_take DeviceSession::take_batch(uint32_t flags, uint32_t cpu, std::deque<dfr_ioc_taken>& into,
                                       const char* what) {
	std::vector<dfr_ioc_taken> batch(kTakeBatch);
	dfr_ioc_take io{.size = sizeof(io),
	                .flags = flags,
	                .taken = reinterpret_cast<uint64_t>(batch.data()),
	                .count = kTakeBatch,
	                .cpu = cpu};
	device_.call(DFR_IOC_TAKE, &io, what);
	into.insert(into.end(), batch.begin(), batch.begin() + std::min(io.count, kTakeBatch));
	return io;
}

void DeviceSession::take() {
	if (!pass_.goes_on(catalog_.cpus))
		return;
	const BlockPass::Question question = pass_.question();
	const dfr_ioc_take io = take_batch(question.open_too ? DFR_TAKE_FLUSH : 0, question.cpu, taken_,
	                                   "cannot take recorded blocks");
	const bool left = (io.flags & DFR_TAKE_LEFT) != 0;
	pass_.answered(io.count == kTakeBatch, left);
	stuck_ = left && !io.count && copied_.empty();
	if (stuck_) {
		left_behind_ = pass_.under_way();
		pass_.leave();
	}
	if (io.count)
		read_catalog();
}

void DeviceSession::hold() {
	holding_ = true;
	taken_.insert(taken_.begin(), left_over_.begin(), left_over_.end());
	left_over_.clear();
}

size_t DeviceSession::take_left_over() {
	try {
		while (take_batch(DFR_TAKE_ORPHANS, BlockPass::kAllCpus, left_over_,
		                  "cannot take blocks that were not stored")
		           .count == kTakeBatch)
			;
	} catch (const Error& error) {
		if (error.code() != EINVAL) // the loaded module is older than this question
			throw;
	}
	return left_over_.size();
}

void DeviceSession::release_left_over() {
	copied_.insert(copied_.end(), left_over_.begin(), left_over_.end());
	left_over_.clear();
	release();
}

// Where the taken block is mapped. Blocks smaller than a page share a page; the sequence number that
// TAKE reported tells which of them was taken.
const std::byte* DeviceSession::find(const dfr_ioc_taken& taken) {
	const uint32_t size = catalog_.block_size;
	if (size < DFR_BLOCK_MIN || size > DFR_BLOCK_MAX)
		throw Error("the state's catalog does not say how large its blocks are",
		            "load the module that came with this dfr");
	if (mappings_.size() >= kMappingsMax)
		mappings_.clear();
	std::unique_ptr<BlockMapping>& mapping = mappings_[DFR_MAP_OFFSET(taken.cpu, taken.block)];
	if (!mapping)
		mapping = std::make_unique<BlockMapping>(device_, taken, std::max<size_t>(size, kPageSize));
	for (uint32_t at = 0; size < kPageSize && at + size <= kPageSize; at += size) {
		dfr_block head;
		std::memcpy(&head, mapping->bytes() + at, sizeof(head));
		if (head.magic == DFR_BLOCK_MAGIC && head.seq == taken.seq && head.cpu == taken.cpu)
			return mapping->bytes() + at;
	}
	return mapping->bytes();
}

std::optional<trace::Block> DeviceSession::copy(const dfr_ioc_taken& taken) {
	const std::byte* at = find(taken);
	dfr_block head;
	// What the engine writes before a flag can be read after it.
	const uint32_t flags = __atomic_load_n(
	    reinterpret_cast<const uint32_t*>(at + offsetof(dfr_block, flags)), __ATOMIC_ACQUIRE);
	std::memcpy(&head, at, sizeof(head));
	head.flags = flags;
	std::atomic_thread_fence(std::memory_order_acquire);
	const uint64_t used = uint64_t{head.hdr_size} + head.committed;
	if (head.seq != taken.seq || used < sizeof(head) || used > catalog_.block_size)
		return std::nullopt;
	trace::Block block;
	block.bytes.assign(at, at + used);
	std::memcpy(block.bytes.data(), &head, sizeof(head)); // by now a block that is open may have more
	std::atomic_thread_fence(std::memory_order_acquire);
	uint64_t seq;
	std::memcpy(&seq, at + offsetof(dfr_block, seq), sizeof(seq));
	if (seq != taken.seq || !trace::block_is_sane(block.bytes))
		return std::nullopt;
	return block;
}

std::optional<trace::Block> DeviceSession::take_copy(const dfr_ioc_taken& taken) {
	std::optional<trace::Block> block = copy(taken);
	if (block)
		trace::seal_block(*block);
	return block;
}

// Gives copied blocks back in batches, because a program that traces system calls also records each
// RELEASE of this process.
void DeviceSession::release() {
	for (size_t at = 0; at < copied_.size(); at += kReleaseMost) {
		dfr_ioc_release io{.size = sizeof(io),
		                   .count =
		                       static_cast<uint32_t>(std::min(copied_.size() - at, kReleaseMost)),
		                   .taken = reinterpret_cast<uint64_t>(copied_.data() + at)};
		device_.call(DFR_IOC_RELEASE, &io, "cannot give blocks back");
	}
	copied_.clear();
}

// Storing is due when half as many blocks are held as a CPU's ring has: the ring itself still has all
// its slots, because each taken block was replaced by a spare, and spares are left for the other half.
void DeviceSession::hold_copied(const dfr_ioc_taken& taken) {
	if (++held_[taken.cpu] >= std::max(catalog_.blocks / 2, 1u))
		full_ = true;
}

void DeviceSession::stored() {
	release();
	held_.clear();
	full_ = false;
}

std::optional<trace::Block> DeviceSession::next() {
	while (!full_) {
		if (taken_.empty()) {
			if (!holding_)
				release();
			do {
				if (pass_.wants_room() && !copied_.empty()) {
					full_ = true; // stored() releases them
					return std::nullopt;
				}
				take();
			} while (taken_.empty() && pass_.under_way());
		}
		if (taken_.empty())
			return std::nullopt;
		const dfr_ioc_taken taken = taken_.front();
		taken_.pop_front();
		std::optional<trace::Block> block = take_copy(taken);
		block ? pass_.saw(block->header().last_time) : pass_.saw_unreadable();
		copied_.push_back(taken);
		if (holding_)
			hold_copied(taken);
		else if (copied_.size() == kReleaseBatch)
			release();
		if (block)
			return block;
		overwritten_++;
	}
	return std::nullopt;
}

std::vector<trace::AggEntry> DeviceSession::aggregations() {
	if (snapshot_.empty())
		snapshot_.resize(64 * 1024);
	dfr_ioc_aggsnap io{};
	for (;;) {
		io.size = sizeof(io);
		io.buffer = reinterpret_cast<uint64_t>(snapshot_.data());
		io.bytes = snapshot_.size();
		const int code = device_.try_call(DFR_IOC_AGGSNAP, &io);
		if (code == ENOSPC && io.bytes > snapshot_.size() && io.bytes <= kSnapshotMax) {
			snapshot_.resize(io.bytes + io.bytes / 4);
			continue;
		}
		if (code == ENXIO)
			return {};
		if (code)
			throw Error(std::string("cannot read the aggregations: ") + std::strerror(code), "",
			            code);
		break;
	}
	read_catalog();
	std::vector<trace::AggEntry> entries;
	if (!io.bytes)
		return entries;
	senseless_ += trace::merge_aggregation_table(
	    std::span(snapshot_).first(std::min<size_t>(io.bytes, snapshot_.size())), entries);
	return entries;
}

// A block that was overwritten during its copy is dropped; the merger then finds a gap in the sequence
// numbers and counts the block's records as missing.
std::vector<std::string> DeviceSession::remarks() {
	std::vector<std::string> result;
	if (overwritten_)
		result.push_back(std::to_string(overwritten_) +
		                 " blocks were overwritten while they were read");
	if (left_behind_)
		result.push_back(
		    "the last blocks of a CPU were left in the kernel, which had no memory to hand them out");
	if (senseless_)
		result.push_back(std::to_string(senseless_) +
		                 " bytes of the aggregation table could not be read");
	if (losses_unknown_)
		result.push_back(std::string("how many records were lost is not known: ") +
		                 std::strerror(losses_unknown_));
	return result;
}

std::vector<trace::Losses::Stretch> DeviceSession::running_stretches() {
	std::vector<trace::Losses::Stretch> result;
	const std::optional<Cost> now = trace::may_be_thinned(catalog_) ? cost() : std::nullopt;
	if (!now)
		return result;
	for (const dfr_ioc_cpu_cost& cpu : now->cpus)
		for (uint32_t priority = 0; priority < DFR_PRIORITIES; priority++)
			if (cpu.thinned_since[priority])
				result.push_back({.cpu = static_cast<int32_t>(cpu.cpu),
				                  .priority = priority,
				                  .from = cpu.thinned_since[priority],
				                  .left_out = cpu.thinned_left[priority],
				                  .detached = (now->detached & 1u << priority) != 0});
	return result;
}

trace::Losses DeviceSession::losses() {
	trace::Losses result;
	dfr_ioc_status io{};
	io.size = sizeof(io);
	losses_unknown_ = device_.try_call(DFR_IOC_STATUS, &io);
	if (losses_unknown_ == ENXIO)
		losses_unknown_ = 0; // there is no state yet
	else if (!losses_unknown_)
		for (uint32_t cause = 0; cause < DFR_LOSS_MAX; cause++)
			if (io.loss[cause])
				result.add({.cause = cause, .count = io.loss[cause]});
	// A CPU that records nothing tells of a stretch that goes on only in the block in which that began.
	for (const trace::Losses::Stretch& stretch : running_stretches())
		result.add(stretch);
	// What has ended since the mark went on at the mark; a file must not say that it was over by then.
	for (const trace::Losses::Stretch& stretch : marked_stretches_)
		result.add(stretch);
	return result;
}

} // namespace dfr::recorder
