/* SPDX-License-Identifier: MIT */
/*
 * Argument types: a call of mapi_apply_function() -> the same call with a letter for the C type of
 * each argument.  Included by mapi.h, not by programs.
 *
 * These letters say what the caller passes; those of enum mapi_argument_kind (function_arguments.h)
 * say what the function takes.  Both exist because neither determines the other: an int may be a
 * number, a flow or a function, and a number may be passed as an int or as 64 bits.
 *
 *   s  a string, or a pointer to void
 *   i  an integer of up to 32 bits      u  unsigned int
 *   l  an integer of 64 bits            q  unsigned, of 64 bits
 *   d  a floating-point number          x  any other pointer
 */
#ifndef MAPI_ARGUMENT_TYPES_H
#define MAPI_ARGUMENT_TYPES_H

#include "mapi.h"

#if defined(__cplusplus) && __cplusplus >= 201103L

namespace mapi_detail
{
inline char type_of(const char *)
{
    return 's';
}
inline char type_of(char *)
{
    return 's';
}
inline char type_of(const unsigned char *)
{
    return 's';
}
inline char type_of(unsigned char *)
{
    return 's';
}
inline char type_of(const signed char *)
{
    return 's';
}
inline char type_of(signed char *)
{
    return 's';
}
inline char type_of(const void *)
{
    return 's';
}
inline char type_of(void *)
{
    return 's';
}
inline char type_of(decltype(nullptr))
{
    return 's';
}
template <class Other> inline char type_of(Other *)
{
    return 'x';
}
inline char type_of(int)
{
    return 'i';
}
inline char type_of(unsigned)
{
    return 'u';
}
inline char type_of(long)
{
    return sizeof(long) == 8 ? 'l' : 'i';
}
inline char type_of(unsigned long)
{
    return sizeof(long) == 8 ? 'q' : 'u';
}
inline char type_of(long long)
{
    return 'l';
}
inline char type_of(unsigned long long)
{
    return 'q';
}
inline char type_of(double)
{
    return 'd';
}
inline char type_of(long double)
{
    return 'd';
}

/* By value: an array becomes a pointer, and each argument is evaluated once. */
template <class... Arguments> inline int apply(int fd, const char *function, Arguments... arguments)
{
    const char types[] = {type_of(arguments)..., '\0'};

    return ::mapi_apply_function_typed(types, fd, function, arguments...);
}
} // namespace mapi_detail

#define mapi_apply_function(...) ::mapi_detail::apply(__VA_ARGS__)

#elif !defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L

/*
 * clang warns that ++ in an argument is not evaluated here; that is intended, since the call
 * evaluates it.
 */
#ifdef __clang__
#define MAPI_DETAIL_UNEVALUATED(...)                                     \
    _Pragma("clang diagnostic push")                                     \
        _Pragma("clang diagnostic ignored \"-Wunevaluated-expression\"") \
            __VA_ARGS__ _Pragma("clang diagnostic pop")
#else
#define MAPI_DETAIL_UNEVALUATED(...) __VA_ARGS__
#endif

#define MAPI_DETAIL_LONG(narrow, wide) (sizeof(long) == 8 ? (wide) : (narrow))
#define MAPI_DETAIL_TYPE(x) \
    _Generic((x), char *: 's', const char *: 's', signed char *: 's', const signed char *: 's', unsigned char *: 's', const unsigned char *: 's', \
		void *: 's', const void *: 's', _Bool: 'i', char: 'i', signed char: 'i', unsigned char: 'i', short: 'i', unsigned short: 'i', int: 'i', \
		unsigned: 'u', long: MAPI_DETAIL_LONG('i', 'l'), unsigned long: MAPI_DETAIL_LONG('u', 'q'), long long: 'l', unsigned long long: 'q', \
		float: 'd', double: 'd', long double: 'd', default: 'x'),
