// SPDX-License-Identifier: MIT
// cli: an ELF file -> its functions, and by which ways each can be recorded.
#include "cli/functions/elf_functions.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

#include "cli/functions/elf_image.hpp"
#include "cli/functions/first_instruction.hpp"
#include "common/functions/demangle.h"
#include "common/functions/entry_bytes.h"
#include "decode/error.hpp"

namespace nsdump
{
namespace
{
constexpr size_t kSledBytes = 32, kEntryBytes = 8;
constexpr size_t kMostFunctions = 2'000'000, kMostBytesOfNames = 256u << 20;

std::string demangled(const char *symbol)
{
    char name[NSF_DEMANGLED_BYTES];
    return nsf_demangle_into(name, symbol) ? name : std::string(symbol) + "()";
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
    Reader(ElfImage &image, ElfObject &object) : image_(image), object_(object) {}

    void read()
    {
        const bool has_symbols = take_symbols(SHT_SYMTAB);
        object_.is_stripped = !has_symbols;
        if (!has_symbols)
            take_symbols(SHT_DYNSYM);
        place_uprobes();
        take_imports();
        std::map<uint64_t, uint64_t> with_entries; // address -> end
        for (const ElfImage::Section &section : image_.sections()) {
            if (section.name == "xray_instr_map")
                take_sleds(section);
            else if (section.name == "__patchable_function_entries") {
                take_entries(section);
                with_entries[section.header.sh_addr] =
                    section.header.sh_addr + section.header.sh_size;
            }
            object_.is_go |= section.name == ".gopclntab" || section.name == ".note.go.buildid";
        }
        take_relocated_entries(with_entries);
        mark();
    }

private:
    bool take_symbols(unsigned kind)
    {
        bool has_any = false;
        for (const ElfImage::Section &section : image_.sections()) {
            if (section.header.sh_type != kind || section.header.sh_entsize == 0)
                continue;
            has_any = true;
            image_.each_symbol(section, [this](const GElf_Sym &symbol, const char *name) {
                take_symbol(symbol, name);
            });
        }
        return has_any;
    }

    // PLT entries are undefined symbols; indirect functions have a type of their own.
    void take_symbol(const GElf_Sym &symbol, const char *name)
    {
        if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF || !*name)
            return;
        uint64_t &bytes = symbols_[symbol.st_value];
        bytes = std::max(bytes, uint64_t(symbol.st_size));
        if (symbol.st_size == 0 || is_unfit(name) || image_.code_at(symbol.st_value).empty())
            return;
        ElfFunction function;
        function.name = demangled(name);
        function.symbol = name;
        function.address = symbol.st_value;
        name_bytes_ += function.name.size() + function.symbol.size();
        if (object_.functions.size() == kMostFunctions || name_bytes_ > kMostBytesOfNames)
            throw TraceError(fmt::format("{}: has more than {} functions, or {} MiB of their names",
                                         object_.name, kMostFunctions, kMostBytesOfNames >> 20));
        object_.functions.push_back(std::move(function));
    }

    // Of functions with the mark: the place behind it -> the function, up to its end.
    struct Marked {
        uint64_t begin = 0, end = 0;
        bool is_branched_to = false;
    };
    using MarkedPlaces = std::unordered_map<uint64_t, Marked>;

    MarkedPlaces marked_places() const
    {
        MarkedPlaces places;
        for (const auto &[address, bytes] : symbols_)
            if (bytes > kBranchMarkBytes &&
                has_branch_mark(image_.code_at(address), image_.machine()))
                places[address + kBranchMarkBytes] = {address, address + bytes};
        return places;
    }

    // All code is searched once: functions may overlap.  If segments do, a branch is supposed.
    void find_branches(MarkedPlaces &places) const
    {
        size_t left = image_.bytes();
        for (const ElfImage::Segment &segment : image_.segments()) {
            const std::string_view code =
                segment.is_code ? image_.code_of(segment) : std::string_view();
            if (code.size() > left) {
                for (auto &[place, marked] : places)
                    marked.is_branched_to = true;
                return;
            }
            left -= code.size();
            each_branch(code, [&](size_t begin, size_t end, int64_t target) {
                const auto found = places.find(segment.address + uint64_t(target));
                if (found != places.end() && segment.address + begin >= found->second.begin &&
                    segment.address + end <= found->second.end)
                    found->second.is_branched_to = true;
            });
        }
    }

