/// import_memory.c: fuzzes imports (mc_import.h) with memory that fails: one allocation of the import, or of its second thread.
///
/// The first two bytes choose the allocation, its thread, and whether the rest is deflated. Rules: the error of a failed import is about
/// memory or about the input; a failed import leaves the database unchanged; all memory is freed.
#include <MobileCore.h>
#include <sqlite3.h>
#include <string.h>
#include <zlib.h>

#include "../FaultInjection/fault_memory.c"
#include "fault_memory.h"
#include "fuzz_check.h"

static const char schema[] = "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b); CREATE INDEX i ON t(a);"
                             "CREATE TABLE os(id INTEGER PRIMARY KEY, a TEXT, b); INSERT INTO t(id, a) VALUES (1, 'one'), (2, 'two');"
                             "INSERT INTO os(id) VALUES (2)";

/// The content of both tables; the caller frees it by sqlite3_free.
static char *content(sqlite3 *db)
{
    sqlite3_stmt *statement = NULL;
    CHECK(sqlite3_prepare_v2(db, "SELECT group_concat(quote(id) || quote(a) || quote(b)) FROM (SELECT * FROM t UNION ALL SELECT * FROM os)",
                             -1, &statement, NULL)
          == SQLITE_OK);
    CHECK(sqlite3_step(statement) == SQLITE_ROW);
    char *const text = sqlite3_mprintf("%s", sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    return text;
}

static void thread_begins(void *context)
{
    fault_memory_fail_after(*(const int64_t *)context, false);
}

static mc_status import(sqlite3 *db, const uint8_t *bytes, size_t length, int64_t allocation, bool on_thread)
{
    const mc_column columns[] = {{.name = "id", .type = MC_COLUMN_INTEGER}, {.name = "a", .type = MC_COLUMN_DATE_TIME}, {.name = "b"}};
    const mc_import_pending pending = {.table = "os"};
    const mc_import_table table = {.table = "t", .columns = columns, .column_count = 3, .mode = MC_IMPORT_UPSERT, .pending = &pending};
    const mc_import_options options = {
        MC_OPTIONS(mc_import_options),
        .tables = &table,
        .table_count = 1,
        .is_object = (length & 1) != 0,
        .row_bytes = 1 << 20,
        .threads = on_thread ? MC_IMPORT_THREADS_ON : MC_IMPORT_THREADS_OFF,
        .thread_begins = thread_begins,
        .thread_context = &allocation,
    };
    mc_import *import = NULL;
    mc_error error;
    if (!on_thread)
        fault_memory_fail_after(allocation, false);
    mc_status status = mc_import_open(db, &options, &import, &error);
    for (size_t at = 0; at < length && status == MC_OK; at += 5000)
        status = mc_import_push(import, bytes + at, length - at < 5000 ? length - at : 5000, &error);
    if (status == MC_OK)
        status = mc_import_finish(import, NULL, &error);
    const bool failed = fault_memory_has_failed();
    fault_memory_fail_after(-1, false);
    CHECK(!failed || on_thread || status == MC_OK || error.code == status);
    CHECK(status == MC_OK || import == NULL || error.message[0] != 0);
    mc_import_free(import);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    if (length < 2)
        return 0;
    const int64_t allocation = bytes[0] + (int64_t)(bytes[1] & 7) * 256;
    const bool on_thread = (bytes[1] & 64) != 0, deflates = (bytes[1] & 128) != 0;
    bytes += 2;
    length -= 2;
    // Longer input than fuzzers usually make, so that the second thread has to allocate memory.
    const size_t times = (bytes - 1)[0] & 32 ? 400 : 1;
    uLongf size = (uLongf)(length * times), packed_size = compressBound(size);
    uint8_t *const text = malloc(size + 1), *const packed = malloc(packed_size);
    for (size_t time = 0; time < times; time++)
        memcpy(text + time * length, bytes, length);
    CHECK(compress2(packed, &packed_size, text, size, 1) == Z_OK);

    const sqlite3_int64 in_use = sqlite3_memory_used();
    sqlite3 *db = NULL;
    CHECK(sqlite3_open(":memory:", &db) == SQLITE_OK && sqlite3_exec(db, schema, NULL, NULL, NULL) == SQLITE_OK);
    char *const before = content(db);
    if (import(db, deflates ? packed : text, deflates ? packed_size : size, allocation, on_thread) != MC_OK) {
        char *const after = content(db);
        CHECK(strcmp(before, after) == 0);
        sqlite3_free(after);
    }
    sqlite3_free(before);
    CHECK(sqlite3_close(db) == SQLITE_OK);
    CHECK(sqlite3_memory_used() == in_use);
    free(text);
    free(packed);
    return 0;
}
