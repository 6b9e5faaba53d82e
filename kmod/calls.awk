# SPDX-License-Identifier: GPL-2.0
#
# Who calls whom in the objects of dfr.ko, x86-64: reads (kmod/probe-context feeds
# it) the objects' symbols, their tables of relocations and their disassembly, and
# prints a line for each edge:
#
#   FUNCTION<tab>KIND<tab>NAME<tab>FILE
#
#   in        a function of the module's that it calls or jumps to
#   takes     a function of the module's whose address it takes
#   out       a function outside the module that it calls or jumps to
#   data      a name outside the module that it reads, or takes the address of
#   indirect  it calls through a pointer (NAME: itself)
#   fault     a load or store of its may fault: the kernel then looks for its fixup
#   warn      it has a WARN() or BUG()
#
# A function that is visible in its file alone is called FILE:NAME; the parts that the
# compiler has made of a function (.cold, .part, .isra) are the function.

function hex(text,    i, value) {
	for (i = 1; i <= length(text); i++)
		value = value * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
	return value
}

function whole(name) {
	sub(/\.(cold|part|isra|constprop).*$/, "", name)
	return name
}

# What a function of this file is called.
function node(name) {
	name = whole(name)
	return name in global ? name : file ":" name
}

# The function of this file that holds the address in the section: the last that starts at or before it.
function holder(section, at,    i, best) {
	best = ""
	for (i = 1; i <= starts[file, section]; i++)
		if (start[file, section, i] <= at && (best == "" || start[file, section, i] >= start[file, section, best]))
			best = i
	return best == "" ? "" : node(label[file, section, best])
}

function edge(from, kind, name) {
	if (from == "" || name == "" || (kind == "in" || kind == "takes") && from == name)
		return
	if (!seen[from, kind, name]++)
		print from "\t" kind "\t" name "\t" file
}

# A relocation's symbol and addend, "name-0x4": sets symbol and addend.
function split_target(text,    at) {
	symbol = text
	addend = 0
	if (match(text, /[+-]0x[0-9a-f]+$/)) {
		symbol = substr(text, 1, RSTART - 1)
		addend = hex(substr(text, RSTART + 3))
		if (substr(text, RSTART, 1) == "-")
			addend = -addend
	}
}

# `from` refers to `text`; past: bytes from the relocated word to where the processor counts from.
function refer(from, text, past, is_call,    target) {
	split_target(text)
	if (symbol ~ /^__x86_indirect_(thunk|call_thunk|jump_thunk)_/)
		edge(from, "indirect", from)
	else if (symbol == "pv_ops")
		edge(from, is_call ? "out" : "data", sprintf("pv_ops[%d]", addend + past))
	else if (symbol ~ /^\.(text|init\.text|exit\.text)/)
		edge(from, is_call ? "in" : "takes", holder(symbol, addend + past))
	else if ((file, symbol) in functions || symbol in global)
		edge(from, is_call ? "in" : "takes", node(symbol))
	else if (symbol ~ /^__SC[TK]__/)
		edge(from, "out", symbol)
	else if (symbol in known || symbol ~ /^\./)
		return # data of the module's
	else
		edge(from, is_call ? "out" : "data", symbol)
}

function note_table(    from) {
	split_target(target)
	from = holder(symbol, addend)
	if (section == ".rela__ex_table" && field == 0)
		edge(from, "fault", "fault")
	else if (section == ".rela__bug_table" && field == 0)
		edge(from, "warn", "warn")
	else if (section == ".rela.altinstructions" && symbol == ".altinstr_replacement") {
		replacement[file, ++replacements[file]] = addend
		replaces[file, replacements[file]] = previous
	}
	previous = from
}

# Whose code it replaces, at that place of .altinstr_replacement.
function replaced(at,    i, best) {
	for (i = 1; i <= replacements[file]; i++)
		if (replacement[file, i] <= at && (!best || replacement[file, i] >= replacement[file, best]))
			best = i
	return replaces[file, best]
}

FNR == 1 { part++ }

# First, readelf -sW: which names are functions of the module.
part == 1 && /^File: / { file = $2; sub(/\.o$/, "", file); delete sections; next }
part == 1 && /^ *\[ *[0-9]+\] / {
	line = $0
	sub(/^ *\[ */, "", line)
	split(line, words, /[ \]]+/)
	section_name[file, words[1]] = words[2]
	next
}
part == 1 && /^ *[0-9]+: / {
	if ($7 == "UND" || $8 == "")
		next
	section = section_name[file, $7]
	if (section !~ /^\.(text|init\.text|exit\.text)/) {
		if ($5 != "LOCAL" || $4 == "OBJECT")
			known[$8] = 1
		next
	}
	if ($4 != "FUNC" && $4 != "NOTYPE" || $4 == "NOTYPE" && $5 == "LOCAL")
		next
	if ($8 ~ /^__pfx_/)
		next
	functions[file, $8] = 1
	if ($5 != "LOCAL")
		global[$8] = 1
	start[file, section, ++starts[file, section]] = hex($2)
	label[file, section, starts[file, section]] = $8
	next
}

# Second, readelf -rW: tables that lie beside the code.
part == 2 && /^File: / { file = $2; sub(/\.o$/, "", file); next }
part == 2 && /^Relocation section/ { section = $3; gsub(/'/, "", section); next }
part == 2 && section ~ /^\.rela(__ex_table|__bug_table|\.altinstructions)$/ && /^[0-9a-f]+ / {
	size = section ~ /altinstructions/ ? 0 : 12
	field = size ? hex($1) % size : 0
	target = $5
	if (NF > 5)
		target = target ($6 == "-" ? "-" : "+") "0x" $7
	note_table()
	next
}

# Third, objdump -drw.
part == 3 && /file format/ { file = $1; sub(/\.o:$/, "", file); next }
part == 3 && /^Disassembly of section/ { section = $4; sub(/:$/, "", section); current = ""; next }
part == 3 && /^[0-9a-f]+ <.*>:$/ {
	name = $2
	gsub(/[<>:]/, "", name)
	current = name ~ /[+-]0x/ || name ~ /^__pfx_/ ? "" : node(name)
	next
}
part == 3 && /^ *[0-9a-f]+:\t/ {
	if (section == ".altinstr_replacement")
		current = replaced(hex(address_of($0)))
	else if (section !~ /^\.text/)
		next
	instruction()
}

function address_of(line) {
	sub(/^ */, "", line)
	sub(/:.*/, "", line)
	return line
}

function instruction(    columns, n, bytes, at, end, is_call, text, i, words) {
	n = split($0, columns, "\t")
	at = hex(address_of($0))
	end = at + split(columns[2], bytes, " ")
	text = columns[3]
	is_call = text ~ /^(notrack |bnd |cs |ds )*(call|jmp|j[a-z]+) /
	if (text ~ /^(notrack |bnd |cs |ds )*(call|jmp) +\*/ && $0 !~ /pv_ops/)
		edge(current, "indirect", current)
	for (i = 4; i <= n; i++) {
		if (columns[i] !~ /: R_X86_64_/ )
			continue
		split(columns[i], words, ": ")
		refer(current, columns[i + 1], words[2] ~ /_(PC|PLT)/ ? end - hex(words[1]) : 0, is_call)
	}
	if (n == 3 && is_call && match(text, /<[^>]*>/)) {
		text = substr(text, RSTART + 1, RLENGTH - 2)
		sub(/[+-]0x[0-9a-f]+$/, "", text)
		if ((file, text) in functions)
			edge(current, "in", node(text))
	}
}
