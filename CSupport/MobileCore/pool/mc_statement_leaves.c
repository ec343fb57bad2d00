/// mc_statement_leaves.c: runs a statement for each leaf of a JSON object of objects.
#include "mc_statement_leaves.h"

#include <string.h>

#include "base/mc_memory.h"
#include "pool/mc_pool_internal.h"

/// Binds a text that outlives the run.
static mc_status bind_in_place(mc_statement *statement, int index, const char *text, size_t length, mc_error *error)
{
    const int code = sqlite3_bind_text64(statement->handle, index, text, length, SQLITE_STATIC, SQLITE_UTF8);
    if (code == SQLITE_OK)
        return MC_OK;
    if (code == SQLITE_RANGE)
        return mc_fail(error, MC_ERROR_MISUSE, "leaves of a message: the statement has no parameter %d", index);
    return mc_fail_sqlite(error, statement->connection->db, code, "leaves of a message: bind parameter %d", index);
}

static mc_status bind_value(mc_statement *statement, int index, const mc_json_node *value, mc_error *error)
{
    switch ((mc_json_kind)value->kind) {
    case MC_JSON_NULL: return bind_in_place(statement, index, "", 0, error);
    case MC_JSON_FALSE: return bind_in_place(statement, index, "false", 5, error);
    case MC_JSON_TRUE: return bind_in_place(statement, index, "true", 4, error);
    case MC_JSON_INTEGER:
    case MC_JSON_NUMBER:
    case MC_JSON_STRING: return bind_in_place(statement, index, value->length == 0 ? "" : value->text, value->length, error);
    case MC_JSON_ARRAY:
    case MC_JSON_OBJECT: break;
    }
    return mc_fail_at(error, MC_ERROR_TYPE, value->offset, 0,
                      "leaves of a message, byte %u: a string or number was expected, not a container", (unsigned)value->offset);
}

/// Runs the statement for one member.
static mc_status run_member(mc_statement *statement, const mc_json_node *key, const mc_leaf_parameters *parameters, mc_error *error)
{
    mc_status status = bind_in_place(statement, parameters->inner, key->length == 0 ? "" : key->text, key->length, error);
    if (status == MC_OK && parameters->value > 0)
        status = bind_value(statement, parameters->value, key + 1, error);
    if (status == MC_OK)
        status = mc_statement_run(statement, NULL, error);
    return status;
}

static mc_status bind_object(mc_statement *statement, const mc_json_node *key, const mc_leaf_parameters *parameters, mc_error *error)
{
    return bind_in_place(statement, parameters->outer, key->length == 0 ? "" : key->text, key->length, error);
}

/// Checks that the members of an object are objects, and counts those that have members, and their members.
static mc_status count_leaves(const mc_json_node *nodes, const mc_json_node *root, int64_t *objects, size_t *leaves, mc_error *error)
{
    const mc_json_node *const after = &nodes[root->end];
    for (const mc_json_node *key = root + 1; key < after; key = &nodes[key[1].end]) {
        if (key[1].kind != MC_JSON_OBJECT)
            return mc_fail_at(error, MC_ERROR_TYPE, key[1].offset, 0, "leaves of a message, byte %u: an object was expected",
                              (unsigned)key[1].offset);
        if (key[1].length > 0)
            *objects += 1;
        const mc_json_node *const end = &nodes[key[1].end];
        for (const mc_json_node *member = key + 2; member < end; member = &nodes[member[1].end])
            *leaves += 1;
    }
    return MC_OK;
}

/// Runs the statement for each leaf in the order of the text.
static mc_status run_in_order(mc_statement *statement, const mc_json_node *nodes, const mc_json_node *root,
                              const mc_leaf_parameters *parameters, mc_error *error)
{
    mc_status status = MC_OK;
    const mc_json_node *const after = &nodes[root->end];
    for (const mc_json_node *object = root + 1; status == MC_OK && object < after; object = &nodes[object[1].end]) {
        status = bind_object(statement, object, parameters, error);
        const mc_json_node *const end = &nodes[object[1].end];
        for (const mc_json_node *key = object + 2; status == MC_OK && key < end; key = &nodes[key[1].end])
            status = run_member(statement, key, parameters, error);
    }
    return status;
}

/// A leaf, and the number of its inner key among the different ones.
typedef struct leaf {
    const mc_json_node *object;
    const mc_json_node *key;
    uint32_t name;
} leaf;

