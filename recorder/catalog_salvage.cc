// SPDX-License-Identifier: GPL-2.0
//
// Walks both copies of a log at once. Behind a hole it goes on at the next place
// where an entry stands whole; an entry says which place that is.
#include "recorder/catalog_salvage.h"

#include <algorithm>
#include <cstring>

#include "formats/error.h"
#include "formats/trace/counted.h"
#include "formats/trace/redact.h"
#include "recorder/physical_memory.h"

namespace dfr::recorder {
namespace {

constexpr uint64_t kCheckedMost = 16; // times the log's size: whole logs need four at most

using Logs = std::span<const std::vector<std::byte>>;

// `checked`: bytes of which a checksum was made.
std::span<const std::byte> entry_at(Logs logs, uint64_t at, uint64_t& checked) {
	for (const std::vector<std::byte>& log : logs)
		if (const auto entry = trace::whole_entry(log, at, &checked); !entry.empty())
			return entry;
	return {};
}

// Of the logs whose heads are those of a catalog.
std::vector<dfr_catalog> heads_of(Logs logs) {
	std::vector<dfr_catalog> heads;
	for (const std::vector<std::byte>& log : logs) {
		dfr_catalog head;
		if (log.size() < sizeof(head))
			continue;
		std::memcpy(&head, log.data(), sizeof(head));
		if (head.magic == DFR_CATALOG_MAGIC)
			heads.push_back(head);
	}
	return heads;
}

// Where the logs' heads say that the log ends.
std::vector<uint64_t> claimed_ends(Logs logs, uint64_t state) {
	std::vector<uint64_t> ends;
	for (const dfr_catalog& head : heads_of(logs))
		if (head.state_id == state)
			ends.push_back(head.committed);
	return ends;
}

// The version that a log's head names, if no copy has the one that is known; else 0.
uint32_t foreign_version(Logs logs) {
	uint32_t foreign = 0;
	for (const dfr_catalog& head : heads_of(logs)) {
		if (head.version == DFR_CATALOG_VERSION)
			return 0;
		foreign = head.version;
	}
	return foreign;
}

// Where a FILL entry at `at` ends, if what is there makes sense: an entry, or the log's end; else 0.
uint64_t fill_end(Logs logs, uint64_t at, const std::vector<uint64_t>& ends, uint64_t& checked) {
	for (const std::vector<std::byte>& log : logs) {
		dfr_cat_entry head;
		if (log.size() < sizeof(head) || at > log.size() - sizeof(head))
			continue;
		std::memcpy(&head, log.data() + at, sizeof(head));
		const uint64_t end = at + head.size;
		// Only the rest of an extent is filled.
		if (head.type == DFR_CAT_FILL && head.size >= sizeof(head) && end % kPage == 0 &&
		    (!entry_at(logs, end, checked).empty() ||
		     std::find(ends.begin(), ends.end(), end) != ends.end()))
			return end;
	}
	return 0;
}

class Walk {
public:
	Walk(Logs logs, SalvagedCatalog& result, uint64_t state)
	    : logs_(logs), result_(result), ends_(claimed_ends(logs, state)) {
		for (const std::vector<std::byte>& log : logs)
			size_ = std::max<uint64_t>(size_, log.size());
	}
	void run() {
		uint64_t at = sizeof(dfr_catalog);
		while (at < size_) {
			const auto entry = entry_at(logs_, at, checked_);
			const uint64_t fill = entry.empty() ? fill_end(logs_, at, ends_, checked_) : 0;
			if (checked_ > kCheckedMost * size_)
				break; // behind a hole each place may claim to be a long entry: it is crafted
			if (entry.empty() && !fill) {
				at += 8;
				continue;
			}
			lost_ += at - end_;
			if (fill) {
				at = fill;
			} else {
				add(entry, at);
				at += entry.size();
			}
			end_ = at;
		}
		tell();
	}

private:
	void add(std::span<const std::byte> entry, uint64_t at) {
		dfr_cat_entry head;
		std::memcpy(&head, entry.data(), sizeof(head));
		only_once_ += logs_.size() > 1 && (trace::whole_entry(logs_[0], at, nullptr).empty() ||
		                                   trace::whole_entry(logs_[1], at, nullptr).empty());
		try {
			result_.catalog.add_entry(entry, at);
		} catch (const Error& error) {
			if (++unreadable_ <= kUnreadableNamed)
				result_.missing.push_back(error.what());
		}
	}
	void tell() {
		if (unreadable_ > kUnreadableNamed)
			result_.missing.push_back(
			    trace::plural(unreadable_ - kUnreadableNamed, "more place") +
			    " of its catalog cannot be read");
		const bool whole = std::find(ends_.begin(), ends_.end(), end_) != ends_.end();
		const uint64_t claimed = ends_.empty() ? 0 : *std::max_element(ends_.begin(), ends_.end());
		if (end_ == sizeof(dfr_catalog) && !whole)
			result_.missing.push_back("its catalog is not in the image: records cannot be read");
		else if (!whole && claimed > end_)
			lost_ += claimed - end_;
		else if (!whole)
			result_.missing.push_back("nothing says where its catalog ends");
		if (lost_)
			result_.missing.push_back(trace::plural(lost_, "byte") +
			                          " of its catalog are damaged or missing");
		else if (only_once_)
			result_.remarks.push_back("one of the two copies of its catalog is damaged");
	}

