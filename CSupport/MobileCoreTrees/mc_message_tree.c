/// mc_message_tree.c: makes jansson trees from messages.
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "mc_message_tree.h"

/// Fills an error, which may be NULL, and returns its status. The library uses only what is public in the core.
__attribute__((format(printf, 4, 5))) static mc_status fail(mc_error *error, mc_status code, int64_t byte_offset, const char *format, ...)
{
    if (error != NULL) {
        va_list arguments;
        *error = (mc_error){.code = code, .byte_offset = byte_offset};
        va_start(arguments, format);
        (void)vsnprintf(error->message, sizeof error->message, format, arguments);
        va_end(arguments);
    }
    return code;
}

/// A value without its contents; NULL without memory, and with `*beyond` for a number beyond the largest double.
static json_t *make_value(const mc_json_node *node, bool *beyond)
{
    double number = 0;
    switch ((mc_json_kind)node->kind) {
    case MC_JSON_NULL: return json_null();
    case MC_JSON_FALSE: return json_false();
    case MC_JSON_TRUE: return json_true();
    case MC_JSON_INTEGER: return json_integer(node->integer);
    case MC_JSON_NUMBER: *beyond = !mc_json_node_double(node, &number); return *beyond ? NULL : json_real(number);
    case MC_JSON_STRING: return json_stringn_nocheck(node->text, node->length);  // checked when it was read
    case MC_JSON_ARRAY: return json_array();
    case MC_JSON_OBJECT: return json_object();
    }
    return NULL;
}

/// Adds a value, whose reference it takes, to the open container. `key` is that of an object's member.
static bool add(json_t *container, const mc_json_node *key, json_t *value)
{
    return (key != NULL ? json_object_setn_new_nocheck(container, key->text, key->length, value) : json_array_append_new(container, value))
        == 0;
}

mc_status mc_message_tree(const mc_message *message, uint32_t node, json_t **out, mc_error *error)
{
    json_t *open[MC_JSON_DEPTH_LIMIT];  // borrowed from the root
    uint32_t ends[MC_JSON_DEPTH_LIMIT];
    size_t depth = 0, count = 0;
    json_t *root = NULL;
    const mc_json_node *const nodes = mc_message_nodes(message, &count);
    *out = NULL;
    if (node >= count)
        return fail(error, MC_ERROR_MISUSE, -1, "JSON message: there is no node %u of %zu", node, count);
    for (uint32_t at = node; at < nodes[node].end;) {
        while (depth > 0 && at == ends[depth - 1])
            depth--;
        const mc_json_node *const key = depth > 0 && json_is_object(open[depth - 1]) ? &nodes[at++] : NULL;
        const mc_json_node *const from = &nodes[at++];
        bool beyond = false;
        if (key != NULL && memchr(key->text, 0, key->length) != NULL) {
            json_decref(root);
            return fail(error, MC_ERROR_TYPE, key->offset, "JSON message, byte %u: a key with U+0000, which trees cannot compare",
                        key->offset);
        }
        json_t *const value = make_value(from, &beyond);
        if (value == NULL || (root != NULL && !add(open[depth - 1], key, value))) {
            json_decref(root);
            return beyond
                ? fail(error, MC_ERROR_LIMIT, from->offset, "JSON message, byte %u: a number beyond the largest double", from->offset)
                : fail(error, MC_ERROR_NO_MEMORY, -1, "JSON message: no memory for a tree");
        }
        if (root == NULL)
            root = value;
        if (from->kind >= MC_JSON_ARRAY) {
            open[depth] = value;
            ends[depth++] = from->end;
        }
    }
    *out = root;
    return MC_OK;
}

mc_status mc_message_read_tree(const void *bytes, size_t length, const mc_message_options *options, json_t **out, mc_error *error)
{
    mc_message *message = NULL;
    *out = NULL;
    mc_status status = mc_message_read(bytes, length, options, &message, error);
    if (status == MC_OK)
        status = mc_message_tree(message, 0, out, error);
    mc_message_free(message);
    return status;
}
