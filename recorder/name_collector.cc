// SPDX-License-Identifier: GPL-2.0
//
// Finding addresses in records and keys, and their names.
#include "recorder/name_collector.h"

#include <algorithm>
#include <cstring>

#include "formats/error.h"
#include "formats/trace/key.h"

namespace dfr::recorder {
namespace {

// What is known is forgotten when it is so much: its names are in the file, and are written again if they occur again.
constexpr size_t kKnownMost = 1 << 20;
constexpr uint64_t kErrors = -4096ull; // negative errnos look like addresses of the kernel

uint64_t word_at(std::span<const std::byte> bytes, size_t word) {
	uint64_t value = 0;
	std::memcpy(&value, bytes.data() + 8 * word, sizeof value);
	return value;
}

trace::AddressNames::ModuleRange loaded_module(const LoadedModule& module) {
	return {.start = module.start,
	        .size = module.size,
	        .since = module.present.since,
	        .until = module.present.until};
}

} // namespace

const dof::Image* NameCollector::program(uint32_t number, const trace::Catalog& catalog) {
	std::unique_ptr<dof::Image>& image = programs_[number];
	if (!image) {
		image = std::make_unique<dof::Image>();
		try {
			*image = dof::read(catalog.dofs.at(number));
		} catch (const std::exception&) {
			// Not there, or damaged: as if it had no clauses.
		}
	}
	return image.get();
}

// Whether an integer says which place of a process ran.
bool NameCollector::user_code(const dfr_field& field, const trace::Layout& layout, const trace::Probe* probe,
                              const trace::Catalog& catalog) {
	if (field.argument >= 0)
		return field.argument == 1 && probe && probe->provider == "profile";
	const dof::Image* const image = program(layout.dof, catalog);
	if (layout.clause >= image->ecbs.size() || image->ecbs[layout.clause].body >= image->bodies.size())
		return false;
	const auto& actions = image->bodies[image->ecbs[layout.clause].body].actions;
	return field.action < actions.size() && actions[field.action].expression == "ucaller";
}

const NameCollector::AddressShape& NameCollector::shape_of(uint32_t epid, const trace::Catalog& catalog) {
	if (epid >= shapes_.size())
		shapes_.resize(std::max<size_t>(epid, catalog.ecbs.size()) + 1);
	AddressShape& shape = shapes_[epid];
	const trace::Layout* const layout = shape.known ? nullptr : catalog.layout_of(epid);
	if (!layout)
		return shape;
	shape.known = true;
	for (size_t i = 0; i < layout->fields.size(); i++) {
		const dfr_field& field = layout->fields[i];
		const bool stack = field.kind == DFR_FIELD_STACK || field.kind == DFR_FIELD_USTACK;
		const bool integer = field.kind == DFR_FIELD_INT && field.size == 8;
		if (stack || integer || field.kind == DFR_FIELD_USYM)
			shape.fields.push_back(
			    {static_cast<uint16_t>(i), field.kind,
			     integer && user_code(field, *layout, catalog.probe_of(epid), catalog)});
	}
	return shape;
}

void NameCollector::kernel(uint64_t address, const Occurrence& where) {
	if (const auto seen = kernel_seen_.find(address);
	    seen != kernel_seen_.end() && seen->second <= where.time)
		return;
	const auto place = places_.kernel_place(address, where.time);
	if (!place)
		return; // asked for again when it comes again
	const types::Symbol& symbol = place->symbol;
	kernel_seen_[address] = place->module ? place->module->present.since : 0;
	known_.add_kernel(symbol.address, symbol.size ? symbol.size : symbol.offset + 1, 0, symbol.module,
	                  symbol.name);
	if (place->module)
		known_.add_module(symbol.module, loaded_module(*place->module));
}

void NameCollector::user(uint32_t pid, uint64_t address, const Occurrence& where) {
	if (const auto seen = user_seen_.find({pid, address});
	    seen != user_seen_.end() && seen->second <= where.time)
		return;
	const bool first_thread = where.context && where.context->pid == pid && where.context->tid == pid;
	const auto place = places_.place(pid, address, where.time,
	                                 first_thread ? where.context->execname : std::string_view());
	if (!place)
		return;
	user_seen_[{pid, address}] = place->present.since;
	const trace::AddressNames::MappedRange range = range_of(pid, *place);
	known_.add_mapping(range);
	if (!place->symbol.empty())
		known_.add_symbol(range.file, place->symbol_offset,
		                  place->symbol_size ? place->symbol_size : place->into_symbol + 1,
		                  place->symbol);
}

trace::AddressNames::MappedRange NameCollector::range_of(uint32_t pid, const UserPlace& place) {
	return {.pid = pid,
	        .file = known_.add_file(place.file, place.identity),
	        .start = place.start,
	        .end = place.end,
	        .offset = place.offset,
	        .since = place.present.since,
	        .seen = place.present.seen,
	        .until = place.present.until};
}

void NameCollector::integer(uint64_t number, const Occurrence& where) {
	if (number >> 63 && number < kErrors)
		kernel(number, where);
}

void NameCollector::user_symbol(std::span<const std::byte> words, const Occurrence& where) {
	if (words.size() == 16)
		user(static_cast<uint32_t>(word_at(words, 0)), word_at(words, 1), where);
}

void NameCollector::stack(std::span<const std::byte> frames, const Occurrence& where) {
	for (size_t i = 0; i < frames.size() / 8 && word_at(frames, i); i++)
		kernel(word_at(frames, i), where);
}

void NameCollector::user_stack(uint32_t pid, std::span<const std::byte> frames, const Occurrence& where) {
	for (size_t i = 0; i < frames.size() / 8 && word_at(frames, i); i++)
		user(pid, word_at(frames, i), where);
}

void NameCollector::record(const trace::Record& record, const trace::Catalog& catalog) {
	const Occurrence where{record.time, &record.context};
	for (const AddressField& field : shape_of(record.epid, catalog).fields) {
		if (field.field >= record.fields.size())
			continue;
		const trace::Value& value = record.fields[field.field];
		switch (field.kind) {
		case DFR_FIELD_STACK: stack(value.bytes, where); break;
		case DFR_FIELD_USTACK:
			user_stack(static_cast<uint32_t>(value.number), value.bytes, where);
			break;
		case DFR_FIELD_USYM: user_symbol(value.bytes, where); break;
		default:
			if (field.user && value.number && !(value.number >> 63))
				user(record.context.pid, value.number, where);
			else
				integer(value.number, where);
		}
	}
}

void NameCollector::block(const trace::Block& block, const trace::Catalog& catalog) {
	if (!decoder_)
		decoder_.emplace(catalog);
	decoder_->decode(block, [&](const trace::Record& one) {
		record(one, catalog);
		return true;
	});
}

void NameCollector::aggregations(const std::vector<trace::AggEntry>& entries, const trace::Catalog& catalog) {
	for (const trace::AggEntry& entry : entries) {
		const auto variable = catalog.aggregations.find(entry.varid);
		if (variable == catalog.aggregations.end())
			continue;
		std::span<const std::byte> rest = entry.key;
		trace::KeyElement element;
		for (const dfr_field& field : variable->second.keys) {
			if (!trace::take_key_element(field, rest, element))
				break;
			switch (field.kind) {
			case DFR_FIELD_STACK: stack(element.bytes, Occurrence()); break;
			case DFR_FIELD_USTACK:
				user_stack(static_cast<uint32_t>(element.number), element.bytes,
				           Occurrence());
				break;
			case DFR_FIELD_USYM: user_symbol(element.bytes, Occurrence()); break;
			case DFR_FIELD_INT: integer(element.number, Occurrence()); break;
			default: break;
			}
		}
	}
}

trace::AddressNames NameCollector::fresh() {
	// A process may exec() and a module go: what an address is called is asked for again.
	kernel_seen_.clear();
	user_seen_.clear();
	for (const auto& [pid, place] : places_.take_changes())
		known_.add_mapping(range_of(pid, place));
	for (const LoadedModule& module : places_.gone_modules())
		known_.add_module(module.name, loaded_module(module));
	trace::AddressNames names = known_.fresh();
	if (known_.size() > kKnownMost)
		known_ = {};
	return names;
}

void NameCollector::new_file() {
	kernel_seen_.clear();
	user_seen_.clear();
	known_ = {};
}

} // namespace dfr::recorder
