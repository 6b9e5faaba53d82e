// SPDX-License-Identifier: GPL-2.0
//
// Recordings of a dead machine: finds the anchors (formats/abi/anchor.h) in an
// image of its memory and gives each recording that they describe as a
// BlockSource. Needs no symbols, no page tables and no help from the kernel that
// died. Nothing found in the image is trusted before its checksum, or, where it
// has none, its structure has been checked.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "formats/trace/source.h"

namespace dfr::recorder {

struct PanicNote {
	uint64_t time = 0;   // the clock of all records
	uint64_t broken = 0; // since when an oops inside a firing may have cost records; 0: there was none
	uint32_t cpu = 0, tid = 0;
	std::string comm, reason;
	std::string registers, stack, log; // as formats/abi/anchor.h says; empty: not known
	std::vector<std::string> damage;   // what of these could not be read
};

// As the kernel writes it: "75e5696a-d7e6-4b01-9a5f-e3ea8b1e3c82".
std::string boot_text(const std::array<uint8_t, 16>& boot);

class ImageSource : public trace::BlockSource {
public:
	virtual const std::optional<PanicNote>& panic() const = 0;
	virtual std::string boot() const = 0; // boot id as text
	virtual uint64_t blocks() const = 0;
	// Speculations that were not committed (of several CPUs perhaps discarded), as a recording of their own; null: there are none.
	virtual std::unique_ptr<trace::BlockSource> in_flight() = 0;
	// The same of blocks that a consumer had taken and not given back. Not to outlive this.
	virtual std::unique_ptr<trace::BlockSource> held() = 0;
};

// All recordings in the image: those of the boot whose kernel is in it first, then of one that panicked, then by the
// latest time, then by the number of blocks. Throws dfr::Error if the file cannot be read or holds no recording.
// `lent`: the catalog of another recording of one of the states, for what the image has lost of its own.
// `progress`: told now and then how far the scan is, in bytes.
std::vector<std::unique_ptr<ImageSource>>
open_memory_image(const std::string& path, const trace::Catalog* lent = nullptr,
                  const std::function<void(uint64_t done, uint64_t all)>& progress = {});

} // namespace dfr::recorder
