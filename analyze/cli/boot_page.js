// SPDX-License-Identifier: GPL-2.0
// The part of page.html that is the boot's own.
const seconds = (ns) => (ns / 1e9).toFixed(3) + " s";
const title = (process) => process.path || process.name || "process " + process.pid;

function times(from, to) {
	return "from " + seconds(from) + " to " + seconds(to) + " after the kernel's entry: " + seconds(to - from);
}

function row(section, kind, name, from, to, facts) {
	row_of_bars(section, kind, name, kind === "moment" ? "at " + seconds(from) : seconds(to - from), [[from, to]], facts);
}

function facts_of(one) {
	return title(one) + "\nprocess " + one.pid + ", made by " + one.parent + ", named " + one.name + ", of " + one.service +
		"\n" + times(one.from_ns, one.to_ns) + (one.killed ? "\nkilled" : one.exited ? "" : "\nhad not ended") +
		(one.cpu_ns === null ? "" : "\nCPU " + seconds(one.cpu_ns)) +
		(one.read_bytes === null ? "" : "\nread " + one.read_bytes + " bytes from storage, wrote " + one.written_bytes);
}

// The ten processes with the most of something; no section if nobody has any.
function most(id, text, amount, takes) {
	const most = report.processes.filter((one) => amount(one) > 0).sort((a, b) => amount(b) - amount(a)).slice(0, 10);
	if (!most.length) return;
	const ended = report.processes.filter((one) => one.exited).length;
	const list = section(id, text, "Of processes and threads of the kernel " + ended +
		" ended; nothing is known of the " + (report.processes.length - ended) + " that had not.", { short: true, fixed: true });
	for (const one of most) row_of_bars(list, one.killed ? "process killed" : "process", title(one), takes(one), [[one.from_ns, one.to_ns]], facts_of(one));
}

function fill_boot() {
	head("boot of " + (report.host || "a machine") + ", kernel " + report.release,
		(report.login_ns === null ? "no login prompt was seen" : "login prompt after " + seconds(report.login_ns)) +
		"; the trace begins at " + seconds(report.begin_ns) + " and ends at " + seconds(report.end_ns) + "; " + report.forks +
		" processes and threads were made, " + report.execs + " programs executed, " + report.modules.length + " modules loaded");
	const phases = section("phases", "phases", "", { short: true });
	for (const one of report.phases) row(phases, "phase", one.name, one.from_ns, one.to_ns, one.name + "\n" + times(one.from_ns, one.to_ns));
	const path = section("path", "what the boot waited for",
		"Inferred, not recorded: who makes a process is taken to have waited for the one of its processes that ended last before.");
	for (const one of report.path) row(path, "path", one.name, one.from_ns, one.to_ns,
		one.name + (one.pid === null ? "" : ", process " + one.pid) + "\n" + times(one.from_ns, one.to_ns));
	const services = section("services", "what the first process started, with all that came from it");
	for (const one of report.services) row(services, one.goes_on ? "service goes-on" : "service", one.name, one.from_ns, one.to_ns,
		one.name + "\n" + times(one.from_ns, one.to_ns) + "\n" + one.processes + (one.processes === 1 ? " process" : " processes") +
		(one.goes_on ? ", not all of which had ended" : ""));
	const processes = section("processes", "processes");
	for (const one of report.processes) row(processes, one.killed ? "process killed" : one.exited ? "process" : "process goes-on", title(one),
		one.from_ns, one.to_ns, facts_of(one));
	most("cpu", "the most CPU time", (one) => one.cpu_ns, (one) => seconds(one.cpu_ns));
	most("storage", "the most read from storage and written to it", (one) => one.read_bytes + one.written_bytes,
		(one) => ((one.read_bytes + one.written_bytes) / 1024).toFixed(1) + " KiB");
	const calls = section("initcalls", "how the kernel and its modules began: initcalls",
		report.initcalls.kept ? "The kernel's own events. " + report.initcalls.why : "None: " + report.initcalls.why);
	for (const one of report.initcalls.levels) row(calls, "phase", "level " + one.name, one.from_ns, one.to_ns,
		"level " + one.name + "\n" + times(one.from_ns, one.to_ns));
	for (const one of report.initcalls.calls) row(calls, one.ended ? "module" : "module goes-on", one.name, one.from_ns, one.to_ns,
		one.name + (one.level ? ", level " + one.level : "") + ", by process " + one.pid + "\n" + times(one.from_ns, one.to_ns) +
		(one.ended ? one.result ? "\nended with " + one.result : "" : "\nhad not ended"));
	const modules = section("modules", "modules", "", { short: true }); // a moment has no length
	for (const one of report.modules) row(modules, "moment", one.name, one.time_ns, one.time_ns,
		one.name + "\nloaded by " + one.by + " at " + seconds(one.time_ns) + " after the kernel's entry");
	const output = section("output", "what the program printed");
	output.list.removeAttribute("role");
	output.list.append(element("pre", "", report.output));
}

const whole = Math.max(report.end_ns, 1);
const page = { from: 0, to: whole, first: { from: 0, to: whole, name: "whole boot" }, least: whole / 500, fill: fill_boot };
