/* SPDX-License-Identifier: MIT */
/* Functions of a known number of instructions, for functions_test.py: the argument is how often. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTION __attribute__((noinline))
#define FOUR(instruction) instruction instruction instruction instruction
#define MULTIPLY "imul %0, %0\n\t"
#define MULTIPLY_32 FOUR(MULTIPLY) FOUR(MULTIPLY) FOUR(FOUR(MULTIPLY)) FOUR(MULTIPLY) FOUR(MULTIPLY)

int library_add(int value);

FUNCTION unsigned long multiply_32(unsigned long value)
{
    __asm__ volatile(MULTIPLY_32 : "+r"(value));
    return value;
}

FUNCTION unsigned long multiply_128(unsigned long value)
{
    __asm__ volatile(FOUR(MULTIPLY_32) : "+r"(value));
    return value;
}

/* Long enough that what its slice hides of the probes does not matter. */
FUNCTION unsigned long multiply_12800(unsigned long value)
{
    for (int i = 0; i < 100; ++i)
        __asm__ volatile(FOUR(MULTIPLY_32) : "+r"(value));
    return value;
}

FUNCTION unsigned long call_eight(unsigned long value)
{
    for (int i = 0; i < 8; ++i)
        value = multiply_32(value) | 1;
    __asm__ volatile("" : "+r"(value));
    return value;
}

FUNCTION void empty(void)
{
    __asm__ volatile("");
}

/* Its last act is a jump where compilers make calls so. */
FUNCTION unsigned long call_last(unsigned long value)
{
    __asm__ volatile("" : "+r"(value));
    return multiply_32(value);
}

FUNCTION int recurse(int depth)
{
    __asm__ volatile("" : "+r"(depth));
    if (depth == 0)
        return 0;
    depth = recurse(depth - 1) + 1;
    __asm__ volatile("" : "+r"(depth));
    return depth;
}

FUNCTION double vary(double a, float b, int c, double d)
{
    __asm__ volatile("");
    return a * 1000 + (double)b * 100 + c * 10 + d;
}

/* Pages that can be written and executed. */
static int count_open_pages(void)
{
    FILE *const maps = fopen("/proc/self/maps", "r");
    char line[1024];
    int count = 0;

    while (maps && fgets(line, sizeof(line), maps))
        count += strstr(line, " rwx") != NULL;
    fclose(maps);
    return count;
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 1;
    unsigned long value = 3;
    double sum = 0;
    int total = 0;

    for (int i = 0; i < rounds; ++i) {
        value = call_eight(value) + multiply_128(value) + call_last(value);
        empty();
        total += library_add(1);
        sum += vary(1, 2, 3, 4);
    }
    for (int i = 0; i < rounds; ++i)
        value += multiply_12800(value);
    printf("recursion %d\nvalues %.0f\nlibrary %d\nopen pages %d\nvalue %lu\n", recurse(200),
           sum / rounds, total, count_open_pages(), value & 1);
    return 0;
}
