// SPDX-License-Identifier: MIT
// The reference of filter_counts: a capture and filters -> matching packets, only by libpcap,
// called as `tcpdump -r` calls it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <pcap/pcap.h>

namespace bench
{
using Counts = std::vector<std::optional<uint64_t>>; // nullopt: the filter is refused

class PcapJudge
{
public:
    explicit PcapJudge(const std::string &path)
    {
        char text[PCAP_ERRBUF_SIZE];
        pcap_ = pcap_open_offline(path.c_str(), text);
    }
    ~PcapJudge()
    {
        if (pcap_)
            pcap_close(pcap_);
    }
    PcapJudge(const PcapJudge &) = delete;
    PcapJudge &operator=(const PcapJudge &) = delete;

    bool is_open() const { return pcap_ != nullptr; }
    uint64_t packets() const { return packets_; }
    // Why reading stopped before the end; empty if it did not.
    const std::string &error() const { return error_; }
    // libpcap supports one link type and one snap length per file.
    bool stopped_at_other_interface() const
    {
        return error_.find("different from the") != std::string::npos;
    }

    // draft-ietf-opsawg-pcap: the type is the low 16 bits; the upper bits are reserved except for
    // the FCS length.  Some releases of libpcap use all bits as the type.
    bool has_reserved_bits() const { return pcap_datalink(pcap_) > 0xffff; }

    const Counts &count(const std::vector<std::string> &filters)
    {
        const std::vector<Program> &programs = compiled(filters);
        counts_.clear();
        for (const Program &program : programs)
            counts_.push_back(program.is_good ? std::optional<uint64_t>(0) : std::nullopt);
        pcap_pkthdr *header;
        const u_char *data;
        int status;
        while ((status = pcap_next_ex(pcap_, &header, &data)) == 1) {
            ++packets_;
            for (size_t i = 0; i < programs.size(); ++i)
                if (programs[i].is_good &&
                    pcap_offline_filter(&programs[i].code, header, data) != 0)
                    ++*counts_[i];
        }
        if (status == PCAP_ERROR)
            error_ = pcap_geterr(pcap_);
        return counts_;
    }

    // For these, libpcap compiles filters for the file's byte order and leaves packets unchanged;
    // the engine converts packets.
    bool keeps_byte_order() const
    {
        return pcap_is_swapped(pcap_) &&
               (pcap_datalink(pcap_) == DLT_NULL || pcap_datalink(pcap_) == DLT_ENC);
    }

private:
    struct Program {
        bpf_program code = {};
        bool is_good = false;
    };

    // Compiled once for all captures of a kind.
    const std::vector<Program> &compiled(const std::vector<std::string> &filters)
    {
        static std::map<std::tuple<int, int, int>, std::vector<Program>> known;
        std::vector<Program> &programs =
            known[{pcap_datalink(pcap_), pcap_snapshot(pcap_), pcap_is_swapped(pcap_)}];
        for (size_t i = programs.size(); i < filters.size(); ++i) {
            Program program;
            program.is_good = pcap_compile(pcap_, &program.code, filters[i].c_str(), 1,
                                           PCAP_NETMASK_UNKNOWN) == 0;
            programs.push_back(program);
        }
        return programs;
    }

    pcap_t *pcap_;
    uint64_t packets_ = 0;
    std::string error_;
    Counts counts_;
};
} // namespace bench
