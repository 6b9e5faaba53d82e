# SPDX-License-Identifier: GPL-2.0
#
# What the stages of tests/run share (bash; a stage sources it first).
set -uo pipefail
repo=${DFR_REPO:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
cd "$repo" || exit 1
# One of them is enough for who looks for a fault: DFR_KERNELS=6.12.
read -ra kernels <<<"${DFR_KERNELS:-6.1 6.12}"
# The build that is tested: the dev preset, or a developer's own.
dev=${DFR_BUILD:-build/dev}

# check NAME COMMAND...: one test, which passes when the command does. What the
# command prints is shown when it fails.
check() {
	local name=$1 output
	shift
	if output=$("$@" 2>&1); then
		echo "ok $name"
	else
		echo "not ok $name: status $?"
		tail -n 25 <<<"$output" | sed 's/^/    /'
		return 1
	fi
}

# build PRESET [TARGET...]: configures and builds; one test.
build() {
	local preset=$1
	shift
	build_steps() {
		[ -e "build/$preset/build.ninja" ] || cmake --preset "$preset" || return 1
		# ninja's output ends with what failed; -k 0 shows all of it.
		cmake --build --preset "$preset" ${1:+--target "$@"} -- -k 0 | grep -v '^\[[0-9]*/[0-9]*\] [A-Z][a-z]*ing '
		return "${PIPESTATUS[0]}"
	}
	check "build.$preset" build_steps "$@"
}

# module_for KERNEL [SOURCES FOLDER]: dfr.ko for a kernel that the dev preset does not build for.
module_for() {
	local folder
	folder=$(tests/vm/kernel "$1") || return 1
	"${2:-.}/kmod/build-module" "$folder/build" "${3:-$dev/kmod}/${folder##*/}"
}

# run_unit PREFIX PROGRAM [ARGUMENTS]: a Catch2 program, each test case a line.
run_unit() {
	local prefix=$1 report status tests
	shift
	report=$(mktemp)
	"$@" -r xml -d yes >"$report" 2>"$report.err"
	status=$?
	tests=$(awk -v prefix="$prefix" '
		function text(s) { gsub(/&lt;/, "<", s); gsub(/&gt;/, ">", s); gsub(/&quot;/, "\"", s); gsub(/&amp;/, "\\&", s); return s }
		/<TestCase / { name = $0; sub(/.*<TestCase name="/, "", name); sub(/".*/, "", name); details = ""; open = 1; next }
		/<Expression success="false"/ { where = $0; sub(/.*filename="/, "", where); sub(/".*line="/, ":", where); sub(/".*/, "", where); details = details "    " where "\n"; failing = 1 }
		/<Original>/, /<\/Original>/ { if (failing) details = details "      " text($0) "\n" }
		/<Expanded>/, /<\/Expanded>/ { if (failing) details = details "      " text($0) "\n" }
		/<\/Expression>/ { failing = 0 }
		/<(Exception|FatalErrorCondition|Failure)/, /<\/(Exception|FatalErrorCondition|Failure)>/ { details = details "    " text($0) "\n" }
		/<OverallResult success="true"/ { print "ok " prefix "/" text(name); open = 0 }
		/<OverallResult success="false"/ { print "not ok " prefix "/" text(name) ": an assertion failed"; printf "%s", details; open = 0 }
		END { if (open) print "not ok " prefix "/" text(name) ": the program ended in the middle of it" }
	' "$report")
	[ -z "$tests" ] || echo "$tests"
	# Behind the last test or between two: a leak that is told at the end, a crash in a destructor.
	if [ "$status" != 0 ] && [ -n "$tests" ] && ! grep -q '^not ok ' <<<"$tests"; then
		echo "not ok $prefix: its tests passed, but it ended with status $status"
		grep -A40 'Sanitizer' "$report.err" | head -n 60 | sed 's/^/    /'
	fi
	if [ -s "$report.err" ]; then
		echo "    stderr of $1:"
		head -n 60 "$report.err" | sed 's/^/    /'
	fi
	grep -q '<TestCase' "$report" || echo "not ok $prefix: the program ran no test"
	rm -f "$report" "$report.err"
}

# unit_at_once PREFIX PROGRAM [COMMAND...]: all tests of a Catch2 program, in parts, and the COMMANDs, side by side.
unit_at_once() {
	local folder part commands=("${@:3}") status tests
	folder=$(mktemp -d)
	"$2" --list-test-names-only | sed 's/[\\,"]/\\&/g' | split -n r/8 - "$folder/part." # a comma would end the name
	for part in "$folder"/part.*; do
		commands+=("run_unit $1 $2 -f $part")
	done
	at_once "${commands[@]}" | tee "$folder/out"
	status=${PIPESTATUS[0]}
	tests=$(cat "$folder"/part.* | wc -l)
	[ "$(grep -cE "^(not )?ok $1/" "$folder/out")" = "$tests" ] || echo "not ok $1: not every one of $tests tests has run once"
	rm -rf "$folder"
	return "$status"
}

# table COMMAND...: its lines, and each again as progress, so that whoever waits
# sees them; the whole goes into tests/RESULTS.md, too.
table() {
	local name=${1#tests/}
	"$@" | tee "build/tests/${name////-}.table" | sed -u 's/.*/progress &\n&/'
	return "${PIPESTATUS[0]}"
}

# panics_of STAGE [FILE...]: a folder for what died() keeps of this code: of the build, of the tests that make panics, and of
# FILEs.
panics_of() {
	local code folder
	code=$(cat "$dev"/kmod/*/dfr.ko "$dev"/bin/{dfr,guest-{sequence,workload,kexec}} tests/vm/{panic,run,init,sequence.sh,modules.sh,build-provider} \
		tests/vm/provider/{Kbuild,dfr_{crash,break}.c} "${@:2}" | sha256sum | cut -c 1-16)
	folder=build/tests/$1/$code
	mkdir -p "$folder" && echo "$folder"
}

# died FILE ARGUMENTS...: the line of tests/vm/panic's table. If it was whole it is kept in FILE, and not made again.
died() {
	if [ ! -e "$1" ]; then
		tests/vm/panic "${@:2}" >"$1.begun" 2>&1 || { cat "$1.begun" && return 1; }
		mv "$1.begun" "$1"
	fi
	cat "$1"
}

# panics_table FILE...: such lines added up.
panics_table() {
	awk '
		{ of = $1 " " $2 " " $3 " " $5; died[of]++; committed[of] += $7; overwritten[of] += $9; recovered[of] += $11 }
		END {
			for (of in died) {
				split(of, word, " ")
				printf "%s %-5s %s CPUs  %-10s %3d panics  committed %9d  overwritten %9d  recovered %9d\n", word[1], word[2], word[3], word[4],
					died[of], committed[of], overwritten[of], recovered[of]
			}
		}' <(cat "$@" 2>/dev/null) | sort
}

panic_causes='sysrq interrupt bug hang stack firing nested memory all hook'

# planted PREFIX WORD COMMAND...: each row of its table, which begins with a number, is a test, which passes if
# one of its fields is WORD. The line at the end ("3 found, 0 missed") is no row.
planted() {
	local prefix=$1 word=$2
	shift 2
	table "$@" | awk -v prefix="$prefix" -v word="$word" '
		/^progress / { print; fflush(); next }
		$1 !~ /^[0-9]+$/ || $2 == word "," { next }
		{
			for (i = 2; i <= 4 && $i != word; i++);
			print i <= 4 ? "ok " prefix "." $1 : "not ok " prefix "." $1 ": " $0
		}'
	return "${PIPESTATUS[0]}"
}

# note NAME TEXT: a line of progress, which goes into tests/RESULTS.md as well.
note() {
	mkdir -p build/tests
	echo "$2" >>"build/tests/$1.table"
	echo "progress $2"
}

# Passes on what it reads, a test with its details at once. (Debian's awk would wait for 4 KiB.)
whole_tests() {
	local line held=''
	while IFS= read -r line; do
		case "$line" in
		'ok '* | 'not ok '* | 'skip '* | 'progress '*)
			printf %s "$held"
			held=''
			;;
		esac
		held+=$line$'\n'
	done
	printf %s "$held"
}

# at_once COMMAND...: each a line of shell, as many side by side as there are
# processors (a guest keeps one busy for most of its time, and so does what runs in
# one thread; tests/vm/run lets guests of many CPUs wait for each other). What they
# print comes test by test, each with its details, so that it stands in the output
# of a run that is cut off.
at_once() {
	local command n=0 failed status
	failed=$(mktemp)
	for command in "$@"; do
		[ $n -lt "$(nproc)" ] || wait -n
		n=$((n + 1))
		(eval "$command" || echo "$command" >>"$failed") | whole_tests &
	done
	wait
	[ ! -s "$failed" ]
	status=$?
	rm -f "$failed"
	return $status
}

# each_kernel COMMAND...: COMMAND KERNEL for each, side by side.
each_kernel() {
	local kernel commands=()
	for kernel in "${kernels[@]}"; do
		commands+=("$(printf '%q ' "$@" "$kernel")")
	done
	at_once "${commands[@]}"
}

# each_on_one FUNCTION...: FUNCTION KERNEL, the first on the first kernel, the next on the next, side by side; with --full
# each of them on all.
each_on_one() {
	local function kernel on commands=() n=0
	for function in "$@"; do
		on=("${kernels[@]}")
		[ -n "${DFR_FULL-}" ] || on=("${kernels[n++ % ${#kernels[@]}]}")
		for kernel in "${on[@]}"; do
			commands+=("$function $kernel")
		done
	done
	at_once "${commands[@]}"
}

# sweep_of PART KERNEL: all of it.
sweep_of() { tests/sweep/guest --build "$dev" --shared "$2" "$1"; }

# packages_are_clean FOLDER: lintian has nothing to say.
packages_are_clean() {
	local said
	said=$(lintian --allow-root --fail-on none "$1"/*.changes 2>&1) && [ -z "$said" ] || { echo "$said" && return 1; }
}

# conformance_in_guest PREFIX SECONDS COMMAND KERNEL [OPTION...]: a script of tests/conformance in a guest; its tests are
# named PREFIX.KERNEL/... Status 1 means that tests failed, which the script has said itself, if it came to them.
conformance_in_guest() {
	local prefix=$1.$4 log status
	log=$(mktemp)
	tests/vm/run --kernel "$4" --timeout "$2" "${@:5}" --copy tests/conformance:/conformance -- "$3" 2>"$log.err" >"$log"
	status=$?
	sed -E "s/^(ok|not ok) /\\1 $prefix\\//" "$log"
	if [ "$status" -gt 1 ] || ! grep -q '^ok ' "$log" || { [ "$status" = 1 ] && ! grep -q '^not ok ' "$log"; }; then
		echo "not ok $prefix: the run in the guest ended with status $status"
		tail -n 10 "$log.err" | sed 's/^/    /'
	fi
	rm -f "$log" "$log.err"
}
