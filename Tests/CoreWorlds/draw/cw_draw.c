/// cw_draw.c: draws a world: its features, its tables, its steps.
#include "draw/cw_draw.h"

#include <stdio.h>
#include <string.h>

#include "draw/cw_plan.h"

int cw_pair_count(void)
{
    return CW_FEATURES * (CW_FEATURES - 1) / 2;
}

void cw_pair(int number, cw_feature *first, cw_feature *second)
{
    int one = 0;
    for (; number >= CW_FEATURES - 1 - one; one++)
        number -= CW_FEATURES - 1 - one;
    *first = (cw_feature)one;
    *second = (cw_feature)(one + 1 + number);
}

bool cw_wants(const cw_plan *plan, cw_feature feature)
{
    return (plan->wanted >> feature & 1) != 0;
}

bool cw_avoids(const cw_plan *plan, cw_fault fault)
{
    return (plan->avoided >> fault & 1) != 0;
}

static void want(cw_plan *plan, cw_feature feature)
{
    static const cw_feature needs[CW_FEATURES] = {
        [CW_CURSOR_JOIN] = CW_CURSOR,        [CW_CURSOR_VIEW] = CW_CURSOR,    [CW_CURSOR_UNION] = CW_CURSOR,
        [CW_CURSOR_MIXED_ORDER] = CW_CURSOR, [CW_CURSOR_CHANGES] = CW_CURSOR, [CW_ROLLED_BACK_WRITER] = CW_LARGE_VALUE,
        [CW_ROLLBACK] = CW_TRANSACTION,      [CW_SAVEPOINT] = CW_TRANSACTION, [CW_SECOND_POOL] = CW_LARGE_VALUE,
    };
    plan->wanted |= UINT64_C(1) << feature;
    if (needs[feature] != 0)
        plan->wanted |= UINT64_C(1) << needs[feature];
}

/// Makes the faults that are included likely: half of the worlds have the features that lead to them.
static void want_faults(cw_plan *plan)
{
    static const cw_feature lead[CW_FAULTS + 1][3] = {
        [CW_FAULTS] = {CW_ROWID_KEY},
    };
    for (int fault = 0; fault < CW_FAULTS; fault++) {
        // Without a line of its own a fault leads to nothing in particular: the number 0 is a key, which every world
        // has.
        for (int index = 0; index < 3 && !cw_avoids(plan, (cw_fault)fault) && lead[fault][0] != CW_ROWID_KEY; index++)
            want(plan, lead[fault][index]);
    }
}

/// Chooses the features: two by the seed, so that each pair has its worlds, and some of the others.
static void choose_features(cw_plan *plan, uint64_t seed)
{
    cw_feature first, second;
    for (int feature = 0; feature < CW_FEATURES; feature++) {
        const bool is_rare = feature == CW_BIG_IMPORT || feature == CW_FILE_FAILURE || feature == CW_POWER_CUT;
        if (cw_chance(&plan->random, is_rare ? 10 : 24))
            want(plan, (cw_feature)feature);
    }
    cw_pair((int)(seed % (uint64_t)cw_pair_count()), &first, &second);
    want(plan, first);
    want(plan, second);
    if (plan->avoided != (1u << CW_FAULTS) - 1 && cw_chance(&plan->random, 50))
        want_faults(plan);
    // The record of a power cut and a storage that fails exclude each other.
    if (cw_wants(plan, CW_POWER_CUT))
        plan->wanted &= ~(UINT64_C(1) << CW_FILE_FAILURE);
    // A database in memory has no file that could fail, or that another connection could have prepared.
    if (cw_wants(plan, CW_POWER_CUT) || cw_wants(plan, CW_FILE_FAILURE) || cw_wants(plan, CW_UTF16) || cw_wants(plan, CW_SECOND_POOL))
        plan->wanted &= ~(UINT64_C(1) << CW_IN_MEMORY);
}

static void draw_options(cw_plan *plan)
{
    static const int pages[] = {1024, 4096, 4096, 65536};
    if (cw_wants(plan, CW_UTF16))
        cw_program_add(plan->program, "option encoding=%s", cw_chance(&plan->random, 50) ? "UTF-16le" : "UTF-16be");
    if (cw_wants(plan, CW_FOREIGN_KEY))
        cw_program_add(plan->program, "option foreign_keys=1");
    if (cw_chance(&plan->random, 30))
        cw_program_add(plan->program, "option page=%d", pages[cw_below(&plan->random, 4)]);
    if (cw_chance(&plan->random, 20))
        cw_program_add(plan->program, "option cache=%d", cw_below(&plan->random, 3));
    if (cw_chance(&plan->random, 20))
        cw_program_add(plan->program, "option coalesces=0");
    if (cw_chance(&plan->random, 30))
        cw_program_add(plan->program, "option checkpoint=%d", 1 + cw_below(&plan->random, 30));
    if (cw_wants(plan, CW_IN_MEMORY))
        cw_program_add(plan->program, "option memory=1");
    if (cw_wants(plan, CW_POWER_CUT))
        cw_program_add(plan->program, "option storage=record");
    else if (cw_wants(plan, CW_FILE_FAILURE))
        cw_program_add(plan->program, "option storage=fail");
}

const cw_plan_table *cw_draw_table(cw_plan *plan, bool is_main)
{
    const int first = cw_below(&plan->random, plan->table_count);
    for (int number = 0; number < plan->table_count; number++) {
        const cw_plan_table *const table = &plan->tables[(first + number) % plan->table_count];
        if (!is_main || strcmp(table->schema, "main") == 0)
            return table;
    }
    return NULL;
}

void cw_draw(cw_program *program, uint64_t seed, int steps, cw_faults avoided)
{
    cw_plan plan = {.program = program, .random = {.state = seed * UINT64_C(0xD1342543DE82EF95) + 1}, .avoided = avoided};
    program->seed = seed;
    choose_features(&plan, seed);
    draw_options(&plan);
    cw_draw_tables(&plan);
    cw_draw_first_steps(&plan);
    for (int step = 0; step < steps; step++)
        cw_draw_step(&plan);
    if (plan.level > 0)
        cw_program_add(program, "commit");
}
