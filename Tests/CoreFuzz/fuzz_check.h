/// fuzz_check.h: the common check of the fuzz targets, which is active with any build flags.
#ifndef FUZZ_CHECK_H
#define FUZZ_CHECK_H

#include <stdio.h>
#include <stdlib.h>

/// Stops and reports the place of a broken rule; libFuzzer keeps the input.
#define CHECK(rule)                                                                                                                        \
    do {                                                                                                                                   \
        if (!(rule)) {                                                                                                                     \
            fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #rule);                                                             \
            abort();                                                                                                                       \
        }                                                                                                                                  \
    } while (0)

#endif
