/// fuzz_jansson.h: compares the values that the core reads with those that jansson reads.
///
/// The listed differences are intended: jansson refuses integers beyond 64 bits, doubles beyond the largest one, U+0000 in
/// keys, and nesting beyond 2048 levels. It also loses a NUL byte after a number or a word, which is not JSON.
#ifndef FUZZ_JANSSON_H
#define FUZZ_JANSSON_H

#include <MobileCore.h>
#include <jansson.h>
#include <stdbool.h>
#include <string.h>

#include "fuzz_check.h"

/// Whether jansson refused the text for a listed difference.
static inline bool is_listed_difference(const json_error_t *error)
{
    const enum json_error_code code = json_error_code(error);
    return code == json_error_numeric_overflow || code == json_error_null_byte_in_key || code == json_error_stack_overflow;
}

/// Whether jansson may have accepted the text although it is not JSON.
static inline bool may_lose_bytes(const uint8_t *bytes, size_t length)
{
    return length > 0 && memchr(bytes, 0, length) != NULL;
}

static inline bool same_double(double left, double right)
{
    return memcmp(&left, &right, sizeof left) == 0;
}

/// Compares a node and all its parts with jansson's value.
static inline void compare_node(const mc_json_node *nodes, uint32_t index, const json_t *value)
{
    const mc_json_node *const node = &nodes[index];
    double number = 0, same = 0;
    switch ((mc_json_kind)node->kind) {
    case MC_JSON_NULL: CHECK(json_is_null(value)); break;
    case MC_JSON_FALSE: CHECK(json_is_false(value)); break;
    case MC_JSON_TRUE: CHECK(json_is_true(value)); break;
    case MC_JSON_INTEGER: CHECK(json_is_integer(value) && json_integer_value(value) == node->integer); break;
    case MC_JSON_NUMBER:
        CHECK(mc_json_is_number(node->text, node->length));
        CHECK(mc_json_text_to_double(node->text, node->length, &number));
        CHECK(mc_json_node_double(node, &same) && same_double(number, same));
        // -0 is an integer for jansson, and loses its sign.
        if (json_is_integer(value))
            CHECK(json_integer_value(value) == 0 && number == 0);
        else
            CHECK(json_is_real(value) && same_double(json_real_value(value), number));
        break;
    case MC_JSON_STRING:
        CHECK(json_is_string(value) && json_string_length(value) == node->length);
        CHECK(memcmp(json_string_value(value), node->text, node->length) == 0);
        break;
    case MC_JSON_ARRAY: {
        CHECK(json_is_array(value) && json_array_size(value) == node->length);
        uint32_t next = index + 1;
        for (size_t element = 0; element < node->length; element++) {
            compare_node(nodes, next, json_array_get(value, element));
            next = nodes[next].end;
        }
        CHECK(next == node->end);
        break;
    }
    case MC_JSON_OBJECT: {
        CHECK(json_is_object(value) && json_object_size(value) == node->length);
        uint32_t key = index + 1;
        for (size_t member = 0; member < node->length; member++) {
            const json_t *const found = json_object_getn(value, nodes[key].text, nodes[key].length);
            CHECK(found != NULL);
            compare_node(nodes, key + 1, found);
            key = nodes[key + 1].end;
        }
        CHECK(key == node->end);
        break;
    }
    }
}

#endif
