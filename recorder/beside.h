// SPDX-License-Identifier: GPL-2.0
//
// Beside: blocks that are no part of the recording: speculations in flight, and what a consumer held. Nobody is to take them for
// all that was recorded, so they are never complete.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/trace/source.h"

namespace dfr::recorder {

class Beside : public trace::BlockSource {
public:
	using Load = std::function<std::optional<trace::Block>(const trace::BlockRef&)>;
	Beside(std::string name, trace::Catalog catalog, std::vector<trace::BlockRef> refs, Load load,
	       std::string remark, const trace::KnownNames& names, trace::RecordedTypes types)
	    : name_(std::move(name)), catalog_(std::move(catalog)), refs_(std::move(refs)),
	      load_(std::move(load)), remark_(std::move(remark)), names_(names.all()),
	      types_(std::move(types)) {}
	const trace::Catalog& catalog() override { return catalog_; }
	std::string name() const override { return name_; }
	std::vector<trace::AggEntry> aggregations() override { return {}; }
	trace::Losses losses() override { return {}; }
	std::vector<std::string> remarks() override { return {remark_}; }
	bool partial() override { return true; }
	void names(trace::KnownNames& into) override { into.add(names_); }
	trace::RecordedTypes types() override { return types_; }
	std::optional<trace::Block> next() override {
		while (next_ < refs_.size())
			if (std::optional<trace::Block> block = load_(refs_[next_++]))
				return block;
		return std::nullopt;
	}
	std::vector<trace::BlockRef> index() override { return refs_; }
	std::optional<trace::Block> load(const trace::BlockRef& ref) override { return load_(ref); }

private:
	std::string name_;
	trace::Catalog catalog_;
	std::vector<trace::BlockRef> refs_;
	Load load_;
	std::string remark_;
	trace::AddressNames names_;
	trace::RecordedTypes types_;
	size_t next_ = 0;
};

} // namespace dfr::recorder
