// SPDX-License-Identifier: MIT
// print_headers CAPTURE: capture -> one line per packet: its IP layers as SOURCE>DESTINATION,
// ports, VLAN tags, MPLS labels.
#include <arpa/inet.h>
#include <pcap/pcap.h>

#include <cstdio>

#include "functions/headers/headers.hpp"

namespace
{
using namespace mapi::headers;

constexpr int kLinkTypeRaw = 101;

void print_address(std::span<const uint8_t> address)
{
    char text[INET6_ADDRSTRLEN];
    std::fputs(
        inet_ntop(address.size() == 4 ? AF_INET : AF_INET6, address.data(), text, sizeof(text)),
        stdout);
}

void print(const mapi_packet &packet)
{
    const Headers headers = parse(packet);
    for (unsigned i = 0; i < headers.ip_layers; ++i) {
        std::fputs(i ? " " : "", stdout);
        print_address(source_of(packet, headers.ip[i]));
        std::putchar('>');
        print_address(destination_of(packet, headers.ip[i]));
    }
    const auto ports = headers.innermost() ? ports_of(packet, *headers.innermost()) : std::nullopt;
    if (ports)
        std::printf("\t%u>%u", ports->source, ports->destination);
    else
        std::printf("\t-");
    std::printf("\t%u\t%u\n", headers.vlan_tags, headers.mpls_labels);
}
} // namespace

int main(int count, char **arguments)
{
    char message[PCAP_ERRBUF_SIZE] = "print_headers CAPTURE";
    pcap_t *file = count == 2 ? pcap_open_offline(arguments[1], message) : nullptr;
    if (!file) {
        std::fprintf(stderr, "%s\n", message);
        return 2;
    }
    const int link = pcap_datalink(file);
    pcap_pkthdr *header;
    const u_char *data;
    while (pcap_next_ex(file, &header, &data) == 1) {
        mapi_packet packet{};
        packet.data = data;
        packet.caplen = header->caplen;
        packet.wire_len = header->len;
        packet.link_type =
            uint16_t(link == DLT_RAW ? kLinkTypeRaw : link); // where the two numberings differ
        print(packet);
    }
    pcap_close(file);
    return 0;
}
