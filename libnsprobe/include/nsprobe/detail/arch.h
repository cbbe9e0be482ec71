/* SPDX-License-Identifier: MIT */
/* The probe for the target architecture.  Not API. */
#ifndef NSPROBE_DETAIL_ARCH_H
#define NSPROBE_DETAIL_ARCH_H

/*
 * Together with probe_asm.h, each header provides the following, each as one asm statement:
 *	NSP_DETAIL_PROBE(state, name, kind)          a record without words of its own
 *	NSP_DETAIL_PROBE_AT(state, site)             the same, at a site that the caller provides
 *	NSP_DETAIL_PROBE_1(state, name, kind, word)  a record with one word
 *	NSP_DETAIL_PROBE_3(state, name, kind, word, word, word)
 * where `state` is the name of a struct nsp_detail_state, as a string.
 */
#if defined(__x86_64__)
#include <nsprobe/detail/arch_x86_64.h>
#elif defined(__AARCH64EL__)
#include <nsprobe/detail/arch_aarch64.h>
#else
#error "no probe for this architecture; define NETSLICE_DISABLE to build without probes"
#endif
#include <nsprobe/detail/probe_asm.h>

#endif /* NSPROBE_DETAIL_ARCH_H */
