#include "mc_message_writer.h"

#include "json/mc_json_writer_internal.h"

/// Writes a value that is not a container.
static mc_status write_scalar(mc_json_writer *writer, const mc_json_node *node, mc_error *error)
{
    switch ((mc_json_kind)node->kind) {
    case MC_JSON_INTEGER:
    case MC_JSON_NUMBER: return mc_json_write_verbatim(writer, node->text, node->length, error);
    case MC_JSON_STRING: return mc_json_write_string(writer, node->text, node->length, error);
    case MC_JSON_NULL: return mc_json_write_null(writer, error);
    default: return mc_json_write_boolean(writer, node->kind == MC_JSON_TRUE, error);
    }
}

mc_status mc_json_write_node(mc_json_writer *writer, const mc_message *message, uint32_t node, mc_error *error)
{
    size_t count = 0;
    const mc_json_node *const nodes = mc_message_nodes(message, &count);
    mc_status status = mc_json_writer_check(writer, error);
    if (status != MC_OK)
        return status;
    if (node >= count)
        return mc_json_writer_fail(writer, MC_ERROR_MISUSE, "a node that the message does not have", error);
    const uint32_t end = nodes[node].end;
    const mc_json_node *open[MC_JSON_DEPTH_LIMIT];  // containers: the writer does not allow a larger depth
    unsigned depth = 0;
    bool has_key = false;
    for (uint32_t at = node; status == MC_OK && (at < end || depth > 0);) {
        const mc_json_node *const outer = depth > 0 ? open[depth - 1] : NULL;
        if (outer != NULL && at == outer->end) {
            status = mc_json_write_end(writer, error);
            depth--;
            continue;
        }
        const mc_json_node *const value = &nodes[at++];
        if (outer != NULL && outer->kind == MC_JSON_OBJECT && !has_key) {
            status = mc_json_write_key(writer, value->text, value->length, error);
            has_key = true;
            continue;
        }
        has_key = false;
        if (value->kind != MC_JSON_ARRAY && value->kind != MC_JSON_OBJECT) {
            status = write_scalar(writer, value, error);
            continue;
        }
        status = value->kind == MC_JSON_OBJECT ? mc_json_write_begin_object(writer, error) : mc_json_write_begin_array(writer, error);
        if (status == MC_OK)
            open[depth++] = value;
    }
    return status;
}
