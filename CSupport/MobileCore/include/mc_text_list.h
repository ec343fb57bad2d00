/// mc_text_list.h: texts of the program's memory, each with a number, as the rows of a table.
///
/// One statement reads or writes many rows this way, without a run for each of them, and without a copy of the texts. Every connection of a
/// pool has the table, as a function whose argument is a list that the program has bound:
///
///     INSERT INTO item (id, name) SELECT number, text FROM mc_text_list(?1)
///     SELECT l.number, i.id FROM mc_text_list(?1) AS l CROSS JOIN item AS i ON i.name = l.text
///
/// The rows come in the order of the list. `rowid` is their place, from 0. Only statements of the program may use it, no view and no trigger.
/// Any other argument than a list is an error of the statement, and so is a place outside of the list's bytes.
#ifndef MC_TEXT_LIST_H
#define MC_TEXT_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "mc_error.h"

#ifdef __cplusplus
extern "C" {
#endif
MC_NONNULL_BEGIN

struct sqlite3_stmt;

/// The place of a text: from byte `start` up to, and without, byte `end`.
typedef struct mc_text_place {
    size_t start, end;
} mc_text_place;

/// A list. All members belong to the caller.
typedef struct mc_text_list {
    size_t count;                             // of the rows
    const char *MC_NULLABLE bytes;            // the texts, in UTF-8; NULL for none
    size_t length;                            // of all bytes
    const mc_text_place *MC_NULLABLE places;  // of each row's text; NULL for a list without rows
    const int64_t *MC_NULLABLE numbers;       // of each row; NULL: they are NULL
} mc_text_list;

/// Sets a parameter of a statement to a list. The list, and all it refers to, must stay as they are until the parameter is set again and the
/// statement is reset. Fails as SQLite does.
MC_MUST_USE mc_status mc_text_list_bind(const mc_text_list *list, struct sqlite3_stmt *statement, int index, mc_error *MC_NULLABLE error);

MC_NONNULL_END
#ifdef __cplusplus
}
#endif
#endif
