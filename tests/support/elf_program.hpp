// SPDX-License-Identifier: MIT
// ELF files byte by byte, as no linker makes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <elf.h>

namespace test_support
{
constexpr size_t kElfCodeOffset = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr) * 1001;

// Code at this address, in `segments` segments that are the same; symbols of functions.
struct ElfProgram {
    static constexpr uint64_t kAddress = 0x400000;

    std::string code;
    std::string names = std::string(1, '\0');
    std::vector<Elf64_Sym> symbols = {{}};
    uint16_t segments = 1;

    void add(const std::string &name, uint64_t offset, uint64_t bytes)
    {
        names += name + '\0';
        add_at_name(uint32_t(names.size() - name.size() - 1), offset, bytes);
    }

    void add_at_name(uint32_t name, uint64_t offset, uint64_t bytes)
    {
        Elf64_Sym symbol = {};
        symbol.st_name = name;
        symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
        symbol.st_shndx = 1;
        symbol.st_value = kAddress + offset;
        symbol.st_size = bytes;
        symbols.push_back(symbol);
    }

    // Head, segments, code, symbols, names, sections.
    std::string image() const
    {
        const size_t symbols_at = (kElfCodeOffset + code.size() + 7) / 8 * 8;
        const size_t symbol_bytes = symbols.size() * sizeof(Elf64_Sym);
        const size_t sections_at = (symbols_at + symbol_bytes + names.size() + 7) / 8 * 8;
        const std::vector<Elf64_Shdr> sections = {
            section(SHT_NULL, 0, 0, 0),
            section(SHT_SYMTAB, symbols_at, symbol_bytes, sizeof(Elf64_Sym)),
            section(SHT_STRTAB, symbols_at + symbol_bytes, names.size(), 0)};
        std::string all = part(head(sections_at, sections.size()));
        for (uint16_t i = 0; i < segments; ++i)
            all += part(segment());
        all.resize(kElfCodeOffset);
        all += code;
        all.resize(symbols_at);
        all.append(reinterpret_cast<const char *>(symbols.data()), symbol_bytes).append(names);
        all.resize(sections_at);
        for (const Elf64_Shdr &one : sections)
            all += part(one);
        return all;
    }

private:
    template <class Part> static std::string part(const Part &one)
    {
        return {reinterpret_cast<const char *>(&one), sizeof(one)};
    }

    Elf64_Ehdr head(size_t sections_at, size_t sections) const
    {
        Elf64_Ehdr head = {};
        std::memcpy(head.e_ident, ELFMAG, SELFMAG);
        head.e_ident[EI_CLASS] = ELFCLASS64;
        head.e_ident[EI_DATA] = ELFDATA2LSB;
        head.e_ident[EI_VERSION] = EV_CURRENT;
        head.e_type = ET_EXEC;
        head.e_machine = EM_X86_64;
        head.e_version = EV_CURRENT;
        head.e_phoff = head.e_ehsize = sizeof(head);
        head.e_shoff = sections_at;
        head.e_phentsize = sizeof(Elf64_Phdr);
        head.e_phnum = segments;
        head.e_shentsize = sizeof(Elf64_Shdr);
        head.e_shnum = uint16_t(sections);
        return head;
    }

    Elf64_Phdr segment() const
    {
        Elf64_Phdr segment = {};
        segment.p_type = PT_LOAD;
        segment.p_flags = PF_R | PF_X;
        segment.p_offset = kElfCodeOffset;
        segment.p_vaddr = kAddress;
        segment.p_filesz = segment.p_memsz = code.size();
        return segment;
    }

    static Elf64_Shdr section(uint32_t type, uint64_t offset, uint64_t bytes, uint64_t entry)
    {
        Elf64_Shdr section = {};
        section.sh_type = type;
        section.sh_offset = offset;
        section.sh_size = bytes;
        section.sh_entsize = entry;
        section.sh_link = 2;
        return section;
    }
};
} // namespace test_support
