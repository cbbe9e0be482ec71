/* SPDX-License-Identifier: MIT */
/* Loaded objects + expression -> functions that can be patched, and where. */
#define _GNU_SOURCE
#include "find.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <nsprobe/detail/state.h>

#include "common/functions/entry_bytes.h"
#include "common/functions/name_match.h"
#include "elf_file.h"
#include "names.h"

/* XRay's, of compilers' sections xray_instr_map. */
struct sled {
    uint64_t address, function; /* from version 2 on relative to themselves */
    uint8_t kind, always, version, reserved[13];
};
_Static_assert(sizeof(struct sled) == 32, "as compilers write it");

enum sled_kind { SLED_ENTRY, SLED_EXIT, SLED_TAIL, SLED_ENTRY_WITH_ARGUMENTS };

struct search {
    const regex_t *expression;
    struct nsf_found *found;
    struct nsf_elf_file file;
    const char *path;
    uint64_t base, end;
    uint64_t last_function; /* of the sleds: a function's follow each other */
    uint32_t last_number;
};

#define NO_MATCH UINT32_MAX

static int grow(struct nsf_found *found, void **array, size_t count, size_t size)
{
    void *grown;

    if (count & (count + 1) && count != 0) /* grows at 1, 3, 7 ... */
        return 1;
    grown = realloc(*array, (2 * count + 1) * size);
    if (!grown) {
        found->is_out_of_memory = 1;
        return 0;
    }
    *array = grown;
    return 1;
}

static void keep_example(struct nsf_found *found, const char *name)
{
    for (size_t i = 0; i < sizeof(found->example) / sizeof(found->example[0]); ++i)
        if (!found->example[i][0]) {
            snprintf(found->example[i], sizeof(found->example[i]), "%s", name);
            return;
        }
}

/* A function has a symbol for each of its names: the first that matches. */
static char *matching_name(struct search *search, uint64_t address)
{
    const struct nsf_symbol *at = nsf_elf_symbol_from(&search->file, address - search->base);
    const struct nsf_symbol *const end = search->file.symbols + search->file.symbol_count;

    for (; at < end && at->address == address - search->base; ++at) {
        char *const name = nsf_demangle(at->name);

        if (name && nsf_is_match(search->expression, name, at->name))
            return name;
        if (name)
            keep_example(search->found, name);
        else
            search->found->is_out_of_memory = 1;
        free(name);
    }
    return NULL;
}

static uint32_t add_function(struct search *search, uint64_t address, const char *full_name)
{
    struct nsf_found *const found = search->found;
    char name[NSF_NAME_BYTES];

    found->is_too_many |= found->function_count >= NSF_MAX_FUNCTIONS;
    if (found->is_too_many)
        return NO_MATCH;
    nsf_make_unique(name, full_name, found->names, found->function_count);
    if (!grow(found, (void **)&found->functions, found->function_count,
              sizeof(*found->functions)) ||
        !grow(found, (void **)&found->names, found->function_count, sizeof(*found->names)))
        return NO_MATCH;
    found->names[found->function_count] = strdup(name);
    found->is_out_of_memory |= !found->names[found->function_count];
    if (found->is_out_of_memory)
        return NO_MATCH;
    found->functions[found->function_count] = (struct nsf_function){
        .name = found->names[found->function_count], .object = search->path, .address = address};
    return (uint32_t)found->function_count++;
}

/* Number of the function that begins at the address; NO_MATCH: it is not wanted. */
static uint32_t number_of(struct search *search, uint64_t address)
{
    const size_t count = search->found->function_count;
    char *name;

    for (size_t i = count; i-- > 0 && search->found->functions[i].object == search->path;)
        if (search->found->functions[i].address == address)
            return (uint32_t)i;
    name = matching_name(search, address);
    if (!name)
        return NO_MATCH;
    search->last_number = add_function(search, address, name);
    free(name);
    return search->last_number;
}

static void add_place(struct search *search, struct nsf_place place)
{
    struct nsf_found *const found = search->found;

    if (grow(found, (void **)&found->places, found->place_count, sizeof(*found->places)))
        found->places[found->place_count++] = place;
}

static void take_sled(struct search *search, const struct sled *sled)
{
    static const uint32_t kinds[] = {[SLED_ENTRY] = NSF_ENTRY_SLED,
                                     [SLED_EXIT] = NSF_EXIT_SLED,
                                     [SLED_TAIL] = NSF_TAIL_SLED,
                                     [SLED_ENTRY_WITH_ARGUMENTS] = NSF_ENTRY_SLED};
    const uint64_t base = sled->version >= 2 ? (uint64_t)&sled->address : 0;
    const uint64_t address = base + sled->address;
    const uint64_t function = (sled->version >= 2 ? (uint64_t)&sled->function : 0) + sled->function;
    const uint8_t *const code = (const uint8_t *)address;
    uint32_t *state;

    if (sled->kind > SLED_ENTRY_WITH_ARGUMENTS)
        return; /* an event of the program's own */
    if (function != search->last_function) {
        ++search->found->seen[1];
        search->last_number = number_of(search, function);
    }
    search->last_function = function;
    if (search->last_number == NO_MATCH)
        return;
    state = &search->found->functions[search->last_number].state;
    if (sled->kind == SLED_EXIT ? code[0] != 0xc3 : code[0] != 0xeb || code[1] != 9)
        *state = NSF_CHANGED;
    if (*state == NSF_CHANGED)
        return;
    *state = NSF_BY_SLED;
    add_place(search,
              (struct nsf_place){address, search->last_number, kinds[sled->kind], NSF_SLED_BYTES});
}

