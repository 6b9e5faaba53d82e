/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Programs written as DOF by hand, for guest tests that must not depend on the
 * compiler: one clause on one probe description. Sections, in this order:
 *
 *   0 STRTAB  1 PROBEDESC  2 DIF  3 DIFOHDR  4 ACTDESC  5 ECBDESC  6 OPTDESC
 */
#ifndef DFR_TESTS_TINY_DOF_H
#define DFR_TESTS_TINY_DOF_H

#include <stdint.h>
#include <string.h>

#include "formats/abi/dof.h"

struct tiny_dof {
	const char* probe[4]; /* provider, module, function, name */
	uint16_t builtin;     /* the one value that the action records: DIF_VAR_* */
	uint32_t string;      /* not 0: it is a string */
	uint32_t action;      /* DFR_ACT_DIFEXPR, or DFR_ACT_COUNT: counted by it */
	uint64_t bufsize;     /* 0: the default */
	uint64_t bufpolicy;   /* DFR_BUFPOLICY_* */
};

struct tiny_writer {
	uint8_t *start, *at;
	struct dof_sec* sections;
	unsigned int count;
};

static inline void* tiny_section(struct tiny_writer* w, uint32_t type, uint32_t entsize, uint64_t size) {
	struct dof_sec* section = &w->sections[w->count++];
	void* p;

	w->at = w->start + ((w->at - w->start + 7) & ~7);
	section->type = type;
	section->align = 8;
	section->flags = DOF_SECF_LOAD;
	section->entsize = entsize;
	section->offset = (uint64_t)(w->at - w->start);
	section->size = size;
	p = w->at;
	w->at += size;
	return p;
}

static inline uint32_t tiny_string(char* table, uint32_t* used, const char* text) {
	uint32_t at = *used;

	if (!*text)
		return 0;
	strcpy(table + at, text);
	*used += (uint32_t)strlen(text) + 1;
	return at;
}

static inline void tiny_header(struct dof_header* header, const struct tiny_writer* w) {
	*header = (struct dof_header){.ident = DOF_IDENT,
	                              .hdrsize = 64,
	                              .secsize = sizeof(struct dof_sec),
	                              .secnum = w->count,
	                              .secoff = 64};
	header->loadsz = header->filesz = (uint64_t)(w->at - w->start);
}

/* What is recorded: a variable. Sections 2 and 3. */
static inline void tiny_difo(struct tiny_writer* w, const struct tiny_dof* d) {
	uint32_t* text = tiny_section(w, DOF_SECT_DIF, 4, 8);
	text[0] = DIF_INSTR_WIDE(DIF_OP_LDGS, d->builtin, 1);
	text[1] = DIF_INSTR_R(DIF_OP_RET, 0, 0, 1);
	struct dof_difohdr* difo = tiny_section(w, DOF_SECT_DIFOHDR, 0, sizeof(*difo) + 4);
	difo->rtype.kind = d->string ? DIF_KIND_STRING : DIF_KIND_CTF;
	difo->rtype.ckind = d->string ? 6 : 1;
	difo->rtype.flags = d->string ? DIF_TF_BYREF : 0;
	difo->rtype.size = d->string ? 256 : 8;
	difo->links[0] = 2;
}

/* Writes it to buffer (of 4096 bytes, zeroed here); returns its size. */
static inline size_t tiny_dof(uint8_t* buffer, const struct tiny_dof* d) {
	struct dof_header* header = (struct dof_header*)buffer;
	struct tiny_writer w = {buffer, buffer + 64 + 7 * sizeof(struct dof_sec),
	                        (struct dof_sec*)(buffer + 64), 0};
	int counts = d->action == DFR_ACT_COUNT;
	uint32_t used = 1;

	memset(buffer, 0, 4096);
	char* strings = tiny_section(&w, DOF_SECT_STRTAB, 0, 256);
	struct dof_probedesc* probe = tiny_section(&w, DOF_SECT_PROBEDESC, sizeof(*probe), sizeof(*probe));
	probe->provider = tiny_string(strings, &used, d->probe[0]);
	probe->module = tiny_string(strings, &used, d->probe[1]);
	probe->function = tiny_string(strings, &used, d->probe[2]);
	probe->name = tiny_string(strings, &used, d->probe[3]);

	tiny_difo(&w, d);
	struct dof_actdesc* action =
	    tiny_section(&w, DOF_SECT_ACTDESC, sizeof(*action), sizeof(*action) * (1 + counts));
	action[0].difo = 3;
	action[0].strtab = DOF_STRIDX_NONE;
	action[0].kind = DFR_ACT_DIFEXPR;
	action[0].uarg = DFR_UARG(0, 0, 0);
	if (counts) {
		action[1].difo = DOF_SECIDX_NONE;
		action[1].strtab = DOF_STRIDX_NONE;
		action[1].kind = DFR_ACT_COUNT;
		action[1].ntuple = 1;
		action[1].uarg = 1;
	}
	struct dof_ecbdesc* ecb = tiny_section(&w, DOF_SECT_ECBDESC, 0, sizeof(*ecb));
	ecb->probes = 1;
	ecb->pred = DOF_SECIDX_NONE;
	ecb->actions = 4;
	struct dof_optdesc* option = tiny_section(&w, DOF_SECT_OPTDESC, sizeof(*option), 2 * sizeof(*option));
	option[0].option = DFR_OPT_BUFSIZE;
	option[0].strtab = DOF_STRIDX_NONE;
	option[0].value = d->bufsize ? d->bufsize : 1024 * 1024;
	option[1].option = DFR_OPT_BUFPOLICY;
	option[1].strtab = DOF_STRIDX_NONE;
	option[1].value = d->bufpolicy;

	tiny_header(header, &w);
	return header->loadsz;
}

#endif