#define MAPI_DETAIL_TYPES_0(x)
#define MAPI_DETAIL_TYPES_1(x) MAPI_DETAIL_TYPE(x)
#define MAPI_DETAIL_TYPES_2(x, ...) MAPI_DETAIL_TYPE(x) MAPI_DETAIL_TYPES_1(__VA_ARGS__)
#define MAPI_DETAIL_TYPES_3(x, ...) MAPI_DETAIL_TYPE(x) MAPI_DETAIL_TYPES_2(__VA_ARGS__)
#define MAPI_DETAIL_TYPES_4(x, ...) MAPI_DETAIL_TYPE(x) MAPI_DETAIL_TYPES_3(__VA_ARGS__)
#define MAPI_DETAIL_TYPES_5(x, ...) MAPI_DETAIL_TYPE(x) MAPI_DETAIL_TYPES_4(__VA_ARGS__)
#define MAPI_DETAIL_TYPES_6(x, ...) MAPI_DETAIL_TYPE(x) MAPI_DETAIL_TYPES_5(__VA_ARGS__)
#define MAPI_DETAIL_TYPES_7(x, ...) MAPI_DETAIL_TYPE(x) MAPI_DETAIL_TYPES_6(__VA_ARGS__)
#define MAPI_DETAIL_TYPES_8(x, ...) MAPI_DETAIL_TYPE(x) MAPI_DETAIL_TYPES_7(__VA_ARGS__)
#define MAPI_DETAIL_TYPES_9(x, ...) MAPI_DETAIL_TYPE(x) MAPI_DETAIL_TYPES_8(__VA_ARGS__)
#define MAPI_DETAIL_TYPES_10(x, ...) MAPI_DETAIL_TYPE(x) MAPI_DETAIL_TYPES_9(__VA_ARGS__)
#define MAPI_DETAIL_TYPES_11(x, ...) MAPI_DETAIL_TYPE(x) MAPI_DETAIL_TYPES_10(__VA_ARGS__)
#define MAPI_DETAIL_TYPES_12(x, ...) MAPI_DETAIL_TYPE(x) MAPI_DETAIL_TYPES_11(__VA_ARGS__)
#define MAPI_DETAIL_TYPES_13(x, ...) MAPI_DETAIL_TYPE(x) MAPI_DETAIL_TYPES_12(__VA_ARGS__)
/* For the arguments after the flow and the function's name. */
#define MAPI_DETAIL_BEHIND_2(fd, name) MAPI_DETAIL_TYPES_0()
#define MAPI_DETAIL_BEHIND_3(fd, name, ...) MAPI_DETAIL_TYPES_1(__VA_ARGS__)
#define MAPI_DETAIL_BEHIND_4(fd, name, ...) MAPI_DETAIL_TYPES_2(__VA_ARGS__)
#define MAPI_DETAIL_BEHIND_5(fd, name, ...) MAPI_DETAIL_TYPES_3(__VA_ARGS__)
#define MAPI_DETAIL_BEHIND_6(fd, name, ...) MAPI_DETAIL_TYPES_4(__VA_ARGS__)
#define MAPI_DETAIL_BEHIND_7(fd, name, ...) MAPI_DETAIL_TYPES_5(__VA_ARGS__)
#define MAPI_DETAIL_BEHIND_8(fd, name, ...) MAPI_DETAIL_TYPES_6(__VA_ARGS__)
#define MAPI_DETAIL_BEHIND_9(fd, name, ...) MAPI_DETAIL_TYPES_7(__VA_ARGS__)
#define MAPI_DETAIL_BEHIND_10(fd, name, ...) MAPI_DETAIL_TYPES_8(__VA_ARGS__)
#define MAPI_DETAIL_BEHIND_11(fd, name, ...) MAPI_DETAIL_TYPES_9(__VA_ARGS__)
#define MAPI_DETAIL_BEHIND_12(fd, name, ...) MAPI_DETAIL_TYPES_10(__VA_ARGS__)
#define MAPI_DETAIL_BEHIND_13(fd, name, ...) MAPI_DETAIL_TYPES_11(__VA_ARGS__)
#define MAPI_DETAIL_BEHIND_14(fd, name, ...) MAPI_DETAIL_TYPES_12(__VA_ARGS__)
#define MAPI_DETAIL_BEHIND_15(fd, name, ...) MAPI_DETAIL_TYPES_13(__VA_ARGS__)

#define MAPI_DETAIL_JOIN(a, b) MAPI_DETAIL_JOIN_EXPANDED(a, b)
#define MAPI_DETAIL_JOIN_EXPANDED(a, b) a##b
#define MAPI_DETAIL_ALL_TYPES(...) \
    MAPI_DETAIL_JOIN(MAPI_DETAIL_BEHIND_, MAPI_DETAIL_COUNT(__VA_ARGS__))(__VA_ARGS__)

#define mapi_apply_function(...)                                                       \
    mapi_apply_function_typed(                                                         \
        (const char[]){MAPI_DETAIL_UNEVALUATED(MAPI_DETAIL_ALL_TYPES(__VA_ARGS__)) 0}, \
        __VA_ARGS__)

#else /* older languages cannot determine types: arguments are only counted */

#define mapi_apply_function(...) \
    mapi_apply_function_counted(MAPI_DETAIL_COUNT(__VA_ARGS__) - 2, __VA_ARGS__)

#endif

#endif /* MAPI_ARGUMENT_TYPES_H */
