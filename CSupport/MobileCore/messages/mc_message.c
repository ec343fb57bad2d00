#include "mc_message.h"

#include <stdlib.h>
#include <string.h>

#include "base/mc_memory.h"
#include "base/mc_options.h"
#include "json/mc_json_bytes.h"
#include "json/mc_json_scan.h"

enum { DEPTH_DEFAULT = 64 };

/// Closing a container needs its parent, so while a container is open its `end` holds the parent's number.
static const uint32_t NO_NODE = UINT32_MAX;

struct mc_message {
    mc_json_node *nodes;
    uint8_t *unfolded;  // strings that had escapes, one after the other; never longer than the message itself
    size_t unfolded_length;
    uint32_t count;
    uint32_t capacity;
};

typedef struct reader {
    mc_message *message;
    const uint8_t *start, *end;
    uint32_t open;  // the innermost open container
    unsigned depth, depth_maximum;
    bool keeps_duplicates;
    uint32_t first_capacity;  // of the nodes
    mc_error *error;
} reader;

static mc_status fail_stop(const reader *reader, const mc_json_stop *stop)
{
    const int64_t offset = stop->at - reader->start;
    char found[16];
    if (stop->expected == NULL)
        return mc_fail_at(reader->error, MC_ERROR_TRUNCATED, offset, 0, "JSON message, byte %lld: the text ends in the middle",
                          (long long)offset);
    return mc_fail_at(reader->error, MC_ERROR_JSON, offset, 0, "JSON message, byte %lld: expected %s, found %s", (long long)offset,
                      stop->expected, mc_json_describe(stop->at, reader->end, found, sizeof found));
}

static mc_status fail_memory(const reader *reader)
{
    return mc_fail(reader->error, MC_ERROR_NO_MEMORY, "JSON message: no memory for its nodes");
}

/// Appends a node for the value that begins at `at`; NULL without memory.
static mc_json_node *add_node(reader *reader, mc_json_kind kind, const uint8_t *at)
{
    mc_message *const message = reader->message;
    if (message->count == message->capacity) {
        const uint32_t capacity = message->capacity == 0 ? reader->first_capacity
            : message->capacity > UINT32_MAX / 4         ? UINT32_MAX / 2
                                                         : message->capacity * 2;
        if (capacity == message->capacity)
            return NULL;
        mc_json_node *const nodes = mc_reallocate(message->nodes, (size_t)capacity, sizeof *nodes);
        if (nodes == NULL)
            return NULL;
        message->nodes = nodes;
        message->capacity = capacity;
    }
    mc_json_node *const node = &message->nodes[message->count++];
    *node = (mc_json_node){.kind = (uint8_t)kind, .offset = (uint32_t)(at - reader->start), .end = message->count};
    return node;
}

/// Reads the string at `*at` into a node and moves `*at` to the position after it.
static mc_status read_string(reader *reader, const uint8_t **at)
{
    mc_json_stop stop;
    bool escaped = false;
    const uint8_t *const text = *at + 1;
    const uint8_t *const quote = mc_json_string_end(text, reader->end, &escaped, &stop);
    if (quote == NULL)
        return fail_stop(reader, &stop);
    mc_json_node *const node = add_node(reader, MC_JSON_STRING, *at);
    if (node == NULL)
        return fail_memory(reader);
    *at = quote + 1;
    node->text = (const char *)text;
    node->length = (uint32_t)(quote - text);
    if (!escaped)
        return MC_OK;
    mc_message *const message = reader->message;
    if (message->unfolded == NULL) {
        // All unfolded strings together are shorter than the rest of the text: one allocation is enough, and it never moves.
        message->unfolded = mc_allocate(mc_json_unescape_room((size_t)(reader->end - text)));
        if (message->unfolded == NULL)
            return fail_memory(reader);
    }
    uint8_t *const out = message->unfolded + message->unfolded_length;
    node->length = (uint32_t)mc_json_unescape(text, node->length, out);
    node->text = (const char *)out;
    message->unfolded_length += node->length;
    return MC_OK;
}

