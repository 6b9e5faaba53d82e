// SPDX-License-Identifier: GPL-2.0
//
// CatalogUniter: puts the catalogs of several recordings into one, in which probes,
// EPIDs, layouts and programs have other numbers.
#pragma once

#include <map>
#include <tuple>

#include "formats/trace/united.h"

namespace dfr::trace {

class CatalogUniter {
public:
	explicit CatalogUniter(Catalog& into) : into_(into) {}
	// `host`: where its probes are; null: the members are of one host.
	void add(const UnitedSource& member, const United::Host* host);

private:
	static constexpr uint32_t kOwnProbes = 3; // BEGIN, END and ERROR have the same ids everywhere
	using ProbeKey = std::tuple<uint32_t, std::string, std::string, std::string, std::string>;
	void add_machine(const Catalog& from);
	void add_events(const Catalog& from, const UnitedSource& member);
	std::map<uint32_t, uint32_t> add_probes(const Catalog& from, uint32_t of, const United::Host* host);
	uint32_t free_id(uint32_t wanted);

	Catalog& into_;
	bool first_ = true;
	std::map<ProbeKey, uint32_t> probes_;
	uint32_t next_layout_ = 1;
	uint32_t between_ = kOwnProbes + 1; // ids below it are taken
};

} // namespace dfr::trace
