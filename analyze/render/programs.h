// SPDX-License-Identifier: GPL-2.0
//
// Programs: the DOFs of a recording or a live state, read once, and what the
// renderer needs of them: which statement each action belongs to and what kinds
// an aggregation's keys are. Not the engine's view of a program.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "analyze/render/printf_format.h"
#include "formats/dof/image.h"
#include "formats/trace/catalog.h"

namespace dfr::render {

// The clause number of our own ERROR clause, whose record is a message (error_program()).
inline constexpr uint64_t kErrorClause = 0xdf4545;

// One statement of a clause, or what is left of it in the record.
struct Statement {
	enum class Verb : uint8_t {
		Trace,
		Print,
		Printf,
		Printa,
		System,
		Freopen,
		Stack,
		Name,
		Tracemem,
		Clear,
		Normalize,
		Denormalize,
		Trunc,
		Ftruncate,
		Setopt,
		Exit,
		Nothing
	};
	struct Argument {
		int field = -1; // index in the layout's fields
		uint32_t action = 0;
	};
	Verb verb = Verb::Nothing;
	std::vector<Argument> arguments; // printf's, printa's aggregations, normalize's two ...
	const PrintfFormat* format = nullptr;
	const dof::Action* action = nullptr; // the first one
};

// What to do with a record of one layout.
struct Rendering {
	const dof::Body* body = nullptr;
	const trace::Layout* layout = nullptr;
	uint64_t clause = 0; // with the DOF's number: unique in the state
	uint32_t dof = 0;
	bool continuation = false; // a later part of a clause that `if` splits
	bool split = false;        // its clause has several parts
	bool silent = false;       // only captures
	bool error = false;        // our own ERROR clause
	std::vector<Statement> statements;

	// Whether it looks at the aggregations' tables.
	bool reads_aggregations() const;
};

class Programs {
public:
	explicit Programs(const trace::Catalog& catalog) : catalog_(catalog) {}

	// Null: the record cannot be understood (its program is missing or damaged).
	const Rendering* rendering_of(uint32_t epid);
	const trace::Probe* probe_of(uint32_t epid) const { // for who has its rendering
		return by_epid_[epid].probe;
	}
	// The keys of an aggregation, as far as its program is known.
	struct Keys {
		std::vector<uint32_t> kinds; // enum dfr_action
		bool by_cpu = false;         // the last one is the CPU, for aggpercpu
		uint32_t function = 0;       // enum dfr_action; 0: not known
		uint64_t arg = 0;            // parameters of lquantize, llquantize
	};
	const Keys& keys_of(uint32_t varid);
	// Names of its aggregations; "" where the DOF does not say.
	std::string aggregation_name(uint32_t varid);
	const dof::Image* image(uint32_t dof);
	const trace::Catalog& catalog() const { return catalog_; }

private:
	std::unique_ptr<Rendering> make_rendering(const trace::Layout& layout);
	const PrintfFormat* format_of(const std::string& text);
	const trace::Probe* printed(const trace::Probe* probe);

	const trace::Catalog& catalog_;
	std::vector<std::unique_ptr<dof::Image>> images_;
	std::vector<bool> tried_;
	std::map<uint32_t, std::set<uint64_t>> split_;              // by DOF: clauses of several parts
	std::map<uint32_t, std::unique_ptr<Rendering>> renderings_; // by layout
	struct OfEpid {
		const Rendering* rendering = nullptr;
		const trace::Probe* probe = nullptr;
	};
	std::vector<OfEpid> by_epid_;
	std::map<uint32_t, trace::Probe> printed_; // by id: whose names are not printed as they are
	std::map<uint32_t, Keys> keys_;
	std::map<std::string, std::unique_ptr<PrintfFormat>> formats_;
};

// Adds a clause for `dtrace:::ERROR` that records its five arguments: how a consumer hears of faults. By itself, as a DOF.
void add_error_clause(dof::Image& image);
std::vector<uint8_t> error_program();

// Makes a new datum of a recorded value. It is made in its place because copying it right after its parts were
// written would wait for all of them.
void set_datum(Datum& datum, const dof::Action& action, const dfr_field& field, uint64_t number,
               std::span<const std::byte> bytes);

} // namespace dfr::render
