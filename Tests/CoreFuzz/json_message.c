/// json_message.c: fuzzes the reader of whole messages (mc_message.h), and the scanner and writer under it.
///
/// Rules: the core and jansson agree on whether a text is JSON and on every value in it; an error is at the first invalid byte (the text
/// before it is the beginning of a valid one); strings and doubles are the same after writing and reading.
#include <mc_message_tree.h>

#include "fuzz_jansson.h"

static mc_status parse(const uint8_t *bytes, size_t length, mc_message **message, mc_error *error)
{
    *message = NULL;
    return mc_message_parse(bytes, length, 512, message, error);
}

/// Checks that the text before an error's byte can still become JSON, and that the text with this byte cannot.
static void check_position(const uint8_t *bytes, size_t length, const mc_error *error)
{
    mc_message *message = NULL;
    mc_error again;
    if (error->code == MC_ERROR_TRUNCATED) {
        CHECK((size_t)error->byte_offset == length);
        return;
    }
    CHECK(error->byte_offset >= 0 && (size_t)error->byte_offset < length);
    const size_t offset = (size_t)error->byte_offset;
    // A duplicate key is detected only after its object, but the error is at the key.
    if (error->code == MC_ERROR_LIMIT || strstr(error->message, "occurs twice") != NULL)
        return;
    const mc_status before = parse(bytes, offset, &message, &again);
    mc_message_free(message);
    CHECK(before == MC_OK || before == MC_ERROR_TRUNCATED || strstr(again.message, "occurs twice") != NULL);
    CHECK(parse(bytes, offset + 1, &message, &again) != MC_OK);
    CHECK(again.byte_offset == error->byte_offset || strstr(again.message, "occurs twice") != NULL);
}

/// Checks that a string or a double is the same after writing and reading.
static void check_written(const mc_json_node *node)
{
    if (node->kind == MC_JSON_STRING) {
        size_t bad = 0, count = 0;
        char *const text = malloc(mc_json_escape_bound(node->length));
        const size_t length = mc_json_escape(node->text, node->length, text, &bad);
        CHECK(length >= 2);
        mc_message *message = NULL;
        CHECK(mc_message_parse(text, length, 1, &message, NULL) == MC_OK);
        const mc_json_node *const back = mc_message_nodes(message, &count);
        CHECK(count == 1 && back->length == node->length && memcmp(back->text, node->text, node->length) == 0);
        mc_message_free(message);
        free(text);
    } else if (node->kind == MC_JSON_NUMBER) {
        double value = 0, back = 0;
        char text[MC_JSON_DOUBLE_SIZE];
        if (!mc_json_text_to_double(node->text, node->length, &value))
            return;
        const size_t length = mc_json_double_to_text(value, text);
        CHECK(length > 0 && length <= sizeof text);
        CHECK(mc_json_text_to_double(text, length, &back) && same_double(value, back));
    }
}

/// Checks the option to keep duplicate keys: jansson then accepts the same texts, and the core's look-ups and trees have its values.
static void check_kept(const uint8_t *bytes, size_t length, mc_status refused)
{
    const mc_message_options options = {MC_OPTIONS(mc_message_options), .depth = 512, .duplicates = MC_JSON_DUPLICATES_KEPT};
    mc_message *message = NULL;
    json_t *tree = NULL;
    mc_error error;
    size_t count = 0;
    const mc_status status = mc_message_read(bytes, length, &options, &message, &error);
    CHECK(status == refused || refused == MC_ERROR_JSON);  // after a duplicate key there may be other errors
    if (status != MC_OK)
        return;
    const mc_json_node *const nodes = mc_message_nodes(message, &count);
    for (uint32_t node = 0; node < count && node < 200; node++) {
        if (nodes[node].kind != MC_JSON_OBJECT || nodes[node].length == 0)
            continue;
        const mc_json_node *const key = &nodes[node + 1];
        const uint32_t found = mc_message_member(message, node, key->text, key->length);
        CHECK(found > node && found < nodes[node].end);
        CHECK(nodes[found - 1].length == key->length && memcmp(nodes[found - 1].text, key->text, key->length) == 0);
    }
    if (mc_message_tree(message, 0, &tree, NULL) == MC_OK && refused == MC_OK)
        compare_node(nodes, 0, tree);
    json_decref(tree);
    mc_message_free(message);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    mc_message *message = NULL;
    mc_error error;
    json_error_t theirs;
    const mc_status status = parse(bytes, length, &message, &error);
    json_t *const tree = json_loadb((const char *)bytes, length, JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, &theirs);
    CHECK((status == MC_OK) == (message != NULL));
    if (status == MC_OK) {
        size_t count = 0;
        const mc_json_node *const nodes = mc_message_nodes(message, &count);
        CHECK(count > 0 && nodes[0].end == count);
        CHECK(tree != NULL || is_listed_difference(&theirs));
        if (tree != NULL)
            compare_node(nodes, 0, tree);
        for (size_t index = 0; index < count; index++)
            check_written(&nodes[index]);
    } else {
        CHECK(error.code == status && error.message[0] != '\0');
        CHECK(tree == NULL || status == MC_ERROR_LIMIT || may_lose_bytes(bytes, length));
        check_position(bytes, length, &error);
    }
    mc_message_free(message);
    json_decref(tree);
    check_kept(bytes, length, status);
    return 0;
}
