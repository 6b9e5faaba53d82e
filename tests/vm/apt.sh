# SPDX-License-Identifier: GPL-2.0
#
# Debian's archives, without touching this machine's apt: what tests/vm/kernel,
# tests/vm/debug-kernel and tests/vm/qemu share (bash; they source it). The
# caller sets cache, and subject, which begins its messages, if it is not a
# kernel, and, with use_own_apt, gets codename, keyring and apt, the folder of its lists;
# architecture, if packages of another one than this are wanted as well.
architecture=amd64

say() { echo "${subject-kernel}: $*" >&2; }

fail() {
	say "$1"
	shift
	[ $# -eq 0 ] || printf '        %s\n' "$@" >&2
	exit 1
}

# The archives this machine's apt uses for its own Debian release: URI, suite.
own_archives() {
	apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' | sort -u |
		awk -v code="$codename" '
			$2 == code || $2 == "stable" { print $1, code; next }
			$2 == code "-security" || $2 == "stable-security" { print $1, code "-security" }'
}

# apt with lists and sources of our own.
own_apt() {
	local tool=$1
	shift
	"$tool" -q -o Dir::Etc::sourcelist="$apt/sources.list" -o Dir::Etc::sourceparts=/dev/null \
		-o Dir::State::Lists="$apt/lists" -o Dir::Cache="$apt/cache" -o Dir::State::status="$apt/status" \
		-o APT::Architectures::=amd64 -o APT::Architectures::="$architecture" -o APT::Sandbox::User="$(id -un)" -o Acquire::Retries=3 -o Acquire::Languages=none "$@"
}

# use_suites "URI SUITE"...: what own_apt reads from now on.
use_suites() {
	local entry
	rm -rf "$apt"
	mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
	: >"$apt/status"
	for entry in "$@"; do
		echo "deb [signed-by=$keyring arch=amd64,$architecture] $entry main"
	done >"$apt/sources.list"
	own_apt apt-get update >"$apt/log" 2>&1 ||
		fail "cannot read Debian's package lists." "$(grep -E '^(E|Err|W)' "$apt/log" | head -n 3)" \
			"Sources tried: $*" "Check the network and the machine's apt sources, then run this again."
}

# Checks that Debian's archives can be read from here.
use_own_apt() {
	codename=$(. /etc/os-release && echo "${VERSION_CODENAME-}")
	[ "$codename" = bookworm ] ||
		fail "this machine is not Debian 12 (bookworm), but ${codename:-something unknown}." \
			"The guest kernels are those of Debian 12; run this there, or in a chroot of it."
	keyring=/usr/share/keyrings/debian-archive-keyring.gpg
	[ -e "$keyring" ] || fail "$keyring is missing." "Run packaging/dependencies, then this again."
	apt=$cache/apt
	mapfile -t archives < <(own_archives)
	[ ${#archives[@]} -gt 0 ] ||
		fail "this machine's apt has no source for Debian $codename." \
			"Add Debian $codename main to /etc/apt/sources.list, then run this again."
}
