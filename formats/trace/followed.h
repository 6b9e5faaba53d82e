// SPDX-License-Identifier: GPL-2.0
//
// A recording that is still being written, as it grows: a file, and the parts
// (parts.h) that its recorder goes on in. It is read up to the last mark of what is
// whole (FileFacts): behind it some CPU's records may still be missing. grow() opens
// the file anew, because its catalog, index and ledger stand in what was added; so
// whoever reads records makes a Merger after each grow(). The catalog stays where it
// is, and only grows.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "formats/trace/joined.h"

namespace dfr::trace {

class FollowedSource final : public BlockSource {
public:
	explicit FollowedSource(const std::string& path);

	// Looks at what was written since. True: there is more to read, or the end.
	bool grow();
	// Every record before this time can be read; 0: none yet. UINT64_MAX: all can, because the recording has ended.
	uint64_t whole_until() const { return whole_until_; }
	// Nothing more is written, though the state may record on.
	bool ended() const { return ended_; }
	// Its last file is over, and what comes stands in another one, which a recorder has yet to begin.
	bool waits() const { return goes_on_; }
	// The last file and its size when it was looked at last: a recorder that is there writes in it now and then.
	std::pair<std::string, uint64_t> written() const { return {paths_.back(), size_}; }
	// From now on it is all that there was, for a verdict; grow() must not be called any more.
	void take_all();
	// Whether files that came before the last one are not there any more.
	bool lacks_files() const { return !removed_.empty(); }

	const Catalog& catalog() override { return catalog_; }
	std::optional<Block> next() override { return std::nullopt; } // index() lists everything
	std::vector<BlockRef> index() override { return now_->index(); }
	std::optional<Block> load(const BlockRef& ref) override { return now_->load(ref); }
	std::unique_ptr<StoredColumns> columns(const BlockRef& ref, const WantColumns& wanted) override;
	std::vector<AggEntry> aggregations() override { return now_->aggregations(); }
	std::optional<AggSnapshot> next_snapshot() override { return now_->next_snapshot(); }
	void names(KnownNames& into) override { now_->names(into); }
	RecordedTypes types() override { return now_->types(); }
	KernelEvents kernel_events() override { return now_->kernel_events(); }
	Losses losses() override { return now_->losses(); }
	std::map<uint32_t, Reach> reaches() override { return now_->reaches(); }
	std::vector<std::string> remarks() override;
	bool partial() override { return lacks_files() || now_->partial(); }
	uint64_t since() override { return now_->since(); }
	FirstFile first_file() override { return now_->first_file(); }
	// What has no end yet is not cut: its recorder goes on.
	std::optional<SourceCut> cut() override {
		std::optional<SourceCut> cut = now_->cut();
		if (cut)
			cut->goes_on |= !ended_;
		return cut;
	}
	std::string name() const override { return now_->name(); }

private:
	void look();
	bool begin_next();
	bool begin(const std::string& next);
	bool begin_later();
	void open(std::vector<std::string> paths);
	std::unique_ptr<JoinedSource> joined(std::vector<std::string> paths,
	                                     const std::map<std::string, uint64_t>& checked);
	void check_grown(uint64_t whole) const;
	bool has_own_mark(const std::string& path);

	std::vector<std::string> paths_;       // the files so far
	std::set<std::string> removed_;        // those of them that were missed
	std::map<std::string, bool> own_mark_; // those that were asked about
	std::unique_ptr<JoinedSource> now_;
	Catalog catalog_;
	std::map<std::string, uint64_t> checked_; // bytes of these, which take_all() checks again
	uint64_t size_ = 0, whole_until_ = 0;     // of the last file, when it was opened
	uint64_t last_marked_ = 0;                // until when the last file said that it is whole
	uint64_t series_ = 0;                     // of the last file
	bool goes_on_ = false;                    // the last file is finished, and another one comes
	bool ended_ = false;                      // it is finished, and none comes
};

} // namespace dfr::trace
