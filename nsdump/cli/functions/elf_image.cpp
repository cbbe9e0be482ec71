// SPDX-License-Identifier: MIT
// cli: the bytes of an ELF file, which may lie -> its tables, as far as they can be used.
#include "cli/functions/elf_image.hpp"

#include <algorithm>
#include <climits>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "decode/error.hpp"

namespace nsdump
{
namespace
{
constexpr size_t kMostEntries = 16'000'000, kMostSegments = 1000;
constexpr size_t kMostTextBytes = 16384;               // of a symbol
constexpr size_t kMostBytesOfManySections = 16u << 20; // libelf has 300 bytes for each section
} // namespace

ElfImage::ElfImage(std::string_view bytes, std::string name)
    : bytes_(bytes), name_(std::move(name)), elf_(nullptr, elf_end), left_(kMostEntries)
{
    elf_version(EV_CURRENT);
    check_sections();
    // It does not write into the image.
    elf_.reset(elf_memory(const_cast<char *>(bytes.data()), bytes.size()));
    GElf_Ehdr header;
    if (!elf_ || elf_kind(elf_.get()) != ELF_K_ELF || !gelf_getehdr(elf_.get(), &header))
        throw TraceError(fmt::format(
            "{}: {}", name_,
            bytes.starts_with("#!") ? "is a script, which has no functions of its own (give the "
                                      "program that it starts)"
                                    : "is not an ELF file, so its functions are unknown"));
    machine_ = header.e_machine;
    class_ = header.e_ident[EI_CLASS];
    take_segments();
    take_sections();
}

// More than 65,279 sections are counted in the first of them.
void ElfImage::check_sections() const
{
    if (bytes_.size() < kMostBytesOfManySections || !bytes_.starts_with(ELFMAG))
        return;
    const bool is_64 = bytes_[EI_CLASS] == ELFCLASS64;
    const std::string_view count = bytes_.substr(
        is_64 ? offsetof(Elf64_Ehdr, e_shnum) : offsetof(Elf32_Ehdr, e_shnum), sizeof(Elf64_Half));
    const std::string_view place =
        is_64 ? bytes_.substr(offsetof(Elf64_Ehdr, e_shoff), sizeof(Elf64_Off))
              : bytes_.substr(offsetof(Elf32_Ehdr, e_shoff), sizeof(Elf32_Off));
    const auto is_zero = [](std::string_view field) {
        return std::ranges::all_of(field, [](char byte) { return byte == 0; });
    };
    if (is_zero(count) && !is_zero(place))
        throw TraceError(fmt::format("{}: has more sections than a program", name_));
}

void ElfImage::spend(size_t entries)
{
    if (entries > left_)
        throw TraceError(
            fmt::format("{}: has more than {} symbols, sections, relocations and sleds, "
                        "so its functions cannot be listed",
                        name_, kMostEntries));
    left_ -= entries;
}

void ElfImage::take_segments()
{
    size_t count = 0;
    elf_getphdrnum(elf_.get(), &count);
    if (count > kMostSegments)
        throw TraceError(fmt::format("{}: has more segments than a program ({})", name_, count));
    for (size_t i = 0; i < count; ++i) {
        GElf_Phdr header;
        if (!gelf_getphdr(elf_.get(), int(i), &header))
            continue;
        if (header.p_type == PT_LOAD)
            segments_.push_back(
                {header.p_vaddr, header.p_filesz, header.p_offset, (header.p_flags & PF_X) != 0});
        if (header.p_type == PT_INTERP && header.p_offset < bytes_.size()) {
            const std::string_view path =
                bytes_.substr(header.p_offset, std::min<uint64_t>(header.p_filesz, PATH_MAX));
            interpreter_ = path.substr(0, path.find('\0'));
        }
    }
}

void ElfImage::take_sections()
{
    size_t names = 0, count = 0;
    elf_getshdrstrndx(elf_.get(), &names);
    elf_getshdrnum(elf_.get(), &count);
    spend(count);
    section_names_.reserve(count);
    for (Elf_Scn *handle = nullptr; (handle = elf_nextscn(elf_.get(), handle));) {
        GElf_Shdr header;
        if (!gelf_getshdr(handle, &header))
            continue;
        section_names_.push_back(text_at(names, header.sh_name));
        sections_.push_back({handle, header, {}});
    }
    for (size_t i = 0; i < sections_.size(); ++i)
        sections_[i].name = section_names_[i];
}

// As elf_strptr(), which searches the end of a text in all of its table.
std::string ElfImage::text_at(size_t section, size_t offset) const
{
    Elf_Scn *const handle = elf_getscn(elf_.get(), section);
    Elf_Data *const data = handle ? elf_rawdata(handle, nullptr) : nullptr;
    if (!data || !data->d_buf || offset >= data->d_size)
        return {};
    const char *const text = static_cast<const char *>(data->d_buf) + offset;
    return {text, strnlen(text, std::min(data->d_size - offset, kMostTextBytes))};
}

// Their number.
size_t ElfImage::spend_entries(const Section &section, const Elf_Data *data)
{
    const size_t count =
        data && section.header.sh_entsize ? data->d_size / size_t(section.header.sh_entsize) : 0;
    spend(count);
    return count;
}

void ElfImage::each_symbol(const Section &section,
                           const std::function<void(const GElf_Sym &, const char *)> &take)
{
    Elf_Data *const data = elf_getdata(section.handle, nullptr);
    const size_t count = spend_entries(section, data);
    for (size_t i = 0; i < count; ++i) {
        GElf_Sym symbol;
        if (gelf_getsym(data, int(i), &symbol))
            take(symbol, text_at(section.header.sh_link, symbol.st_name).c_str());
    }
}

void ElfImage::each_relocation(const Section &section,
                               const std::function<void(const GElf_Rela &)> &take)
{
    Elf_Data *const data = elf_getdata(section.handle, nullptr);
    const size_t count = spend_entries(section, data);
    for (size_t i = 0; i < count; ++i) {
        GElf_Rela relocation;
        if (gelf_getrela(data, int(i), &relocation))
            take(relocation);
    }
}

// With the text of those that have one.
void ElfImage::each_dynamic(const Section &section,
                            const std::function<void(const GElf_Dyn &, const std::string &)> &take)
{
    Elf_Data *const data = elf_getdata(section.handle, nullptr);
    const size_t count = spend_entries(section, data);
    GElf_Dyn one;
    for (size_t i = 0; i < count && gelf_getdyn(data, int(i), &one) && one.d_tag != DT_NULL; ++i) {
        const bool has_text =
            one.d_tag == DT_NEEDED || one.d_tag == DT_RPATH || one.d_tag == DT_RUNPATH;
        take(one, has_text ? text_at(section.header.sh_link, one.d_un.d_val) : std::string());
    }
}

std::string_view ElfImage::raw(const Section &section, size_t entry_bytes)
{
    Elf_Data *const data = elf_rawdata(section.handle, nullptr);
    if (!data || !data->d_buf)
        return {};
    spend(data->d_size / entry_bytes);
    return {static_cast<const char *>(data->d_buf), data->d_size / entry_bytes * entry_bytes};
}

std::string_view ElfImage::code_of(const Segment &segment) const
{
    const bool is_inside =
        segment.offset < bytes_.size() && segment.bytes <= bytes_.size() - segment.offset;
    return is_inside ? bytes_.substr(segment.offset, segment.bytes) : std::string_view();
}

std::string_view ElfImage::code_at(uint64_t address) const
{
    for (const Segment &segment : segments_) {
        if (!segment.is_code || address < segment.address ||
            address - segment.address >= segment.bytes)
            continue;
        if (const std::string_view code = code_of(segment); !code.empty())
            return code.substr(address - segment.address);
    }
    return {};
}
} // namespace nsdump
