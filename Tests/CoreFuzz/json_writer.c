/// json_writer.c: fuzzes the writer of JSON text (mc_json_writer.h): the input is a list of calls.
///
/// Rules: the core and jansson read exactly the written values, in their order; the text is the same in a sink and in memory; writing a
/// message's nodes again gives the same nodes; an invalid call fails, and so do all later calls.
#define _GNU_SOURCE  // memmem
#include <mc_message_tree.h>

#include "fuzz_jansson.h"

enum { PIECES = 400 };

/// A written node, which reading must return.
typedef struct piece {
    mc_json_kind kind;
    const uint8_t *text;  // of strings and keys
    size_t length;
    int64_t integer;
    double number;
    bool is_double;
} piece;

typedef struct sink {
    char *text;
    size_t length;
} sink;

static mc_status take(void *context, const void *bytes, size_t length, mc_error *error)
{
    sink *const to = context;
    (void)error;
    to->text = realloc(to->text, to->length + length);
    memcpy(to->text + to->length, bytes, length);
    to->length += length;
    return MC_OK;
}

/// Makes the calls of the input and returns the number of nodes. `*status` is the first failure.
static size_t write_all(mc_json_writer *writer, const uint8_t *bytes, size_t length, piece *pieces, mc_status *status)
{
    const uint8_t *at = bytes, *const end = bytes + length;
    size_t count = 0;
    *status = MC_OK;
    while (at < end && count < PIECES && *status == MC_OK) {
        const uint8_t call = *at++;
        const size_t left = (size_t)(end - at), text_length = left > 0 ? (size_t)(*at % 48) : 0;
        piece piece = {.kind = MC_JSON_NULL};
        bool is_node = true;
        switch (call % 10) {
        case 0:
            *status = mc_json_write_begin_object(writer, NULL);
            piece.kind = MC_JSON_OBJECT;
            break;
        case 1:
            *status = mc_json_write_begin_array(writer, NULL);
            piece.kind = MC_JSON_ARRAY;
            break;
        case 2:
            *status = mc_json_write_end(writer, NULL);
            is_node = false;
            break;
        case 3:
        case 4:
            if (left < text_length + 1)
                return count;
            piece.kind = MC_JSON_STRING;
            piece.text = at + 1;
            piece.length = text_length;
            at += text_length + 1;
            *status = (call % 10 == 3 ? mc_json_write_key : mc_json_write_string)(writer, (const char *)piece.text, text_length, NULL);
            break;
        case 5:
        case 6:
            if (left < 8)
                return count;
            memcpy(&piece.integer, at, 8);
            memcpy(&piece.number, at, 8);
            at += 8;
            piece.is_double = call % 10 == 6;
            piece.kind = piece.is_double ? MC_JSON_NUMBER : MC_JSON_INTEGER;
            *status =
                piece.is_double ? mc_json_write_double(writer, piece.number, NULL) : mc_json_write_integer(writer, piece.integer, NULL);
            break;
        case 7:
            *status = mc_json_write_boolean(writer, (call & 0x80) != 0, NULL);
            piece.kind = (call & 0x80) != 0 ? MC_JSON_TRUE : MC_JSON_FALSE;
            break;
        case 8: *status = mc_json_write_null(writer, NULL); break;
        default:
            if (left < text_length + 1)
                return count;
            *status = mc_json_write_number(writer, (const char *)at + 1, text_length, NULL);
            piece.kind = MC_JSON_NUMBER;
            piece.text = at + 1;
            piece.length = text_length;
            at += text_length + 1;
            break;
        }
        if (is_node && *status == MC_OK)
            pieces[count++] = piece;
    }
    return count;
}

static void compare(const mc_json_node *node, const piece *piece)
{
    double value = 0;
    if (piece->kind == MC_JSON_NUMBER && !piece->is_double) {
        // Written as a text, and read as an integer if it is one.
        CHECK(node->kind == MC_JSON_NUMBER || node->kind == MC_JSON_INTEGER);
        CHECK(node->length == piece->length && memcmp(node->text, piece->text, piece->length) == 0);
        return;
    }
    CHECK(node->kind == piece->kind);
    if (piece->kind == MC_JSON_INTEGER)
        CHECK(node->integer == piece->integer);
    if (piece->kind == MC_JSON_NUMBER)
        CHECK(mc_json_text_to_double(node->text, node->length, &value) && same_double(value, piece->number));
    if (piece->kind == MC_JSON_STRING)
        CHECK(node->length == piece->length && (piece->length == 0 || memcmp(node->text, piece->text, piece->length) == 0));
}

