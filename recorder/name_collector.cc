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

} // namespace

const dof::Image* NameCollector::program(uint32_t number, const trace::Catalog& catalog) {
	std::unique_ptr<dof::Image>& image = programs_[number];
	if (!image) {
		image = std::make_unique<dof::Image>();
		try {
			const auto& bytes = catalog.dofs.at(number);
			*image = dof::read({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
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

void NameCollector::kernel(uint64_t address, uint64_t time) {
	if (kernel_seen_.contains(address))
		return;
	const auto symbol = symbols_.kernel_symbol(address);
	if (!symbol)
		return; // asked for again when it comes again
	kernel_seen_.insert(address);
	known_.add_kernel(symbol->address, symbol->size ? symbol->size : symbol->offset + 1, time,
	                  symbol->module, symbol->name);
}

void NameCollector::user(uint32_t pid, uint64_t address, uint64_t time) {
	if (user_seen_.contains({pid, address}))
		return;
	const auto place = symbols_.place(pid, address);
	if (!place)
		return;
	user_seen_.insert({pid, address});
	const uint32_t file = known_.add_file(place->file, {});
	known_.add_mapping({pid, file, place->start, place->end, place->offset, time});
	if (!place->symbol.empty())
		known_.add_symbol(file, place->symbol_offset,
		                  place->symbol_size ? place->symbol_size : place->into_symbol + 1,
		                  place->symbol);
}

void NameCollector::integer(uint64_t number, uint64_t time) {
	if (number >> 63 && number < kErrors)
		kernel(number, time);
}

void NameCollector::user_symbol(std::span<const std::byte> words, uint64_t time) {
	if (words.size() == 16)
		user(static_cast<uint32_t>(word_at(words, 0)), word_at(words, 1), time);
}

void NameCollector::stack(std::span<const std::byte> frames, uint64_t time) {
	for (size_t i = 0; i < frames.size() / 8 && word_at(frames, i); i++)
		kernel(word_at(frames, i), time);
}

void NameCollector::user_stack(uint32_t pid, std::span<const std::byte> frames, uint64_t time) {
	for (size_t i = 0; i < frames.size() / 8 && word_at(frames, i); i++)
		user(pid, word_at(frames, i), time);
}

void NameCollector::record(const trace::Record& record, const trace::Catalog& catalog) {
	newest_ = std::max(newest_, record.time);
	for (const AddressField& field : shape_of(record.epid, catalog).fields) {
		if (field.field >= record.fields.size())
			continue;
		const trace::Value& value = record.fields[field.field];
		switch (field.kind) {
		case DFR_FIELD_STACK: stack(value.bytes, record.time); break;
		case DFR_FIELD_USTACK:
			user_stack(static_cast<uint32_t>(value.number), value.bytes, record.time);
			break;
		case DFR_FIELD_USYM: user_symbol(value.bytes, record.time); break;
		default:
			if (field.user && value.number && !(value.number >> 63))
				user(record.context.pid, value.number, record.time);
			else
				integer(value.number, record.time);
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
			case DFR_FIELD_STACK: stack(element.bytes, newest_); break;
			case DFR_FIELD_USTACK:
				user_stack(static_cast<uint32_t>(element.number), element.bytes, newest_);
				break;
			case DFR_FIELD_USYM: user_symbol(element.bytes, newest_); break;
			case DFR_FIELD_INT: integer(element.number, newest_); break;
			default: break;
			}
		}
	}
}

trace::AddressNames NameCollector::fresh() {
	// A process may exec() and a module go: what an address is called is asked for again.
	kernel_seen_.clear();
	user_seen_.clear();
	trace::AddressNames names = known_.fresh();
	if (known_.size() > kKnownMost)
		known_ = {};
	return names;
}

} // namespace dfr::recorder
