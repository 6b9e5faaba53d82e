/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of recording share. Nobody else includes it: providers see provider.h,
 * consumers of the engine engine.h. The structures, from the outside in:
 *
 *   dfr_engine   (registry.h) all probes and providers, all states, one dfr_cpu per CPU
 *   dfr_cpu      (registry.h) the firing that runs on this CPU now, its clock, its guard
 *   dfr_state    (state.h) one consumer's programs and everything they record
 *   dfr_share    (state.h) a state's share of one CPU: ring, aggregation halves, speculation
 *                lists, machines, counters. Written by that CPU alone, with interrupts off;
 *                process context reaches it by dfr_visit_cpu()
 *   dfr_clause   (loading/program.h) what the program says for one probe description
 *   dfr_plan     (plan.h) a clause compiled for recording: its layout and its steps. One
 *                plan serves all ECBs of a clause (one per number of arguments where the
 *                layout depends on it)
 *   dfr_ecb      (plan.h) a plan at a probe: the element of a probe's chain
 *
 * Their parts: ring.h (where records go), spec.h (speculations), agg.h (aggregations),
 * governor.h (what it may all cost). Counters that others read while their CPU writes are
 * written with dfr_count().
 */
#ifndef DFR_ENGINE_STORE_H
#define DFR_ENGINE_STORE_H

#include "kmod/engine/recording/registry.h"

#endif