/// Writes the message again from its nodes, and compares the nodes.
static void check_again(const mc_message *message)
{
    mc_json_writer *writer = NULL;
    mc_message *again = NULL;
    size_t length = 0, count = 0, count_again = 0;
    const mc_json_writer_options options = {MC_OPTIONS(mc_json_writer_options), .depth = MC_JSON_DEPTH_LIMIT};
    const mc_message_options kept = {MC_OPTIONS(mc_message_options), .depth = MC_JSON_DEPTH_LIMIT, .duplicates = MC_JSON_DUPLICATES_KEPT};
    CHECK(mc_json_writer_open(&options, &writer, NULL) == MC_OK);
    CHECK(mc_json_write_node(writer, message, 0, NULL) == MC_OK && mc_json_writer_finish(writer, NULL) == MC_OK);
    const uint8_t *const text = mc_json_writer_text(writer, &length);
    CHECK(mc_message_read(text, length, &kept, &again, NULL) == MC_OK);
    const mc_json_node *const nodes = mc_message_nodes(message, &count), *const others = mc_message_nodes(again, &count_again);
    CHECK(count == count_again);
    for (size_t i = 0; i < count; i++)
        CHECK(nodes[i].kind == others[i].kind && nodes[i].end == others[i].end && nodes[i].length == others[i].length);
    mc_message_free(again);
    mc_json_writer_free(writer);
}

/// Checks that the core's tree equals jansson's, if jansson accepts the text.
static void check_tree(const mc_message *message, const char *text, size_t length)
{
    json_error_t theirs;
    json_t *tree = NULL;
    json_t *const expected = json_loadb(text, length, JSON_DECODE_ANY | JSON_ALLOW_NUL, &theirs);
    const mc_status status = mc_message_tree(message, 0, &tree, NULL);
    CHECK(expected != NULL || is_listed_difference(&theirs));
    CHECK((status == MC_OK) == (tree != NULL));
    // -0 is an integer for jansson and a double for the core, so texts with it are not compared.
    if (expected != NULL && status == MC_OK && memmem(text, length, "-0", 2) == NULL)
        CHECK(json_equal(tree, expected));
    json_decref(tree);
    json_decref(expected);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static piece pieces[PIECES], again[PIECES];
    sink sink = {0};
    mc_json_writer *writer = NULL, *streaming = NULL;
    mc_status status, streamed;
    const mc_json_writer_options options = {MC_OPTIONS(mc_json_writer_options), .depth = 32},
                                 to_sink = {MC_OPTIONS(mc_json_writer_options), .depth = 32, .sink = take, .context = &sink};
    const mc_message_options kept = {MC_OPTIONS(mc_message_options), .depth = 32, .duplicates = MC_JSON_DUPLICATES_KEPT};
    CHECK(mc_json_writer_open(&options, &writer, NULL) == MC_OK && mc_json_writer_open(&to_sink, &streaming, NULL) == MC_OK);
    const size_t count = write_all(writer, bytes, length, pieces, &status);
    CHECK(write_all(streaming, bytes, length, again, &streamed) == count && status == streamed);
    const mc_status finished = mc_json_writer_finish(writer, NULL);
    CHECK(finished == mc_json_writer_finish(streaming, NULL));
    if (status != MC_OK)
        CHECK(finished == status && mc_json_write_null(writer, NULL) == status);
    if (finished == MC_OK) {
        size_t text_length = 0, node_count = 0;
        mc_message *message = NULL;
        const uint8_t *const text = mc_json_writer_text(writer, &text_length);
        CHECK(text_length == sink.length && memcmp(text, sink.text, text_length) == 0);
        CHECK(mc_message_read(text, text_length, &kept, &message, NULL) == MC_OK);
        const mc_json_node *const nodes = mc_message_nodes(message, &node_count);
        CHECK(node_count == count);
        for (size_t i = 0; i < count; i++)
            compare(&nodes[i], &pieces[i]);
        check_again(message);
        check_tree(message, (const char *)text, text_length);
        mc_message_free(message);
    }
    mc_json_writer_free(writer);
    mc_json_writer_free(streaming);
    free(sink.text);
    return 0;
}
