/// mc_message_writer.h: writes values of a message that was read, unchanged.
#ifndef MC_MESSAGE_WRITER_H
#define MC_MESSAGE_WRITER_H

#include "mc_json_writer.h"
#include "mc_message.h"

#ifdef __cplusplus
extern "C" {
#endif
MC_NONNULL_BEGIN

/// Writes a value of a message, with all its contents. `node` is a number among the nodes of the message.
/// Fails with MC_ERROR_MISUSE (the message has no such node) and as the functions of mc_json_writer.h do.
MC_MUST_USE mc_status mc_json_write_node(mc_json_writer *writer, const mc_message *message, uint32_t node, mc_error *MC_NULLABLE error);

MC_NONNULL_END
#ifdef __cplusplus
}
#endif
#endif
