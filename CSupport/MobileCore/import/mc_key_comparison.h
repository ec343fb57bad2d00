/// mc_key_comparison.h: how SQLite converts and compares the keys of a table. Internal.
///
/// A key of the input meets a row of the target if SQLite, after the conversion by the column's type and by the collation of the unique
/// index, has equal values: "007" meets 7 in a column of integers, and 9007199254740993 meets 9007199254740992.0 in a column of reals.
/// The table of original states must be searched in the same way, not by a comparison of its own.
#ifndef MC_KEY_COMPARISON_H
#define MC_KEY_COMPARISON_H

#include <stdbool.h>

#include "base/mc_fail.h"
#include "mc_import.h"

/// The keys of a column that are equal in SQL.
typedef enum mc_keys {
    MC_KEYS_OTHER,       ///< only SQLite knows
    MC_KEYS_TEXTS,       ///< texts of the same bytes; numbers become texts
    MC_KEYS_NUMBERS,     ///< equal numbers; texts become numbers
    MC_KEYS_REALS,       ///< equal numbers after their conversion to reals; texts become numbers
    MC_KEYS_AS_THEY_ARE  ///< equal numbers, and texts of the same bytes; no conversion
} mc_keys;

/// One key column of the target and of its table of original states. Zeroed memory is the comparison that only SQLite knows.
typedef struct mc_key_comparison {
    mc_keys kind;
    bool makes_reals;     ///< the target stores integers as reals
    bool has_wide_reals;  ///< of the pending keys, one is a real from 2^53 on
    char *collation;      ///< of the target's key; NULL: that of the column in the table of original states
} mc_key_comparison;

/// Describes the key columns of a table with protection. The caller frees the collations, also after a failure. Fails with
/// MC_ERROR_NO_MEMORY, and as SQLite does.
mc_status mc_import_compare_keys(sqlite3 *db, const mc_import_table *table, const size_t *key_columns, size_t key_count,
                                 mc_key_comparison *comparisons, mc_error *error);

/// The name of a key column in the table of original states.
const char *mc_import_pending_key(const mc_import_table *table, const size_t *key_columns, size_t key);

/// Appends the condition of the row, of the target or of the table of original states, that has the key in the parameters; `name` is the
/// name of the table in the statement. Parameter n is column n of the row.
void mc_import_append_key(sqlite3_str *sql, const char *name, const mc_import_table *table, const size_t *key_columns, size_t key_count,
                          const mc_key_comparison *comparisons, bool is_pending);

/// Whether a column converts a text that looks like a number. False if the column does not exist.
bool mc_import_makes_numbers(sqlite3 *db, const char *table, const char *column);

#endif
