#include "br_texts.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

enum { ATTRIBUTES = 10, TEXT_BYTES = 40 };

typedef char text[TEXT_BYTES];

struct br_texts {
    int64_t objects;
    text attributes[ATTRIBUTES];
    text *ids;
    text *values;
};

br_texts *br_texts_create(int64_t objects)
{
    br_texts *const texts = calloc(1, sizeof *texts);
    if (texts == NULL)
        return NULL;
    texts->objects = objects;
    texts->ids = calloc((size_t)objects, sizeof(text));
    texts->values = calloc((size_t)objects * ATTRIBUTES, sizeof(text));
    if (texts->ids == NULL || texts->values == NULL) {
        br_texts_free(texts);
        return NULL;
    }
    for (int attribute = 0; attribute < ATTRIBUTES; attribute++)
        snprintf(texts->attributes[attribute], TEXT_BYTES, "attribute%d", attribute);
    for (int64_t object = 0; object < objects; object++) {
        snprintf(texts->ids[object], TEXT_BYTES, "%08" PRId64, object);
        for (int attribute = 0; attribute < ATTRIBUTES; attribute++)
            snprintf(texts->values[object * ATTRIBUTES + attribute], TEXT_BYTES, "value %" PRId64 " of %d", object * 7919 % objects,
                     attribute);
    }
    return texts;
}

const char *br_texts_object(const br_texts *texts, int64_t object)
{
    return texts->ids[object];
}

const char *br_texts_attribute(const br_texts *texts, int attribute)
{
    return texts->attributes[attribute];
}

const char *br_texts_value(const br_texts *texts, int64_t object, int attribute)
{
    return texts->values[object * ATTRIBUTES + attribute];
}

bool br_texts_insert(const br_texts *texts, br_insert *insert, int64_t source)
{
    sqlite3_stmt *const statement = br_insert_statement(insert);
    sqlite3_bind_int64(statement, 1, source);
    for (int64_t object = 0; object < texts->objects; object++) {
        sqlite3_bind_text(statement, 2, texts->ids[object], -1, SQLITE_STATIC);
        for (int attribute = 0; attribute < ATTRIBUTES; attribute++) {
            sqlite3_bind_text(statement, 3, texts->attributes[attribute], -1, SQLITE_STATIC);
            sqlite3_bind_text(statement, 4, br_texts_value(texts, object, attribute), -1, SQLITE_STATIC);
            if (!br_insert_step(insert))
                return false;
        }
    }
    return true;
}

void br_texts_free(br_texts *texts)
{
    if (texts == NULL)
        return;
    free(texts->ids);
    free(texts->values);
    free(texts);
}