/// The different inner keys; with more of them, grouping costs more than it brings.
enum { NAMES_MOST = 64 };

typedef struct name_list {
    const mc_json_node *names[NAMES_MOST];
    uint32_t count;
    uint32_t next;  ///< the name that followed the last one before: objects mostly have the same members in the same order
} name_list;

static bool is_name(const mc_json_node *name, const mc_json_node *key)
{
    return name->length == key->length && (key->length == 0 || memcmp(name->text, key->text, key->length) == 0);
}

/// Returns the number of a key's name; NAMES_MOST when there are too many.
static uint32_t number_of_name(name_list *list, const mc_json_node *key)
{
    uint32_t number = list->next;
    if (number >= list->count || !is_name(list->names[number], key)) {
        for (number = 0; number < list->count && !is_name(list->names[number], key);)
            number++;
        if (number == list->count) {
            if (number == NAMES_MOST)
                return NAMES_MOST;
            list->names[list->count++] = key;
        }
    }
    list->next = number + 1 < list->count ? number + 1 : 0;
    return number;
}

/// Collects the leaves with the numbers of their names. Returns the number of names; more than NAMES_MOST when there are too many.
static uint32_t collect_leaves(const mc_json_node *nodes, const mc_json_node *root, leaf *leaves)
{
    name_list list = {.count = 0, .next = 0};
    const mc_json_node *const after = &nodes[root->end];
    for (const mc_json_node *object = root + 1; object < after; object = &nodes[object[1].end]) {
        const mc_json_node *const end = &nodes[object[1].end];
        for (const mc_json_node *key = object + 2; key < end; key = &nodes[key[1].end]) {
            const uint32_t name = number_of_name(&list, key);
            if (name == NAMES_MOST)
                return NAMES_MOST + 1;
            *leaves++ = (leaf){.object = object, .key = key, .name = name};
        }
    }
    return list.count;
}

/// Runs the statement for all leaves under one inner key, then for those under the next. In the order of the text, without memory for more.
static mc_status run_grouped(mc_statement *statement, const mc_json_node *nodes, const mc_json_node *root, size_t count,
                             const mc_leaf_parameters *parameters, mc_error *error)
{
    leaf *const leaves = mc_allocate_zeroed(count, sizeof *leaves);
    const uint32_t names = leaves == NULL ? NAMES_MOST + 1 : collect_leaves(nodes, root, leaves);
    mc_status status = MC_OK;
    if (names > NAMES_MOST)
        status = run_in_order(statement, nodes, root, parameters, error);
    for (uint32_t name = 0; names <= NAMES_MOST && name < names && status == MC_OK; name++) {
        for (size_t i = 0; i < count && status == MC_OK; i++) {
            if (leaves[i].name != name)
                continue;
            status = bind_object(statement, leaves[i].object, parameters, error);
            if (status == MC_OK)
                status = run_member(statement, leaves[i].key, parameters, error);
        }
    }
    mc_free(leaves);
    return status;
}

mc_status mc_statement_run_leaves(mc_statement *statement, const mc_message *message, uint32_t object, const mc_leaf_parameters *parameters,
                                  int64_t *count, mc_error *error)
{
    size_t node_count = 0;
    const mc_json_node *const nodes = mc_message_nodes(message, &node_count);
    *count = 0;
    if (object >= node_count)
        return mc_fail(error, MC_ERROR_MISUSE, "leaves of a message: there is no node %u", (unsigned)object);
    const mc_json_node *const root = &nodes[object];
    if (root->kind != MC_JSON_OBJECT)
        return mc_fail_at(error, MC_ERROR_TYPE, root->offset, 0, "leaves of a message, byte %u: an object was expected",
                          (unsigned)root->offset);
    size_t leaves = 0;
    mc_status status = count_leaves(nodes, root, count, &leaves, error);
    if (status != MC_OK || leaves == 0)
        return status;
    if (statement->stepping)
        mc_statement_reset(statement);
    status = parameters->grouped ? run_grouped(statement, nodes, root, leaves, parameters, error)
                                 : run_in_order(statement, nodes, root, parameters, error);
    // The texts belong to the message: no parameter may refer to them after the call.
    mc_statement_reset(statement);
    (void)sqlite3_bind_null(statement->handle, parameters->outer);
    (void)sqlite3_bind_null(statement->handle, parameters->inner);
    if (parameters->value > 0)
        (void)sqlite3_bind_null(statement->handle, parameters->value);
    return status;
}
