# SPDX-License-Identifier: GPL-2.0
#
# Debian's own kernel modules for guests, uncompressed (bash; tests/vm/kernel and
# tests/vm/run source it). It loads nothing.

modinfo_of() {
	objcopy -O binary --only-section=.modinfo "$1" /dev/stdout | tr '\0' '\n' | sed -n "s/^$2=//p"
}

# add_module KERNEL-MODULES FOLDER NAME: puts a module and, before it, what it
# depends on into FOLDER, and their names into FOLDER/order. What is built into
# the kernel needs nothing; what the kernel does not have is status 1.
add_module() {
	local modules=$1 folder=$2 name=$3 file dep
	[ ! -e "$folder/$name.ko" ] || return 0
	file=$(find -L "$modules" -name "$name.ko*" -o -name "${name//_/-}.ko*" | head -n 1)
	if [ -z "$file" ]; then
		grep -qsE "/${name//_/[-_]}[.]ko\$" "$modules/modules.builtin"
		return
	fi
	case "$file" in
	*.xz) xz -dc "$file" >"$folder/$name.ko" ;;
	*) cp "$file" "$folder/$name.ko" ;;
	esac
	for dep in $(modinfo_of "$folder/$name.ko" depends | tr , ' '); do
		add_module "$modules" "$folder" "$dep" || return
	done
	echo "$name" >>"$folder/order"
}
