# SPDX-License-Identifier: GPL-2.0
#
# Debian 13's compiler and C library below Debian 12 (bash; tests/vm/kernel sources
# it, after apt.sh). The headers of a kernel of trixie-backports want the gcc that
# built it, and their programs a C library that this machine has not. Both are
# unpacked into a folder, and each program is started by that folder's own loader
# (a script of three lines takes the program's place), so that make works with
# these headers as with any other, without privileges and without a chroot.

trixie_packages=(gcc-14-x86-64-linux-gnu cpp-14-x86-64-linux-gnu libc6 libelf1t64 libzstd1 zlib1g
	libgmp10 libisl23 libmpc3 libmpfr6 libstdc++6 libgcc-s1)

# unpack_trixie FOLDER: what the packages hold, without what no build takes.
unpack_trixie() {
	local folder=$1 deb
	mkdir -p "$folder/deb"
	say "downloading gcc-14 and the C library of trixie"
	(cd "$folder/deb" && own_apt apt-get download "${trixie_packages[@]}" >"$apt/log" 2>&1) ||
		fail "cannot download ${trixie_packages[*]}." "$(grep -E '^(E|Err)' "$apt/log" | head -n 3)"
	for deb in "$folder"/deb/*.deb; do
		dpkg --fsys-tarfile "$deb" | tar -x -C "$folder" --no-same-owner --exclude=./usr/share --exclude=./etc \
			--exclude='*/lto*' --exclude='*/gconv' --exclude='*/g++-mapper-server'
	done
	rm -r "$folder/deb"
}

# start_by_trixie TRIXIE PROGRAM: PROGRAM becomes a script that has TRIXIE's loader
# start it. Where it is told from its own name, so that both can be moved together.
start_by_trixie() {
	local trixie=$1 program=$2 up libraries
	up=$(realpath --relative-to="${program%/*}" "$trixie")
	libraries=usr/lib/x86_64-linux-gnu
	mv "$program" "$program.elf"
	cat >"$program" <<-SCRIPT
		#!/bin/sh
		trixie=\${0%/*}/$up
		exec "\$trixie/$libraries/ld-linux-x86-64.so.2" --library-path "\$trixie/$libraries" --argv0 "\$0" "\$0.elf" "\$@"
	SCRIPT
	chmod 755 "$program"
}

# add_trixie ROOT: its compiler, for the headers that were unpacked to ROOT.
add_trixie() {
	local root=$1 trixie=$1/trixie headers=$1/usr/src/linux-headers-$release program
	unpack_trixie "$trixie"
	for program in "$trixie"/usr/bin/x86_64-linux-gnu-gcc-14 "$trixie"/usr/libexec/gcc/x86_64-linux-gnu/14/{cc1,collect2} \
		"$root"/usr/lib/linux-kbuild-*/scripts/mod/modpost.real-lsb-64 \
		"$root"/usr/lib/linux-kbuild-*/tools/objtool/objtool.real-x86; do
		start_by_trixie "$trixie" "$program"
	done
	sed -i -E 's#^CC = (.*) \S+$#CC = \1 $(realpath $(objtree))/../../../trixie/usr/bin/x86_64-linux-gnu-gcc-14#' "$headers/.kernelvariables"
	# BTF of the module itself would take trixie's pahole as well, and nothing asks for it;
	# this machine's is not used.
	rm -f "$headers/vmlinux"
	echo 'override PAHOLE_VERSION = $(CONFIG_PAHOLE_VERSION)' >>"$headers/.kernelvariables"
}
