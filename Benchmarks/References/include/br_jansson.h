/// br_jansson.h: R30 by jansson: the code of a C programmer who parses a message with the usual library.
#ifndef BR_JANSSON_H
#define BR_JANSSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "br_insert.h"

/// A parsed document.
typedef struct br_jansson br_jansson;

/// Parses the JSON. NULL when it is invalid or memory is short. The caller owns the result.
br_jansson *br_jansson_load(const char *json, size_t length);
void br_jansson_free(br_jansson *document);

/// The number of rows, and the check sum of their values as in `br_data_set_checksum`.
size_t br_jansson_checksum(const br_jansson *document, uint64_t *sum);

/// Parses R30 and adds its rows by the statement of `insert`. False on any failure.
bool br_insert_jansson(br_insert *insert, const char *json, size_t length);

#endif
