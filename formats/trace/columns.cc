// SPDX-License-Identifier: GPL-2.0
//
// RecordWalk serves both directions: it moves bytes through a port, either from a
// block into streams (Splitter) or from streams into a block (Joiner). It sees the
// same bytes in both directions, so it takes the same path. It finds only where a
// record's parts begin and end; decode.h interprets the values.
//
//   [ u32 raw, u32 stored ][ front ][ stream ]...
//   front: [ u32 shapes ][ shape: u32 epid, u32 fields, dfr_field... ]...
//          [ u32 streams ][ u32 raw, u32 stored ]...
//
// raw == stored: not compressed, because compression would not make it smaller.
#include "formats/trace/columns.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "formats/trace/container.h"
#include "formats/trace/decode.h"

namespace dfr::trace {
namespace {

// Streams that every chunk has; the streams of fields follow them.
enum ColumnStream : unsigned {
	kFlags,    // one byte for each block; 1: it is stored whole, in kWhole
	kRestarts, // u16 for each restart entry; 0: unused; else 1 + the record's offset in the entry's KiB
	kIdLow,    // id and level of each record's head
	kIdHigh,
	kDeltaLow,
	kDeltaMiddle,
	kDeltaHigh,
	kLongId,
	kLongTime, // a long head's time minus the previous time: zigzag, 7 bits in each byte
	kKinds,    // the kind byte of control records
	kControls, // what follows the kind
	kCodes,    // size codes of integer fields
	kWhole,    // tables and records of blocks that could not be walked
	kFixedStreams
};

constexpr unsigned kMaxStreams = 1u << 18;
constexpr uint32_t kMaxFront = 1u << 23;

template <typename T> T load(const std::byte* at) {
	T value;
	std::memcpy(&value, at, sizeof(T));
	return value;
}

template <typename T> void put(std::vector<std::byte>& to, T value) {
	const auto bytes = std::as_bytes(std::span(&value, 1));
	to.insert(to.end(), bytes.begin(), bytes.end());
}

uint64_t zigzag(uint64_t value) {
	return value << 1 ^ (static_cast<int64_t>(value) < 0 ? ~0ull : 0);
}
uint64_t unzigzag(uint64_t value) {
	return value >> 1 ^ (0 - (value & 1));
}

// The fields of one EPID; field i is in stream first_stream + i.
struct EpidColumns {
	std::vector<dfr_field> fields;
	unsigned integers = 0;
	unsigned first_stream = 0;
};

// The EPIDs of a chunk, in the order of their first records. When encoding, find() takes a new EPID's
// layout from the catalog; when decoding, read_shapes() has added all of them before.
class AllColumns {
public:
	explicit AllColumns(const Catalog* catalog) : catalog_(catalog) {}

	const EpidColumns* find(uint32_t epid) {
		if (epid < dense_.size() && dense_[epid])
			return dense_[epid];
		const Layout* layout = catalog_ ? catalog_->layout_of(epid) : nullptr;
		return layout ? add(epid, layout->fields) : nullptr;
	}
	const EpidColumns* add(uint32_t epid, const std::vector<dfr_field>& fields) {
		if (epid == 0 || epid > (1u << 24) || streams_ + fields.size() > kMaxStreams ||
		    shapes_.count(epid))
			return nullptr;
		EpidColumns& shape = shapes_[epid];
		shape = {.fields = fields, .integers = count_integers(fields), .first_stream = streams_};
		streams_ += static_cast<unsigned>(fields.size());
		order_.push_back(epid);
		dense_.resize(std::max<size_t>(dense_.size(), epid + 1));
		dense_[epid] = &shape;
		return &shape;
	}
	unsigned streams() const { return streams_; }
	void write(std::vector<std::byte>& to) const {
		put<uint32_t>(to, static_cast<uint32_t>(order_.size()));
		for (const uint32_t epid : order_) {
			const EpidColumns& shape = shapes_.at(epid);
			put<uint32_t>(to, epid);
			put<uint32_t>(to, static_cast<uint32_t>(shape.fields.size()));
			for (const dfr_field& field : shape.fields)
				put(to, field);
		}
	}

private:
	const Catalog* catalog_;
	std::map<uint32_t, EpidColumns> shapes_;
	std::vector<const EpidColumns*> dense_;
	std::vector<uint32_t> order_;
	unsigned streams_ = kFixedStreams;
};

// The port that moves bytes from a block's records into streams.
class Splitter {
public:
	explicit Splitter(std::vector<std::vector<std::byte>>& streams) : streams_(streams) {}
	void start(const std::byte* raw, size_t at, size_t end) {
		raw_ = raw;
		at_ = at;
		end_ = end;
	}
	size_t at() const { return at_; }
	size_t end() const { return end_; }

