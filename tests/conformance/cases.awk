# SPDX-License-Identifier: GPL-2.0
#
# Prints the case files with each line "@wrong TAG | NAME | FEATURES | PROGRAM" as the block that it
# stands for (README.md here). What reads the case files reads them through this.
function part(at) {
	at = index(rest, " | ")
	head = substr(rest, 1, at - 1)
	rest = substr(rest, at + 3)
	return head
}
/^@wrong / {
	rest = substr($0, 8)
	tag = part(); name = part(); features = part()
	print "@@ " name " | " features " | wrong\n" rest "\n--tag " tag "\n"
	next
}
{ print }
