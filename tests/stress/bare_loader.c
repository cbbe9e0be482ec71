/* SPDX-License-Identifier: MIT */
/* Three times: loads the object $1, calls its work function $2 times and unloads it; has no probes
   itself. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    for (int round = 0; round < 3; ++round) {
        void *object = dlopen(argv[1], RTLD_NOW);
        void (*work)(uint64_t);

        if (!object) {
            fprintf(stderr, "%s\n", dlerror());
            return 3;
        }
        *(void **)&work = dlsym(object, "object_work");
        for (long i = 0; work && i < atol(argv[2]); ++i)
            work((uint64_t)i);
        dlclose(object);
    }
    return 0;
}
