/// fuzz_check.h: what the fuzz targets share: a check that stays in with any build flags.
#ifndef FUZZ_CHECK_H
#define FUZZ_CHECK_H

#include <stdio.h>
#include <stdlib.h>

/// Stops with the place where a rule was broken; libFuzzer keeps the input.
#define CHECK(rule)                                                                                                                        \
    do {                                                                                                                                   \
        if (!(rule)) {                                                                                                                     \
            fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #rule);                                                             \
            abort();                                                                                                                       \
        }                                                                                                                                  \
    } while (0)

#endif
