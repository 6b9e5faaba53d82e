// SPDX-License-Identifier: GPL-2.0
//
// Writing what was allowed. redact_proof.cc reads it again.
#include "formats/trace/redact.h"

#include <iterator>
#include <sstream>

#include "formats/error.h"
#include "formats/trace/container.h"
#include "formats/trace/counted.h"
#include "formats/trace/remake.h"

namespace dfr::trace {

std::set<std::string, std::less<>> taken_out_words(const Catalog& catalog) {
	std::istringstream words(catalog.machine_text(kRedactedKey));
	return {std::istream_iterator<std::string>(words), {}};
}

namespace {

// What the new file's ledger says: the numbers of the old one's, and nothing of its words.
class RedactLedger final : public BlockSource {
public:
	RedactLedger(FileSource& source, const Catalog& catalog, std::vector<std::string> remarks,
	             bool partial)
	    : source_(source), catalog_(catalog), remarks_(std::move(remarks)), partial_(partial) {}
	const Catalog& catalog() override { return catalog_; }
	std::optional<Block> next() override { return std::nullopt; }
	std::vector<AggEntry> aggregations() override { return {}; }
	Losses losses() override { return source_.losses(); }
	std::vector<std::string> remarks() override { return remarks_; }
	bool partial() override { return partial_; }
	std::map<uint32_t, Reach> reaches() override { return source_.reaches(); }
	std::map<uint32_t, PartOf> parts() override { return source_.parts(); }
	std::string name() const override { return source_.name(); }

private:
	FileSource& source_;
	const Catalog& catalog_;
	std::vector<std::string> remarks_;
	bool partial_;
};

std::string left_out(size_t remarks) {
	return plural(remarks, "remark") + " on the recording were left out (redact)";
}

class Redactor {
public:
	Redactor(const std::string& path, const std::string& output, const Redaction& redaction)
	    : path_(path), redaction_(redaction), source_(open_file(path)), shapes_(source_->catalog()),
	      writer_(
	          output, true, [this]() -> const Catalog& { return redaction_.catalog; }, local_file(),
	          source_->facts().part) {
		check_layouts();
	}
	RedactResult run(const Going& going);

private:
	void check_layouts() const;
	std::optional<RemadeRecord> remade(const Record& record);
	void names();
	void kernel_events();
	void count_others();
	void account();