	const std::byte* move(unsigned stream, size_t size) {
		if (end_ - at_ < size)
			return nullptr;
		const std::byte* from = raw_ + at_;
		at_ += size;
		std::vector<std::byte>& to = out(stream);
		to.insert(to.end(), from, from + size);
		return from;
	}
	bool text(unsigned stream) {
		const void* nul = std::memchr(raw_ + at_, 0, end_ - at_);
		return nul && move(stream, static_cast<const std::byte*>(nul) - (raw_ + at_) + 1);
	}
	bool head(uint32_t& word) {
		if (end_ - at_ < 4)
			return false;
		word = load<uint32_t>(raw_ + at_);
		at_ += 4;
		out(kIdLow).push_back(std::byte(word));
		out(kIdHigh).push_back(std::byte(word >> 8 & 0x1f));
		const uint32_t delta = DFR_REC_DELTA(word);
		if (DFR_REC_ID(word) == DFR_REC_ID_LONG)
			return delta == 0;
		out(kDeltaLow).push_back(std::byte(delta));
		out(kDeltaMiddle).push_back(std::byte(delta >> 8));
		out(kDeltaHigh).push_back(std::byte(delta >> 16));
		return true;
	}
	bool long_head(uint32_t& id, uint64_t& time) {
		const std::byte* from = move(kLongId, 4);
		if (!from || end_ - at_ < 8)
			return false;
		id = load<uint32_t>(from);
		const uint64_t now = load<uint64_t>(raw_ + at_);
		at_ += 8;
		for (uint64_t rest = zigzag(now - time);; rest >>= 7) {
			out(kLongTime).push_back(std::byte((rest & 0x7f) | (rest >= 0x80 ? 0x80 : 0)));
			if (rest < 0x80)
				break;
		}
		time = now;
		return true;
	}

private:
	std::vector<std::byte>& out(unsigned stream) {
		if (stream >= streams_.size())
			streams_.resize(stream + 1);
		return streams_[stream];
	}
	std::vector<std::vector<std::byte>>& streams_;
	const std::byte* raw_ = nullptr;
	size_t at_ = 0, end_ = 0;
};

// The port that moves bytes from streams into a block's records. The streams are hostile.
class Joiner {
public:
	explicit Joiner(std::vector<std::span<const std::byte>>& streams) : streams_(streams) {}
	// raw[0] is byte `origin` of the block.
	void start(std::byte* raw, size_t origin, size_t at, size_t end) {
		raw_ = raw;
		origin_ = origin;
		at_ = at;
		end_ = end;
	}
	size_t at() const { return at_; }
	size_t end() const { return end_; }

