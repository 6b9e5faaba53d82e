// SPDX-License-Identifier: GPL-2.0
//
// What a recording that was harvested knows of the panic: the reason, and the texts of
// formats/abi/anchor.h (enum dfr_panic_text), taken apart.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/trace/catalog.h"

namespace dfr::cli {

struct PanicFrame {
	uint64_t address = 0;
	std::string name; // the dead kernel's, or module+offset by the catalog; empty: neither knows
};

struct Panic {
	uint64_t time = 0;
	int64_t cpu = 0;
	std::string comm, reason;
	std::string mode; // of the registers: kernel, user
	std::vector<std::pair<std::string, std::string>> registers;
	std::vector<PanicFrame> stack; // the innermost first
	std::vector<std::string> log;
};

// nullopt: the recording knows of no panic.
std::optional<Panic> panic_of(const trace::Catalog& catalog);

// "module+0x10" of the module that held this address, or empty.
std::string name_by_module(const trace::Catalog& catalog, uint64_t address);

// The registers, the stack and the last lines of the log, those that are known, each under a heading.
void print_panic_texts(const Panic& panic);

std::string panic_json(const Panic& panic);

} // namespace dfr::cli
