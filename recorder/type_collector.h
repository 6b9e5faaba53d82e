// SPDX-License-Identifier: GPL-2.0
//
// TypeCollector: what a recording keeps of its kernel's types (formats/trace/recorded_types.h):
// those that the recording program relies on, and those of the arguments of the
// recorded probes, each with what its pointers point to. Of a program that somebody
// else compiled nobody knows what it relies on, so all that can be reached is kept.
//
// It says nothing of a target without kernel types, such as the engine in a process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "formats/d/target.h"
#include "formats/trace/catalog.h"
#include "formats/trace/recorded_types.h"
#include "formats/types/types.h"

namespace dfr::recorder {

class TypeCollector {
public:
	explicit TypeCollector(d::Target& machine) : machine_(machine) {}

	// The program that is recorded was compiled here, and relies on these: no other program's are guessed.
	void relies_on(const std::vector<types::TypeRef>& types);
	// Looks at `most` probes that it has not looked at; a program may have all of the kernel's functions.
	void look(const trace::Catalog& catalog, size_t most);
	// What the file should hold, if all probes were looked at and it is news.
	std::optional<trace::RecordedTypes> fresh();
	// From here on it is another file, which has nothing yet.
	void new_file() { news_ = true; }

private:
	void look_at(const trace::Probe& probe);
	void add_root(types::TypeRef type);
	void read_programs(const trace::Catalog& catalog);
	types::TypeRef named(std::string_view type, std::string_view module);

	d::Target& machine_;
	trace::RecordedTypes collected_; // its probes
	size_t texts_ = 0;               // bytes of these
	std::vector<types::TypeRef> roots_;
	std::set<std::string> known_; // names of types that were looked for, with their module
	size_t ecbs_ = 0, dofs_ = 0;  // of the catalog, that were looked at
	bool compiled_here_ = false, all_ = false, news_ = false, behind_ = true;
};

} // namespace dfr::recorder
