/// mc_change_log.h: the rows that the writer has changed since its last commit. Internal to the pool.
#ifndef MC_CHANGE_LOG_H
#define MC_CHANGE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Rows of one table.
typedef struct mc_changed_table {
    char *name;
    bool is_watched;            ///< some observer wants it; otherwise no keys are kept
    uint64_t observer_version;  ///< of the observers that `is_watched` was found with
    bool is_changed;            ///< in this transaction
    bool any_key;
    int64_t *keys;  ///< in the order of the changes, some more than once
    size_t count, capacity;
} mc_changed_table;

typedef struct mc_change_log {
    bool is_on;       ///< SQLite's hooks are set
    bool is_telling;  ///< an observer that reads on the writer is between two transactions as well, and is not told again
    bool any_table;
    mc_changed_table *tables;  ///< kept from one transaction to the next
    size_t count, capacity;
    size_t last;             ///< the table of the row before: changes come in runs
    int64_t named_rows;      ///< rows that SQLite has named
    int64_t changes_before;  ///< SQLite's count of changed rows when this transaction began
} mc_change_log;

#endif
