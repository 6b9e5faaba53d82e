# SPDX-License-Identifier: GPL-2.0
#
# Faults planted in a copy of the sources, one at a time, to see whether the
# tests notice: what conformance/mutate and fuzz/seeded share (bash; sourced).
# The sources themselves carry no trace of them. A fault is a file, a text that
# stands in it exactly once, and what the text becomes.
repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# use_tools SOURCES: a compiler cache and a fast linker, where there are any.
use_tools() {
	if command -v ccache >/dev/null; then
		export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
		export CCACHE_BASEDIR=$1 CCACHE_NOHASHDIR=1
	fi
	if command -v ld.lld >/dev/null; then
		export LDFLAGS=-fuse-ld=lld
	fi
}

# copy_sources FOLDER: the last commit, in FOLDER/src; what is being edited stays
# out. Only what differs is written, so that what was built before is still good.
# To be built in FOLDER/src/build/faults: as deep as the presets' folders, so that
# a compiler cache knows most of it.
copy_sources() {
	local file
	rm -rf "$1/new"
	mkdir -p "$1/new" "$1/src"
	use_tools "$1/src"
	git -C "$repo" archive HEAD | tar -xf - -C "$1/new"
	(cd "$1/src" && find . -path ./build -prune -o -type f -print) | while IFS= read -r file; do
		[ -e "$1/new/$file" ] || rm "$1/src/$file"
	done
	(cd "$1/new" && find . -type f) | while IFS= read -r file; do
		cmp -s "$1/new/$file" "$1/src/$file" || {
			mkdir -p "$1/src/${file%/*}"
			cp "$1/new/$file" "$1/src/$file"
		}
	done
	rm -rf "$1/new"
}

# plant FOLDER FILE TEXT OTHER
plant() {
	cp "$1/src/$2" "$1/original"
	TEXT=$3 OTHER=$4 perl -0pi -e '
		BEGIN { $t = $ENV{TEXT}; $o = $ENV{OTHER}; }
		$n = () = /\Q$t\E/g;
		die "the text stands $n times\n" if $n != 1;
		s/\Q$t\E/$o/' "$1/src/$2"
}

# pull FOLDER FILE: takes the fault out again.
pull() {
	cp "$1/original" "$1/src/$2"
}