/* An exit without its entry, or the reverse, would be half a slice. */
static void drop_places_of_changed(struct nsf_found *found, size_t first)
{
    size_t kept = first;

    for (size_t i = first; i < found->place_count; ++i)
        if (found->functions[found->places[i].function].state != NSF_CHANGED)
            found->places[kept++] = found->places[i];
    found->place_count = kept;
}

/* Of the function whose last symbol is before `next`; a symbol may say less than another. */
static uint64_t bytes_of(const struct nsf_symbol *first, const struct nsf_symbol *next)
{
    uint64_t bytes = 0;

    for (const struct nsf_symbol *at = next; at > first && at[-1].address == next[-1].address; --at)
        if (at[-1].bytes > bytes)
            bytes = at[-1].bytes;
    return bytes;
}

/*
 * The section has the first of the bytes that do nothing, some of which may lie before the
 * function.  The function is the one that contains it, or else begins behind it.
 */
static void take_entry(struct search *search, uint64_t address)
{
    const struct nsf_symbol *const first = search->file.symbols;
    const struct nsf_symbol *const next =
        nsf_elf_symbol_from(&search->file, address - search->base + 1);
    const struct nsf_symbol *const end = first + search->file.symbol_count;
    uint64_t function;
    const uint8_t *code;
    uint64_t left;
    uint32_t number, endbr, bytes;

    ++search->found->seen[0];
    if (next > first && address - search->base - next[-1].address < bytes_of(first, next))
        function = next[-1].address + search->base;
    else if (next < end)
        function = next->address + search->base;
    else
        return;
    number = number_of(search, function);
    if (number == NO_MATCH || search->found->functions[number].state)
        return;
    code = (const uint8_t *)function;
    left = search->end - function;
    endbr = nsf_endbr_bytes(code, left);
    bytes = nsf_entry_bytes(code + endbr, left - endbr);
    search->found->functions[number].state = bytes ? NSF_BY_ENTRY : NSF_TOO_SHORT;
    if (bytes)
        add_place(search, (struct nsf_place){function + endbr, number, NSF_PATCHED_ENTRY, bytes});
}

static void search_file(struct search *search)
{
    const Elf64_Shdr *section;

    for (uint32_t at = 0; (section = nsf_elf_section(&search->file, "xray_instr_map", &at));) {
        const struct sled *const sleds = (const void *)(search->base + section->sh_addr);

        for (uint64_t i = 0; i < section->sh_size / sizeof(*sleds); ++i)
            take_sled(search, &sleds[i]);
    }
    for (uint32_t at = 0;
         (section = nsf_elf_section(&search->file, "__patchable_function_entries", &at));) {
        const uint64_t *const entries = (const void *)(search->base + section->sh_addr);

        for (uint64_t i = 0; i < section->sh_size / sizeof(*entries); ++i)
            if (entries[i])
                take_entry(search, entries[i]);
    }
}

static int has_address(const struct dl_phdr_info *info, uint64_t address)
{
    for (int i = 0; i < info->dlpi_phnum; ++i)
        if (info->dlpi_phdr[i].p_type == PT_LOAD &&
            address - info->dlpi_addr - info->dlpi_phdr[i].p_vaddr < info->dlpi_phdr[i].p_memsz)
            return 1;
    return 0;
}

static void set_range(const struct dl_phdr_info *info, struct nsf_object *object)
{
    object->begin = UINT64_MAX;
    object->protection = PROT_READ | PROT_EXEC;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr) *const part = &info->dlpi_phdr[i];
        const uint64_t begin = info->dlpi_addr + part->p_vaddr;

        if (part->p_type != PT_LOAD)
            continue;
        if ((part->p_flags & (PF_W | PF_X)) == (PF_W | PF_X))
            object->protection |= PROT_WRITE; /* as such programs need it */
        if (begin < object->begin)
            object->begin = begin;
        if (begin + part->p_memsz > object->end)
            object->end = begin + part->p_memsz;
    }
}

/* The first object is the program, whose name is empty; the vDSO has no file. */
static int search_object(struct dl_phdr_info *info, size_t size, void *given)
{
    struct search *const search = given;
    struct nsf_found *const found = search->found;
    struct nsf_object object = {.first_place = found->place_count};
    const char *const path = *info->dlpi_name ? info->dlpi_name : "/proc/self/exe";

    (void)size;
    if (has_address(info, (uint64_t)&nsf_find) || has_address(info, (uint64_t)&nsp_detail_state) ||
        nsf_elf_open(&search->file, path))
        return 0;
    object.path = realpath(path, NULL);
    search->path = object.path ? object.path : path;
    search->base = info->dlpi_addr;
    set_range(info, &object);
    search->end = object.end;
    search_file(search);
    drop_places_of_changed(found, object.first_place);
    nsf_elf_close(&search->file);
    object.places = found->place_count - object.first_place;
    if (object.places > 0 &&
        grow(found, (void **)&found->objects, found->object_count, sizeof(object)))
        found->objects[found->object_count++] = object;
    return found->is_out_of_memory;
}

void nsf_find(const regex_t *expression, struct nsf_found *found)
{
    struct search search = {.expression = expression, .found = found};

    memset(found, 0, sizeof(*found));
    dl_iterate_phdr(search_object, &search);
    for (size_t i = 0; i < found->function_count; ++i)
        ++found->in_state[found->functions[i].state];
}
