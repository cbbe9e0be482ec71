// SPDX-License-Identifier: MIT
// ctf: a trace -> its metadata file in TSDL, the language of CTF 1.8.
//
// Names are those that Trace Compass looks for: vtid (tid in the kernel's streams) and cpu_id, and
// func_entry and func_exit with addr for its call stacks.  As in traces of LTTng, fields begin with
// _, which readers remove, so that no name is a word of TSDL.
#include "export/ctf/ctf_metadata.hpp"

#include <iterator>

#include <fmt/format.h>

#include "decode/event.hpp"
#include "export/escape.hpp"

namespace nsdump
{
namespace
{
constexpr const char *kHeader = R"(/* CTF 1.8 */
typealias integer {{ size = 8; align = 8; signed = false; }} := uint8_t;
typealias integer {{ size = 16; align = 8; signed = false; }} := uint16_t;
typealias integer {{ size = 32; align = 8; signed = false; }} := uint32_t;
typealias integer {{ size = 64; align = 8; signed = false; }} := uint64_t;

trace {{
	major = 1;
	minor = 8;
	uuid = "{uuid}";
	byte_order = {order};
	packet.header := struct {{
		integer {{ size = 32; align = 8; signed = false; base = 16; }} magic;
		uint8_t uuid[16];
		uint32_t stream_id;
	}};
}};

clock {{
	name = "ticks";
	description = "{clock}";
	freq = {hz};
	offset_s = {offset_s};
	offset = {offset};
	absolute = FALSE;
}};

typealias integer {{ size = 64; align = 8; signed = false; map = clock.ticks.value; }} := ticks_t;
)";

constexpr const char *kStream = R"(
struct packet_context_{id} {{
	ticks_t timestamp_begin;
	ticks_t timestamp_end;
	uint64_t content_size;
	uint64_t packet_size;
	uint64_t packet_seq_num;
	uint64_t events_discarded;
	uint32_t cpu_id;
}};

stream {{
	id = {id};
	event.header := struct {{ uint8_t id; ticks_t timestamp; }};
	packet.context := struct packet_context_{id};
	event.context := struct {{ uint32_t _{thread}; }};
}};
)";

constexpr const char *kEvent = R"(
event {{
	name = "{name}";
	id = {id};
	stream_id = {stream};
	fields := struct {{
		uint16_t _addr;
		enum slice_name _name;
		uint8_t _words_length;
		integer {{ size = 64; align = 8; signed = false; }} _words[_words_length];
	}};
}};
)";

std::string tsdl_text(std::string_view text)
{
    std::string out;
    for (const char letter : printable_utf8(text)) {
        if (letter == '"' || letter == '\\')
            out += '\\';
        out += letter;
    }
    return out;
}

bool is_number(const std::string &text)
{
    return !text.empty() && text.size() < 19 &&
           text.find_first_not_of("0123456789") == std::string::npos;
}

std::string uuid_text(const std::array<uint8_t, 16> &uuid)
{
    std::string out;
    for (size_t i = 0; i < uuid.size(); ++i)
        fmt::format_to(std::back_inserter(out), "{}{:02x}",
                       i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
    return out;
}

const char *event_name(unsigned kind, bool is_kernel)
{
    switch (kind) {
    case NSLICE_KIND_START:
        return is_kernel ? "nslice_kernel:func_entry" : "lttng_ust_cyg_profile:func_entry";
    case NSLICE_KIND_STOP:
        return is_kernel ? "nslice_kernel:func_exit" : "lttng_ust_cyg_profile:func_exit";
    case NSLICE_KIND_MARK: return is_kernel ? "nslice_kernel:mark" : "nslice:mark";
    case NSLICE_KIND_INIT: return is_kernel ? "nslice_kernel:unit_init" : "nslice:unit_init";
    default: return is_kernel ? "nslice_kernel:unit_exit" : "nslice:unit_exit";
    }
}

void add_environment(const TraceFile &trace, const Losses &losses, std::string &out)
{
    const auto to = std::back_inserter(out);
    const auto add = [&](const char *name, const std::string &value) {
        fmt::format_to(to, "\t{} = \"{}\";\n", name, tsdl_text(value));
    };
    out += "\nenv {\n";
    add("hostname", "unknown"); // a trace does not have it, and Trace Compass expects one
    add("domain", "ust");
    add("tracer_name", "netslice");
    add("tracer_major", "1");
    add("procname", trace.info("program.command"));
    if (const std::string pid = trace.info("program.pid"); is_number(pid))
        fmt::format_to(to, "\tvpid = {};\n", pid);
    for (size_t i = 0; i < trace.counter_names().size(); ++i)
        add(fmt::format("counter_{}", i).c_str(), trace.counter_names()[i]);
    for (size_t i = 0; i < trace.kernel_counter_names().size(); ++i)
        add(fmt::format("kernel_counter_{}", i).c_str(), trace.kernel_counter_names()[i]);
    for (size_t cause = 0; cause < kLostCauses; ++cause)
        fmt::format_to(to, "\tlost_{} = {};\n", lost_name(cause), losses.lost[cause]);
    fmt::format_to(to, "\tlost_other = {};\n", losses.lost_other + losses.lost_without_cause);
    out += "};\n";
}

void add_names(const NameTable &names, std::string &out)
{
    out += "\nenum slice_name : uint16_t {";
    const char *separator = "\n";
    for (uint32_t id = 0; id <= UINT16_MAX; ++id) {
        const NameId name = names.known(uint16_t(id));
        if (name == NameTable::kNone)
            continue;
        fmt::format_to(std::back_inserter(out), "{}\t\"{}\" = {}", separator,
                       tsdl_text(names[name].text), id);
        separator = ",\n";
    }
    if (*separator == '\n')
        out += "\n\t\"none\" = 0";
    out += "\n};\n";
}
} // namespace

std::string ctf_metadata(const TraceFile &trace, const CtfClock &clock, const Losses &losses)
{
    const bool is_little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    std::string out = fmt::format(kHeader, fmt::arg("uuid", uuid_text(trace.header().session_uuid)),
                                  fmt::arg("order", is_little ? "le" : "be"),
                                  fmt::arg("clock", clock.is_rate_known
                                                        ? "ticks of the clock that the probes read"
                                                        : "ticks at an unknown rate"),
                                  fmt::arg("hz", clock.hz), fmt::arg("offset_s", clock.offset_s),
                                  fmt::arg("offset", clock.offset));
    add_environment(trace, losses, out);
    add_names(trace.names(), out);
    for (const bool is_kernel : {false, true}) {
        if (is_kernel && !trace.has_kernel())
            continue;
        const uint32_t stream = ctf_stream_id(is_kernel);
        out += fmt::format(kStream, fmt::arg("id", stream),
                           fmt::arg("thread", is_kernel ? "tid" : "vtid"));
        for (const unsigned kind : {NSLICE_KIND_START, NSLICE_KIND_STOP, NSLICE_KIND_MARK,
                                    NSLICE_KIND_INIT, NSLICE_KIND_EXIT})
            out += fmt::format(kEvent, fmt::arg("name", event_name(kind, is_kernel)),
                               fmt::arg("id", kind), fmt::arg("stream", stream));
    }
    return out;
}
} // namespace nsdump
