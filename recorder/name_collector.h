// SPDX-License-Identifier: GPL-2.0
//
// NameCollector: the names of the addresses that occur in what is recorded, for the
// file. It asks AddressPlaces; of a machine that lives while records come in, because a
// process that has ended has no names any more.
//
// Which addresses: each frame of a stack; usym() and its kin; each integer of eight
// bytes that is an address of the kernel (sym(), caller, pointers to functions); and
// where profile probes and ucaller say which place of a process ran.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "formats/dof/image.h"
#include "formats/trace/decode.h"
#include "formats/trace/names.h"
#include "recorder/address_places.h"

namespace dfr::recorder {

class NameCollector {
public:
	explicit NameCollector(AddressPlaces& places) : places_(places) {}

	void record(const trace::Record& record, const trace::Catalog& catalog);
	// All records of a block; always of the same catalog.
	void block(const trace::Block& block, const trace::Catalog& catalog);
	void aggregations(const std::vector<trace::AggEntry>& entries, const trace::Catalog& catalog);
	// What has come since the last call.
	trace::AddressNames fresh();
	// From now on it is for another file, which has no names yet.
	void new_file();

private:
	struct AddressField {
		uint16_t field;
		uint16_t kind;
		bool user; // an integer that is an address of the process
	};
	struct AddressShape {
		bool known = false;
		std::vector<AddressField> fields;
	};
	const AddressShape& shape_of(uint32_t epid, const trace::Catalog& catalog);
	const dof::Image* program(uint32_t number, const trace::Catalog& catalog);
	bool user_code(const dfr_field& field, const trace::Layout& layout, const trace::Probe* probe,
	               const trace::Catalog& catalog);
	// Where an address occurred: in a record, or in a key, which is of any time.
	struct Occurrence {
		uint64_t time = AddressPlaces::kAnyTime;
		const trace::Context* context = nullptr;
	};
	trace::AddressNames::MappedRange range_of(uint32_t pid, const UserPlace& place);
	void integer(uint64_t number, const Occurrence& where);
	void kernel(uint64_t address, const Occurrence& where);
	void user(uint32_t pid, uint64_t address, const Occurrence& where);
	void user_symbol(std::span<const std::byte> words, const Occurrence& where);
	void stack(std::span<const std::byte> frames, const Occurrence& where);
	void user_stack(uint32_t pid, std::span<const std::byte> frames, const Occurrence& where);

	AddressPlaces& places_;
	trace::KnownNames known_;
	std::vector<AddressShape> shapes_; // by EPID
	std::map<uint32_t, std::unique_ptr<dof::Image>> programs_;
	std::optional<trace::BlockDecoder> decoder_; // of block()'s catalog
	// That have names, and since when.
	std::unordered_map<uint64_t, uint64_t> kernel_seen_;
	std::map<std::pair<uint32_t, uint64_t>, uint64_t> user_seen_;
};

} // namespace dfr::recorder
