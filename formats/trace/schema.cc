// SPDX-License-Identifier: GPL-2.0
//
// Encoding and decoding of the Cap'n Proto payloads (message.h says how reading is bounded).
#include "formats/trace/schema.h"

#include <algorithm>
#include <cstring>

#include "dfr.capnp.h"
#include "formats/error.h"
#include "formats/trace/message.h"

namespace dfr::trace {
namespace {

constexpr unsigned kRemarksMost = 65'536;

// What a catalog's messages may take in memory when they have been read. An element takes more than in the message, in one
// that a writer made less than four times as much (layouts without fields); a crafted one leaves out what is not needed.
class CatalogMemory {
public:
	CatalogMemory(size_t& left, size_t message) : left_(left) { left_ += 5 * message; }

	void take(size_t bytes) {
		if (bytes > left_)
			throw Error(
			    "its entries would take more than five times the memory that it has itself, "
			    "which those of no writer do");
		left_ -= bytes;
	}
	// With what the allocator and a map put around it, or an array keeps free.
	template <typename T> void node() { take(sizeof(T) + 32); }
	template <typename T> void element() { take(2 * sizeof(T)); }
	std::string text(capnp::Text::Reader reader) {
		take(reader.size() > 15 ? reader.size() + 17 : 0);
		return trace::text(reader);
	}

private:
	size_t& left_;
};

template <typename Fields> void write_fields(Fields list, const std::vector<dfr_field>& fields) {
	for (size_t i = 0; i < fields.size(); i++) {
		list[i].setKind(fields[i].kind);
		list[i].setFlags(fields[i].flags);
		list[i].setSize(fields[i].size);
		list[i].setAction(fields[i].action);
		list[i].setArgument(fields[i].argument);
	}
}

template <typename Fields> std::vector<dfr_field> read_fields(Fields list) {
	std::vector<dfr_field> result;
	for (const auto field : list) {
		const dfr_field value{.kind = field.getKind(),
		                      .flags = field.getFlags(),
		                      .size = field.getSize(),
		                      .action = field.getAction(),
		                      .argument = field.getArgument()};
		if (!field_is_sane(value))
			throw Error("a layout has a field of kind " + std::to_string(value.kind) + ", size " +
			            std::to_string(value.size));
		result.push_back(value);
	}
	return result;
}

// The entries of `map` whose id is not marked yet; marks them. Ids of 2^24 and more are never marked, to
// keep the bitmap small, so they are written again each time, which costs only space.
template <typename Map> auto fresh(const Map& map, std::vector<bool>& marked) {
	std::vector<const typename Map::mapped_type*> result;
	for (const auto& [id, value] : map) {
		if (id < marked.size() && marked[id])
			continue;
		if (id < (1u << 24)) {
			marked.resize(std::max<size_t>(marked.size(), id + 1));
			marked[id] = true;
		}
		result.push_back(&value);
	}
	return result;
}

void write_state(schema::Catalog::Builder root, const Catalog& catalog) {
	root.setStateId(catalog.state_id);
	root.setBootId(data_of(std::as_bytes(std::span(catalog.boot_id))));
	root.setStateName(catalog.state_name);
	root.setCpus(catalog.cpus);
	root.setBlockSize(catalog.block_size);
	root.setBlocks(catalog.blocks);
	root.setPolicy(catalog.policy);
	root.setStrsize(catalog.strsize);
	root.setAnonymous(catalog.anonymous);
	auto machine = root.initMachine(catalog.machine.size());
	size_t i = 0;
	for (const auto& [key, value] : catalog.machine) {
		machine[i].setKey(key);
		machine[i++].setValue(value);
	}
}

void write_probes(schema::Catalog::Builder root, const std::vector<const Probe*>& probes) {
	auto list = root.initProbes(probes.size());
	for (size_t i = 0; i < probes.size(); i++) {
		list[i].setId(probes[i]->id);
		list[i].setNargs(probes[i]->nargs.value_or(0xffffffff));
		list[i].setProvider(probes[i]->provider);
		list[i].setModule(probes[i]->module);
		list[i].setFunction(probes[i]->function);
		list[i].setName(probes[i]->name);
	}
}

void write_layouts(schema::Catalog::Builder root, const std::vector<const Layout*>& layouts) {
	auto list = root.initLayouts(layouts.size());
	for (size_t i = 0; i < layouts.size(); i++) {
		list[i].setId(layouts[i]->id);
		list[i].setDof(layouts[i]->dof);
		list[i].setClause(layouts[i]->clause);
		write_fields(list[i].initFields(layouts[i]->fields.size()), layouts[i]->fields);
	}
}

void write_aggregations(schema::Catalog::Builder root, const std::vector<const Aggregation*>& aggregations) {
	auto list = root.initAggregations(aggregations.size());
	for (size_t i = 0; i < aggregations.size(); i++) {
		list[i].setVarid(aggregations[i]->varid);
		list[i].setKind(aggregations[i]->kind);
		list[i].setFlags(aggregations[i]->flags);
		list[i].setArg(aggregations[i]->arg);
		write_fields(list[i].initKeys(aggregations[i]->keys.size()), aggregations[i]->keys);
	}
}

void write_rest(schema::Catalog::Builder root, const Catalog& catalog, const CatalogMark& mark) {
	auto clocks = root.initClocks(catalog.clocks.size() - mark.clocks);
	for (size_t i = 0; i < clocks.size(); i++) {
		const Clock& clock = catalog.clocks[mark.clocks + i];
		clocks[i].setMono(clock.mono);
		clocks[i].setReal(clock.real);
		clocks[i].setBoot(clock.boot);
	}
	auto programs = root.initPrograms(catalog.dofs.size() - mark.dofs);
	for (size_t i = 0; i < programs.size(); i++) {
		programs[i].setDof(data_of(catalog.dofs[mark.dofs + i]));
		if (mark.dofs + i < catalog.sources.size())
			programs[i].setSource(catalog.sources[mark.dofs + i]);
	}
	auto ecbs = root.initEcbs(catalog.ecbs.size() - mark.ecbs);
	for (size_t i = 0; i < ecbs.size(); i++) {
		const Ecb& ecb = catalog.ecbs[mark.ecbs + i];
		ecbs[i].setEpid(ecb.epid);
		ecbs[i].setProbe(ecb.probe);
		ecbs[i].setLayout(ecb.layout);
		ecbs[i].setPriority(ecb.priority);
	}
	auto modules = root.initModules(catalog.modules.size() - mark.modules);
	for (size_t i = 0; i < modules.size(); i++) {
		const Module& module = catalog.modules[mark.modules + i];
		modules[i].setName(module.name);
		modules[i].setTime(module.time);
		modules[i].setBase(module.base);
		modules[i].setBytes(module.bytes);
		modules[i].setGone(module.gone);
	}
	auto events = root.initEvents(catalog.events.size() - mark.events);
	for (size_t i = 0; i < events.size(); i++) {
		const EventMark& event = catalog.events[mark.events + i];
		events[i].setEvent(event.event);
		events[i].setValue(event.value);
		events[i].setTime(event.time);
		events[i].setError(event.error);
		if (!event.text.empty())
			events[i].setText(event.text);
	}
}

void read_clocks(schema::Catalog::Reader root, CatalogMemory& memory, std::vector<Clock>& into) {
	for (const auto clock : root.getClocks()) {
		memory.element<Clock>();
		into.push_back({.mono = clock.getMono(), .real = clock.getReal(), .boot = clock.getBoot()});
	}
}

std::vector<uint32_t> read_ecbs(schema::Catalog::Reader root, CatalogMemory& memory, Catalog& into) {
	std::vector<uint32_t> epids;
	for (const auto entry : root.getEcbs()) {
		memory.element<Ecb>();
		const Ecb ecb{.epid = entry.getEpid(),
		              .probe = entry.getProbe(),
		              .layout = entry.getLayout(),
		              .priority = entry.getPriority()};
		if (!ecb.epid)
			continue;
		if (!into.add_ecb(ecb))
			throw Error("EPID " + std::to_string(ecb.epid) + " is out of order");
		epids.push_back(ecb.epid);
	}
	return epids;
}

void read_catalog_lists(schema::Catalog::Reader root, CatalogMemory& memory, Catalog& into) {
	for (const auto pair : root.getMachine()) {
		memory.node<std::pair<std::string, std::string>>();
		into.machine[memory.text(pair.getKey())] = memory.text(pair.getValue());
	}
	for (const auto program : root.getPrograms()) {
		memory.element<std::pair<std::vector<std::byte>, std::string>>();
		const capnp::Data::Reader dof = program.getDof(); // once, as everything: message.h
		memory.take(dof.size());
		into.dofs.push_back(data(dof));
		into.sources.push_back(memory.text(program.getSource()));
	}
	for (const auto probe : root.getProbes()) {
		memory.node<std::pair<uint32_t, Probe>>();
		Probe value{.id = probe.getId()};
		if (probe.getNargs() != 0xffffffff)
			value.nargs = probe.getNargs();
		value.provider = memory.text(probe.getProvider());
		value.module = memory.text(probe.getModule());
		value.function = memory.text(probe.getFunction());
		value.name = memory.text(probe.getName());
		into.probes.emplace(value.id, std::move(value));
	}
	for (const auto layout : root.getLayouts()) {
		memory.node<std::pair<uint32_t, Layout>>();
		const auto fields = layout.getFields();
		memory.take(fields.size() * sizeof(dfr_field));
		Layout value{.id = layout.getId(), .dof = layout.getDof(), .clause = layout.getClause()};
		value.fields = read_fields(fields);
		into.add_layout(std::move(value));
	}
	for (const auto agg : root.getAggregations()) {
		memory.node<std::pair<uint32_t, Aggregation>>();
		const auto keys = agg.getKeys();
		memory.take(keys.size() * sizeof(dfr_field));
		Aggregation value{.varid = agg.getVarid(),
		                  .kind = agg.getKind(),
		                  .flags = agg.getFlags(),
		                  .arg = agg.getArg()};
		value.keys = read_fields(keys);
		into.aggregations.emplace(value.varid, std::move(value));
	}
	for (const auto module : root.getModules()) {
		memory.element<Module>();
		into.modules.push_back({.name = memory.text(module.getName()),
		                        .time = module.getTime(),
		                        .base = module.getBase(),
		                        .bytes = module.getBytes(),
		                        .gone = module.getGone()});
	}
	for (const auto event : root.getEvents()) {
		memory.element<EventMark>();
		into.events.push_back({.event = event.getEvent(),
		                       .value = event.getValue(),
		                       .time = event.getTime(),
		                       .error = event.getError(),
		                       .text = memory.text(event.getText())});
	}
}

} // namespace

std::vector<std::byte> encode_catalog(const Catalog& catalog, CatalogMark& mark) {
	// Writers may call this before every block, so it first compares sizes only.
	const bool grown = !mark.anything || catalog.probes.size() > mark.probe_count ||
	                   catalog.layouts.size() > mark.layout_count ||
	                   catalog.aggregations.size() > mark.aggregation_count ||
	                   catalog.clocks.size() > mark.clocks || catalog.dofs.size() > mark.dofs ||
	                   catalog.ecbs.size() > mark.ecbs || catalog.modules.size() > mark.modules ||
	                   catalog.events.size() > mark.events || catalog.machine.size() > mark.machine;
	if (!grown)
		return {};
	capnp::MallocMessageBuilder message;
	auto root = message.initRoot<schema::Catalog>();
	const auto probes = fresh(catalog.probes, mark.probes);
	const auto layouts = fresh(catalog.layouts, mark.layouts);
	const auto aggregations = fresh(catalog.aggregations, mark.aggregations);
	write_state(root, catalog);
	write_probes(root, probes);
	write_layouts(root, layouts);
	write_aggregations(root, aggregations);
	write_rest(root, catalog, mark);
	mark.clocks = catalog.clocks.size();
	mark.dofs = catalog.dofs.size();
	mark.ecbs = catalog.ecbs.size();
	mark.modules = catalog.modules.size();
	mark.events = catalog.events.size();
	mark.machine = catalog.machine.size();
	mark.probe_count = catalog.probes.size();
	mark.layout_count = catalog.layouts.size();
	mark.aggregation_count = catalog.aggregations.size();
	mark.anything = true;
	return flatten(message);
}

void CatalogReader::part(std::span<const std::byte> payload) {
	// Its lists are bounded by CatalogMemory.
	with_root<schema::Catalog>(payload, "the catalog", [&](auto root, auto&) {
		into_.state_id = root.getStateId();
		const auto boot = root.getBootId();
		std::copy_n(boot.begin(), std::min(boot.size(), into_.boot_id.size()), into_.boot_id.begin());
		into_.state_name = text(root.getStateName());
		into_.cpus = root.getCpus();
		into_.block_size = root.getBlockSize();
		into_.blocks = root.getBlocks();
		into_.policy = root.getPolicy();
		into_.strsize = root.getStrsize();
		into_.anonymous = root.getAnonymous();
		CatalogMemory memory(memory_left_, payload.size());
		read_clocks(root, memory, clocks_);
		epids_ = read_ecbs(root, memory, into_);
		read_catalog_lists(root, memory, into_);
	});
}

void decode_catalog(std::span<const std::byte> payload, Catalog& into) {
	CatalogReader reader(into);
	reader.part(payload);
	reader.end();
}

std::vector<std::byte> encode_aggregations(const std::vector<AggEntry>& entries) {
	capnp::MallocMessageBuilder message;
	auto list = message.initRoot<schema::Aggregations>().initEntries(entries.size());
	for (size_t i = 0; i < entries.size(); i++) {
		list[i].setVarid(entries[i].varid);
		list[i].setKind(entries[i].kind);
		list[i].setKey(data_of(entries[i].key));
		auto words = list[i].initWords(entries[i].words.size());
		for (size_t w = 0; w < words.size(); w++)
			words.set(w, entries[i].words[w]);
	}
	return flatten(message);
}

std::vector<AggEntry> decode_aggregations(std::span<const std::byte> payload) {
	std::vector<AggEntry> result;
	with_root<schema::Aggregations>(payload, "the aggregations", [&](auto root, auto& lists) {
		for (const auto entry : lists.of(root.getEntries())) {
			AggEntry value{.varid = entry.getVarid(), .kind = entry.getKind()};
			value.key = data(entry.getKey());
			for (const uint64_t word : entry.getWords())
				value.words.push_back(word);
			if (!words_fit(value.kind, value.words))
				throw Error("an aggregation's value has " +
				            std::to_string(value.words.size()) +
				            " words, which its kind does not have");
			result.push_back(std::move(value));
		}
	});
	return result;
}

namespace {

template <typename List> void write_reaches(List list, const std::map<uint32_t, Reach>& reaches) {
	unsigned next = 0;
	for (const auto& [cpu, reach] : reaches) {
		auto entry = list[next++];
		entry.setCpu(cpu);
		entry.setSeq(reach.seq);
		entry.setRecords(reach.records);
	}
}

} // namespace

std::vector<std::byte> encode_ledger(const Ledger& ledger) {
	capnp::MallocMessageBuilder message;
	auto root = message.initRoot<schema::Losses>();
	std::vector<Losses::Loss> entries = ledger.losses.entries;
	for (const Losses::Stretch& stretch : ledger.losses.stretches)
		entries.push_back(loss_of(stretch));
	auto list = root.initEntries(entries.size());
	for (size_t i = 0; i < entries.size(); i++) {
		const Losses::Loss& entry = entries[i];
		list[i].setCause(entry.cause);
		list[i].setProbe(entry.probe);
		list[i].setCpu(entry.cpu);
		list[i].setCount(entry.count);
		list[i].setFrom(entry.from);
		list[i].setTo(entry.to);
	}
	auto remarks = root.initRemarks(ledger.remarks.size());
	for (size_t i = 0; i < ledger.remarks.size(); i++)
		remarks.set(i, ledger.remarks[i]);
	root.setPartial(ledger.partial);
	root.setWholeUntil(ledger.whole_until);
	write_reaches(root.initReaches(ledger.reaches.size()), ledger.reaches);
	if (ledger.part.series || ledger.part.since) {
		auto part = root.initPart();
		part.setSeries(ledger.part.series);
		part.setNumber(ledger.part.number);
		part.setSince(ledger.part.since);
		write_reaches(part.initBefore(ledger.part.before.size()), ledger.part.before);
	}
	auto parts = root.initParts(ledger.parts.size());
	unsigned next = 0;
	for (const auto& [cpu, part] : ledger.parts) {
		auto entry = parts[next++];
		entry.setCpu(cpu);
		entry.setCommitted(part.committed);
		entry.setOverwritten(part.overwritten);
		entry.setCut(part.cut);
	}
	return flatten(message);
}

Ledger decode_ledger(std::span<const std::byte> payload) {
	Ledger result;
	with_root<schema::Losses>(payload, "the losses", [&](auto root, auto& lists) {
		const auto cpu_of = [](uint32_t cpu) {
			if (cpu > UINT16_MAX)
				throw Error("the losses name CPU " + std::to_string(cpu) +
				            ", which no block can have");
			return cpu;
		};
		const auto reaches_of = [&cpu_of, &lists](auto list) {
			std::map<uint32_t, Reach> reaches;
			for (const auto entry : lists.of(list))
				reaches[cpu_of(entry.getCpu())] = {entry.getSeq(), entry.getRecords()};
			return reaches;
		};
		result.reaches = reaches_of(root.getReaches());
		const auto part = root.getPart();
		result.part = {.series = part.getSeries(),
		               .number = part.getNumber(),
		               .since = part.getSince(),
		               .before = reaches_of(part.getBefore())};
		for (const auto entry : lists.of(root.getParts()))
			result.parts[cpu_of(entry.getCpu())] = {entry.getCommitted(), entry.getOverwritten(),
			                                        entry.getCut()};
		std::vector<Losses::Loss> entries;
		for (const auto entry : lists.of(root.getEntries())) {
			entries.push_back({.cause = entry.getCause(),
			                   .probe = entry.getProbe(),
			                   .cpu = entry.getCpu(),
			                   .count = entry.getCount(),
			                   .from = entry.getFrom(),
			                   .to = entry.getTo()});
			if (entry.getCause() == DFR_LOSS_THINNED &&
			    !loss_is_sane(entry.getCause(), entry.getProbe()))
				throw Error("the losses tell of a thinning that no clause can have");
		}
		result.losses.add(std::move(entries));
		// In a message an empty text takes 8 bytes, in memory four times as many.
		const auto remarks = root.getRemarks();
		if (remarks.size() > kRemarksMost)
			throw Error("the losses have " + std::to_string(remarks.size()) +
			            " remarks, which no recording has");
		for (const auto remark : remarks)
			result.remarks.push_back(text(remark));
		result.partial = root.getPartial();
		result.whole_until = root.getWholeUntil();
	});
	return result;
}

std::vector<std::byte> encode_index(const Index& index) {
	capnp::MallocMessageBuilder message;
	auto root = message.initRoot<schema::Index>();
	auto chunks = root.initChunks(index.chunks.size());
	for (size_t i = 0; i < index.chunks.size(); i++) {
		const Index::Chunk& chunk = index.chunks[i];
		chunks[i].setOffset(chunk.offset);
		chunks[i].setCpu(chunk.cpu);
		chunks[i].setBlocks(chunk.blocks);
		chunks[i].setFirstSeq(chunk.first_seq);
		chunks[i].setLastSeq(chunk.last_seq);
		chunks[i].setFirstTime(chunk.first_time);
		chunks[i].setLastTime(chunk.last_time);
		chunks[i].setRecords(chunk.records);
	}
	auto others = root.initOthers(index.others.size());
	for (size_t i = 0; i < index.others.size(); i++) {
		others[i].setOffset(index.others[i].offset);
		others[i].setType(index.others[i].type);
	}
	root.setGoesOn(index.goes_on);
	return flatten(message);
}

Index decode_index(std::span<const std::byte> payload) {
	Index result;
	with_root<schema::Index>(payload, "the index", [&](auto root, auto& lists) {
		for (const auto chunk : lists.of(root.getChunks()))
			result.chunks.push_back({.offset = chunk.getOffset(),
			                         .cpu = chunk.getCpu(),
			                         .blocks = chunk.getBlocks(),
			                         .first_seq = chunk.getFirstSeq(),
			                         .last_seq = chunk.getLastSeq(),
			                         .first_time = chunk.getFirstTime(),
			                         .last_time = chunk.getLastTime(),
			                         .records = chunk.getRecords()});
		for (const auto other : lists.of(root.getOthers()))
			result.others.push_back({.offset = other.getOffset(), .type = other.getType()});
		result.goes_on = root.getGoesOn();
	});
	return result;
}

} // namespace dfr::trace
