# SPDX-License-Identifier: GPL-2.0
#
# Holds what runs in probe context against kmod/probe-context.list. Reads the list,
# then for each kernel the edges that calls.awk has printed, a file each; prints a line
# for whatever the list does not say, and one for each line of the list that says
# nothing of any of these kernels.

function complain(text) {
	print kernel ": " text
}

function use(kind, name) {
	used[kind, name] = 1
	return (kind, name) in on_list
}

# Everything that `from` leads to within the module, but not past a function of `behind`.
function follow(from, set, way,    queue, n, i, parts, count, to) {
	queue[n = 1] = from
	if (!((set, from) in reached))
		reached[set, from] = way
	while (n) {
		from = queue[n--]
		count = split(calls[from], parts, " ")
		for (i = 1; i <= count; i++) {
			to = parts[i]
			if (use("cut", from ">" to) || (set, to) in reached)
				continue
			if (set == "before" && use("behind", to)) {
				if (!use("guard", from))
					complain(from " calls " to ", which only a function that holds the guard may")
				continue
			}
			reached[set, to] = from
			queue[++n] = to
		}
	}
}

# From where it is reached, for whoever has to mend it.
function path(set, name,    text, n) {
	for (text = name; reached[set, name] && n++ < 20; text = name " > " text)
		name = reached[set, name]
	return text
}

function where(set) {
	return set == "before" ? set : "behind"
}

function allowed(set, name) {
	return use("before", name) || set == "after" && use("after", name)
}

# What a function does beyond the module's own functions.
function judge(set, function_name,    parts, count, i, kind, name) {
	count = split(leaves[function_name], parts, " ")
	for (i = 1; i <= count; i++) {
		kind = name = parts[i]
		sub(/:.*/, "", kind)
		sub(/^[^:]*:/, "", name)
		if (use("cut", function_name ">" name))
			continue
		if (kind == "indirect") {
			if (!use("through", function_name))
				complain(where(set) " the guard, " path(set, function_name) " calls through a pointer, which is not on the list")
		} else if (!allowed(set, name)) {
			complain(where(set) " the guard, " path(set, function_name) " reaches " name ", which is not on the list")
		}
	}
}

# Who comes to a firing without having been called by the module, or by process context, is an entry.
function find_entries(    name, queue, n, i, parts, count, to, fires) {
	for (i = 1; i <= firing_count; i++)
		fires[queue[++n] = firing[i]] = 1
	while (n) {
		name = queue[n--]
		count = split(callers[name], parts, " ")
		for (i = 1; i <= count; i++) {
			to = parts[i]
			if (!(to in fires) && !use("process", to)) {
				fires[to] = 1
				queue[++n] = to
			}
		}
		if (!count)
			entries[++entry_count] = name
	}
}

function expand(    i, n, parts, k, name) {
	for (i = 1; i <= through_count; i++) {
		n = split(targets[through[i]], parts, ",")
		for (k = 1; k <= n; k++) {
			name = parts[k]
			if (name ~ /^taken-by:/) {
				sub(/^taken-by:/, "", name)
				calls[through[i]] = calls[through[i]] taken[name]
			} else if (name != "-") {
				callers[name] = callers[name] " " through[i]
				calls[through[i]] = calls[through[i]] " " name
			}
		}
	}
}

function judge_kernel(    i, key, pair, set) {
	if (kernel == "")
		return
	expand()
	find_entries()
	for (i = 1; i <= begin_count; i++)
		follow(begins[i], "before", "")
	for (i = 1; i <= entry_count; i++)
		follow(entries[i], "before", "")
	for (i = 1; i <= behind_count; i++)
		follow(behind[i], "after", "")
	for (key in reached) {
		split(key, pair, SUBSEP)
		judge(pair[1], pair[2])
	}
	for (key in known)
		seen_somewhere[key] = 1
	delete calls
	delete callers
	delete leaves
	delete reached
	delete known
	delete taken
	entry_count = 0
}

function wrong(text) {
	print list ": line " FNR ": " text
}

function read_line() {
	if ($1 !~ /^(entry|process|guard|behind|cut|through|before|after|fires)$/ || NF < 3)
		wrong("what is this? " $0)
	if (($1, $2) in on_list)
		wrong($1 " " $2 " stands there twice")
	if ($1 == "before" && $3 !~ /^(thunk|data|own|notrace|left-out|never)$/ ||
	    $1 == "after" && $3 !~ /^(thunk|data|own|notrace|left-out|never|guarded)$/)
		wrong("no reason that holds there: " $3)
	on_list[$1, $2] = FNR
	if ($1 == "entry")
		begins[++begin_count] = $2
	else if ($1 == "behind")
		behind[++behind_count] = $2
	else if ($1 == "fires")
		firing[++firing_count] = $2
	else if ($1 == "through") {
		through[++through_count] = $2
		targets[$2] = $3
	}
}

# The list.
FNR == 1 { part++ }
part == 1 && /^[ \t]*(#|$)/ { next }
part == 1 {
	read_line()
	next
}

# A kernel's edges.
FNR == 1 {
	judge_kernel()
	kernel = FILENAME
	sub(/.*\//, "", kernel)
}
{
	known[$1] = 1
	if ($2 == "in") {
		calls[$1] = calls[$1] " " $3
		callers[$3] = callers[$3] " " $1
		known[$3] = 1
	} else if ($2 == "takes") {
		calls[$1] = calls[$1] " " $3
		known[$3] = 1
		taken[$4] = taken[$4] " " $3
	} else {
		leaves[$1] = leaves[$1] " " $2 ":" $3
	}
}

END {
	judge_kernel()
	for (key in on_list) {
		split(key, pair, SUBSEP)
		if (pair[1] ~ /^(entry|process|guard|behind|fires)$/ ? !(pair[2] in seen_somewhere) : !(key in used))
			print list ": line " on_list[key] ": " pair[1] " " pair[2] ": no kernel has it any more"
	}
}
