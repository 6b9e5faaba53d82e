// SPDX-License-Identifier: GPL-2.0
//
// The .dfr file: an append-only sequence of segments, readable up to the point
// where it was cut. Every segment has a fixed head with type, sizes and a
// checksum; its payload is Cap'n Proto (catalog, aggregations, losses, index:
// schema in dfr.capnp) or a chunk of whole blocks of one CPU (headers kept,
// bodies compressed with zstd). Files are created with mode 0600.
#pragma once

#include <memory>
#include <string>

#include "formats/trace/source.h"

namespace dfr::trace {

class FileWriter {
public:
	// Creates (never overwrites silently unless `replace`) the file; throws dfr::Error.
	FileWriter(const std::string& path, bool replace);
	~FileWriter();
	FileWriter(const FileWriter&) = delete;
	FileWriter& operator=(const FileWriter&) = delete;

	void catalog(const Catalog& catalog);                    // again whenever it has grown
	void block(const Block& block);                          // buffered per CPU, compressed by chunk
	void aggregations(const std::vector<AggEntry>& entries); // the last ones count
	void snapshot(const AggSnapshot& snapshot);              // as records up to its time saw them
	void losses(const Losses& losses);
	// Losses, remarks and partial() of a source: the file will say the same of itself.
	void account(BlockSource& source);
	void flush();  // write out what is buffered
	void finish(); // index and end mark; the file is complete

	uint64_t unusable() const; // blocks given that made no sense, and are not in the file
	uint64_t size() const;     // bytes written so far

private:
	struct Impl;
	std::unique_ptr<Impl> impl_;
};

struct FileFacts {
	bool finished = false; // it has its end mark: nothing was cut
	uint64_t size = 0;     // of the file
	uint64_t chunks = 0;
};

class FileSource : public BlockSource {
public:
	virtual FileFacts facts() const = 0;
};

// Opens any .dfr, complete or cut. The catalog is that of the whole file. Damage that only reading
// finds is in remarks() once it has been met.
std::unique_ptr<FileSource> open_file(const std::string& path);

// Copies everything of a source into a file; returns the number of blocks.
uint64_t copy_to_file(BlockSource& source, FileWriter& writer);

} // namespace dfr::trace
