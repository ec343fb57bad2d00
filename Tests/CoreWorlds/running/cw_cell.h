/// cw_cell.h: a naive reader of the rows in a program: arrays of JSON scalars, and the values that SQLite gets from
/// them.
///
/// It shares no code with the core's scanner, and follows the rules of mc_rows.h as they are written there.
#ifndef CW_CELL_H
#define CW_CELL_H

#include <sqlite3.h>

#include "base/cw_text.h"

typedef enum cw_token_kind { CW_TOKEN_NULL, CW_TOKEN_BOOLEAN, CW_TOKEN_NUMBER, CW_TOKEN_STRING } cw_token_kind;

typedef struct cw_token {
    cw_token_kind kind;
    const char *raw;  ///< in the row's text
    size_t raw_length;
    char *bytes;  ///< of a string, with its escapes resolved
    size_t length;
} cw_token;

typedef struct cw_row {
    cw_token *tokens;
    size_t count;
} cw_row;

/// Reads `[1,"x",null]`. The text must outlive the row. False if it is not such an array; free the row in any case.
bool cw_row_parse(const char *text, cw_row *row);
void cw_row_free(cw_row *row);

/// A value as SQLite gets it.
typedef struct cw_cell {
    int type;  ///< SQLITE_INTEGER and so on; 0: NULL
    int64_t integer;
    double real;
    char *bytes;
    size_t length;
} cw_cell;

/// Makes the value for a column of this type: "any", "integer", "real", "boolean", "text", "blob", "largetext",
/// "largeblob". False if the column does not accept it.
bool cw_cell_make(const cw_token *token, const char *type, cw_cell *cell);
int cw_cell_bind(sqlite3_stmt *statement, int index, const cw_cell *cell);
void cw_cell_free(cw_cell *cell);

#endif
