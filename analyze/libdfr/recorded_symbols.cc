// SPDX-License-Identifier: GPL-2.0
//
// Names by recording.
#include "analyze/libdfr/recorded_symbols.h"

#include <cstring>
#include <utility>

#include "analyze/engine/engine_c.h"

namespace dfr::lib {

RecordedSymbols::RecordedSymbols(std::vector<trace::BlockSource*> sources, std::function<void()> unknown)
    : sources_(std::move(sources)), unknown_(std::move(unknown)) {
	if (sources_.empty())
		return;
	const auto& boot = sources_.front()->catalog().boot_id;
	if (std::memcmp(boot.data(), dfr_user_boot_id(), boot.size()) == 0)
		here_ = std::make_unique<recorder::LiveSymbols>();
}

const trace::KnownNames& RecordedSymbols::names() {
	if (!names_) {
		names_ = std::make_unique<trace::KnownNames>();
		for (trace::BlockSource* const source : sources_)
			source->names(*names_);
	}
	return *names_;
}

types::SymbolName RecordedSymbols::unknown() {
	if (unknown_)
		std::exchange(unknown_, nullptr)();
	return {};
}

types::SymbolName RecordedSymbols::kernel(uint64_t address) {
	if (auto name = names().kernel(address, time_))
		return {std::move(name->module), std::move(name->name), name->offset};
	if (here_)
		return here_->kernel(address);
	for (trace::BlockSource* const source : sources_)
		for (const trace::Module& module : source->catalog().modules)
			if (module.has(address))
				return {module.name, {}, address - module.base};
	return unknown();
}

types::SymbolName RecordedSymbols::user(uint32_t pid, uint64_t address) {
	if (auto name = names().user(pid, address, time_))
		return {std::move(name->module), std::move(name->name), name->offset};
	return here_ ? here_->user(pid, address) : unknown();
}

} // namespace dfr::lib