	const std::byte* move(unsigned stream, size_t size) {
		std::span<const std::byte>& from = streams_[stream];
		if (end_ - at_ < size || from.size() < size)
			return nullptr;
		std::byte* to = raw_ + (at_ - origin_);
		std::copy_n(from.begin(), size, to);
		from = from.subspan(size);
		at_ += size;
		return to;
	}
	bool text(unsigned stream) {
		const std::span<const std::byte> from = streams_[stream];
		const void* nul = from.empty() ? nullptr : std::memchr(from.data(), 0, from.size());
		return nul && move(stream, static_cast<const std::byte*>(nul) - from.data() + 1);
	}
	bool head(uint32_t& word) {
		uint8_t low, high, delta[3] = {};
		if (!byte(kIdLow, low) || !byte(kIdHigh, high))
			return false;
		word = low | (high & 0x1fu) << 8;
		if (DFR_REC_ID(word) != DFR_REC_ID_LONG) {
			if (!byte(kDeltaLow, delta[0]) || !byte(kDeltaMiddle, delta[1]) ||
			    !byte(kDeltaHigh, delta[2]))
				return false;
			word |= (delta[0] | delta[1] << 8 | static_cast<uint32_t>(delta[2]) << 16) << 13;
		}
		return write(word);
	}
	bool long_head(uint32_t& id, uint64_t& time) {
		const std::byte* from = move(kLongId, 4);
		if (!from)
			return false;
		id = load<uint32_t>(from);
		uint64_t difference = 0;
		uint8_t seven = 0x80;
		for (unsigned shift = 0; seven & 0x80; shift += 7) {
			if (shift > 63 || !byte(kLongTime, seven))
				return false;
			difference |= static_cast<uint64_t>(seven & 0x7f) << shift;
		}
		time += unzigzag(difference);
		return write(time);
	}

private:
	bool byte(unsigned stream, uint8_t& value) {
		std::span<const std::byte>& from = streams_[stream];
		if (from.empty())
			return false;
		value = std::to_integer<uint8_t>(from[0]);
		from = from.subspan(1);
		return true;
	}
	template <typename T> bool write(T value) {
		if (end_ - at_ < sizeof(value))
			return false;
		std::memcpy(raw_ + (at_ - origin_), &value, sizeof(value));
		at_ += sizeof(value);
		return true;
	}
	std::vector<std::span<const std::byte>>& streams_;
	std::byte* raw_ = nullptr;
	size_t origin_ = 0, at_ = 0, end_ = 0;
};

// Walks the records of one block through a port. Before each record it calls on_start() with the restart
// entry that this place would have.
template <typename Port, typename OnStart> class RecordWalk {
public:
	RecordWalk(Port& port, AllColumns& shapes, const OnStart& on_start)
	    : port_(port), shapes_(shapes), on_start_(on_start) {}

	bool run() {
		while (port_.at() < port_.end())
			if (!step())
				return false;
		return true;
	}

private:
	bool step() {
		if (group_end_ && port_.at() >= group_end_) {
			group_end_ = 0;
			time_ = group_time_;
			context_ = 0;
		}
		const size_t start = port_.at();
		on_start_(dfr_restart{.time = time_,
		                      .record = static_cast<uint32_t>(start),
		                      .context = context_,
		                      .records = records_,
		                      .checksum = 0});
		uint32_t word;
		if (!port_.head(word))
			return false;
		uint32_t id = DFR_REC_ID(word);
		if (id == DFR_REC_ID_LONG) {
			if (!port_.long_head(id, time_))
				return false;
		} else {
			time_ += DFR_REC_DELTA(word);
		}
		records_ += id != 0;
		return id ? record(id) : control(start);
	}

	bool control(size_t start) {
		const std::byte* kind = port_.move(kKinds, 1);
		if (!kind)
			return false;
		switch (std::to_integer<unsigned>(*kind)) {
		case DFR_CONTROL_CONTEXT: context_ = static_cast<uint32_t>(start); return context();
		case DFR_CONTROL_NOTE: return port_.move(kControls, 10);
		case DFR_CONTROL_LOSS: return port_.move(kControls, 29);
		case DFR_CONTROL_GROUP: {
			const std::byte* group = port_.move(kControls, 16);
			if (!group || group_end_)
				return false;
			const uint32_t bytes = load<uint32_t>(group + 4);
			context_ = 0;
			if (bytes) {
				group_end_ = port_.at() + bytes;
				group_time_ = time_;
			}
			return true;
		}
		default: return false;
		}
	}

	bool context() {
		const std::byte* at = port_.move(kControls, 1);
		if (!at)
			return false;
		const unsigned codes = std::to_integer<unsigned>(*at);
		size_t size = 0;
		for (unsigned i = 0; i < 3; i++)
			size += 1u << (codes >> 2 * i & 3);
		return port_.move(kControls, size) && port_.text(kControls);
	}

	bool record(uint32_t epid) {
		const EpidColumns* shape = shapes_.find(epid);
		if (!shape)
			return false;
		// `codes` points into the block (not into a stream, which may be reallocated), so it stays
		// valid while the fields are moved.
		const unsigned code_bytes = (shape->integers + 3) / 4;
		const std::byte* codes = port_.move(kCodes, code_bytes);
		if (code_bytes && !codes)
			return false;
		unsigned stream = shape->first_stream, integer = 0;
		for (const dfr_field& field : shape->fields) {
			if (field.kind == DFR_FIELD_INT) {
				const unsigned code =
				    std::to_integer<unsigned>(codes[integer / 4]) >> integer % 4 * 2 & 3;
				integer++;
				if (!port_.move(stream, size_t{1} << code))
					return false;
			} else if (!other_field(field, stream)) {
				return false;
			}
			stream++;
		}
		return true;
	}

	bool other_field(const dfr_field& field, unsigned stream) {
		const std::byte* head;
		switch (field.kind) {
		case DFR_FIELD_STRING: return port_.text(stream);
		case DFR_FIELD_BYTES: return !field.size || port_.move(stream, field.size);
		case DFR_FIELD_VARBYTES:
			head = port_.move(stream, 2);
			return head && port_.move(stream, load<uint16_t>(head));
		case DFR_FIELD_USTACK:
			if (!port_.move(stream, 4))
				return false;
			[[fallthrough]];
		case DFR_FIELD_STACK:
			head = port_.move(stream, 1);
			return head && port_.move(stream, 8 * std::to_integer<size_t>(*head));
		case DFR_FIELD_USYM: return port_.move(stream, 16);
		case DFR_FIELD_PROBETEXT: return true;
		default: return false;
		}
	}

	Port& port_;
	AllColumns& shapes_;
	const OnStart& on_start_;
	uint64_t time_ = 0, group_time_ = 0;
	size_t group_end_ = 0;
	uint32_t context_ = 0, records_ = 0;
};

template <typename Port, typename OnStart>
bool walk(Port& port, AllColumns& shapes, const OnStart& on_start) {
	return RecordWalk<Port, OnStart>(port, shapes, on_start).run();
}

uint32_t restart_count(const dfr_block& head) {
	return static_cast<uint32_t>((head.hdr_size - sizeof(dfr_block)) / sizeof(dfr_restart));
}

bool same(const dfr_restart& a, const dfr_restart& b) {
	return !std::memcmp(&a, &b, sizeof(a));
}

// Writes the restart table as u16s; false: an entry's record is outside of the entry's KiB, so
// join_block() could not restore it.
bool split_restarts(const std::byte* table, uint32_t count, std::vector<std::byte>& to) {
	for (uint32_t i = 0; i < count; i++) {
		const auto entry = load<dfr_restart>(table + i * sizeof(dfr_restart));
		const uint32_t first = i * DFR_RESTART_BYTES;
		if (same(entry, {})) {
			put<uint16_t>(to, 0);
			continue;
		}
		if (entry.record < first || entry.record >= first + DFR_RESTART_BYTES)
			return false;
		put<uint16_t>(to, static_cast<uint16_t>(1 + entry.record - first));
	}
	return true;
}

// Splits one block; false: splitting would not give back the same bytes, so it must be stored whole.
bool split_block(const Block& block, Splitter& port, AllColumns& shapes,
                 std::vector<std::vector<std::byte>>& streams) {
	const dfr_block& head = block.header();
	const std::byte* table = block.bytes.data() + sizeof(dfr_block);
	const uint32_t count = restart_count(head);
	if ((head.hdr_size - sizeof(dfr_block)) % sizeof(dfr_restart) ||
	    !split_restarts(table, count, streams[kRestarts]))
		return false;
	uint32_t next = 0, right = 0, wanted = 0;
	for (uint32_t i = 0; i < count; i++)
		wanted += load<dfr_restart>(table + i * sizeof(dfr_restart)).record != 0;
	const auto compare = [&](const dfr_restart& here) {
		for (; next < count; next++) {
			const auto entry = load<dfr_restart>(table + next * sizeof(dfr_restart));
			if (entry.record > here.record)
				return;
			if (entry.record == here.record)
				right += same(entry, here);
		}
	};
	port.start(block.bytes.data(), head.hdr_size, head.hdr_size + head.committed);
	return walk(port, shapes, compare) && right == wanted;
}

// Fills `body`, which is what follows the block's header.
bool join_block(const dfr_block& head, std::span<std::byte> body, Joiner& port,
                std::vector<std::span<const std::byte>>& streams, AllColumns& shapes) {
	const uint32_t count = restart_count(head);
	std::span<const std::byte>& offsets = streams[kRestarts];
	if (offsets.size() < 2ull * count)
		return false;
	std::vector<dfr_restart> table(count);
	for (uint32_t i = 0; i < count; i++)
		if (const auto offset = load<uint16_t>(offsets.data() + 2ull * i))
			table[i].record = i * DFR_RESTART_BYTES + offset - 1;
	offsets = offsets.subspan(2ull * count);
	uint32_t next = 0;
	const auto fill = [&](const dfr_restart& here) {
		for (; next < count && table[next].record <= here.record; next++)
			if (table[next].record == here.record && here.record)
				table[next] = here;
	};
	// Offsets in the records count from the block's start; body[0] is the first byte after dfr_block.
	port.start(body.data(), sizeof(dfr_block), head.hdr_size, head.hdr_size + head.committed);
	if (!walk(port, shapes, fill))
		return false;
	std::memset(body.data(), 0, head.hdr_size - sizeof(dfr_block));
	if (count)
		std::memcpy(body.data(), table.data(), count * sizeof(dfr_restart));
	return true;
}

// Shorter streams are not compressed, because zstd's frame costs more than it saves.
constexpr size_t kWorthCompressing = 48;

// Appends `raw` to `to`, compressed if that makes it smaller, and its two sizes to `sizes`.
void pack(const std::vector<std::byte>& raw, std::vector<std::byte>& sizes, std::vector<std::byte>& to) {
	std::optional<std::vector<std::byte>> small;
	if (raw.size() >= kWorthCompressing)
		small = compress(raw);
	const std::vector<std::byte>& stored = small ? *small : raw;
	put<uint32_t>(sizes, static_cast<uint32_t>(raw.size()));
	put<uint32_t>(sizes, static_cast<uint32_t>(stored.size()));
	to.insert(to.end(), stored.begin(), stored.end());
}

std::vector<std::byte> assemble(const AllColumns& shapes,
                                const std::vector<std::vector<std::byte>>& streams) {
	std::vector<std::byte> front, packed, result, front_packed;
	shapes.write(front);
	put<uint32_t>(front, static_cast<uint32_t>(streams.size()));
	for (const std::vector<std::byte>& stream : streams)
		pack(stream, front, packed);
	pack(front, result, front_packed);
	result.insert(result.end(), front_packed.begin(), front_packed.end());
	result.insert(result.end(), packed.begin(), packed.end());
	return result;
}

// The streams that decode_columns() reads: each points into the input or, if it was compressed, into
// `owned`.
struct UnpackedColumns {
	std::vector<std::vector<std::byte>> owned;
	std::vector<std::span<const std::byte>> streams;
};

class ByteReader {
public:
	explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}
	template <typename T> bool get(T& value) {
		if (bytes_.size() < sizeof(T))
			return false;
		value = load<T>(bytes_.data());
		bytes_ = bytes_.subspan(sizeof(T));
		return true;
	}
	std::optional<std::span<const std::byte>> take(size_t size) {
		if (bytes_.size() < size)
			return std::nullopt;
		const auto result = bytes_.first(size);
		bytes_ = bytes_.subspan(size);
		return result;
	}
	size_t left() const { return bytes_.size(); }

private:
	std::span<const std::byte> bytes_;
};

bool read_shapes(ByteReader& in, AllColumns& shapes) {
	uint32_t count, epid, fields;
	if (!in.get(count))
		return false;
	for (uint32_t i = 0; i < count; i++) {
		if (!in.get(epid) || !in.get(fields) || fields > in.left() / sizeof(dfr_field))
			return false;
		std::vector<dfr_field> list(fields);
		for (dfr_field& field : list)
			if (!in.get(field) || !field_is_sane(field))
				return false;
		if (!shapes.add(epid, list))
			return false;
	}
	return true;
}

// Sets `bytes` to the unpacked bytes: in the input itself, or in `owned` if they were compressed.
bool unpack(ByteReader& in, uint32_t raw, uint32_t stored, std::vector<std::byte>& owned,
            std::span<const std::byte>& bytes) {
	const auto taken = in.take(stored);
	if (!taken)
		return false;
	bytes = *taken;
	if (stored == raw)
		return true;
	owned.resize(raw);
	bytes = owned;
	return uncompress(*taken, owned);
}

// `limit`: what all streams together may hold when unpacked, so that hostile sizes allocate little.
bool read_streams(ByteReader& front, ByteReader& in, uint64_t limit, unsigned needed,
                  UnpackedColumns& result) {
	uint32_t count;
	if (!front.get(count) || count > kMaxStreams || count > front.left() / 8)
		return false;
	std::vector<std::pair<uint32_t, uint32_t>> sizes(count);
	uint64_t sum = 0;
	for (auto& [raw, stored] : sizes) {
		if (!front.get(raw) || !front.get(stored) || stored > raw)
			return false;
		sum += raw;
	}
	if (sum > limit)
		return false;
	result.owned.resize(count);
	result.streams.resize(std::max(count, needed));
	for (uint32_t i = 0; i < count; i++)
		if (!unpack(in, sizes[i].first, sizes[i].second, result.owned[i], result.streams[i]))
			return false;
	return true;
}

} // namespace

