/// cw_child.h: runs worlds in a process of their own, so that a crash or a hang is a result like others.
#ifndef CW_CHILD_H
#define CW_CHILD_H

#include "base/cw_feature.h"
#include "base/cw_program.h"

/// The result of one world.
typedef struct cw_result {
    uint64_t seed, met;
    bool has_failed;
    char kind[32], text[1100];
} cw_result;

/// Worlds that are drawn from seeds, one after the other.
typedef struct cw_seeds {
    uint64_t first;
    int64_t count;
    int steps;
    cw_faults avoided;
} cw_seeds;

/// Runs worlds in a child process until one fails. `take` gets each result in its order. Returns the number of worlds.
int64_t cw_run_seeds(const cw_seeds *seeds, void (*take)(void *context, const cw_result *result), void *context);

/// Runs one program in a child process.
void cw_try(const cw_program *program, cw_result *result);

/// Leaves out lines and settings as long as the program fails in the same way, at most `attempts` times.
/// `kept` gets the list of the lines that are left before settings were left out.
void cw_shrink(cw_program *program, const cw_result *failure, int attempts, cw_text *kept);

#endif
