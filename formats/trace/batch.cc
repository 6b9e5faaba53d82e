// SPDX-License-Identifier: GPL-2.0
//
// Batches, from columns and from decoded records.
#include "formats/trace/batch.h"

#include <algorithm>
#include <unordered_set>

#include "formats/trace/interned.h"

namespace dfr::trace {
namespace {

// Whether the columns are those that a decoder would make of the layout.
bool fits(const EpidColumns& columns, const Layout& layout) {
	const auto same = [](const FieldColumn& column, const dfr_field& field) {
		return column.kind == field.kind && column.size == field.size &&
		       column.is_signed == !!(field.flags & DFR_FIELD_SIGNED);
	};
	return columns.fields.size() == layout.fields.size() &&
	       std::equal(columns.fields.begin(), columns.fields.end(), layout.fields.begin(), same);
}

bool is_loss(const ControlPlace& control) {
	uint32_t probe;
	std::memcpy(&probe, control.payload.data() + 1, sizeof(probe));
	return loss_is_sane(std::to_integer<uint32_t>(control.payload[0]), probe);
}

} // namespace

std::unique_ptr<RecordBatch> RecordBatch::of(std::unique_ptr<StoredColumns> stored, const Catalog& catalog) {
	std::unique_ptr<RecordBatch> batch(new RecordBatch(std::move(stored)));
	return batch->read(catalog) ? std::move(batch) : nullptr;
}

bool RecordBatch::read(const Catalog& catalog) {
	epids_ = stored_->columns->epids();
	std::unordered_set<uint32_t> listed;
	for (const EpidColumns& epid : epids_) {
		const Layout* layout = catalog.layout_of(epid.epid);
		if (!layout || !fits(epid, *layout) || !listed.insert(epid.epid).second)
			return false;
	}
	auto places = stored_->columns->records();
	if (!places || !places->decoded_alike)
		return false;
	places_ = std::move(*places);
	std::vector<uint64_t> counts(epids_.size());
	for (const RecordPlace& place : places_.records)
		counts[place.epid]++;
	for (size_t i = 0; i < counts.size(); i++)
		if (counts[i] != epids_[i].records)
			return false;
	for (const ControlPlace& control : places_.controls) {
		if (control.kind == DFR_CONTROL_NOTE) {
			if (control.record >= places_.records.size())
				return false; // a note of nothing is damage, which a decoder counts
			notes_.push_back({.record = control.record,
			                  .field = std::to_integer<uint8_t>(control.payload[0]),
			                  .code = std::to_integer<uint8_t>(control.payload[1])});
		} else if (control.kind != DFR_CONTROL_LOSS || !is_loss(control)) {
			return false;
		}
	}
	return true;
}

uint64_t RecordBatch::number_of(std::string_view text) {
	const auto [at, added] = text_numbers_.try_emplace(text, texts_->size());
	if (added)
		texts_->push_back(text);
	return at->second;
}

uint32_t RecordBatch::task_of(const Context& context) {
	if (tasks_->empty() || context != last_context_) {
		last_context_ = context;
		tasks_->push_back({.task = context.task,
		                   .pid = context.pid,
		                   .tid = context.tid,
		                   .nspid = context.nspid,
		                   .cgroup = context.cgroup,
		                   .execname = static_cast<uint32_t>(number_of(context.execname))});
	}
	return static_cast<uint32_t>(tasks_->size() - 1);
}

// The texts stay in the block.
void RecordBatch::add(const Record& record, const Layout& layout) {
	if (!texts_) {
		texts_.emplace();
		tasks_.emplace();
	}
	const auto [at, added] = epid_numbers_.try_emplace(record.epid, epids_.size());
	const size_t epid = at->second;
	if (added) {
		EpidColumns& columns = epids_.emplace_back();
		columns.epid = record.epid;
		for (const dfr_field& field : layout.fields) {
			FieldColumn& column = columns.fields.emplace_back();
			column.kind = static_cast<uint8_t>(field.kind);
			column.is_signed = field.flags & DFR_FIELD_SIGNED;
			column.size = field.size;
			column.column.least = column.is_signed ? uint64_t{1} << 63 : 0;
			column.column.greatest = UINT64_MAX >> column.is_signed;
		}
	}
	epids_[epid].records++;
	for (size_t i = 0; i < record.fields.size(); i++) {
		const Value& value = record.fields[i];
		if (value.fault)
			notes_.push_back({.record = places_.records.size(),
			                  .field = static_cast<uint8_t>(i),
			                  .code = value.fault});
		const FieldColumn& field = epids_[epid].fields[i];
		if (field.in_texts())
			values_[{epid, i}].push_back(number_of(value.text()));
		else if (field.kind ==
		         DFR_FIELD_INT) // others may take no bytes, so that a record has thousands
			values_[{epid, i}].push_back(value.number);
	}
	places_.records.push_back({.time = record.time,
	                           .task = task_of(record.context),
	                           .epid = static_cast<uint32_t>(epid) & 0x3fffffff,
	                           .level = static_cast<uint32_t>(record.level) & 3});
}

const std::vector<uint64_t>* RecordBatch::values(size_t epid, size_t field) {
	const auto known = values_.find({epid, field});
	if (known != values_.end())
		return &known->second;
	if (!stored_)
		return nullptr;
	const FieldColumn& column = epids_[epid].fields[field];
	auto values = stored_->columns->integers(column);
	return values && within(column, *values) ? &(values_[{epid, field}] = std::move(*values)) : nullptr;
}

const std::vector<std::string_view>* RecordBatch::texts() {
	if (texts_ || !stored_)
		return texts_ ? &*texts_ : nullptr;
	const auto texts = stored_->columns->texts();
	if (!texts)
		return nullptr;
	texts_.emplace();
	for (const std::span<const std::byte> text : *texts) {
		texts_->push_back(view(text.data(), text.size()));
		if (texts_->back().find('\0') != std::string_view::npos) { // in a block it would be shorter
			texts_.reset();
			return nullptr;
		}
	}
	return &*texts_;
}

const std::vector<Task>* RecordBatch::tasks() {
	if (!tasks_ && stored_)
		tasks_ = stored_->columns->tasks();
	return tasks_ ? &*tasks_ : nullptr;
}

} // namespace dfr::trace
