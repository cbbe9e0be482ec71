/* SPDX-License-Identifier: MIT */
/* Registers the sites of the including object (program or shared library).  Not API. */
#ifndef NSPROBE_DETAIL_REGISTER_H
#define NSPROBE_DETAIL_REGISTER_H

#include <nsprobe/detail/site.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Created by the linker; weak because an object may include the header without having a site. */
extern struct nsp_site __start_nsprobe_sites[] __attribute__((weak, visibility("hidden")));
extern struct nsp_site __stop_nsprobe_sites[] __attribute__((weak, visibility("hidden")));
extern const struct nsp_place __start_nsprobe_sites_places[]
    __attribute__((weak, visibility("hidden")));
extern const struct nsp_place __stop_nsprobe_sites_places[]
    __attribute__((weak, visibility("hidden")));

#ifdef __cplusplus
}
#endif

/* Every source file has these two functions; registering the same range again does nothing. */
static void __attribute__((constructor(101), used)) nsp_detail_object_loaded(void)
{
    if (&__start_nsprobe_sites[0] != &__stop_nsprobe_sites[0])
        nsp_detail_register_sites(__start_nsprobe_sites, __stop_nsprobe_sites);
    if (&__start_nsprobe_sites_places[0] != &__stop_nsprobe_sites_places[0])
        nsp_detail_register_places(__start_nsprobe_sites_places, __stop_nsprobe_sites_places);
}

static void __attribute__((destructor(101), used)) nsp_detail_object_unloaded(void)
{
    if (&__start_nsprobe_sites_places[0] != &__stop_nsprobe_sites_places[0])
        nsp_detail_unregister_places(__start_nsprobe_sites_places);
    if (&__start_nsprobe_sites[0] != &__stop_nsprobe_sites[0])
        nsp_detail_unregister_sites(__start_nsprobe_sites, __stop_nsprobe_sites);
}

#endif /* NSPROBE_DETAIL_REGISTER_H */
