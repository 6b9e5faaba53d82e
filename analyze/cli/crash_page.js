// SPDX-License-Identifier: GPL-2.0
// The part of page.html that is a crash's own. Times are nanoseconds on an axis on which the
// panic (if none is known, the last record) is at 0.
const kShownTurns = 30, kSecond = 1e9;
const moment = (ns) => (ns < 0 ? "" : "+") + (ns / 1e9).toFixed(6) + " s";
const at = (record) => -record.before_ns;
const thread = (record) => record.execname + " " + record.tid;
const records = (count) => count.toLocaleString("en") + (count === 1 ? " record" : " records");
// Who made a turn: a task, or what interrupted tasks of this CPU.
const maker = (turn) => turn.level === "task" ? thread(turn) : "(" + turn.level + ")";

function told(record) {
	return record.execname + ", thread " + record.tid + " of process " + record.pid + ", on CPU " + record.cpu + "\n" + moment(at(record)) +
		"\n" + record.probe + "  " + record.values + (record.stack ? "\nstack\n    " + record.stack.join("\n    ") : "");
}

function row_of_record(section, kind, record, before, to) {
	row_of_bars(section, kind, before + thread(record) + "  " + record.probe + "  " + record.values, moment(at(record)), [[at(record), to]], told(record));
}

function section_of_records(id, text, kind, list, hint) {
	const made = section(id, text, list.length || hint ? hint : "None.");
	for (const one of list) row_of_record(made, kind, one, one.speculation ? one.speculation + ": " : "", kind === "moment" ? at(one) : page.to);
}

function rows_of_cpu(made, cpu) {
	const of = "CPU " + cpu.cpu, count = cpu.slices.reduce((sum, one) => sum + one, 0);
	const dark = (one) => one < 10 ? "some" : one < 100 ? "more" : one < 1000 ? "many" : "";
	const from = (place) => (place - cpu.slices.length) * report.slice_ns;
	const bars = cpu.slices.map((one, place) => [from(place), from(place + 1), dark(one), one]).filter((bar) => bar[3]);
	const last = at(cpu.last[cpu.last.length - 1]);
	if (cpu.after) bars.push([0, last, dark(cpu.after)]);
	row_of_bars(made, "phase marked", of + (is_panics(cpu) ? " (the panic's)" : ""), records(count + cpu.after), bars,
		of + ": " + records(count) + " in the last second before " + the_end + (cpu.after ? ", " + records(cpu.after) + " after it" : "") +
		"\nits last record: " + moment(last) + (cpu.earlier_turns ? "\nwho made them is shown of the latest; " + cpu.earlier_turns +
		" turns before " + moment(-cpu.turns[0].from_before_ns) + " are left out" : ""));
	const makers = new Map();
	for (const one of cpu.turns) {
		const key = one.level + " " + (one.level === "task" ? one.tid : "");
		makers.set(key, [...(makers.get(key) || []), one]);
	}
	for (const turns of makers.values()) {
		const last = turns[turns.length - 1], all = turns.reduce((sum, one) => sum + one.records, 0);
		const lines = turns.slice(-kShownTurns).reverse().map((one) => moment(-one.from_before_ns) + " to " + moment(-one.to_before_ns) +
			": " + records(one.records) + ", the last " + one.last);
		row_of_bars(made, (last.level === "task" ? "process" : "module") + " under marked", maker(last), records(all),
			turns.map((one) => [-one.from_before_ns, -one.to_before_ns]),
			maker(last) + " on " + of + ": " + records(all) + " in " + turns.length + (turns.length === 1 ? " turn" : " turns") +
			"\n" + lines.join("\n") + (turns.length > lines.length ? "\nand " + (turns.length - lines.length) + " before" : ""));
	}
}

const panic = report.panic;
const the_end = panic ? "the panic" : "the last record";
const is_panics = (cpu) => panic !== null && panic.cpu === cpu.cpu;
const last_of = (cpu) => section_of_records("last-" + cpu.cpu, "CPU " + cpu.cpu + (is_panics(cpu) ? " (the panic's)" : "") + ", its last records",
	"moment", cpu.last);

