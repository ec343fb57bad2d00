/// cw_plan.h: what the draw knows of a world while it draws it.
#ifndef CW_PLAN_H
#define CW_PLAN_H

#include "draw/cw_draw.h"

enum { CW_TABLES_MOST = 3, CW_TABLE_COLUMNS_MOST = 7 };

typedef struct cw_plan_column {
    char name[8];
    const char *declared;  ///< its type in SQL
    const char *input;     ///< its type in imports
    bool is_large, is_key, is_reference;  ///< a reference is to the key of the first table
} cw_plan_column;

typedef struct cw_plan_table {
    char name[8], pending[8];  ///< `pending` is "" without protection
    const char *schema;        ///< "main", "aux" or "temp"
    cw_plan_column columns[CW_TABLE_COLUMNS_MOST];
    int column_count, key_count;
    bool has_trigger, replaces_rows, is_strict, is_without_rowid, has_large, has_child, has_rowid_key, has_similar_keys;
    bool has_unique, has_own_key;
} cw_plan_table;

typedef struct cw_plan {
    cw_program *program;
    cw_random random;
    cw_faults avoided;
    uint64_t wanted;
    cw_plan_table tables[CW_TABLES_MOST];
    int table_count;
    int level, next_column, written;
    bool has_other, has_snapshot, has_stored;
    int observers;
} cw_plan;

bool cw_wants(const cw_plan *plan, cw_feature feature);
bool cw_avoids(const cw_plan *plan, cw_fault fault);

/// Draws the tables, with their indexes, triggers, views and first rows.
void cw_draw_tables(cw_plan *plan);
/// Draws steps that others need: an observer, a large value.
void cw_draw_first_steps(cw_plan *plan);
/// Draws one step.
void cw_draw_step(cw_plan *plan);
void cw_draw_import(cw_plan *plan);
void cw_draw_cursor(cw_plan *plan);
void cw_draw_sql(cw_plan *plan);
void cw_draw_large(cw_plan *plan);

/// A table of the world; one in the main database that readers see if `is_main`. NULL if there is none.
const cw_plan_table *cw_draw_table(cw_plan *plan, bool is_main);
/// Appends a value for a column, as JSON or as SQL.
void cw_draw_value(cw_plan *plan, const cw_plan_table *table, const cw_plan_column *column, bool is_sql, cw_text *text);
/// Appends `k=5 AND l='x'`.
void cw_draw_key_condition(cw_plan *plan, const cw_plan_table *table, cw_text *text);

#endif