static mc_status read_number(reader *reader, const uint8_t **at)
{
    mc_json_stop stop;
    mc_json_number number;
    const uint8_t *end = mc_json_number_short_end(*at, reader->end, &number);
    const bool is_short = end != NULL;
    if (!is_short)
        end = mc_json_number_end(*at, reader->end, &number, &stop);
    if (end == NULL)
        return fail_stop(reader, &stop);
    int64_t integer = 0;
    // -0 is not the integer 0: as a double it keeps its sign.
    const bool whole = mc_json_number_integer(&number, &integer) && !(integer == 0 && number.negative);
    mc_json_node *const node = add_node(reader, whole ? MC_JSON_INTEGER : MC_JSON_NUMBER, *at);
    if (node == NULL)
        return fail_memory(reader);
    node->text = (const char *)number.text;
    node->length = (uint32_t)number.length;
    node->integer = integer;
    if (!whole) {
        const bool keeps_value = is_short && number.digits > 0;
        node->places = keeps_value ? (uint8_t)-number.exponent : MC_JSON_PLACES_UNKNOWN;
        node->integer = !keeps_value ? 0 : number.negative ? -(int64_t)number.digits : (int64_t)number.digits;
    }
    *at = end;
    return MC_OK;
}

static mc_status read_word(reader *reader, const uint8_t **at, const char *word, mc_json_kind kind)
{
    mc_json_stop stop;
    const uint8_t *const end = mc_json_word_end(*at, reader->end, word, &stop);
    if (end == NULL)
        return fail_stop(reader, &stop);
    if (add_node(reader, kind, *at) == NULL)
        return fail_memory(reader);
    *at = end;
    return MC_OK;
}

static mc_status open_container(reader *reader, const uint8_t **at)
{
    const int64_t offset = *at - reader->start;
    if (reader->depth == reader->depth_maximum)
        return mc_fail_at(reader->error, MC_ERROR_LIMIT, offset, 0, "JSON message, byte %lld: nested deeper than %u levels",
                          (long long)offset, reader->depth_maximum);
    mc_json_node *const node = add_node(reader, **at == '{' ? MC_JSON_OBJECT : MC_JSON_ARRAY, *at);
    if (node == NULL)
        return fail_memory(reader);
    node->end = reader->open;
    reader->open = reader->message->count - 1;
    reader->depth++;
    (*at)++;
    return MC_OK;
}

static int compare_keys(const void *left, const void *right)
{
    const mc_json_node *const a = *(const mc_json_node *const *)left, *const b = *(const mc_json_node *const *)right;
    if (a->length != b->length)
        return a->length < b->length ? -1 : 1;
    const int order = memcmp(a->text, b->text, a->length);
    return order != 0 ? order : a->offset < b->offset ? -1 : a->offset > b->offset;
}

