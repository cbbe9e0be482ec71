// SPDX-License-Identifier: MIT
// cli: an ELF file -> its functions, and by which ways each can be recorded.
#include "cli/functions/elf_functions.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string_view>

#include <cxxabi.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <libelf.h>
#include <unistd.h>

#include "cli/functions/first_instruction.hpp"
#include "common/functions/entry_bytes.h"
#include "common/functions/name_match.h"
#include "decode/error.hpp"

namespace nsdump
{
namespace
{
constexpr uint64_t kSledBytes = 32;

struct CloseFile {
    int descriptor;
    ~CloseFile() { close(descriptor); }
};
using ElfHandle = std::unique_ptr<Elf, int (*)(Elf *)>;

std::string demangled(const char *symbol)
{
    int status = -1;
    const std::unique_ptr<char, decltype(&std::free)> text(
        nsf_is_mangled(symbol) ? abi::__cxa_demangle(symbol, nullptr, nullptr, &status) : nullptr,
        std::free);
    return status == 0 && text ? text.get() : std::string(symbol) + "()";
}

// Those whose return cannot be trapped: they return twice or elsewhere, have no return address, or
// are parts of functions that are not called.
bool is_unfit(std::string_view symbol)
{
    static const std::set<std::string_view> kUnfit = {
        "setjmp",          "_setjmp",      "__setjmp",       "___setjmp",    "__sigsetjmp",
        "sigsetjmp",       "vfork",        "__vfork",        "clone",        "__clone",
        "clone3",          "__clone3",     "getcontext",     "setcontext",   "swapcontext",
        "makecontext",     "__restore_rt", "__getcontext",   "__setcontext", "__swapcontext",
        "__start_context", "_start",       "_dl_start_user", "__morestack",  "__libc_vfork"};
    return kUnfit.contains(symbol) || symbol.starts_with("_dl_runtime_resolve") ||
           symbol.starts_with("_dl_tlsdesc") || symbol.starts_with("_Unwind_") ||
           symbol.find(".cold") != symbol.npos;
}

// Of coroutines: the kernel takes the returns of a thread to come in the order of its calls.
bool is_switch_of_stacks(std::string_view symbol)
{
    return symbol.starts_with("swapcontext") || symbol.starts_with("makecontext") ||
           symbol.find("jump_fcontext") != symbol.npos;
}

class Reader
{
public:
    Reader(Elf *elf, ElfObject &object) : elf_(elf), object_(object) {}

    void read()
    {
        size_t count = 0;
        elf_getphdrnum(elf_, &count);
        for (size_t i = 0; i < count; ++i) {
            GElf_Phdr header;
            if (gelf_getphdr(elf_, int(i), &header))
                take_segment(header);
        }
        elf_getshdrstrndx(elf_, &names_);
        const bool has_symbols = take_symbols(SHT_SYMTAB);
        object_.is_stripped = !has_symbols;
        if (!has_symbols)
            take_symbols(SHT_DYNSYM);
        take_imports();
        each_section([this](Elf_Scn *section, const GElf_Shdr &header, std::string_view name) {
            if (name == "xray_instr_map")
                take_sleds(section, header);
            else if (name == "__patchable_function_entries")
                take_entries(section, header);
            object_.is_go |= name == ".gopclntab" || name == ".note.go.buildid";
        });
        mark();
    }

private:
    struct Segment {
        uint64_t address, bytes, offset;
        bool is_code;
    };

    template <class Each> void each_section(Each each)
    {
        for (Elf_Scn *section = nullptr; (section = elf_nextscn(elf_, section));) {
            GElf_Shdr header;
            if (!gelf_getshdr(section, &header))
                continue;
            const char *const name = elf_strptr(elf_, names_, header.sh_name);
            each(section, header, std::string_view(name ? name : ""));
        }
    }

