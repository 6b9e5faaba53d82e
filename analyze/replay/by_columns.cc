// SPDX-License-Identifier: GPL-2.0
//
// From batches to tables. What is a firing is decided as replay.cc does it:
// records of one time, CPU and probe that follow each other are one.
#include "analyze/replay/by_columns.h"

#include <algorithm>
#include <cstring>

#include "analyze/engine/engine_c.h"

namespace dfr::replay {
namespace {

constexpr uint64_t kNotYet = UINT64_MAX;
// The engine has a gigabyte for its tables; with more than this, it decides what is lost.
constexpr size_t kTallyBytes = size_t{3} << 28;

} // namespace

bool ByColumns::refuse(std::string why) {
	if (refusal_.empty())
		refusal_ = std::move(why);
	return false;
}

bool ByColumns::take(trace::RecordBatch& batch, uint32_t cpu) {
	if (!any_ || cpu != cpu_)
		previous_ = nullptr;
	any_ = true;
	cpu_ = cpu;
	firings_of_.assign(batch.epids().size(), {});
	for (size_t i = 0; i < batch.epids().size(); i++)
		firings_of_[i].program = &program_.of(batch.epids()[i].epid);
	if (!program_.refusal().empty())
		return refuse(program_.refusal());
	if (!walk(batch, cpu) || faulted(batch))
		return false;
	lanes_.open(batch);
	numbers_.clear();
	for (size_t i = 0; i < batch.epids().size(); i++)
		if (firings_of_[i].count && !answer(batch, i, cpu))
			return false;
	return bytes() < kTallyBytes || refuse("there are too many keys");
}

// The engine has a text in each key.
size_t ByColumns::bytes() {
	size_t sum = 0;
	for (const auto& [varid, tally] : program_.tallies()) {
		const std::vector<uint32_t>& kinds = program_.key_kinds(varid);
		TextBytes& texts = text_bytes_[varid];
		for (; texts.entries < tally->entries(); texts.entries++)
			for (size_t k = 0; k < kinds.size(); k++)
				if (kinds[k] == DFR_FIELD_STRING)
					texts.bytes += texts_[tally->key(texts.entries)[k]].size();
		sum += tally->bytes() + texts.bytes;
	}
	return sum;
}

// Finds the firings of each EPID.
bool ByColumns::walk(trace::RecordBatch& batch, uint32_t cpu) {
	bool tasks_read = false;
	for (const Firings& of : firings_of_)
		tasks_read = tasks_read || of.program->tasks;
	const std::vector<trace::Task>* const tasks = tasks_read ? batch.tasks() : nullptr;
	if (tasks_read && !tasks)
		return refuse("the columns are damaged");
	const size_t task_count = tasks ? tasks->size() : 0;
	for (const trace::RecordPlace& record : batch.records()) {
		Firings& of = firings_of_[record.epid];
		const EpidProgram& program = *of.program;
		if (!program.probe)
			continue;
		if (!first_.known ||
		    (record.time == first_.time ? cpu < first_.cpu : record.time < first_.time)) {
			if (!keep_first(batch, record, cpu))
				return false;
		}
		if (program.tells_faults && !passes_fault(batch, of, record.epid))
			return false;
		if (program.own)
			continue;
		if (program.stray) // which the engine's way takes for firings, or parts of them, all the same
			return refuse("records are of a clause that is not known to leave any");
		const bool joins = previous_ == program.probe && previous_time_ == record.time;
		// The engine moves the second one on, as it does when it records, so no recorder writes this.
		if (previous_ && !joins && previous_time_ == record.time)
			return refuse("firings of two probes of a CPU have one time");
		previous_ = program.probe;
		previous_time_ = record.time;
		last_time_ = std::max(last_time_, record.time);
		if (!program.fires)
			continue;
		if (joins && !of.count)
			return refuse("a firing's records are in two chunks");
		add_firing(of, record, task_count, joins);
	}
	return true;
}

// A fault of a clause that the program asks about: the engine's way counts whether the firing has a record all the same.
bool ByColumns::passes_fault(trace::RecordBatch& batch, Firings& of, size_t epid) {
	const std::vector<uint64_t>* const clauses = batch.values(epid, 0);
	const size_t row = of.records++;
	if (!clauses || row >= clauses->size())
		return refuse("the columns are damaged");
	return !program_.asks_for_fault(batch.epids()[epid].epid, (*clauses)[row]) ||
	       refuse("a clause faulted when it was recorded");
}

// A record that joins a firing gives it its inputs, but the task stays that of the firing's first record.
void ByColumns::add_firing(Firings& to, const trace::RecordPlace& record, size_t tasks, bool joins) {
	const auto row = static_cast<uint32_t>(to.records++);
	if (joins) {
		if (!to.joined)
			for (uint32_t i = 0; i < to.count; i++)
				to.rows.push_back(i);
		to.joined = true;
		to.rows.back() = row;
		return;
	}
	if (to.joined)
		to.rows.push_back(row);
	if (to.program->tasks)
		to.tasks.push_back(static_cast<uint32_t>(std::min<size_t>(record.task, tasks)));
	if (to.program->times)
		to.times.push_back(record.time);
	to.count++;
	firings_++;
}

bool ByColumns::keep_first(trace::RecordBatch& batch, const trace::RecordPlace& record, uint32_t cpu) {
	const EpidProgram& program = *firings_of_[record.epid].program;
	first_ = {.known = true,
	          .time = record.time,
	          .cpu = cpu,
	          .begin = program.probe->id == 1,
	          .task = {},
	          .execname = {}};
	if (!first_.begin || record.task == trace::kNoTask)
		return true;
	const auto* const tasks = batch.tasks();
	const auto* const texts = batch.texts();
	if (!tasks || !texts || record.task >= tasks->size())
		return refuse("the columns are damaged");
	first_.task = (*tasks)[record.task];
	if (first_.task.execname < texts->size())
		first_.execname = (*texts)[first_.task.execname];
	return true;
}

// Whether a captured field that the program reads faulted when it was recorded: then the engine must raise that.
bool ByColumns::faulted(trace::RecordBatch& batch) {
	for (const trace::FieldNote& note : batch.notes()) {
		const EpidProgram& program = *firings_of_[batch.records()[note.record].epid].program;
		if (note.code != DFR_NOTE_CUT && program.fires && program.reads(note.field)) {
			refuse("an input's recording faulted");
			return true;
		}
	}
	return false;
}

bool ByColumns::answer(trace::RecordBatch& batch, size_t epid, uint32_t cpu) {
	const Firings& firings = firings_of_[epid];
	const EpidProgram& program = *firings.program;
	const auto range = [&](uint64_t number) {
		const InputColumn& column = program.columns[number];
		if (column.kind == InputColumn::kCpu)
			return ValueRange{.known = true, .least = cpu, .greatest = cpu};
		if (column.kind != InputColumn::kField)
			return ValueRange{};
		const trace::FieldColumn& field = batch.epids()[epid].fields[column.field];
		// A range that is not true would leave records out.
		if (field.kind != DFR_FIELD_INT || !batch.values(epid, column.field))
			return ValueRange{};
		return ValueRange{.known = true,
		                  .is_signed = field.is_signed,
		                  .least = field.column.least,
		                  .greatest = field.column.greatest};
	};
	lanes_.open(program, epid,
	            {.rows = firings.joined ? firings.rows.data() : nullptr,
	             .tasks = firings.tasks.data(),
	             .times = firings.times.data(),
	             .cpu = cpu});
	for (const ColumnClause& clause : program.clauses) {
		if (never_holds(program.formulas, clause.condition, range))
			continue;
		const bool always = program.formulas.constant(clause.condition).has_value();
		for (size_t at = 0; at < firings.count; at += Lanes::kMost) {
			lanes_.select(at, std::min(Lanes::kMost, firings.count - at));
			if (!always) {
				if (!lanes_.compute(clause.for_condition))
					return refuse("a division by 0, or damaged columns");
				lanes_.keep(clause.condition);
			}
			if (!lanes_.count())
				continue;
			if (!lanes_.compute(clause.for_uses))
				return refuse("a division by 0, or damaged columns");
			for (const ColumnUse& use : clause.uses)
				if (!count(use, program))
					return false;
		}
	}
	return true;
}

bool ByColumns::count(const ColumnUse& use, const EpidProgram& program) {
	const uint64_t* keys[16];
	if (use.keys.size() > std::size(keys))
		return refuse("a key has very many parts");
	if (text_keys_.size() < use.keys.size())
		text_keys_.resize(use.keys.size(), std::vector<uint64_t>(Lanes::kMost));
	for (size_t i = 0; i < use.keys.size(); i++) {
		const ColumnUse::Key& key = use.keys[i];
		keys[i] = lanes_.values(key.node);
		if (!key.text_limit)
			continue;
		keys[i] = text_keys_[i].data();
		const FormulaNode& node = program.formulas.node(key.node);
		if (node.op == FormulaOp::kTextConstant) {
			const std::string& text = program.formulas.text(node.value);
			if (text.size() >= key.text_limit)
				return refuse("a key's text is too long");
			std::fill_n(text_keys_[i].begin(), lanes_.count(), number_of(text));
		} else if (!number_texts(key, text_keys_[i])) {
			return false;
		}
	}
	const auto values = [this](Formulas::Id node) {
		return node == Formulas::kNone ? nullptr : lanes_.values(node);
	};
	use.tally->add(std::span(keys, use.keys.size()), values(use.value), values(use.weight),
	               lanes_.count());
	return use.tally->bytes() < kTallyBytes || refuse("there are too many keys");
}

// The batch's numbers of texts become those of the whole answer.
bool ByColumns::number_texts(const ColumnUse::Key& key, std::vector<uint64_t>& to) {
	const uint64_t* const from = lanes_.values(key.node);
	numbers_.resize(lanes_.texts() + 1, kNotYet); // the last one: a record without a task
	for (size_t i = 0; i < lanes_.count(); i++) {
		uint64_t& number = numbers_[std::min<uint64_t>(from[i], lanes_.texts())];
		if (number == kNotYet)
			number = number_of(lanes_.text(from[i]));
		if (texts_[number].size() >= key.text_limit)
			return refuse("a key's text is too long");
		to[i] = number;
	}
	return true;
}

uint64_t ByColumns::number_of(std::string_view text) {
	const auto known = text_numbers_.find(text);
	if (known != text_numbers_.end())
		return known->second;
	texts_.emplace_back(text);
	return text_numbers_[texts_.back()] = texts_.size() - 1;
}

std::vector<trace::AggEntry> ByColumns::entries() const {
	std::vector<trace::AggEntry> result;
	for (const auto& [varid, tally] : program_.tallies()) {
		const std::vector<uint32_t>& kinds = program_.key_kinds(varid);
		for (size_t entry = 0; entry < tally->entries(); entry++) {
			trace::AggEntry& made = result.emplace_back();
			made.varid = varid;
			made.kind = tally->kind();
			const auto words = tally->words(entry);
			made.words.assign(words.begin(), words.end());
			for (size_t k = 0; k < kinds.size(); k++) {
				const uint64_t word = tally->key(entry)[k];
				const std::string* text =
				    kinds[k] == DFR_FIELD_STRING ? &texts_[word] : nullptr;
				const size_t at = made.key.size(),
				             size = text ? (text->size() + 8) & ~size_t{7} : 8;
				made.key.resize(at +
				                size); // a text's NUL and the rest of its last word are 0
				std::memcpy(made.key.data() + at,
				            text ? text->data() : static_cast<const void*>(&word),
				            text ? text->size() : sizeof word);
			}
		}
	}
	return result;
}

} // namespace dfr::replay
