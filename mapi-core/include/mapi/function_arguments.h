/* SPDX-License-Identifier: MIT */
/* Arguments of functions: the kinds that a table lists, and the values that create() gets. */
#ifndef MAPI_FUNCTION_ARGUMENTS_H
#define MAPI_FUNCTION_ARGUMENTS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Maximum number of arguments of a function. */
#define MAPI_ARGUMENTS_MAX 15

/*
 * What a function takes, and which members of struct mapi_argument hold it.  The values are the
 * letters by which mapi_get_libfunct_info() describes arguments; the letters of argument_types.h,
 * for the C types that a caller passes, are others.
 */
enum mapi_argument_kind {
    MAPI_ARGUMENT_STRING = 's',           /* text */
    MAPI_ARGUMENT_STRING_OR_NUMBER = 'n', /* text; decimal digits if a number was given */
    MAPI_ARGUMENT_INT = 'i',              /* number */
    MAPI_ARGUMENT_INT64 = 'l',            /* number */
    /* number, 0 or 1; checked before functions are looked up and files opened */
    MAPI_ARGUMENT_BOOL = 'b',
    MAPI_ARGUMENT_CHARACTER = 'c', /* number */
    MAPI_ARGUMENT_PATH = 'p',      /* text, as seen from "/" */
    MAPI_ARGUMENT_FLOW = 'r',      /* number */
    /* number, a function of the flow of the argument before it; references[0] */
    MAPI_ARGUMENT_FUNCTION = 'f',
    MAPI_ARGUMENT_FLOWS = 'F',     /* "fd,fd": `number` flows */
    MAPI_ARGUMENT_FUNCTIONS = 'S', /* "fid@fd,fid@fd": `number` references */
    /*
     * File to write: text, and number is the file, open with its previous contents; create()
     * empties it once it can no longer fail.
     */
    MAPI_ARGUMENT_FILE = 'w',
    /*
     * Rotation of the file of the preceding MAPI_ARGUMENT_FILE, as
     * "size=BYTES,time=SECONDS,files=COUNT": text, and `number` files, all but the first, which
     * is the other argument's.
     */
    MAPI_ARGUMENT_ROTATION = 'W',
    /* "SHMEM", "host:port", or otherwise a file as above: text; number is the file or -1 */
    MAPI_ARGUMENT_OUTPUT = 'o',
    MAPI_ARGUMENT_USER = 'u', /* number, the caller's user, which is not given by the caller */
};

/*
 * ORed into the kind of an argument that callers may omit; all arguments after it may then be
 * omitted as well.  With MAPI_OPTIONAL_COUNTED, it is always omitted for a caller without a
 * prototype, which cannot pass the number of its arguments.
 */
#define MAPI_OPTIONAL 0x100
#define MAPI_OPTIONAL_COUNTED 0x300
#define MAPI_ARGUMENT_KIND(argument) ((argument)&0xff)

/*
 * Another function's result, which a function takes as an argument.  The engine keeps it up to
 * date: it is valid during process() and values(), on the device's thread.
 */
struct mapi_reference {
    uint64_t before; /* the result's first word before this batch */
    /* what does not belong to the referenced flow: subtract it from `before` and values */
    uint64_t base;
    /* packets of this batch that changed it; none if it is on another device */
    uint64_t mask;
    const uint64_t *values; /* its first word after packet i, for each bit i of mask */
    uint64_t has_before;    /* 0: it has no value yet */
    uint64_t is_count;      /* it only increases with packets; valid from create() on */
    /*
     * The whole result after this batch; NULL: there is none yet.  To have it after each
     * packet, create() requests single packets with setup->take_single_packets().
     */
    const uint64_t *words;
    uint64_t bytes;    /* valid from create() on */
    uint64_t is_array; /* it has no single value, only words; valid from create() on */
};

/*
 * Whether there is a value after packet i of the batch has passed the referenced function, and the
 * value.
 */
static inline int mapi_reference_read(const struct mapi_reference *reference, uint32_t i,
                                      uint64_t *value)
{
    const uint64_t until = reference->mask & (~(uint64_t)0 >> (63 - i));

    *value = (until ? reference->values[63 - __builtin_clzll(until)] : reference->before) -
             reference->base;
    return until || reference->has_before;
}

/* The same before packet i. */
static inline int mapi_reference_read_before(const struct mapi_reference *reference, uint32_t i,
                                             uint64_t *value)
{
    if (i > 0)
        return mapi_reference_read(reference, i - 1, value);
    *value = reference->before - reference->base;
    return reference->has_before != 0;
}

/*
 * The references, words of flows and files live as long as the instance, and the engine closes the
 * files after that; `text` and this struct live only during create().
 */
struct mapi_argument {
    const char *text;
    int64_t number;
    uint16_t kind; /* enum mapi_argument_kind; 0: an optional argument that was omitted */
    /* MAPI_ARGUMENT_FUNCTION: one, MAPI_ARGUMENT_FUNCTIONS: `number` */
    const struct mapi_reference *const *references;
    /* MAPI_ARGUMENT_FLOWS: `number` words that mapi_flow_has_begun() reads */
    const uint64_t *const *flows;
    const int *files; /* MAPI_ARGUMENT_ROTATION: `number` open files */
};

/*
 * Whether the flow is connected and its device has started: the packets of the current batch then
 * belong to it as well, if both are on one device.  The engine updates the word before each burst,
 * so that all functions of a device see the same value; in create() no flow has begun yet.
 */
static inline int mapi_flow_has_begun(const uint64_t *flow)
{
    return __atomic_load_n(flow, __ATOMIC_ACQUIRE) != 0;
}

#ifdef __cplusplus
}
#endif

#endif /* MAPI_FUNCTION_ARGUMENTS_H */
