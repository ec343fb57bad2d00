/// br_texts.h: the reference of property bags: rows of object, attribute and value, written by a prepared statement.
///
/// The texts are made beforehand: the measured work is bind, step and reset alone.
#ifndef BR_TEXTS_H
#define BR_TEXTS_H

#include <stdbool.h>
#include <stdint.h>

#include "br_insert.h"

typedef struct br_texts br_texts;

/// Makes the texts of objects with ten attributes each. NULL without memory.
br_texts *br_texts_create(int64_t objects);

/// The texts, NUL-terminated: the id of an object, the name of an attribute from 0 to 9, a value.
const char *br_texts_object(const br_texts *texts, int64_t object);
const char *br_texts_attribute(const br_texts *texts, int attribute);
const char *br_texts_value(const br_texts *texts, int64_t object, int attribute);

/// Writes the rows of all objects: `?1` is the source, `?2` the object, `?3` the attribute, `?4` the value. False on any failure.
bool br_texts_insert(const br_texts *texts, br_insert *insert, int64_t source);

void br_texts_free(br_texts *texts);

#endif
