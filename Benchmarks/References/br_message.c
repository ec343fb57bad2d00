#include "br_message.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

struct br_message {
    char *text;
    size_t length;
    json_t *tree;
};

br_message *br_message_open(const br_data_set *data)
{
    static const char head[] =
        "{\"header\":{\"id\":\"0190f3c2-4711\",\"method\":\"importRows\",\"pkg\":\"crm:1.0\",\"cid\":\"98596b986ac1\",\"ppm\":12},"
        "\"content\":{\"object\":\"Item\",\"rows\":";
    size_t rows_length;
    const char *rows = br_data_set_json(data, &rows_length);
    br_message *message = calloc(1, sizeof *message);
    if (message == NULL)
        return NULL;
    message->length = sizeof head - 1 + rows_length + 2;
    message->text = malloc(message->length);
    if (message->text != NULL) {
        memcpy(message->text, head, sizeof head - 1);
        memcpy(message->text + sizeof head - 1, rows, rows_length);
        memcpy(message->text + sizeof head - 1 + rows_length, "}}", 2);
        message->tree = json_loadb(message->text, message->length, 0, NULL);
    }
    if (message->tree != NULL)
        return message;
    br_message_close(message);
    return NULL;
}

void br_message_close(br_message *message)
{
    if (message == NULL)
        return;
    json_decref(message->tree);
    free(message->text);
    free(message);
}

const char *br_message_text(const br_message *message, size_t *length)
{
    *length = message->length;
    return message->text;
}

static uint64_t look_at(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_INTEGER: return (uint64_t)json_integer_value(value);
    case JSON_REAL: {
        const double number = json_real_value(value);
        uint64_t bits;
        memcpy(&bits, &number, sizeof bits);
        return bits;
    }
    case JSON_STRING: return json_string_length(value) + (unsigned char)json_string_value(value)[0];
    case JSON_TRUE: return 1;
    default: return 0;
    }
}

bool br_message_parse(const char *text, size_t length, int64_t *rows, uint64_t *sum)
{
    static const char *const members[] = {"id", "method", "pkg", "cid", "ppm"};
    json_t *tree = json_loadb(text, length, 0, NULL);
    *rows = 0;
    *sum = 0;
    if (tree == NULL)
        return false;
    const json_t *header = json_object_get(tree, "header");
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        *sum += look_at(json_object_get(header, members[i]));
    const json_t *content = json_object_get(json_object_get(tree, "content"), "rows");
    const size_t count = json_array_size(content);
    for (size_t row = 0; row < count; row++) {
        const json_t *values = json_array_get(content, row);
        const size_t columns = json_array_size(values);
        for (size_t column = 0; column < columns; column++)
            *sum += look_at(json_array_get(values, column));
        ++*rows;
    }
    json_decref(tree);
    return true;
}

size_t br_message_write(const br_message *message)
{
    char *text = json_dumps(message->tree, JSON_COMPACT);
    const size_t length = text != NULL ? strlen(text) : 0;
    free(text);
    return length;
}
