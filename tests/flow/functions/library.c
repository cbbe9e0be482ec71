/* SPDX-License-Identifier: MIT */
/* A shared object with a function, for functions_test.py. */
int library_add(int value);

__attribute__((noinline)) int library_add(int value)
{
    __asm__ volatile("" : "+r"(value));
    return value;
}