	static constexpr uint64_t kUnreadableNamed = 64;

	Logs logs_;
	SalvagedCatalog& result_;
	uint64_t unreadable_ = 0; // entries
	std::vector<uint64_t> ends_;
	uint64_t size_ = 0, end_ = sizeof(dfr_catalog), lost_ = 0, only_once_ = 0, checked_ = 0;
};

template <typename Key, typename Value>
void add_all(std::map<Key, Value>& to, const std::map<Key, Value>& from) {
	to.insert(from.begin(), from.end());
}

} // namespace

SalvagedCatalog salvage_catalog(Logs logs, uint64_t state, const std::array<uint8_t, 16>& boot) {
	SalvagedCatalog result;
	result.catalog.begin(state, boot);
	if (const uint32_t foreign = foreign_version(logs)) {
		result.missing.push_back("its catalog is of version " + std::to_string(foreign) +
		                         ", which this dfr does not read (it reads version " +
		                         std::to_string(DFR_CATALOG_VERSION) + ")");
		return result;
	}
	Walk(logs, result, state).run();
	return result;
}

void lend_catalog(trace::Catalog& to, const trace::Catalog& from) {
	if (to.boot_id != from.boot_id || to.state_id != from.state_id)
		throw Error("the catalog that is lent is of another boot or another state",
		            "give a recording that was made of the same state, by dfrd or dfr snapshot");
	if (from.machine.contains(trace::kRedactedKey))
		throw Error(
		    "the catalog that is lent is of a redacted recording, whose records have other fields",
		    "give one that was not redacted");
	add_all(to.machine, from.machine);
	add_all(to.probes, from.probes);
	add_all(to.layouts, from.layouts);
	add_all(to.aggregations, from.aggregations);
	for (const trace::Ecb& ecb : from.ecbs)
		if (ecb.epid)
			to.add_ecb(ecb);
	to.dofs.resize(std::max(to.dofs.size(), from.dofs.size()));
	to.sources.resize(to.dofs.size());
	for (size_t i = 0; i < from.dofs.size(); i++) {
		if (to.dofs[i].empty())
			to.dofs[i] = from.dofs[i];
		if (to.sources[i].empty() && i < from.sources.size())
			to.sources[i] = from.sources[i];
	}
	if (!to.cpus) {
		to.state_name = from.state_name;
		to.cpus = from.cpus;
		to.block_size = from.block_size;
		to.blocks = from.blocks;
		to.policy = from.policy;
		to.strsize = from.strsize;
		to.anonymous = from.anonymous;
	}
	if (to.clocks.empty())
		to.clocks = from.clocks;
	if (to.modules.empty())
		to.modules = from.modules;
	if (to.events.empty())
		to.events = from.events;
}

std::string unreadable_clauses(const trace::Catalog& catalog) {
	constexpr unsigned kNamed = 6;
	std::string text;
	unsigned count = 0;
	for (uint32_t epid = 1; epid <= catalog.ecbs.size(); epid++) {
		if (catalog.layout_of(epid) && catalog.probe_of(epid))
			continue;
		if (count++ >= kNamed)
			continue;
		const trace::Probe* const probe = catalog.probe_of(epid);
		text += (count > 1 ? ", EPID " : "EPID ") + std::to_string(epid) +
		        (probe ? " (" + probe->text() + ")" : "");
	}
	if (count > kNamed)
		text += " and " + std::to_string(count - kNamed) + " more";
	return text;
}

} // namespace dfr::recorder
