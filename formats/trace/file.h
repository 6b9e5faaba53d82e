// SPDX-License-Identifier: GPL-2.0
//
// The .dfr file: an append-only sequence of segments. A file that was cut can be
// read up to the cut. Every segment has a fixed head with type, sizes and a
// checksum; its payload is Cap'n Proto (catalog, aggregations, losses, index:
// schema in dfr.capnp) or a chunk of whole blocks of one CPU (chunk.h). Files are
// created with mode 0600.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "formats/trace/container.h"
#include "formats/trace/output_file.h"
#include "formats/trace/source.h"

namespace dfr::trace {

class FileWriter {
public:
	// Gives the catalog as it is now, with every entry that the blocks given so far need.
	using CatalogNow = std::function<const Catalog&()>;

	// Creates the file. Throws dfr::Error, also if the file exists and `replace` is false. `part`: which file of
	// several it is (parts.h).
	FileWriter(const std::string& path, bool replace, CatalogNow catalog,
	           std::unique_ptr<OutputFile> file = local_file(), FilePart part = {});
	~FileWriter();
	FileWriter(const FileWriter&) = delete;
	FileWriter& operator=(const FileWriter&) = delete;

	void catalog();                                          // writes what is new in it now
	void block(const Block& block);                          // buffered per CPU, compressed by chunk
	void aggregations(const std::vector<AggEntry>& entries); // readers use those of the last call
	void snapshot(const AggSnapshot& snapshot);              // for rendering records up to its time
	void names(
	    const AddressNames& names); // nothing, if there are none; readers put those of all calls together
	void types(const RecordedTypes& types);         // the same; readers take those of the last call
	void kernel_events(const KernelEvents& events); // likewise
	// Writes what is buffered, then losses, remarks and partial() of a source, so that a reader of the file
	// gets the same. whole_until: every record before this time has been given to block(); 0: not known.
	void account(BlockSource& source, uint64_t whole_until = 0);
	// A segment of another file, as it is.
	void pass_on(const SegmentHead& head, std::span<const std::byte> payload);
	// After an error: ends the file with what could be written, without what is buffered, and says so in it.
	void give_up(BlockSource& source, const std::string& why);
	void flush(); // writes what is buffered, and syncs
	// Throws dfr::Error, with the code ESTALE, if somebody has removed the file; what syncs does so, too.
	void require_there();
	// Writes index and end mark; the file is complete. `goes_on`: the recording does, in a next file.
	void finish(bool goes_on = false);

	uint64_t unusable() const;      // blocks that block() left out because they made no sense
	uint64_t size() const;          // bytes written so far
	uint64_t records() const;       // that are in these bytes
	uint64_t chunk_bytes() const;   // of these bytes: of chunks
	uint64_t catalog_bytes() const; // and of the catalog
	// What a next file must know of this one and those before it: to be asked after account().
	FilePart next_part() const;

private:
	struct Impl;
	std::unique_ptr<Impl> impl_;
};

struct FileFacts {
	bool finished = false;    // it has its end mark: nothing was cut
	uint64_t size = 0;        // of the file
	uint64_t whole_until = 0; // an unfinished file has every record before this time; 0: not known
	uint64_t chunks = 0;
	uint64_t marked_until = 0; // as whole_until, of any file
	bool goes_on = false;      // its recorder went on in a next file
	FilePart part = {};
	bool begun = true;      // false: it has no whole segment
	bool accounted = false; // it has a ledger that can be read
	std::string cut = {};   // of an unfinished file, how it ends, as among its remarks
};

class FileSource : public BlockSource {
public:
	virtual FileFacts facts() const = 0;
	// partial(), but for being cut: what it lacks by that may stand in a file that goes on where it ends.
	virtual bool partial_before_cut() = 0;
};

// Opens any .dfr, complete or cut. catalog() is that of the whole file from the start. Damage inside of
// segments appears in remarks() only after the reader has met it.
// `checked`: up to this byte another reader has looked for damage, and its findings are known; of what stands there
// only what is needed is read.
std::unique_ptr<FileSource> open_file(const std::string& path, uint64_t checked = 0);

// Throws dfr::Error if nothing in it can be read: it is empty, or was cut or damaged in its first segment.
void require_begun(const FileSource& file);

// Copies everything of a source into a file; returns the number of blocks.
uint64_t copy_to_file(BlockSource& source, FileWriter& writer);

} // namespace dfr::trace