static bool same_key(const mc_json_node *a, const mc_json_node *b)
{
    return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

static mc_status fail_duplicate(const reader *reader, const mc_json_node *key)
{
    const int shown = key->length > 80 ? 80 : (int)key->length;
    return mc_fail_at(reader->error, MC_ERROR_JSON, key->offset, 0, "JSON message, byte %u: the key \"%.*s\" occurs twice in one object",
                      key->offset, shown, key->text);
}

/// Refuses equal keys in an object that has just been closed. Sorting limits the time for hostile objects, which a hash
/// table would not.
static mc_status check_keys(const reader *reader, const mc_json_node *object)
{
    const mc_json_node *const nodes = reader->message->nodes, *const behind = &nodes[object->end];
    enum { FEW = 8 };
    const mc_json_node *few[FEW];
    const mc_json_node **keys = few, *twice = NULL;
    if (object->length > FEW && (keys = mc_allocate(object->length * sizeof *keys)) == NULL)
        return fail_memory(reader);
    size_t count = 0;
    for (const mc_json_node *key = object + 1; key < behind; key = &nodes[key[1].end]) {
        for (size_t earlier = 0; object->length <= FEW && earlier < count; earlier++) {
            if (twice == NULL && same_key(keys[earlier], key))
                twice = key;
        }
        keys[count++] = key;
    }
    if (object->length > FEW) {
        qsort(keys, count, sizeof *keys, compare_keys);
        for (size_t index = 1; index < count; index++) {
            if (same_key(keys[index - 1], keys[index]) && (twice == NULL || keys[index]->offset < twice->offset))
                twice = keys[index];
        }
        mc_free(keys);
    }
    return twice == NULL ? MC_OK : fail_duplicate(reader, twice);
}

static mc_status close_container(reader *reader)
{
    mc_json_node *const node = &reader->message->nodes[reader->open];
    reader->open = node->end;
    reader->depth--;
    node->end = reader->message->count;
    return node->kind == MC_JSON_OBJECT && node->length > 1 && !reader->keeps_duplicates ? check_keys(reader, node) : MC_OK;
}

static mc_status stop_here(const reader *reader, const uint8_t *at, const char *expected)
{
    mc_json_stop stop;
    (void)mc_json_stop_at(&stop, at, reader->end, expected);
    return fail_stop(reader, &stop);
}

/// Reads the key at `*at` and the following colon.
static mc_status read_key(reader *reader, const uint8_t **at, const char *expected)
{
    if (*at == reader->end || **at != '"')
        return stop_here(reader, *at, expected);
    const mc_status status = read_string(reader, at);
    if (status != MC_OK)
        return status;
    *at = mc_json_skip_blanks(*at, reader->end);
    if (*at == reader->end || **at != ':')
        return stop_here(reader, *at, "':'");
    (*at)++;
    return MC_OK;
}

/// Counts a complete value, closes the containers that end after it, and moves to the beginning of the next value.
static mc_status go_on(reader *reader, const uint8_t **at)
{
    while (reader->open != NO_NODE) {
        mc_json_node *const node = &reader->message->nodes[reader->open];
        const bool object = node->kind == MC_JSON_OBJECT;
        node->length++;
        *at = mc_json_skip_blanks(*at, reader->end);
        if (*at < reader->end && **at == ',') {
            (*at)++;
            if (!object)
                return MC_OK;
            *at = mc_json_skip_blanks(*at, reader->end);
            return read_key(reader, at, "a key");
        }
        if (*at == reader->end || **at != (object ? '}' : ']'))
            return stop_here(reader, *at, object ? "',' or '}'" : "',' or ']'");
        (*at)++;
        const mc_status status = close_container(reader);
        if (status != MC_OK)
            return status;
    }
    return MC_OK;
}

/// Reads the value at `*at`; of a container that is not empty only its beginning, up to its first value.
static mc_status read_value(reader *reader, const uint8_t **at)
{
    mc_status status;
    switch (**at) {
    case '"': status = read_string(reader, at); break;
    case 'n': status = read_word(reader, at, "null", MC_JSON_NULL); break;
    case 't': status = read_word(reader, at, "true", MC_JSON_TRUE); break;
    case 'f': status = read_word(reader, at, "false", MC_JSON_FALSE); break;
    case '[':
    case '{': {
        const bool object = **at == '{';
        status = open_container(reader, at);
        if (status != MC_OK)
            return status;
        *at = mc_json_skip_blanks(*at, reader->end);
        if (*at == reader->end || **at != (object ? '}' : ']'))
            return object ? read_key(reader, at, "a key or '}'") : MC_OK;
        (*at)++;
        status = close_container(reader);
        break;
    }
    case MC_JSON_NUMBER_START: status = read_number(reader, at); break;
    default: return stop_here(reader, *at, "a value");
    }
    return status == MC_OK ? go_on(reader, at) : status;
}

static mc_status read_message(reader *reader)
{
    const uint8_t *at = reader->start;
    do {
        at = mc_json_skip_blanks(at, reader->end);
        if (at == reader->end)
            return stop_here(reader, at, NULL);
        const mc_status status = read_value(reader, &at);
        if (status != MC_OK)
            return status;
    } while (reader->open != NO_NODE);
    at = mc_json_skip_blanks(at, reader->end);
    return at == reader->end ? MC_OK : stop_here(reader, at, "nothing after the value");
}

mc_status mc_message_parse(const void *bytes, size_t length, unsigned depth, mc_message **out, mc_error *error)
{
    return mc_message_read(bytes, length, &(mc_message_options){MC_OPTIONS(mc_message_options), .depth = depth}, out, error);
}

mc_status mc_message_read(const void *bytes, size_t length, const mc_message_options *options, mc_message **out, mc_error *error)
{
    *out = NULL;
    if (options != NULL) {
        const mc_status status = MC_OPTIONS_CHECK(mc_message_options, options, error);
        if (status != MC_OK)
            return status;
    }
    const unsigned depth = options != NULL ? options->depth : 0;
    if (depth > MC_JSON_DEPTH_LIMIT)
        return mc_fail(error, MC_ERROR_MISUSE, "JSON message: a depth of %u; %d is the most", depth, MC_JSON_DEPTH_LIMIT);
    if (length >= UINT32_MAX)
        return mc_fail(error, MC_ERROR_LIMIT, "JSON message: %zu bytes; use the importer for more than 4 GB", length);
    mc_message *const message = mc_allocate_zeroed(1, sizeof *message);
    if (message == NULL)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "JSON message: no memory");
    reader reader = {
        .message = message,
        .start = bytes,
        .end = (const uint8_t *)bytes + length,
        .open = NO_NODE,
        .depth_maximum = depth == 0 ? DEPTH_DEFAULT : depth,
        // Rows have about one node per ten bytes; texts have few.
        .first_capacity = length < 32 * 16 ? 32
            : length > 2048 * 16           ? 2048
                                           : (uint32_t)(length / 16),
        .keeps_duplicates = options != NULL && options->duplicates == MC_JSON_DUPLICATES_KEPT,
        .error = error,
    };
    const mc_status status = read_message(&reader);
    if (status == MC_OK)
        *out = message;
    else
        mc_message_free(message);
    return status;
}