function section_of_lines(id, text, lines, facts) {
	if (!lines.length) return;
	const made = section(id, text);
	lines.forEach((line, place) => row_of_text(made, line, facts(place)));
}

function fill_crash() {
	const machine = (report.host || "a machine") + ", kernel " + report.release;
	head(panic ? "panic of " + machine : "the end of " + machine, panic
		? "at " + report.end_text + " on CPU " + panic.cpu + " in " + panic.comm + ": " + panic.reason
		: "No panic is known; times are before the last record, " + report.end_text);
	if (report.ended_before_ns !== null) {
		const before = (report.ended_before_ns / 1e9).toFixed(6) + " s before " + the_end;
		by("verdict").before(element("p", "partial", report.ended_by === "oops"
			? "An oops of the kernel inside a probe's firing had ended the state: what ended from " + before + " on may have no record."
			: (report.ended_by === "exit" ? "The program had called exit() " : "The state had ended ") + before +
				": what ended since may have no record."));
	}
	const cpus = section("cpus", "the last second, CPU by CPU, and who made records there",
		"A CPU's bars are of 20 ms" + (panic ? " (one bar of all after the panic)" : "") + ", darker with more records (1, 10, 100, 1,000). " +
		"A bar of a thread is a turn of its records, less than a millisecond apart, with none of another thread between them; " +
		"where it has none it may have run all the same. The dashed line is " + the_end + ".", { fixed: true });
	for (const cpu of report.cpus) rows_of_cpu(cpus, cpu);
	report.cpus.filter(is_panics).forEach(last_of);
	const unended = [...report.open, ...report.outstanding];
	section_of_records("unended", "begun and not ended: calls, I/O, waits for locks", "path", unended,
		!report.ends_recorded ? "No ends were recorded, or only under a predicate." : unended.length ? "" : "Nothing that is known.");
	section_of_records("not-known", "begun, end not known", "service goes-on", report.end_not_known,
		!report.end_not_known.length && !report.not_followed ? "" : "The end may be among what was overwritten, lost or thinned" +
			(report.ended_before_ns === null ? "" : ", or have come when the state had ended") +
			(report.ends_not_armed ? ", or be of a probe that could not be armed (dfr info names it)." : ".") +
		(report.not_followed ? " " + report.not_followed + " more are not followed." : ""));
	section_of_records("in-flight", "speculations that were not committed, by number", "moment", report.in_flight, report.in_flight.length
		? "Of several CPUs perhaps discarded." + (report.in_flight_more ? " " + records(report.in_flight_more) + " more: dfr harvest --speculations stores all." : "")
		: "");
	report.cpus.filter((cpu) => !is_panics(cpu)).forEach(last_of);
	section_of_records("threads", "threads, the last record of each", "moment", [...report.threads].sort((a, b) => a.before_ns - b.before_ns));
	if (!panic) return;
	const names = Object.keys(panic.registers);
	section_of_lines("stack", "stack of CPU " + panic.cpu, panic.stack.map((frame) => frame.address + "  " + frame.name), (place) => panic.stack[place].name);
	section_of_lines("registers", "registers at the last trap before the panic (" + panic.mode + " mode)",
		names.map((name) => name.padEnd(8) + panic.registers[name]), (place) => names[place] + " = " + panic.registers[names[place]]);
	section_of_lines("log", "the end of the kernel's log", panic.log, (place) => panic.log[place]);
}

// The axis has everything that is listed, and is seen at first from a second before the panic on.
function ends() {
	let from = -kSecond, to = report.slice_ns; // room for the line
	const take = (list) => {
		for (const one of list) {
			from = Math.min(from, at(one));
			to = Math.max(to, at(one));
		}
	};
	for (const list of [report.threads, report.open, report.outstanding, report.end_not_known, report.in_flight]) take(list);
	for (const cpu of report.cpus) take(cpu.last);
	return { from, to };
}
const page = { ...ends(), least: 0, fill: fill_crash };
page.first = { from: -kSecond, to: Math.min(page.to, kSecond), name: "last second" };
