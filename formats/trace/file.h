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

	void catalog(const Catalog& catalog);	  // again whenever it has grown
	void block(const Block& block);		  // buffered per CPU, compressed by chunk
	void aggregations(const std::vector<AggEntry>& entries);
	void losses(const Losses& losses);
	void flush(); // write out what is buffered
	void finish(); // index and end mark; the file is complete

private:
	struct Impl;
	std::unique_ptr<Impl> impl_;
};

// Opens any .dfr, complete or cut. The catalog is that of the whole file.
std::unique_ptr<BlockSource> open_file(const std::string& path);

// Copies everything of a source into a file; returns the number of blocks.
uint64_t copy_to_file(BlockSource& source, FileWriter& writer);

} // namespace dfr::trace
