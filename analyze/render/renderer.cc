// SPDX-License-Identifier: GPL-2.0
//
// Records to lines. Lines, their prefixes and the user-side actions; numbers,
// formats and tables are in the other files of this folder.
#include "analyze/render/renderer.h"

#include <algorithm>

#include "analyze/render/text.h"
#include "analyze/render/typed_print.h"

namespace dfr::render {
namespace {

using Verb = Statement::Verb;

constexpr unsigned kIndentMost = 1000; // calls without returns may be as many as records

bool ends_with(std::string_view text, std::string_view end) {
	return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// 'e': entry, 'r': return, 0: neither.
char direction_of(const trace::Probe& probe) {
	if (probe.name == "entry" || ends_with(probe.name, "-entry"))
		return 'e';
	if (probe.name == "return" || ends_with(probe.name, "-return"))
		return 'r';
	return 0;
}

// Of the column with the hosts' names.
unsigned host_width(const std::vector<std::string>& hosts) {
	size_t longest = 4; // "HOST"
	for (const std::string& host : hosts)
		longest = std::max(longest, host.size());
	return static_cast<unsigned>(longest) + 1;
}

} // namespace

Renderer::Renderer(const trace::Catalog& catalog, Output& output, Symboliser& symbols, Driver& driver)
    : output_(output), driver_(driver), symbols_(symbols, style_), programs_(catalog),
      aggregations_(programs_, symbols_) {}

void Renderer::header() {
	if (header_done_ || style_.quiet)
		return;
	header_done_ = true;
	std::string& out = output_.text();
	if (!style_.hosts.empty())
		put_left(out, "HOST", host_width(style_.hosts));
	if (style_.flowindent) {
		if (!style_.testing)
			out += "CPU ";
		put_left(out, "FUNCTION", 41);
	} else if (style_.testing) {
		put_right(out, "FUNCTION:NAME", 32);
	} else {
		out += "CPU     ID ";
		put_right(out, "FUNCTION:NAME", 32);
	}
	out += '\n';
}

void Renderer::prefix(const trace::Record& record, const trace::Probe* probe) {
	std::string& out = output_.text();
	put_host(out, lane_of(record));
	if (!style_.testing) {
		put_signed(out, record.cpu, 3);
		out += ' ';
		put_unsigned(out, probe ? probe->id : 0, 6);
		out += ' ';
	}
	const size_t length = probe ? probe->function.size() + 1 + probe->name.size() : 1;
	if (length < 32)
		out.append(32 - length, ' ');
	if (probe)
		out.append(probe->function).append(":").append(probe->name);
	else
		out += '?';
	out += ' ';
}

uint64_t Renderer::lane_of(const trace::Record& record) const {
	const uint64_t boot = style_.hosts.empty() ? 0 : trace::United::boot_of_task(record.context.task);
	return boot << 32 | record.cpu;
}

void Renderer::put_host(std::string& out, uint64_t lane) const {
	if (style_.hosts.empty())
		return;
	const size_t boot = lane >> 32;
	const bool known = boot < style_.hosts.size() && !style_.hosts[boot].empty();
	put_left(out, known ? style_.hosts[boot] : "-",
	         host_width(style_.hosts)); // "-": the answer's own probe
}

std::string Renderer::flow_text(uint64_t lane, const trace::Probe& probe, char direction,
                                unsigned indent) const {
	std::string name(std::min(indent, kIndentMost), ' ');
	const bool call = probe.provider == "syscall";
	if (direction == 'e')
		name += call ? " => " : " -> ";
	else if (direction == 'r')
		name += call ? " <= " : " <- ";
	else
		name += "| ";
	name += probe.function;
	if (direction == 0)
		name.append(":").append(probe.name);
	std::string text;
	put_host(text, lane);
	if (!style_.testing) {
		put_unsigned(text, static_cast<uint32_t>(lane), 3);
		text += ' ';
	}
	put_left(text, name, 41);
	text += ' ';
	return text;
}

void Renderer::flow_prefix(const trace::Record& record, const trace::Probe* probe) {
	static const trace::Probe kUnknown{
	    .id = 0, .nargs = {}, .provider = "", .module = "", .function = "?", .name = "?"};
	if (!probe)
		probe = &kUnknown;
	const uint64_t lane = lane_of(record);
	Flow& flow = flows_[lane];
	char direction = direction_of(*probe);
	if (direction == 'e' && flow.last_probe == probe->id && flow.last_epid != record.epid)
		direction = 0;
	flow.last_probe = probe->id;
	flow.last_epid = record.epid;
	const bool again = return_.early && same_return(record, *probe);
	return_.early = false;
	if (direction == 'r') {
		if (again) // that one was not the last of its return
			flow.indent += 2;
		// Another clause's record of the same return keeps the indent: the next record tells.
		return_ = {true, false, lane, record.epid, probe->id, probe, output_.text().size()};
		return;
	}
	output_.text() += flow_text(lane, *probe, direction, flow.indent);
	if (direction == 'e')
		flow.indent += 2;
}

void Renderer::settle_return(const trace::Record* next, const trace::Probe* next_probe) {
	if (!return_.held)
		return;
	return_.held = false;
	Flow& flow = flows_[return_.lane];
	const bool again = next && next_probe && same_return(*next, *next_probe);
	if (!again && flow.indent >= 2)
		flow.indent -= 2;
	const char direction = again ? '\0' : 'r';
	output_.text().insert(return_.at, flow_text(return_.lane, *return_.probe, direction, flow.indent));
}

// Before the text leaves, of which it knows its place: a command's output and another file come after it.
void Renderer::settle_early() {
	const bool held = return_.held;
	settle_return(nullptr, nullptr);
	return_.early |= held; // of several in one clause the first has settled it
}

void Renderer::finish_line() {
	if (!line_.open)
		return;
	line_.open = false;
	if (line_.prefixed)
		output_.text() += '\n';
}

void Renderer::begin_line(const trace::Record& record, const Rendering& rendering,
                          const trace::Probe* probe) {
	const uint32_t id = probe ? probe->id : 0;
	const bool same = line_.open && line_.time == record.time && line_.cpu == record.cpu &&
	                  line_.clause == rendering.clause && line_.dof == rendering.dof && line_.probe == id;
	if (same && rendering.continuation)
		return;
	finish_line();
	settle_return(&record, probe);
	output_.settle();
	header();
	line_ = {
	    true, rendering.split, !style_.quiet, record.time, rendering.clause, record.cpu, rendering.dof,
	    id};
	if (style_.quiet)
		return;
	if (style_.flowindent)
		flow_prefix(record, probe);
	else
		prefix(record, probe);
}

void Renderer::record(const trace::Record& record) {
	records_++;
	const Rendering* const rendering = programs_.rendering_of(record.epid);
	if (!rendering) {
		unknown_++;
		return;
	}
	if (rendering->error)
		return error_record(record);
	if (rendering->silent)
		return;
	begin_line(record, *rendering, programs_.probe_of(record.epid));
	for (const Statement& statement : rendering->statements) {
		symbols_.at(record.time);
		perform(statement, *rendering, record);
	}
	symbols_.at(UINT64_MAX); // keys of aggregations are of any time
	if (!rendering->split)
		finish_line();
}

void Renderer::end_pass() {
	finish_line();
	settle_return(nullptr, nullptr);
}

void Renderer::error_record(const trace::Record& record) {
	if (record.fields.size() < 5)
		return;
	end_pass();
	output_.flush(); // what was printed before the fault comes before its message
	Fault fault;
	fault.epid = static_cast<uint32_t>(record.fields[0].number);
	fault.action = static_cast<uint32_t>(record.fields[1].number);
	fault.offset = static_cast<int64_t>(record.fields[2].number);
	fault.code = static_cast<uint32_t>(record.fields[3].number);
	fault.address = record.fields[4].number;
	faults_++;
	driver_.message(fault_text(fault, programs_.catalog()));
	if (const std::string place = fault_place(fault, programs_); !place.empty())
		driver_.message("at " + place);
}

// `to` is a new one.
void Renderer::set(Datum& to, const Statement::Argument& argument, const Rendering& rendering,
                   const trace::Record& record) const {
	const std::vector<dfr_field>& fields = rendering.layout->fields;
	const auto index = static_cast<size_t>(argument.field);
	if (argument.field < 0 || index >= record.fields.size() || index >= fields.size())
		return;
	const trace::Value& value = record.fields[index];
	set_datum(to, rendering.body->actions[argument.action], fields[index], value.number, value.bytes);
	// %A of a plain number is an address of the process that fired.
	if (to.kind == DatumKind::Integer)
		to.pid = record.context.pid;
}

const std::vector<Datum>& Renderer::data(const Statement& statement, const Rendering& rendering,
                                         const trace::Record& record) {
	data_.clear();
	for (const Statement::Argument& argument : statement.arguments)
		set(data_.emplace_back(), argument, rendering, record);
	return data_;
}

std::string Renderer::formatted(const Statement& statement, const Rendering& rendering,
                                const trace::Record& record) {
	std::string text;
	if (statement.format)
		statement.format->apply(text, {data(statement, rendering, record), {}, {}}, symbols_);
	return text;
}

void Renderer::perform(const Statement& statement, const Rendering& rendering, const trace::Record& record) {
	switch (statement.verb) {
	case Verb::Printf:
		if (statement.format)
			statement.format->apply(
			    output_.text(), {data(statement, rendering, record), {}, {}, style_.stackindent},
			    symbols_);
		return;
	case Verb::Trace:
		for (const Datum& traced : data(statement, rendering, record))
			put_trace(traced);
		return;
	case Verb::Stack:
		for (const Datum& stack : data(statement, rendering, record))
			put_stack(output_.text(), stack, style_.stackindent, symbols_);
		return;
	case Verb::Name:
		for (const Datum& name : data(statement, rendering, record)) {
			output_.text() += style_.quiet ? "" : "  ";
			put_left(output_.text(), name_of(name, symbols_), style_.quiet ? 0 : 50);
		}
		return;
	case Verb::Print: return put_print(statement, data(statement, rendering, record));
	case Verb::Tracemem: return put_tracemem(data(statement, rendering, record));
	case Verb::Printa: return printa(data(statement, rendering, record), statement.format);
	case Verb::System: {
		const std::string line = formatted(statement, rendering, record);
		settle_early();
		output_.flush();
		return driver_.command(line);
	}
	case Verb::Freopen: {
		const std::string path = formatted(statement, rendering, record);
		settle_early();
		if (const std::string why = driver_.redirect(output_, path); !why.empty())
			driver_.message("freopen: cannot open " + path + ": " + why +
			                "; the output goes on where it was");
		return;
	}
	case Verb::Ftruncate: settle_early(); return driver_.truncate(output_);
	case Verb::Clear:
	case Verb::Normalize:
	case Verb::Denormalize:
	case Verb::Trunc: return aggregation_action(statement, data(statement, rendering, record));
	case Verb::Setopt: return set_option(data(statement, rendering, record));
	case Verb::Exit:
		if (!statement.arguments.empty())
			exit_status_ = static_cast<int>(data(statement, rendering, record)[0].number);
		return;
	case Verb::Nothing: return;
	}
}

void Renderer::put_trace(const Datum& datum) {
	std::string& out = output_.text();
	switch (datum.kind) {
	case DatumKind::Integer: {
		// 1 and 2 bytes print as unsigned, 4 and 8 as signed; quiet: as the type says.
		const bool wide = datum.size >= 4;
		const bool as_signed = style_.quiet ? datum.is_signed : wide;
		const unsigned width = style_.quiet      ? 0
		                       : datum.size == 8 ? 16
		                       : datum.size == 4 ? 8
		                       : datum.size == 2 ? 5
		                                         : 3;
		out += style_.quiet ? "" : " ";
		as_signed ? put_signed(out, cut_signed(datum.number, datum.size), width)
		          : put_unsigned(out, cut_unsigned(datum.number, datum.size), width);
		return;
	}
	case DatumKind::Float: {
		static const PrintfFormat plain = PrintfFormat::parse("%f");
		out += style_.quiet ? "" : " ";
		return plain.apply(out, {{&datum, 1}, {}, {}}, symbols_);
	}
	case DatumKind::Bytes:
		if (style_.rawbytes || !looks_like_text(datum.bytes))
			return put_hex_dump(out, datum.bytes);
		[[fallthrough]];
	case DatumKind::String: {
		const std::string text(datum.text().substr(0, datum.text().find('\0')));
		if (style_.rawbytes) // with its end
			return put_hex_dump(out, std::as_bytes(std::span(text.c_str(), text.size() + 1)));
		out += style_.quiet ? "" : "  ";
		return put_left(out, text, style_.quiet ? 0 : 33);
	}
	case DatumKind::Stack:
	case DatumKind::UserStack: return put_stack(out, datum, style_.stackindent, symbols_);
	case DatumKind::None: return;
	default:
		out += style_.quiet ? "" : "  ";
		return put_left(out, name_of(datum, symbols_), style_.quiet ? 0 : 50);
	}
}

void Renderer::put_tracemem(const std::vector<Datum>& data) {
	if (data.empty())
		return;
	auto bytes = data[0].bytes;
	// The third argument says how much of it counts.
	if (data.size() > 1)
		bytes = bytes.first(std::min<uint64_t>(bytes.size(), data[1].number));
	put_hex_dump(output_.text(), bytes);
}

void Renderer::put_print(const Statement& statement, const std::vector<Datum>& data) {
	const std::string type = statement.action->format.value_or("");
	if (data.size() == 2)
		return put_pointed(output_.text(), type, data[0], data[1], statement.action->type);
	for (const Datum& datum : data)
		put_typed(output_.text(), type, datum, driver_.kernel_types(), statement.action->type);
}

void Renderer::printa(const std::vector<Datum>& data, const PrintfFormat* format) {
	std::vector<uint32_t> variables;
	for (const Datum& datum : data) {
		variables.push_back(static_cast<uint32_t>(datum.number));
		aggregations_.mark_printed(variables.back());
	}
	AggStyle style = style_.aggregations;
	style.stackindent = style_.stackindent;
	style.rawbytes = style_.rawbytes;
	symbols_.at(UINT64_MAX);
	if (format)
		return put_aggregations(output_.text(), aggregations_, variables, *format, style, symbols_);
	output_.text() += '\n';
	put_aggregations(output_.text(), aggregations_, variables, style, symbols_);
}

void Renderer::aggregation_action(const Statement& statement, const std::vector<Datum>& data) {
	if (data.empty())
		return;
	const auto variable = static_cast<uint32_t>(data[0].number);
	const int64_t n = data.size() > 1 ? cut_signed(data[1].number, data[1].size) : 0;
	switch (statement.verb) {
	case Verb::Clear: aggregations_.clear(variable); return driver_.clear_aggregation(variable, false);
	case Verb::Normalize: return aggregations_.normalize(variable, n);
	case Verb::Denormalize: return aggregations_.denormalize(variable);
	default: break;
	}
	if (data.size() > 1)
		aggregations_.trunc(variable, n, style_.aggregations.sort);
	else
		aggregations_.trunc(variable);
	driver_.clear_aggregation(variable, true);
}

void Renderer::set_option(const std::vector<Datum>& data) {
	if (data.empty())
		return;
	const std::string name(data[0].text());
	std::optional<std::string> value; // setopt("quiet") comes with an empty one
	if (data.size() > 1 && !data[1].text().empty())
		value = data[1].text();
	bool known = false;
	std::string why = set_style(style_, name, value, known);
	if (!known)
		why = driver_.set_option(name, value.value_or(""));
	if (!why.empty())
		driver_.message("could not set option " + name + ": " + why);
}

void Renderer::print_remaining() {
	end_pass();
	symbols_.at(UINT64_MAX);
	const auto left = aggregations_.unprinted();
	std::string& out = output_.text();
	out += '\n';
	AggStyle style = style_.aggregations;
	style.stackindent = style_.stackindent;
	style.rawbytes = style_.rawbytes;
	for (const uint32_t variable : left)
		put_aggregations(out, aggregations_, {&variable, 1}, style, symbols_);
}

} // namespace dfr::render
