/* SPDX-License-Identifier: MIT */
/* json: counts -> JSON (RFC 8259). */
#include "json.h"

#include <stdio.h>

/* Length of a well-formed UTF-8 sequence, or 0. */
static int utf8_bytes(const unsigned char *at)
{
    const int more = *at < 0x80                  ? 0
                     : *at >= 0xc2 && *at < 0xe0 ? 1
                     : (*at & 0xf0) == 0xe0      ? 2
                     : *at >= 0xf0 && *at < 0xf5 ? 3
                                                 : -1;
    int i;

    for (i = 1; i <= more; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    /* Not overlong, not a UTF-16 surrogate, not beyond Unicode. */
    if ((*at == 0xe0 && at[1] < 0xa0) || (*at == 0xed && at[1] > 0x9f) ||
        (*at == 0xf0 && at[1] < 0x90) || (*at == 0xf4 && at[1] > 0x8f))
        return 0;
    return more + 1;
}

static void print_string(FILE *out, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;

    putc('"', out);
    while (*at) {
        const int bytes = utf8_bytes(at);
        if (bytes == 0)
            fputs("\\ufffd", out);
        else if (*at < 0x20 || *at == 0x7f)
            fprintf(out, "\\u%04x", *at);
        else if (*at == '"' || *at == '\\')
            fprintf(out, "\\%c", *at);
        else
            fwrite(at, 1, (size_t)bytes, out);
        at += bytes ? bytes : 1;
    }
    putc('"', out);
}

static void print_sources(FILE *out, const struct options *options)
{
    int i;

    if (options->device) {
        fputs("\"device\":", out);
        print_string(out, options->device);
        return;
    }
    fputs("\"captures\":[", out);
    for (i = 0; i < options->captures.count; i++) {
        fputs(i ? "," : "", out);
        print_string(out, options->captures.list[i].path);
    }
    putc(']', out);
}

static void print_statistics(FILE *out, const struct mapi_stat *stats)
{
    fprintf(out,
            "\"statistics\":{\"packets\":%llu,\"bytes\":%llu,\"kernel_drops\":%llu,\"interface_"
            "drops\":%llu,\"bad_records\":%llu,"
            "\"truncated_records\":%llu,\"unread_bytes\":%llu,\"link_type\":%llu,\"message\":",
            (unsigned long long)stats->ps_recv, (unsigned long long)stats->bytes_recv,
            (unsigned long long)stats->drop_kernel, (unsigned long long)stats->ps_ifdrop,
            (unsigned long long)stats->drop_bad_record, (unsigned long long)stats->drop_truncated,
            (unsigned long long)stats->unread_bytes, (unsigned long long)stats->drop_link_type);
    print_string(out, stats->message);
    fputs(",\"remark\":", out);
    print_string(out, stats->remark);
    putc('}', out);
}

void print_json(const struct options *options, const struct filter *filters, int count,
                const struct mapi_stat *stats, int code)
{
    FILE *const out = options->out;
    int i;

    fputs("{\"schema\":\"netslice-mapi-count-1\",", out);
    print_sources(out, options);
    fputs(",\"counts\":[", out);
    for (i = 0; i < count; i++) {
        fprintf(out, "%s{\"expression\":", i ? "," : "");
        print_string(out, filters[i].expression);
        fprintf(out, ",\"packets\":%llu,\"bytes\":%llu,\"seconds\":%.6f}", filters[i].found_packets,
                filters[i].found_bytes, filters[i].seconds);
    }
    fputs("],", out);
    print_statistics(out, stats);
    fprintf(out, ",\"is_complete\":%s}\n", code == EXIT_COUNTED ? "true" : "false");
}