	const std::string& path_;
	const Redaction& redaction_;
	std::unique_ptr<FileSource> source_;
	RecordShapes shapes_;
	FileWriter writer_;
	std::vector<Value> values_;
	DecodeDamage damage_;
	RedactResult result_;
};

// What is allowed was decided by another look at the file: somebody may have given its name to another recording
// since then.
void Redactor::check_layouts() const {
	for (const auto& [epid, kept] : redaction_.fields) {
		const Layout* const old = source_->catalog().layout_of(epid);
		const Layout* const made = redaction_.catalog.layout_of(epid);
		bool same = old && made && made->fields.size() == kept.size();
		for (size_t i = 0; same && i < kept.size(); i++)
			same = kept[i] < old->fields.size() &&
			       old->fields[kept[i]].kind == made->fields[i].kind &&
			       old->fields[kept[i]].size == made->fields[i].size;
		if (!same)
			throw Error("cannot redact " + path_ +
			                ": it is not the recording that it was a moment ago",
			            "nothing was written; redact it again when nobody replaces it");
	}
}

// Of an EPID that the new catalog does not explain nothing stays, and the ledger counts it as damage.
std::optional<RemadeRecord> Redactor::remade(const Record& record) {
	const Layout* const layout = redaction_.catalog.layout_of(record.epid);
	const auto kept = redaction_.fields.find(record.epid);
	if (!layout || (kept == redaction_.fields.end() && !layout->fields.empty()))
		return std::nullopt;
	values_.clear();
	for (size_t i = 0; i < layout->fields.size(); i++) {
		values_.push_back(record.fields[kept->second[i]]);
		values_.back().fault_value = 0; // an address that is no input: copyinstr(arg0) faults at arg0
	}
	const auto& [task, pid, tid, nspid, cgroup, execname] = record.context;
	Context context;
	if (redaction_.pid)
		context = {.task = task, .pid = pid, .tid = tid, .nspid = nspid, .cgroup = 0, .execname = {}};
	if (redaction_.execname)
		context.execname = execname;
	if (redaction_.cgroup)
		context.cgroup = cgroup;
	return RemadeRecord{
	    .epid = record.epid, .context = context, .layout = layout->fields, .fields = values_};
}

// Mappings name processes.
void Redactor::names() {
	KnownNames all;
	source_->names(all);
	if (redaction_.pid)
		return writer_.names(all.all());
	const AddressNames old = all.all();
	KnownNames kernel;
	for (const AddressNames::KernelSymbol& symbol : old.kernel)
		kernel.add_kernel(symbol.start, symbol.size, symbol.since, old.texts[symbol.module],
		                  old.texts[symbol.name]);
	writer_.names(kernel.all());
}

void Redactor::kernel_events() {
	KernelEvents kept = source_->kernel_events().only([](const KernelEvents::Event&) { return true; });
	if (const size_t remarks = kept.remarks.size()) {
		result_.remarks_left_out += remarks;
		kept.remarks = {left_out(remarks)};
	}
	writer_.kernel_events(kept);
}

// What is in the file besides blocks and what goes with them.
void Redactor::count_others() {
	const ContainerReader reader(path_);
	reader.each_segment([&](const Segment& segment) {
		switch (segment.type()) {
		case SegmentType::kCatalog:
		case SegmentType::kChunk:
		case SegmentType::kLosses:
		case SegmentType::kIndex:
		case SegmentType::kEnd: break;
		case SegmentType::kNames: result_.segments_left_out += !redaction_.names; break;
		case SegmentType::kKernelEvents: result_.segments_left_out += !redaction_.events; break;
		default:
			if (!name_of(segment.type()) && segment.head.flags & kSegmentNeeded)
				throw Error("cannot redact " + path_ +
				                ": it has what this dfr does not know and must know",
				            "redact it with a newer dfr");
			result_.segments_left_out++;
		}
	});
}

void Redactor::account() {
	const size_t on_it = source_->remarks().size();
	result_.remarks_left_out += on_it;
	std::vector<std::string> remarks = {"only " + redaction_.text + " of each record is here (redact)"};
	if (on_it)
		remarks.push_back(left_out(on_it));
	if (damage_.regions || damage_.blocks)
		remarks.push_back(plural(damage_.bytes, "damaged byte") + " in " +
		                  plural(damage_.regions + damage_.blocks, "place") + ", with " +
		                  plural(damage_.records, "record") + ", are not here (redact)");
	// Damage that was met makes the source partial.
	const auto cut = source_->cut();
	RedactLedger ledger(*source_, redaction_.catalog, std::move(remarks),
	                    source_->partial() || (cut && !cut->goes_on) || damage_.regions ||
	                        damage_.blocks);
	writer_.account(ledger, source_->facts().marked_until);
}

RedactResult Redactor::run(const Going& going) {
	const std::vector<BlockRef> refs = source_->index();
	size_t done = 0;
	for (const BlockRef& ref : refs) {
		if (going && !going(done++, refs.size())) {
			result_.stopped = true;
			return result_;
		}
		const std::optional<Block> loaded = source_->load(ref);
		if (!loaded || !block_is_sane(loaded->bytes)) {
			damage_.blocks++;
			damage_.records += ref.head.records;
			continue;
		}
		Remade made =
		    remake_block(*loaded, shapes_, [this](const Record& record) { return remade(record); });
		dfr_block head = made.block.header();
		head.state_id = redaction_.catalog.state_id; // has a part of the boot's id
		change_head(made.block, head);
		result_.records += made.kept;
		damage_.add(made.damage);
		damage_.records += made.left_out;
		damage_.regions += made.left_out != 0;
		writer_.block(made.block);
	}
	count_others();
	if (redaction_.names)
		names();
	if (redaction_.events)
		kernel_events();
	account();
	writer_.finish(source_->facts().goes_on);
	return result_;
}

} // namespace

RedactResult redact_file(const std::string& path, const std::string& output, const Redaction& redaction,
                         const Going& going) {
	return Redactor(path, output, redaction).run(going);
}

} // namespace dfr::trace