    void take_segment(const GElf_Phdr &header)
    {
        if (header.p_type == PT_LOAD)
            segments_.push_back(
                {header.p_vaddr, header.p_filesz, header.p_offset, (header.p_flags & PF_X) != 0});
        size_t bytes = 0;
        const char *const raw = elf_rawfile(elf_, &bytes);
        if (header.p_type == PT_INTERP && raw && header.p_offset < bytes &&
            header.p_filesz <= bytes - header.p_offset)
            object_.interpreter =
                std::string(raw + header.p_offset, strnlen(raw + header.p_offset, header.p_filesz));
    }

    // The bytes of the file from this address on, as far as they belong to the segment.
    std::string_view bytes_at(uint64_t address, bool only_code) const
    {
        size_t bytes = 0;
        const char *const raw = elf_rawfile(elf_, &bytes);
        for (const Segment &segment : segments_) {
            if (address < segment.address || address - segment.address >= segment.bytes ||
                (only_code && !segment.is_code))
                continue;
            const uint64_t offset = segment.offset + (address - segment.address);
            const uint64_t left = segment.bytes - (address - segment.address);
            if (raw && offset < bytes && left <= bytes - offset)
                return {raw + offset, left};
        }
        return {};
    }

    uint64_t offset_of(std::string_view code) const
    {
        return uint64_t(code.data() - elf_rawfile(elf_, nullptr));
    }

    bool take_symbols(unsigned kind)
    {
        bool has_any = false;
        each_section([&](Elf_Scn *section, const GElf_Shdr &header, std::string_view) {
            Elf_Data *const data = header.sh_type == kind ? elf_getdata(section, nullptr) : nullptr;
            if (!data || header.sh_entsize == 0)
                return;
            has_any = true;
            for (size_t i = 0; i < data->d_size / header.sh_entsize; ++i) {
                GElf_Sym symbol;
                if (gelf_getsym(data, int(i), &symbol))
                    take_symbol(symbol, elf_strptr(elf_, header.sh_link, symbol.st_name));
            }
        });
        return has_any;
    }

    // PLT entries are undefined symbols; indirect functions have a type of their own.
    void take_symbol(const GElf_Sym &symbol, const char *name)
    {
        if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF || !name ||
            !*name)
            return;
        uint64_t &bytes = symbols_[symbol.st_value];
        bytes = std::max(bytes, uint64_t(symbol.st_size));
        if (symbol.st_size == 0 || is_unfit(name))
            return;
        const std::string_view code = bytes_at(symbol.st_value, true);
        if (code.empty())
            return;
        const std::string_view own = code.substr(0, symbol.st_size);
        const size_t place = probe_place(own, machine());
        object_.functions.push_back({demangled(name), name, symbol.st_value,
                                     offset_of(code) + place, false, false,
                                     way_by_uprobe(own.substr(place), machine())});
    }

    unsigned machine() const
    {
        GElf_Ehdr header;
        return gelf_getehdr(elf_, &header) ? header.e_machine : unsigned(EM_NONE);
    }

    void take_imports()
    {
        each_section([&](Elf_Scn *section, const GElf_Shdr &header, std::string_view) {
            Elf_Data *const data = header.sh_type == SHT_DYNSYM || header.sh_type == SHT_SYMTAB
                                       ? elf_getdata(section, nullptr)
                                       : nullptr;
            for (size_t i = 0; data && header.sh_entsize && i < data->d_size / header.sh_entsize;
                 ++i) {
                GElf_Sym symbol;
                const char *const name = gelf_getsym(data, int(i), &symbol)
                                             ? elf_strptr(elf_, header.sh_link, symbol.st_name)
                                             : nullptr;
                object_.throws |= name && !strncmp(name, "__cxa_throw", 11);
                object_.switches_stacks |= name && is_switch_of_stacks(name);
            }
        });
    }

    // Version 2: both addresses are relative to their own places.
    void take_sleds(Elf_Scn *section, const GElf_Shdr &header)
    {
        Elf_Data *const data = elf_rawdata(section, nullptr);
        for (uint64_t at = 0; data && at + kSledBytes <= data->d_size; at += kSledBytes) {
            const char *const sled = static_cast<const char *>(data->d_buf) + at;
            uint64_t function;
            memcpy(&function, sled + 8, sizeof(function));
            const bool is_relative = uint8_t(sled[18]) >= 2;
            sleds_.insert(is_relative ? header.sh_addr + at + 8 + function : function);
        }
    }

