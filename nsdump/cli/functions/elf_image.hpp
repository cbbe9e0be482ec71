// SPDX-License-Identifier: MIT
// cli: the bytes of an ELF file, which may lie -> its tables, as far as they can be used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gelf.h>
#include <libelf.h>

namespace nsdump
{
// What is read in all is limited: tables may overlap, and a file may be larger than its disk.
class ElfImage
{
public:
    struct Section {
        Elf_Scn *handle;
        GElf_Shdr header;
        std::string_view name;
    };
    struct Segment {
        uint64_t address, bytes, offset;
        bool is_code;
    };

    // `name` is for users.  Throws TraceError.
    ElfImage(std::string_view bytes, std::string name);

    unsigned kind() const { return machine_ | class_ << 16; } // machine and class
    unsigned machine() const { return machine_; }
    const std::vector<Section> &sections() const { return sections_; }
    const std::vector<Segment> &segments() const { return segments_; }
    const std::string &interpreter() const { return interpreter_; }
    size_t bytes() const { return bytes_.size(); }

    // The entries of a table.  Throws TraceError if there are too many in all.
    void each_symbol(const Section &section,
                     const std::function<void(const GElf_Sym &, const char *)> &take);
    void each_relocation(const Section &section,
                         const std::function<void(const GElf_Rela &)> &take);
    void each_dynamic(const Section &section,
                      const std::function<void(const GElf_Dyn &, const std::string &)> &take);
    // As in the file, of whole entries.
    std::string_view raw(const Section &section, size_t entry_bytes);

    // The bytes of the file from this address on, as far as they belong to the segment.
    std::string_view code_at(uint64_t address) const;
    std::string_view code_of(const Segment &segment) const;
    uint64_t offset_of(std::string_view part) const
    {
        return uint64_t(part.data() - bytes_.data());
    }

private:
    void check_sections() const;
    void take_segments();
    void take_sections();
    void spend(size_t entries);
    size_t spend_entries(const Section &section, const Elf_Data *data);
    std::string text_at(size_t section, size_t offset) const;

    std::string_view bytes_;
    std::string name_;
    std::unique_ptr<Elf, int (*)(Elf *)> elf_;
    unsigned machine_ = EM_NONE, class_ = ELFCLASSNONE;
    std::vector<Section> sections_;
    std::vector<std::string> section_names_;
    std::vector<Segment> segments_;
    std::string interpreter_;
    size_t left_; // entries
};
} // namespace nsdump
