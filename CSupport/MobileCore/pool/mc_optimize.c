/// mc_optimize.c: keeps the planner's statistics up to date when the pool closes, as SQLite advises.
///
/// Each connection knows for which tables its own queries have chosen indexes. So all connections list what they would analyze (`PRAGMA
/// optimize` with its first bit), and the writer runs these statements. ANALYZE reads a bounded part of each index.
#include <string.h>

#include "base/mc_byte_buffer.h"
#include "pool/mc_pool_internal.h"

enum { STATEMENTS_BYTES_MAXIMUM = 1 << 16 };

/// Collects the statements of a connection, a NUL after each, without duplicates.
static int collect(void *context, int column_count, char **values, char **names)
{
    mc_byte_buffer *const statements = context;
    (void)names;
    if (column_count < 1 || values[0] == NULL)
        return 0;
    for (size_t at = 0; at < statements->length; at += strlen((const char *)statements->bytes + at) + 1) {
        if (strcmp((const char *)statements->bytes + at, values[0]) == 0)
            return 0;
    }
    (void)mc_byte_buffer_append(statements, values[0], strlen(values[0]) + 1);  // without room, a later close does it
    return 0;
}

static void ask(mc_connection *connection, mc_byte_buffer *statements)
{
    (void)sqlite3_trace_v2(connection->db, 0, NULL, NULL);  // the pool's own business
    // 2: analyze; 1: only list the statements.
    (void)sqlite3_exec(connection->db, "PRAGMA main.optimize(3)", collect, statements, NULL);
}

void mc_pool_optimize(mc_connection *writer, mc_connection *readers)
{
    mc_byte_buffer statements = {.maximum = STATEMENTS_BYTES_MAXIMUM};
    if (writer == NULL || writer->pool->options.journal == MC_JOURNAL_UNCHANGED)  // adds no tables to databases of others
        return;
    ask(writer, &statements);
    for (mc_connection *reader = readers; reader != NULL; reader = reader->next)
        ask(reader, &statements);
    if (statements.length > 0) {
        writer->busy_limit_ns = 0;  // does not wait for another process that writes
        (void)sqlite3_exec(writer->db, "PRAGMA analysis_limit=400", NULL, NULL, NULL);
    }
    for (size_t at = 0; at < statements.length; at += strlen((const char *)statements.bytes + at) + 1)
        (void)sqlite3_exec(writer->db, (const char *)statements.bytes + at, NULL, NULL, NULL);
    mc_byte_buffer_free(&statements);
}