std::vector<std::byte> encode_columns(std::span<const Block> blocks, const Catalog& catalog) {
	std::vector<std::vector<std::byte>> streams(kFixedStreams);
	AllColumns shapes(&catalog);
	Splitter port(streams);
	for (const Block& block : blocks) {
		std::vector<size_t> before;
		for (const auto& stream : streams)
			before.push_back(stream.size());
		streams[kFlags].push_back(std::byte{0});
		if (split_block(block, port, shapes, streams))
			continue;
		// Removes what split_block() has already added to the streams.
		for (size_t i = 0; i < streams.size(); i++)
			streams[i].resize(i < before.size() ? before[i] : 0);
		streams[kFlags].push_back(std::byte{1});
		const dfr_block& head = block.header();
		const auto body = std::span(block.bytes)
		                      .subspan(sizeof(head), head.hdr_size - sizeof(head) + head.committed);
		streams[kWhole].insert(streams[kWhole].end(), body.begin(), body.end());
	}
	return assemble(shapes, streams);
}

bool decode_columns(std::span<const std::byte> stored, std::span<const dfr_block> headers,
                    std::span<std::byte> bodies) {
	ByteReader in(stored);
	AllColumns shapes(nullptr);
	UnpackedColumns unpacked;
	uint32_t raw_size, stored_size;
	std::vector<std::byte> owned;
	std::span<const std::byte> front_bytes;
	if (!in.get(raw_size) || !in.get(stored_size) || raw_size > kMaxFront || stored_size > raw_size ||
	    !unpack(in, raw_size, stored_size, owned, front_bytes))
		return false;
	ByteReader front(front_bytes);
	if (!read_shapes(front, shapes) ||
	    !read_streams(front, in, 4 * uint64_t{bodies.size()} + (1u << 16), shapes.streams(), unpacked))
		return false;
	Joiner port(unpacked.streams);
	for (const dfr_block& head : headers) {
		const size_t size = head.hdr_size - sizeof(dfr_block) + head.committed;
		std::span<const std::byte>& flags = unpacked.streams[kFlags];
		std::span<const std::byte>& whole = unpacked.streams[kWhole];
		if (bodies.size() < size || flags.empty())
			return false;
		const bool kept = flags[0] != std::byte{0};
		flags = flags.subspan(1);
		if (kept) {
			if (whole.size() < size)
				return false;
			std::copy_n(whole.begin(), size, bodies.begin());
			whole = whole.subspan(size);
		} else if (!join_block(head, bodies.first(size), port, unpacked.streams, shapes)) {
			return false;
		}
		bodies = bodies.subspan(size);
	}
	return bodies.empty();
}

} // namespace dfr::trace
