// SPDX-License-Identifier: GPL-2.0
//
// Image: a DOF as a C++ value. write() makes bytes of it, in the order of the
// reference writer; read() makes it from bytes, which may be hostile. The renderer,
// replay and `dfr info` find actions, formats and names here. The engine has its own
// loader (kmod/engine/loading/dof.c), and only that decides what may run.
//
// How a program becomes ECBDESCs and actions:
//
//   clause      one body per part, one EcbDesc per (probe description, part). A
//               clause without `if` has one part. With `if`, the statements
//               before, inside and after become parts of their own, whose
//               predicates test hidden clause-local variables (names start
//               with '%'). Parts after the first carry
//               DFR_ECBUARG_CONTINUATION (formats/abi/dof.h has the rule).
//   statement   one or more actions with the same DFR_UARG_STATEMENT(uarg).
//   e;  x = e;  DIFEXPR whose DIFO returns a type of size 0: records nothing.
//   trace(e)    DIFEXPR. print(e): DIFEXPR with the type's text as format.
//   printf      one PRINTF for each argument (any kind of recorded value: a
//               stack() argument is a STACK action, a sym() a SYM, ...; the
//               first action always is a PRINTF). The first one has the
//               format and, if there are no arguments or the first argument
//               is no plain value, no DIFO. system() and freopen() likewise.
//   printa      one PRINTA for each aggregation, DIFO = its id (4 bytes); the
//               first one has the format, if there is one.
//   @a[k..]=f() one action for each key (DIFEXPR, STACK, USTACK, SYM, ...);
//               then, if the function is weighted, DIFEXPR marked
//               DFR_UARG_WEIGHT; then the aggregating action: ntuple counts
//               the actions before it that belong to it (keys and weight),
//               uarg is the variable's id, its DIFO computes the value
//               (count() has none), arg the encoded parameters.
//   clear(@a)   LIBACT, DIFO = the aggregation's id. denormalize likewise.
//               trunc(@a, n) and normalize(@a, n): two LIBACTs of one sub-kind
//               and statement, the second one's DIFO = n. trunc(@a): one.
//   ftruncate() LIBACT, DIFO = 0. setopt(n, v): two LIBACTs, DIFO = strings
//               (a missing value is the second one's empty string).
//   tracemem    TRACEMEM, DIFO = the address, its return type by reference
//               with the constant size; a third argument follows as
//               TRACEMEM_DYNSIZE of the same statement.
//   capture()   CAPTURE_ARGS. capture(e, ...): one CAPTURE for each.
//   snapshot()  SNAPSHOT, its reason as the format; no DIFO.
//   exit, raise, chill, speculate, commit, discard: their kind, DIFO = the
//   argument. stop, panic, breakpoint: no DIFO.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/abi/dof.h"
#include "formats/dif/difo.h"

namespace dfr::dof {

struct ProbeDesc {
	std::string host, provider, module, function, name;
	uint32_t id = 0;

	bool operator==(const ProbeDesc&) const = default;
};

struct Action {
	uint32_t kind = DFR_ACT_NONE;
	uint32_t ntuple = 0;
	std::optional<dif::Difo> difo;
	// If there is a format, write() makes arg its offset in the string table, and `arg` here is not used.
	std::optional<std::string> format;
	uint64_t arg = 0;
	uint64_t uarg = 0;
	std::string expression; // canonical text of what is recorded (EXPRS); empty: not a firing input
	// Text of the D type of what is recorded (TYPES); may be empty. For print()
	// its whole description: formats/d/type_text.h.
	std::string type;
};

// What runs: shared by all EcbDescs of one part of a clause.
struct Body {
	std::optional<dif::Difo> predicate;
	// Canonical text of the predicate (EXPRS, only beside actions); empty: no predicate, or one that uses
	// more than firing inputs. From it replay tells whether the recording has all firings that it needs.
	std::string condition;
	std::vector<Action> actions; // empty: the default action
};

// One ECBDESC. The order of Image::ecbs is the order of the ECBDESC sections,
// so the catalog's `clause` numbers index it.
struct EcbDesc {
	ProbeDesc probe;
	uint32_t body = 0; // index in Image::bodies
	uint64_t uarg = 0;
};

struct Option {
	uint32_t option = 0;
	int64_t value = 0;

	bool operator==(const Option&) const = default;
};

struct AggName {
	uint32_t id = 0;
	std::string name;

	bool operator==(const AggName&) const = default;
};

struct Image {
	std::vector<Body> bodies;
	std::vector<EcbDesc> ecbs;
	std::vector<Option> options;
	std::vector<AggName> aggregations;
	std::optional<uint64_t> btf_digest; // of the BTF compiled against, if a clause depends on it
	std::string btf_name;
	std::string source;   // not loaded; may be empty
	std::string comments; // the compiler's version; not loaded; may be empty

	const Body& body_of(const EcbDesc& ecb) const { return bodies[ecb.body]; }
};

// For each action of the body: does it belong to an aggregation (key, weight, the function itself)? Such
// actions print nothing and leave no record of their own.
std::vector<bool> aggregated(const Body& body);
// Whether a firing that runs the body leaves a record. Aggregations and assignments alone leave none.
bool leaves_records(const Body& body);

// Adds the clauses of a program without variables and aggregations behind those of `image`.
void append(Image& image, const Image& more);

// The whole file; the header's loadsz says how much of it the engine loads.
std::vector<uint8_t> write(const Image& image);

// Throws dfr::Error naming section index and offset.
Image read(std::span<const uint8_t> bytes);
Image read(std::span<const std::byte> bytes); // as catalogs have them

} // namespace dfr::dof
