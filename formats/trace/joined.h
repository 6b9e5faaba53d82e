// SPDX-License-Identifier: GPL-2.0
//
// Files of one state read as one recording: a dfrd that was restarted, or a recorder
// that rotates (parts.h), leaves one file after another, and each goes on where the
// one before it ended.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "formats/trace/file.h"

namespace dfr::trace {

class JoinedSource final : public BlockSource {
public:
	// The files, at least one, are of one state (group_by_state()).
	explicit JoinedSource(std::vector<std::unique_ptr<FileSource>> files);

	// "3 blocks are in several files and counted once", how many were put together of several cuts, and files in
	// which nothing was begun. Nothing is missing for that.
	std::vector<std::string> notes() const;
	const std::vector<std::unique_ptr<FileSource>>& files() const { return files_; }

	const Catalog& catalog() override { return newest().catalog(); }
	std::optional<Block> next() override { return std::nullopt; } // index() lists everything
	std::vector<BlockRef> index() override;
	std::optional<Block> load(const BlockRef& ref) override;
	std::unique_ptr<StoredColumns> columns(const BlockRef& ref, const WantColumns& wanted) override;
	std::vector<AggEntry> aggregations() override { return newest().aggregations(); }
	std::optional<AggSnapshot> next_snapshot() override;
	void names(KnownNames& into) override;
	RecordedTypes types() override;
	KernelEvents kernel_events() override;
	Losses losses() override;
	std::map<uint32_t, Reach> reaches() override;
	std::vector<std::string> remarks() override;
	bool partial() override;
	uint64_t since() override;
	FirstFile first_file() override;
	std::optional<SourceCut> cut() override;
	std::string name() const override { return name_; }

private:
	// A block in one of the files.
	struct Copy {
		size_t file = 0;
		BlockRef ref;
	};
	struct OpenedFile;
	static void put_parts_in_order(std::vector<OpenedFile>& all);
	void find_taken(const std::vector<OpenedFile>& all);
	FileSource& newest() const { return *files_.back(); }
	// Whether it was cut, and no later file says of each CPU up to where its blocks stand, so that nobody
	// would notice what it lacks.
	bool lacks_unnoticed(size_t file) const;
	void find_missing_parts();
	bool same_block(size_t copy) const; // as the one before
	bool of_cuts(size_t copy) const;    // whether it is the first of several cuts of a block
	std::optional<Block> join(size_t copy);

	std::vector<std::unique_ptr<FileSource>> files_; // by the time of their last event
	std::string name_;
	std::vector<Copy>
	    copies_; // of each block those that the files have, the best first; a handle is its place
	uint64_t repeated_ = 0, joined_ = 0;     // blocks
	std::vector<std::string> not_begun_;     // a note for each file that only has a head
	std::vector<std::string> missing_files_; // a remark for each that has nothing to read, or is not here
	size_t next_file_ = 0;                   // for snapshots
};

// Whether two recordings are of one state of one boot, and neither was redacted, or both alike: else the fields of its
// records are other ones, and the catalog of one does not explain the other.
bool same_state(const Catalog& one, const Catalog& other);

// Opens the files and puts those of one state together, in order of the first file of each. `checked`: open_file().
std::vector<std::vector<std::unique_ptr<FileSource>>>
group_by_state(const std::vector<std::string>& paths, const std::map<std::string, uint64_t>& checked = {});

} // namespace dfr::trace
