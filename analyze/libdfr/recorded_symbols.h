// SPDX-License-Identifier: GPL-2.0
//
// RecordedSymbols: what the addresses in a recording are called: by the names that it
// holds; what these lack, by this machine's, if the recording is of this boot; else by
// the module that its catalog has there; else addresses stay numbers.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "formats/trace/source.h"
#include "recorder/live_symbols.h"

namespace dfr::lib {

class RecordedSymbols final : public types::Symboliser {
public:
	// `sources` are of one boot. `unknown` is called when the first address without a name is asked for.
	RecordedSymbols(std::vector<trace::BlockSource*> sources, std::function<void()> unknown);
	types::SymbolName kernel(uint64_t address) override;
	types::SymbolName user(uint32_t pid, uint64_t address) override;
	void at(uint64_t time) override { time_ = time; }
	// The sources may have more names now.
	void grown() { names_.reset(); }

private:
	const trace::KnownNames& names();
	types::SymbolName unknown();

	std::vector<trace::BlockSource*> sources_;
	std::function<void()> unknown_;
	std::unique_ptr<trace::KnownNames> names_;    // read when first asked for
	std::unique_ptr<recorder::LiveSymbols> here_; // of this boot
	uint64_t time_ = UINT64_MAX;
};

} // namespace dfr::lib