const mc_json_node *mc_message_nodes(const mc_message *message, size_t *count)
{
    *count = message->count;
    return message->nodes;
}

uint32_t mc_message_member(const mc_message *message, uint32_t object, const char *key, size_t length)
{
    if (object >= message->count || message->nodes[object].kind != MC_JSON_OBJECT)
        return 0;
    const mc_json_node *const nodes = message->nodes;
    uint32_t found = 0;
    for (uint32_t at = object + 1; at < nodes[object].end; at = nodes[at + 1].end) {
        if (nodes[at].length == length && memcmp(nodes[at].text, key, length) == 0)
            found = at + 1;
    }
    return found;
}

uint32_t mc_message_element(const mc_message *message, uint32_t array, size_t index)
{
    if (array >= message->count || message->nodes[array].kind != MC_JSON_ARRAY || index >= message->nodes[array].length)
        return 0;
    uint32_t at = array + 1;
    while (index-- > 0)
        at = message->nodes[at].end;
    return at;
}

void mc_message_free(mc_message *message)
{
    if (message == NULL)
        return;
    mc_free(message->nodes);
    mc_free(message->unfolded);
    mc_free(message);
}

bool mc_json_node_double(const mc_json_node *node, double *value)
{
    const mc_json_number number = {
        .digits = node->integer < 0 ? 0 - (uint64_t)node->integer : (uint64_t)node->integer,
        .exponent = -(int64_t)node->places,
        .negative = node->integer < 0,
    };
    if (node->kind != MC_JSON_NUMBER) {
        *value = (double)node->integer;
        return node->kind == MC_JSON_INTEGER;
    }
    if (node->places != MC_JSON_PLACES_UNKNOWN && mc_json_number_short_double(&number, value)) {
        *value = number.negative ? -*value : *value;
        return true;
    }
    return mc_json_text_to_double(node->text, node->length, value);
}
