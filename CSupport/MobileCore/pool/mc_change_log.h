/// mc_change_log.h: the rows that the writer has changed since its last commit. Internal to the pool.
#ifndef MC_CHANGE_LOG_H
#define MC_CHANGE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Rows of one table.
typedef struct mc_changed_table {
    char *name;
    bool is_watched;            ///< an observer wants it; otherwise no keys are kept
    uint64_t observer_version;  ///< the version of the observers for which `is_watched` is valid
    bool is_changed;            ///< in this transaction
    bool any_key;
    int64_t *keys;  ///< in the order of the changes, with duplicates
    size_t count, capacity;
} mc_changed_table;

typedef struct mc_change_log {
    bool is_on;       ///< SQLite's hooks are set
    bool sees_before;  ///< one of them names rows before their change
    bool is_telling;  ///< observers are being called; a read by one of them on the writer does not notify them again
    bool any_table;
    mc_changed_table *tables;  ///< kept from one transaction to the next
    size_t count, capacity;
    size_t last;               ///< the table of the previous row: consecutive rows often belong to one table
    int64_t named_rows;        ///< rows that SQLite's update hook has named
    int64_t changes_before;    ///< SQLite's count of changed rows when this transaction began, plus those made in pauses
    int pauses;                ///< pauses in each other; more than 0: changes are not noted
    int64_t changes_at_pause;  ///< SQLite's count of changed rows when the outermost pause began
} mc_change_log;

#endif
