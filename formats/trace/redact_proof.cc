// SPDX-License-Identifier: GPL-2.0
//
// Whether a redacted file has only what was allowed. First what is in it, piece by
// piece: segments, catalog, ledger, names, the fields and tasks of each record. Then,
// because that looks only where it knows to look, every unpacked byte of it is
// searched for the texts that were taken out.
#include <algorithm>
#include <cstring>

#include "formats/error.h"
#include "formats/trace/bytes.h"
#include "formats/trace/chunk.h"
#include "formats/trace/container.h"
#include "formats/trace/counted.h"
#include "formats/trace/interned.h"
#include "formats/trace/redact.h"
#include "formats/trace/schema.h"
#include "formats/trace/text_search.h"

namespace dfr::trace {
namespace {

// Of all that a recording says but records, once with its words: what has texts.
void each_text_of(const Catalog& catalog, const std::function<void(std::string_view)>& visit) {
	visit(catalog.state_name);
	for (const auto& [key, value] : catalog.machine) {
		visit(key);
		visit(value);
	}
	for (const std::string& source : catalog.sources)
		visit(source);
	for (const std::vector<std::byte>& dof : catalog.dofs)
		each_text(dof, visit);
	for (const auto& [id, probe] : catalog.probes)
		for (const std::string* const part :
		     {&probe.provider, &probe.module, &probe.function, &probe.name})
			visit(*part);
	for (const Module& module : catalog.modules)
		visit(module.name);
}

class Proof {
public:
	Proof(const std::string& path, const std::string& output, const Redaction& redaction,
	      const Going& going)
	    : old_(open_file(path)), new_path_(output), redaction_(redaction), going_(going) {}
	RedactProof run();

private:
	void wrong(std::string what) {
		if (result_.wrong.size() < 20 &&
		    std::find(result_.wrong.begin(), result_.wrong.end(), what) == result_.wrong.end())
			result_.wrong.push_back(std::move(what));
	}
	void check_allowed();
	void check_catalog(const Catalog& there, std::span<const std::byte> payload);
	void check_ledger(const Ledger& ledger);
	void check_remarks(const std::vector<std::string>& remarks);
	void check_kernel_events(const KernelEvents& there);
	void check_names(const AddressNames& names);
	void check_blocks(std::span<const Block> blocks);
	void check_record(const Record& record);
	void check_known(std::span<const std::byte> payload, std::span<const std::byte> known);
	void segments();
	void segment(const Segment& segment, std::span<const std::byte> payload);
	void search(std::span<const std::byte> bytes);
	void collect();
	void collect_record(const Record& record, bool add);

