/* SPDX-License-Identifier: MIT */
/* NETSLICE_FUNCTIONS -> functions of the program patched, with a slice each, before main(). */
#define _GNU_SOURCE
#include <errno.h>
#include <regex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <nsprobe/detail/functions.h>
#include <nsprobe/session.h>

#include "find.h"
#include "inside.h"
#include "patch.h"

#define VARIABLE "NETSLICE_FUNCTIONS"
#define EXIT_REFUSED 126
#define ARCH_SHSTK_STATUS 0x5005
#define ARCH_SHSTK_SHSTK 1u

static void __attribute__((noreturn, format(printf, 1, 2))) refuse(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    fprintf(stderr, "netslice: " VARIABLE ": ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    nsp_session_close(NULL); /* so that its file is whole; of a recorder's session it fails */
    _exit(EXIT_REFUSED);
}

static int has_shadow_stack(void)
{
    uint64_t features = 0;

    return syscall(SYS_arch_prctl, ARCH_SHSTK_STATUS, &features) == 0 &&
           features & ARCH_SHSTK_SHSTK;
}

/* Programs that this one starts are not to be patched: they need not have such functions. */
static void hide_from_children(void)
{
    const char *const preloaded = getenv("LD_PRELOAD");
    char *const rest = preloaded ? strdup(preloaded) : NULL;
    char *at = rest ? strstr(rest, "libnsprobe-functions.so") : NULL, *end;

    unsetenv(VARIABLE);
    if (!at) {
        free(rest);
        return;
    }
    end = at + strcspn(at, ": ");
    while (at > rest && at[-1] != ':' && at[-1] != ' ')
        --at;
    memmove(at, end + (*end != 0), strlen(end + (*end != 0)) + 1);
    if (*rest)
        setenv("LD_PRELOAD", rest, 1);
    else
        unsetenv("LD_PRELOAD");
    free(rest);
}

static void refuse_no_match(const struct nsf_found *found, const char *expression)
{
    const size_t sleds = found->seen[1], entries = found->seen[0];

    if (sleds + entries == 0)
        refuse("%s and its libraries have no functions with patchable entries or XRay sleds: build "
               "with -fpatchable-function-entry=5, or with clang's -fxray-instrument "
               "-fxray-instruction-threshold=1",
               program_invocation_name);
    if (found->in_state[NSF_TOO_SHORT] > 0)
        refuse("the entries of the %zu functions that match \"%s\" are too short for a call: build "
               "with -fpatchable-function-entry=5",
               found->in_state[NSF_TOO_SHORT], expression);
    if (found->in_state[NSF_CHANGED] > 0)
        refuse("the functions that match \"%s\" have been patched by something else (the XRay "
               "runtime?)",
               expression);
    if (!found->example[0][0])
        refuse("the functions with patchable entries or XRay sleds (%zu) have no names: %s or its "
               "libraries are stripped",
               sleds + entries, program_invocation_name);
    refuse("\"%s\" matches none of the %zu functions with patchable entries or XRay sleds, such as "
           "%s%s%s%s%s",
           expression, sleds + entries, found->example[0], found->example[1][0] ? ", " : "",
           found->example[1], found->example[2][0] ? ", " : "", found->example[2]);
}

static void search(const char *expression, struct nsf_found *found)
{
    char words[256];
    regex_t compiled;
    const int err = regcomp(&compiled, expression, REG_EXTENDED | REG_NOSUB);

    if (err) {
        regerror(err, &compiled, words, sizeof(words));
        refuse("\"%s\" is not a regular expression: %s", expression, words);
    }
    nsf_find(&compiled, found);
    regfree(&compiled);
    if (found->is_out_of_memory)
        refuse("out of memory");
    if (found->is_too_many)
        refuse("\"%s\" matches more than %d functions", expression, NSF_MAX_FUNCTIONS);
    if (found->place_count == 0)
        refuse_no_match(found, expression);
}

/* A runtime that patches at its start, after this, would replace what is written here. */
static void refuse_runtime(void)
{
    const char *const options = getenv("XRAY_OPTIONS");
    const char *const option = options ? strstr(options, "patch_premain=") : NULL;

    if (option && strchr("1ty", option[sizeof("patch_premain=") - 1]))
        refuse("XRAY_OPTIONS lets the XRay runtime patch the same functions (patch_premain): unset "
               "it");
}

static void make_slices(const struct nsf_found *found)
{
    nsf_slices = calloc(found->function_count + 1, sizeof(struct nsp_slice *));
    for (size_t i = 0; nsf_slices && i < found->function_count; ++i) {
        const struct nsf_function *const function = &found->functions[i];

        if (function->state != NSF_BY_SLED && function->state != NSF_BY_ENTRY)
            continue;
        nsf_slices[i] = nsp_detail_function_slice(
            function->name, function->object,
            function->state == NSF_BY_SLED ? NSLICE_WAY_SLED : NSLICE_WAY_ENTRY);
        if (!nsf_slices[i])
            refuse("out of memory");
    }
    if (!nsf_slices)
        refuse("out of memory");
}

/* Expressions may have any bytes: a newline would begin another key. */
static void escape(char *text, size_t room, const char *expression)
{
    size_t length = 0;

    for (const char *at = expression; *at && length + sizeof("\\x00") <= room; ++at)
        length += (size_t)((unsigned char)*at < ' ' || *at == 0x7f
                               ? snprintf(text + length, room - length, "\\x%02x", *at)
                               : snprintf(text + length, room - length, "%c", *at));
    text[length] = 0;
}

static void tell_facts(const struct nsf_found *found, const char *expression)
{
    char text[2048], escaped[1536];

    escape(escaped, sizeof(escaped), expression);
    snprintf(text, sizeof(text),
             "functions.by=sleds\nfunctions.by_sled=%zu\nfunctions.by_entry=%zu\n"
             "functions.too_short=%zu\nfunctions.changed=%zu\nfunctions.expression=%s\n",
             found->in_state[NSF_BY_SLED], found->in_state[NSF_BY_ENTRY],
             found->in_state[NSF_TOO_SHORT], found->in_state[NSF_CHANGED], escaped);
    nsp_detail_function_facts(text);
}

static void __attribute__((constructor)) patch_program(void)
{
    const char *const variable = secure_getenv(VARIABLE);
    char *expression;
    struct nsf_found found;
    const char *error;

    if (!variable || !*variable)
        return;
    expression = strdup(variable);
    if (!expression)
        refuse("out of memory");
    refuse_runtime();
    search(expression, &found);
    if (found.in_state[NSF_BY_ENTRY] > 0 && has_shadow_stack())
        refuse("the process has a shadow stack (CET), so return addresses cannot be replaced: use "
               "XRay sleds, or switch it off (GLIBC_TUNABLES=glibc.cpu.hwcaps=-SHSTK)");
    hide_from_children();
    nsf_threads_begin();
    make_slices(&found);
    nsp_detail_code_begin();
    error = nsf_patch(&found);
    nsp_detail_code_end();
    if (error)
        refuse("%s", error);
    tell_facts(&found, expression);
    free(expression);
}
