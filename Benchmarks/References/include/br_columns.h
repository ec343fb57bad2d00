/// br_columns.h: data sets of any width in memory: narrow and wide rows in addition to R30.
///
/// A row has integers (the first one is its key), then doubles, then strings of one to six words from a list of 20. Equal seeds
/// yield equal bytes.
#ifndef BR_COLUMNS_H
#define BR_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "br_data_set.h"
#include "br_insert.h"

typedef struct br_columns br_columns;

/// Makes `rows` rows with the keys from 1 on. NULL when memory is short. The caller owns the result.
br_columns *br_columns_make(uint64_t seed, size_t rows, int integers, int reals, int texts);
void br_columns_free(br_columns *data);

/// All rows as one JSON array of arrays. Borrowed.
const char *br_columns_json(const br_columns *data, size_t *length);

/// The check sum that `br_table_checksum` gives for a table with exactly these rows, read in the order of their keys.
uint64_t br_columns_checksum(const br_columns *data);

/// Adds the rows by the statement of `insert`, with one parameter per column. False on any failure, which rolls back.
bool br_insert_columns(br_insert *insert, const br_columns *data);

#endif