	std::unique_ptr<FileSource> old_;
	const std::string& new_path_;
	const Redaction& redaction_;
	const Going& going_;
	KernelEvents old_events_;
	TextSearch removed_;
	RedactProof result_;
};

// The new catalog is made from the allowed one alone, so each of its entries must be in that.
void Proof::check_catalog(const Catalog& there, std::span<const std::byte> payload) {
	const Catalog& allowed = redaction_.catalog;
	for (const auto& [key, value] : there.machine) {
		const auto same = allowed.machine.find(key);
		if (same == allowed.machine.end() || same->second != value)
			wrong("the catalog says of the machine: " + key);
	}
	for (const std::string& source : there.sources)
		if (!source.empty() && std::find(allowed.sources.begin(), allowed.sources.end(), source) ==
		                           allowed.sources.end())
			wrong("the text of a program is there");
	for (const std::vector<std::byte>& dof : there.dofs)
		if (std::find(allowed.dofs.begin(), allowed.dofs.end(), dof) == allowed.dofs.end())
			wrong("a program is there");
	for (const auto& [id, layout] : there.layouts) {
		const auto same = allowed.layouts.find(id);
		if (same == allowed.layouts.end() || same->second.fields.size() != layout.fields.size())
			wrong("a layout has other fields");
	}
	for (const auto& [id, probe] : there.probes)
		if (!allowed.probes.contains(id) || allowed.probes.at(id).text() != probe.text())
			wrong("a probe is there whose records are not");
	if (there.state_name != allowed.state_name || there.boot_id != allowed.boot_id ||
	    there.state_id != allowed.state_id)
		wrong("the name of the state, or the boot, is there");
	if (there.clocks.size() > allowed.clocks.size())
		wrong("the time of day is there");
	if (!there.aggregations.empty() || there.modules.size() > allowed.modules.size())
		wrong("aggregations or modules are there");
	// All of it stands in one piece, so what nobody thought of makes a difference, too.
	CatalogMark nothing;
	if (!std::ranges::equal(payload, encode_catalog(allowed, nothing)))
		wrong("the catalog has more than was allowed");
}

// What is allowed must itself leave out what was to be taken out.
void Proof::check_allowed() {
	const Catalog &allowed = redaction_.catalog, &old = old_->catalog();
	uint32_t boot;
	std::memcpy(&boot, old.boot_id.data(), sizeof boot);
	if (allowed.boot_id != old.boot_id && boot && allowed.state_id >> 32 == boot)
		wrong("a part of the boot's id is in the state's number");
	for (const EventMark& mark : allowed.events)
		if (!mark.text.empty() || (mark.event == DFR_EVENT_EXIT && mark.value))
			wrong("what the program exited with, or a remark, is there");
}

// What a reader passes over is not in what it would write.
void Proof::check_known(std::span<const std::byte> payload, std::span<const std::byte> known) {
	if (!std::ranges::equal(payload, known))
		wrong("there is what this dfr does not know");
}

// Member by member, so that a new one does not compile until somebody has said here what of it may stay.
void Proof::check_ledger(const Ledger& ledger) {
	[[maybe_unused]] const auto& [losses, remarks, partial, whole_until, reaches, parts, part] = ledger;
	[[maybe_unused]] const auto& [series, number, since, before] = part;
	[[maybe_unused]] const auto& [seq, records] = Reach{};
	[[maybe_unused]] const auto& [committed, overwritten, out] = PartOf{};
	[[maybe_unused]] const auto& [cause, probe, cpu, count, from, to] = Losses::Loss{};
	check_remarks(remarks);
}

void Proof::check_remarks(const std::vector<std::string>& remarks) {
	for (const std::string& remark : remarks)
		if (std::none_of(std::begin(kRedactRemarks), std::end(kRedactRemarks),
		                 [&](std::string_view ours) { return remark.ends_with(ours); }))
			wrong("a remark is there");
}

// Each is one of the old file's, and no text is there that none of them has.
void Proof::check_kernel_events(const KernelEvents& there) {
	if (!redaction_.events || !redaction_.pid)
		return wrong("the kernel's own events are there");
	const auto same = [this, &there](const KernelEvents::Event& one, const KernelEvents::Event& other) {
		return one.time == other.time && one.cpu == other.cpu && one.pid == other.pid &&
		       there.texts[one.name] == old_events_.texts[other.name] &&
		       there.texts[one.text] == old_events_.texts[other.text];
	};
	if (!std::equal(there.events.begin(), there.events.end(), old_events_.events.begin(),
	                old_events_.events.end(), same) ||
	    there.lost != old_events_.lost)
		wrong("other events of the kernel's own are there");
	std::vector<bool> used(there.texts.size());
	for (const KernelEvents::Event& event : there.events)
		used[event.name] = used[event.text] = true;
	if (std::find(used.begin(), used.end(), false) != used.end())
		wrong("a text is there that no event of the kernel's own has");
	check_remarks(there.remarks);
}

void Proof::check_names(const AddressNames& names) {
	if (!redaction_.names)
		return wrong("names of addresses are there");
	if (!redaction_.pid && (!names.files.empty() || !names.mappings.empty() || !names.symbols.empty()))
		wrong("what processes had mapped is there");
}

void Proof::check_record(const Record& record) {
	const Layout* const layout = redaction_.catalog.layout_of(record.epid);
	if (!layout)
		return wrong("records of EPID " + std::to_string(record.epid) + " are there");
	if (record.fields.size() != layout->fields.size())
		wrong("records of EPID " + std::to_string(record.epid) + " have other fields");
	const Context& context = record.context;
	if (!redaction_.pid && (context.task || context.pid || context.tid || context.nspid))
		wrong("numbers of processes are there");
	if (!redaction_.execname && !context.execname.empty())
		wrong("execnames are there");
	if (!redaction_.cgroup && context.cgroup)
		wrong("cgroups are there");
	if (std::ranges::any_of(record.fields, [](const Value& value) { return value.fault_value != 0; }))
		wrong("where an input faulted is there");
}

void Proof::check_blocks(std::span<const Block> blocks) {
	BlockDecoder decoder(redaction_.catalog);
	for (const Block& block : blocks) {
		// All but the state's are times, places and counts.
		[[maybe_unused]] const auto& [magic, version, cpu, size, hdr_size, state, seq, first_time,
		                              last_time, lost, record_base, before, open_time, records,
		                              checksum, flags, committed] = block.header();
		if (state != redaction_.catalog.state_id)
			wrong("the number of the state, or the boot, is there");
		decoder.decode(block, [this](const Record& record) {
			check_record(record);
			return true;
		});
		search(block.bytes);
	}
	if (decoder.damage().blocks || decoder.damage().regions)
		wrong("bytes of its blocks are no records");
}

void Proof::search(std::span<const std::byte> bytes) {
	removed_.find(bytes, [this](const std::string& text) {
		wrong("this text, which was taken out, is there: " + text.substr(0, 60));
		return result_.wrong.size() < 20;
	});
}

void Proof::segment(const Segment& segment, std::span<const std::byte> payload) {
	switch (segment.type()) {
	case SegmentType::kCatalog: {
		Catalog there;
		decode_catalog(payload, there);
		check_catalog(there, payload);
		break;
	}
	// Of these everything that a reader knows may stay, if it is looked at here: numbers.
	case SegmentType::kLosses: {
		const Ledger ledger = decode_ledger(payload);
		check_ledger(ledger);
		check_known(payload, encode_ledger(ledger));
		break;
	}
	case SegmentType::kKernelEvents: {
		const KernelEvents events = decode_kernel_events(payload);
		check_kernel_events(events);
		check_known(payload, encode_kernel_events(events));
		break;
	}
	case SegmentType::kNames: {
		const AddressNames names = decode_names(payload);
		check_names(names);
		check_known(payload, encode_names(names));
		break;
	}
	case SegmentType::kIndex: check_known(payload, encode_index(decode_index(payload))); break;
	case SegmentType::kEnd:
		if (payload.size() != sizeof(EndMark))
			wrong("the end mark has more than was allowed");
		break;
	case SegmentType::kChunk: {
		const auto blocks = decode_chunk(payload);
		if (!blocks)
			return wrong("a chunk cannot be read");
		check_blocks(*blocks);
		break;
	}
	default: wrong("a segment is there that is never kept");
	}
	search(
	    payload); // of a chunk as it is stored: its tables of texts, too, where zstd has not packed them
}

void Proof::segments() {
	const ContainerReader reader(new_path_);
	for (uint64_t at = sizeof(FileHead); at < reader.size();) {
		if (going_ && !going_(at, reader.size())) {
			result_.stopped = true;
			return;
		}
		const auto here = reader.segment(at);
		const auto payload = here ? reader.payload(*here) : std::nullopt;
		if (!payload)
			return wrong("bytes from " + std::to_string(at) + " on are no segment");
		try {
			segment(*here, *payload);
		} catch (const Error& error) {
			wrong(error.what());
		}
		at = here->end();
	}
}

// First what is taken out is added, then what stays is removed from that.
void Proof::collect_record(const Record& record, bool add) {
	const auto kept = redaction_.fields.find(record.epid);
	for (size_t i = 0; i < record.fields.size(); i++) {
		const Value& value = record.fields[i];
		const bool stays =
		    kept != redaction_.fields.end() &&
		    std::find(kept->second.begin(), kept->second.end(), i) != kept->second.end();
		if (stays == add)
			continue;
		each_text(value.bytes, [&](std::string_view text) {
			if (add)
				removed_.add(text);
			else if (removed_.size())
				removed_.remove(text);
		});
	}
	if (add && !redaction_.execname)
		removed_.add(record.context.execname);
	if (!add && redaction_.execname)
		removed_.remove(record.context.execname);
}

// What was taken out, but for what stands in something that stays.
void Proof::collect() {
	const Catalog& catalog = old_->catalog();
	each_text_of(catalog, [this](std::string_view text) { removed_.add(text); });
	for (const std::string& remark : old_->remarks())
		removed_.add(remark);
	KnownNames known;
	old_->names(known);
	const AddressNames names = known.all();
	for (const std::string& text : names.texts)
		removed_.add(text);
	old_events_ = old_->kernel_events();
	for (const auto* const all : {&old_events_.texts, &old_events_.remarks})
		for (const std::string& text : *all)
			removed_.add(text);
	for (const AggEntry& entry : old_->aggregations())
		each_text(entry.key, [this](std::string_view text) { removed_.add(text); });
	for (const bool add : {true, false}) {
		Merger merger(*old_);
		uint64_t seen = 0;
		merger.run([&](const Record& record) {
			collect_record(record, add);
			return ++seen % 65536 || !going_ || going_(0, 1);
		});
	}
	each_text_of(redaction_.catalog, [this](std::string_view text) { removed_.remove(text); });
	removed_.remove(redaction_.text);
	for (const std::string_view remark : kRedactRemarks)
		removed_.remove(remark);
	if (redaction_.events)
		for (const std::string& text : old_events_.texts)
			removed_.remove(text);
	if (redaction_.names && redaction_.pid)
		for (const std::string& text : names.texts)
			removed_.remove(text);
	else if (redaction_.names)
		for (const AddressNames::KernelSymbol& symbol : names.kernel)
			for (const uint32_t number : {symbol.module, symbol.name})
				removed_.remove(names.texts[number]);
}

RedactProof Proof::run() {
	check_allowed();
	collect();
	result_.texts = removed_.size();
	result_.more_texts = removed_.full();
	segments();
	return std::move(result_);
}

} // namespace

RedactProof prove_redacted(const std::string& path, const std::string& output, const Redaction& redaction,
                           const Going& going) {
	return Proof(path, output, redaction, going).run();
}

} // namespace dfr::trace