    void place_uprobes()
    {
        MarkedPlaces places = marked_places();
        if (!places.empty())
            find_branches(places);
        for (ElfFunction &function : object_.functions) {
            const auto marked = places.find(function.address + kBranchMarkBytes);
            const size_t skipped =
                marked != places.end() && !marked->second.is_branched_to ? kBranchMarkBytes : 0;
            const std::string_view code =
                image_.code_at(function.address).substr(0, symbols_[function.address]);
            function.offset = image_.offset_of(code) + skipped;
            function.way =
                way_by_uprobe(code.substr(std::min(skipped, code.size())), image_.machine());
        }
    }

    void take_imports()
    {
        for (const ElfImage::Section &section : image_.sections())
            if (section.header.sh_type == SHT_DYNSYM || section.header.sh_type == SHT_SYMTAB)
                image_.each_symbol(section, [this](const GElf_Sym &, const char *name) {
                    object_.throws |= !strncmp(name, "__cxa_throw", 11);
                    object_.switches_stacks |= is_switch_of_stacks(name);
                });
    }

    // Version 2: both addresses are relative to their own places.
    void take_sleds(const ElfImage::Section &section)
    {
        const std::string_view sleds = image_.raw(section, kSledBytes);
        for (size_t at = 0; at < sleds.size(); at += kSledBytes) {
            uint64_t function;
            memcpy(&function, sleds.data() + at + 8, sizeof(function));
            const bool is_relative = uint8_t(sleds[at + 18]) >= 2;
            sleds_.insert(is_relative ? section.header.sh_addr + at + 8 + function : function);
        }
    }

    // Absolute addresses; in a program at any address they are in relocations.
    void take_entries(const ElfImage::Section &section)
    {
        const std::string_view entries = image_.raw(section, kEntryBytes);
        for (size_t at = 0; at < entries.size(); at += kEntryBytes) {
            uint64_t address;
            memcpy(&address, entries.data() + at, sizeof(address));
            if (address != 0)
                entries_.insert(address);
        }
    }

    void take_relocated_entries(const std::map<uint64_t, uint64_t> &sections)
    {
        if (sections.empty())
            return;
        for (const ElfImage::Section &section : image_.sections())
            if (section.header.sh_type == SHT_RELA && (section.header.sh_flags & SHF_ALLOC))
                image_.each_relocation(section, [&](const GElf_Rela &one) {
                    const auto next = sections.upper_bound(one.r_offset);
                    if (next != sections.begin() && one.r_offset < std::prev(next)->second)
                        entries_.insert(uint64_t(one.r_addend));
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
        const std::string_view text = image_.code_at(function);
        const auto *const code = reinterpret_cast<const uint8_t *>(text.data());
        const uint32_t endbr = nsf_endbr_bytes(code, text.size());
        return nsf_entry_bytes(code + endbr, text.size() - endbr) > 0;
    }

    void mark()
    {
        const std::set<uint64_t> with_entries = functions_with_entries();
        for (ElfFunction &function : object_.functions) {
            function.has_sled = sleds_.contains(function.address);
            function.has_entry = image_.machine() == EM_X86_64 &&
                                 with_entries.contains(function.address) &&
                                 has_room_for_call(function.address);
        }
    }

    ElfImage &image_;
    ElfObject &object_;
    size_t name_bytes_ = 0;
    std::set<uint64_t> sleds_, entries_;
    std::map<uint64_t, uint64_t> symbols_; // address -> bytes, of all functions
};
} // namespace

ElfObject read_elf_image(std::string_view bytes, const std::string &name)
{
    ElfObject object;
    object.name = name;
    ElfImage image(bytes, name);
    object.interpreter = image.interpreter();
    Reader(image, object).read();
    return object;
}

ElfObject read_elf(RegularFile &file, const std::string &path, const std::string &name)
{
    if (!file.is_open())
        throw TraceError(
            fmt::format("{}: {}", name,
                        file.number() ? fmt::format("cannot be read: {}", strerror(file.number()))
                                      : "is not a regular file"));
    ElfObject object = read_elf_image(file.bytes(), name);
    object.path = path;
    return object;
}

ElfObject read_elf(const std::string &path, const std::string &name)
{
    RegularFile file(path);
    return read_elf(file, path, name);
}
} // namespace nsdump
