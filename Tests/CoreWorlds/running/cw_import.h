/// cw_import.h: an import as the lines of a program describe it.
#ifndef CW_IMPORT_H
#define CW_IMPORT_H

#include "running/cw_run.h"

enum { CW_MEMBERS_MOST = 6, CW_COLUMNS_MOST = 12, CW_KEYS_MOST = 4, CW_ASSIGNED_MOST = 3 };

/// A column and the integer that it gets in all rows.
typedef struct cw_assigned {
    char column[CW_NAME];
    int64_t value;
} cw_assigned;

/// A member of the input: a table and a mode.
typedef struct cw_member {
    char name[CW_NAME], table[CW_NAME], mode[CW_NAME], pending[CW_NAME];
    char columns[CW_COLUMNS_MOST][CW_NAME], types[CW_COLUMNS_MOST][CW_NAME];
    size_t column_count;
    char keys[CW_KEYS_MOST][CW_NAME];
    size_t key_columns[CW_KEYS_MOST], key_count;
    char large[CW_KEYS_MOST][CW_NAME];  ///< for deletions: the columns with ids of large values
    size_t large_count;
    cw_assigned on_insert[CW_ASSIGNED_MOST], assigned[CW_ASSIGNED_MOST];
    size_t on_insert_count, assigned_count;
} cw_member;

/// A row of the input.
typedef struct cw_input_row {
    char *text;  ///< `[1,"x"]`
    size_t member;
    int64_t number;  ///< among those of its member in its text, from 1
    int input_text;  ///< from 0
} cw_input_row;

typedef struct cw_input {
    const char *line;
    cw_member members[CW_MEMBERS_MOST];
    size_t member_count;
    cw_input_row *rows;
    size_t row_count, row_capacity;
    int text_count;
    bool is_cancelled;
} cw_input;

/// Reads the import at a line. False for a program that is not valid; `cw_input_free` in any case.
bool cw_input_read(cw_run *run, size_t line, cw_input *input);
void cw_input_free(cw_input *input);

/// The outcome of an import.
typedef struct cw_outcome {
    mc_status status;  ///< the reference has MC_OK, MC_ERROR_TYPE, MC_ERROR_CONSTRAINT or MC_ERROR_SQLITE
    int code;          ///< SQLite's extended one; 0
    int64_t row;       ///< that was refused, 0 for none
    int64_t rows, inserted, updated, diverted, deleted, committed;
    uint8_t *changes;  ///< an `mc_import_change` for each row of the input, in its order
    size_t change_count, change_capacity;
    char message[MC_ERROR_MESSAGE_SIZE];
} cw_outcome;

void cw_outcome_note(cw_outcome *outcome, uint8_t change);

/// Imports with prepared statements, row by row, as far as `row_limit`.
void cw_reference_import(cw_run *run, const cw_input *input, size_t row_limit, cw_outcome *outcome);

#endif