    // Absolute addresses; in a program at any address they are in relocations.
    void take_entries(Elf_Scn *section, const GElf_Shdr &header)
    {
        Elf_Data *const data = elf_rawdata(section, nullptr);
        for (uint64_t at = 0; data && at + 8 <= data->d_size; at += 8) {
            uint64_t address;
            memcpy(&address, static_cast<const char *>(data->d_buf) + at, sizeof(address));
            if (address != 0)
                entries_.insert(address);
        }
        each_section([&](Elf_Scn *relocations, const GElf_Shdr &of, std::string_view) {
            Elf_Data *const list = of.sh_type == SHT_RELA && (of.sh_flags & SHF_ALLOC)
                                       ? elf_getdata(relocations, nullptr)
                                       : nullptr;
            for (size_t i = 0; list && of.sh_entsize && i < list->d_size / of.sh_entsize; ++i) {
                GElf_Rela one;
                if (gelf_getrela(list, int(i), &one) && one.r_offset >= header.sh_addr &&
                    one.r_offset < header.sh_addr + header.sh_size)
                    entries_.insert(uint64_t(one.r_addend));
            }
        });
    }

    // As libnsprobe-functions.so finds it: the function that contains the entry, or else begins
    // behind it, since some of the bytes may lie before the function.
    std::set<uint64_t> functions_with_entries() const
    {
        std::set<uint64_t> functions;
        for (const uint64_t entry : entries_) {
            const auto next = symbols_.upper_bound(entry);
            if (next != symbols_.begin() &&
                entry - std::prev(next)->first < std::prev(next)->second)
                functions.insert(std::prev(next)->first);
            else if (next != symbols_.end())
                functions.insert(next->first);
        }
        return functions;
    }

    bool has_room_for_call(uint64_t function) const
    {
        const std::string_view text = bytes_at(function, true);
        const auto *const code = reinterpret_cast<const uint8_t *>(text.data());
        const uint32_t endbr = nsf_endbr_bytes(code, text.size());
        return nsf_entry_bytes(code + endbr, text.size() - endbr) > 0;
    }

    void mark()
    {
        const std::set<uint64_t> with_entries = functions_with_entries();
        for (ElfFunction &function : object_.functions) {
            function.has_sled = sleds_.contains(function.address);
            function.has_entry = machine() == EM_X86_64 &&
                                 with_entries.contains(function.address) &&
                                 has_room_for_call(function.address);
        }
    }

    Elf *elf_;
    ElfObject &object_;
    size_t names_ = 0;
    std::vector<Segment> segments_;
    std::set<uint64_t> sleds_, entries_;
    std::map<uint64_t, uint64_t> symbols_; // address -> bytes, of all functions
};
} // namespace

ElfObject read_elf(const std::string &path, const std::string &name)
{
    const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        throw TraceError(fmt::format("{}: cannot be read: {}", name, strerror(errno)));
    const CloseFile close_it{descriptor};
    elf_version(EV_CURRENT);
    const ElfHandle elf(elf_begin(descriptor, ELF_C_READ_MMAP, nullptr), elf_end);
    char start[2] = {};
    if (!elf || elf_kind(elf.get()) != ELF_K_ELF) {
        const bool is_script = pread(descriptor, start, 2, 0) == 2 && !memcmp(start, "#!", 2);
        throw TraceError(fmt::format("{}: {}", name,
                                     is_script
                                         ? "is a script, which has no functions of its own (give "
                                           "the program that it starts)"
                                         : "is not an ELF file, so its functions are unknown"));
    }
    ElfObject object;
    object.path = path;
    object.name = name;
    Reader(elf.get(), object).read();
    return object;
}
} // namespace nsdump
