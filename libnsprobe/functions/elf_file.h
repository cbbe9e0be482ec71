/* SPDX-License-Identifier: MIT */
/* File of a loaded object -> its sections and its functions' symbols. */
#ifndef NSF_ELF_FILE_H
#define NSF_ELF_FILE_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

struct nsf_symbol {
    uint64_t address; /* before the object is moved to where it is loaded */
    uint64_t bytes;
    const char *name;
};

struct nsf_elf_file {
    const char *data;
    size_t bytes;
    struct nsf_symbol *symbols; /* functions, by address */
    size_t symbol_count;
};

/* Returns 0, or -1 if the file cannot be read or is not an ELF file of this machine. */
int nsf_elf_open(struct nsf_elf_file *file, const char *path);
void nsf_elf_close(struct nsf_elf_file *file);

/*
 * The next section of this name after *at (initially 0) that is loaded; NULL: none.  A file may
 * have several.
 */
const Elf64_Shdr *nsf_elf_section(const struct nsf_elf_file *file, const char *name, uint32_t *at);

/* The first symbol at or after an address; == symbols + symbol_count: none. */
const struct nsf_symbol *nsf_elf_symbol_from(const struct nsf_elf_file *file, uint64_t address);

#endif /* NSF_ELF_FILE_H */
