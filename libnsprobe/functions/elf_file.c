/* SPDX-License-Identifier: MIT */
/* File of a loaded object -> its sections and its functions' symbols. */
#define _GNU_SOURCE
#include "elf_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* NULL: not inside the file. */
static const void *part(const struct nsf_elf_file *file, uint64_t offset, uint64_t bytes)
{
    return offset <= file->bytes && bytes <= file->bytes - offset ? file->data + offset : NULL;
}

static const Elf64_Ehdr *header(const struct nsf_elf_file *file)
{
    const Elf64_Ehdr *const head = part(file, 0, sizeof(*head));

    if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
        head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_shentsize != sizeof(Elf64_Shdr))
        return NULL;
    return head;
}

/* NULL: none of this number. */
static const Elf64_Shdr *section_at(const struct nsf_elf_file *file, uint32_t number)
{
    const Elf64_Ehdr *const head = header(file);

    if (!head || number >= head->e_shnum)
        return NULL;
    return part(file, head->e_shoff + number * sizeof(Elf64_Shdr), sizeof(Elf64_Shdr));
}

/* A string of a table; "" if it is not inside. */
static const char *string_at(const struct nsf_elf_file *file, const Elf64_Shdr *table,
                             uint32_t offset)
{
    const char *const text = table ? part(file, table->sh_offset, table->sh_size) : NULL;

    if (!text || offset >= table->sh_size || !memchr(text + offset, 0, table->sh_size - offset))
        return "";
    return text + offset;
}

const Elf64_Shdr *nsf_elf_section(const struct nsf_elf_file *file, const char *name, uint32_t *at)
{
    const Elf64_Ehdr *const head = header(file);
    const Elf64_Shdr *const names = head ? section_at(file, head->e_shstrndx) : NULL;

    while (names && ++*at < head->e_shnum) {
        const Elf64_Shdr *const section = section_at(file, *at);

        if (section && section->sh_flags & SHF_ALLOC &&
            strcmp(string_at(file, names, section->sh_name), name) == 0)
            return section;
    }
    return NULL;
}

static int by_address(const void *left, const void *right)
{
    const struct nsf_symbol *const one = left, *const other = right;

    if (one->address != other->address)
        return one->address < other->address ? -1 : 1;
    return strcmp(one->name, other->name);
}

/* The functions that the object itself defines. */
static void add_symbols(struct nsf_elf_file *file, const Elf64_Shdr *table)
{
    const uint64_t count = table->sh_size / sizeof(Elf64_Sym);
    const Elf64_Sym *const all = part(file, table->sh_offset, count * sizeof(Elf64_Sym));
    const Elf64_Shdr *const names = section_at(file, table->sh_link);
    struct nsf_symbol *const grown =
        all ? realloc(file->symbols, (file->symbol_count + count) * sizeof(*grown)) : NULL;

    if (!grown)
        return;
    file->symbols = grown;
    for (uint64_t i = 0; i < count; ++i) {
        const char *const name = string_at(file, names, all[i].st_name);

        if (ELF64_ST_TYPE(all[i].st_info) == STT_FUNC && all[i].st_shndx != SHN_UNDEF && *name)
            file->symbols[file->symbol_count++] =
                (struct nsf_symbol){all[i].st_value, all[i].st_size, name};
    }
}

/* Of the file's own table, or if it was stripped, of what it exports. */
static void read_symbols(struct nsf_elf_file *file)
{
    const Elf64_Ehdr *const head = header(file);
    const Elf64_Shdr *found = NULL;

    for (uint32_t i = 0; head && i < head->e_shnum; ++i) {
        const Elf64_Shdr *const section = section_at(file, i);

        if (section &&
            (section->sh_type == SHT_SYMTAB || (section->sh_type == SHT_DYNSYM && !found)))
            found = section;
    }
    if (found)
        add_symbols(file, found);
    if (file->symbol_count > 0)
        qsort(file->symbols, file->symbol_count, sizeof(*file->symbols), by_address);
}

int nsf_elf_open(struct nsf_elf_file *file, const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    void *data = MAP_FAILED;

    memset(file, 0, sizeof(*file));
    if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > 0)
        data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (fd >= 0)
        close(fd);
    if (data == MAP_FAILED)
        return -1;
    file->data = data;
    file->bytes = (size_t)status.st_size;
    if (!header(file)) {
        nsf_elf_close(file);
        return -1;
    }
    read_symbols(file);
    return 0;
}

void nsf_elf_close(struct nsf_elf_file *file)
{
    free(file->symbols);
    munmap((void *)(uintptr_t)file->data, file->bytes);
    memset(file, 0, sizeof(*file));
}

const struct nsf_symbol *nsf_elf_symbol_from(const struct nsf_elf_file *file, uint64_t address)
{
    size_t low = 0, high = file->symbol_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (file->symbols[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return file->symbols + low;
}
