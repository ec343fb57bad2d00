/// mc_statement_leaves.c: runs a statement for each leaf of a JSON object of objects.
#include "mc_statement_leaves.h"

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

/// Runs the statement for each member of one object.
static mc_status run_members(mc_statement *statement, const mc_json_node *nodes, const mc_json_node *object,
                             const mc_leaf_parameters *parameters, mc_error *error)
{
    mc_status status = MC_OK;
    const mc_json_node *const after = &nodes[object->end];
    for (const mc_json_node *key = object + 1; status == MC_OK && key < after; key = &nodes[key[1].end]) {
        status = bind_in_place(statement, parameters->inner, key->length == 0 ? "" : key->text, key->length, error);
        if (status == MC_OK && parameters->value > 0)
            status = bind_value(statement, parameters->value, key + 1, error);
        if (status == MC_OK)
            status = mc_statement_run(statement, NULL, error);
    }
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
    mc_status status = MC_OK;
    const mc_json_node *const root = &nodes[object], *const after = &nodes[root->end];
    if (root->kind != MC_JSON_OBJECT)
        return mc_fail_at(error, MC_ERROR_TYPE, root->offset, 0, "leaves of a message, byte %u: an object was expected",
                          (unsigned)root->offset);
    if (statement->stepping)
        mc_statement_reset(statement);
    for (const mc_json_node *key = root + 1; status == MC_OK && key < after; key = &nodes[key[1].end]) {
        const mc_json_node *const members = key + 1;
        if (members->kind != MC_JSON_OBJECT)
            status = mc_fail_at(error, MC_ERROR_TYPE, members->offset, 0, "leaves of a message, byte %u: an object was expected",
                                (unsigned)members->offset);
        if (status == MC_OK)
            status = bind_in_place(statement, parameters->outer, key->length == 0 ? "" : key->text, key->length, error);
        if (status == MC_OK)
            status = run_members(statement, nodes, members, parameters, error);
        if (status == MC_OK && members->length > 0)
            *count += 1;
    }
    // The texts belong to the message: no parameter may refer to them after the call.
    mc_statement_reset(statement);
    (void)sqlite3_bind_null(statement->handle, parameters->outer);
    (void)sqlite3_bind_null(statement->handle, parameters->inner);
    if (parameters->value > 0)
        (void)sqlite3_bind_null(statement->handle, parameters->value);
    return status;
}
