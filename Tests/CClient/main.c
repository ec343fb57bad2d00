/// main.c: a program that uses the core only: a pool, a table, an import, pages of rows, a large value, an export.
///
/// usage: CClient DATABASE    a path that does not exist yet. Prints each step, line by line; the exit status is 1 when a step failed.
/// A test runs it, so the program and the headers agree.
#include <MobileCore.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/// Reports a failure and returns whether the caller must give up. Every function of the core fills the record completely when it fails.
static bool failed(const char *what, mc_status status, const mc_error *error)
{
    if (status == MC_OK)
        return false;
    fprintf(stderr, "%s: %s: %s\n", what, mc_status_name(status), error->message);
    return true;
}

/// Takes the writer or a reader, waiting for it as long as the pool's options say.
static mc_status take(mc_pool *pool, bool writer, const char *label, mc_connection **out, mc_error *error)
{
    const mc_checkout checkout = {MC_OPTIONS(mc_checkout), .writer = writer, .label = label};
    return mc_pool_checkout(pool, &checkout, out, error);
}

static mc_status make_tables(mc_connection *writer, mc_error *error)
{
    static const char schema[] = "CREATE TABLE customer(id INTEGER PRIMARY KEY, name TEXT NOT NULL, credit INTEGER, picture INTEGER)";
    const mc_status status = mc_connection_exec(writer, schema, sizeof schema - 1, NULL, error);
    return status == MC_OK ? mc_blob_prepare(writer, error) : status;
}

/// Imports rows from JSON arrays, in pieces cut anywhere. A failure leaves the table unchanged.
static mc_status import_customers(mc_connection *writer, mc_error *error)
{
    static const char *const pieces[] = {"[[1,\"Harbour Foods\",1250.00],[2,\"Caf\\u00e9 ", "Nord\",80.5],[3,\"M\xC3\xBCller\",nul", "l]]"};
    const mc_column columns[] = {
        {.name = "id", .type = MC_COLUMN_INTEGER},
        {.name = "name", .type = MC_COLUMN_TEXT},
        {.name = "credit", .type = MC_COLUMN_DECIMAL, .precision = 9, .scale = 2},  // stored as hundredths
    };
    const mc_import_table table = {.table = "customer", .columns = columns, .column_count = 3, .mode = MC_IMPORT_UPSERT};
    const mc_import_options options = {MC_OPTIONS(mc_import_options), .tables = &table, .table_count = 1};
    mc_import *import = NULL;
    mc_import_counts counts = {0};
    mc_status status = mc_import_open(mc_connection_sqlite(writer), &options, &import, error);
    for (size_t index = 0; index < sizeof pieces / sizeof pieces[0] && status == MC_OK; index++)
        status = mc_import_push(import, pieces[index], strlen(pieces[index]), error);
    if (status == MC_OK)
        status = mc_import_finish(import, &counts, error);
    mc_import_free(import);
    if (status == MC_OK)
        printf("imported %" PRId64 " rows\n", counts.rows);
    return status;
}

static mc_status write_picture(mc_pool *pool, mc_error *error)
{
    static const uint8_t piece[1000] = {0x89, 'P', 'N', 'G'};
    const mc_blob_writer_options options = {MC_OPTIONS(mc_blob_writer_options), .unit = MC_BLOB_BYTES};
    mc_blob_writer *blob = NULL;
    mc_connection *writer = NULL;
    mc_statement *update = NULL;
    int64_t value = 0;
    static const char sql[] = "UPDATE customer SET picture = ? WHERE id = 1";
    mc_status status = mc_blob_writer_open(pool, &options, &blob, error);
    for (int index = 0; index < 2000 && status == MC_OK; index++)
        status = mc_blob_writer_write(blob, piece, sizeof piece, error);
    if (status == MC_OK)
        status = mc_blob_writer_finish(blob, &value, error);
    mc_blob_writer_free(blob);
    if (status != MC_OK)
        return status;

    // No row refers to the value yet: it is pinned until one does.
    status = take(pool, true, "picture", &writer, error);
    if (status == MC_OK) {
        status = mc_statement_prepare(writer, sql, sizeof sql - 1, &update, error);
        if (status == MC_OK)
            status = mc_statement_bind_integer(update, 1, value, error);
        if (status == MC_OK)
            status = mc_statement_run(update, NULL, error);
        mc_statement_return(update);
        mc_pool_return(pool, writer);
    }
    mc_blob_unpin(pool, value);
    return status;
}

static mc_status read_picture(mc_pool *pool, int64_t value, mc_error *error)
{
    mc_blob_reader *reader = NULL;
    uint8_t bytes[4] = {0};
    size_t length = 0;
    mc_status status = mc_blob_reader_open(pool, value, NULL, &reader, error);
    if (status == MC_OK)
        status = mc_blob_reader_seek(reader, 1999000, error);
    if (status == MC_OK)
        status = mc_blob_reader_read(reader, bytes, sizeof bytes, &length, error);
    if (status == MC_OK)
        printf("picture of %" PRId64 " bytes, at 1999000: %.3s\n", mc_blob_reader_description(reader).bytes, (const char *)bytes + 1);
    mc_blob_reader_free(reader);
    return status;
}

/// Pages through the rows two at a time, and finds the value that the first one refers to.
static mc_status page_through(mc_pool *pool, int64_t *picture, mc_error *error)
{
    static const char sql[] = "SELECT id, name, credit, picture FROM customer ORDER BY id";
    mc_connection *reader = NULL;
    mc_statement *select = NULL;
    mc_row_page *page = NULL;
    bool at_end = false;
    mc_status status = take(pool, false, "list", &reader, error);
    if (status != MC_OK)
        return status;
    status = mc_statement_prepare(reader, sql, sizeof sql - 1, &select, error);
    if (status == MC_OK)
        status = mc_row_page_create(&page, error);
    while (status == MC_OK && !at_end) {
        status = mc_row_page_fill(page, select, 2, 1 << 20, &at_end, error);
        for (size_t row = 0; status == MC_OK && row < page->row_count; row++) {
            const mc_cell *const credit = mc_row_page_cell(page, row, 2), *const value = mc_row_page_cell(page, row, 3);
            size_t length = 0;
            const char *const name = mc_row_page_text(page, row, 1, &length);
            printf("customer %" PRId64 ": %.*s", mc_row_page_cell(page, row, 0)->value.integer, (int)length, name);
            if (credit->type != MC_TYPE_NULL)
                printf(", %" PRId64 ".%02d", credit->value.integer / 100, (int)(credit->value.integer % 100));
            printf("\n");
            if (value->type == MC_TYPE_INTEGER)
                *picture = value->value.integer;
        }
    }
    mc_row_page_free(page);
    mc_statement_return(select);
    mc_pool_return(pool, reader);
    return status;
}

static mc_status export_customers(mc_pool *pool, mc_error *error)
{
    static const char sql[] = "SELECT id, name, credit FROM customer ORDER BY id";
    const mc_column columns[] = {
        {.name = "id"}, {.name = "name"}, {.name = "credit", .type = MC_COLUMN_DECIMAL, .precision = 9, .scale = 2}};
    const mc_export_options options = {MC_OPTIONS(mc_export_options), .columns = columns, .column_count = 3, .format = MC_EXPORT_OBJECTS};
    mc_connection *reader = NULL;
    mc_statement *select = NULL;
    mc_export *rows = NULL;
    char piece[64];
    size_t length = 1;
    mc_status status = take(pool, false, "export", &reader, error);
    if (status != MC_OK)
        return status;
    status = mc_statement_prepare(reader, sql, sizeof sql - 1, &select, error);
    if (status == MC_OK)
        status = mc_export_open(mc_statement_sqlite(select), &options, &rows, error);
    while (status == MC_OK && length > 0) {
        status = mc_export_read(rows, piece, sizeof piece, &length, error);
        if (status == MC_OK)
            (void)fwrite(piece, 1, length, stdout);
    }
    printf("\n");
    mc_export_free(rows);
    mc_statement_return(select);
    mc_pool_return(pool, reader);
    return status;
}

int main(int count, char **arguments)
{
    const mc_pool_options options = mc_pool_default_options();
    mc_error error;
    mc_pool *pool = NULL;
    mc_connection *writer = NULL;
    int64_t picture = 0;
    if (count != 2) {
        fprintf(stderr, "usage: CClient DATABASE\n");
        return 1;
    }
    // Of use to programs with several threads. First of all: SQLite takes it before its first use only.
    mc_status status = mc_disable_memory_count(&error);
    if (status == MC_OK)
        status = mc_pool_open(arguments[1], &options, &pool, &error);
    if (failed("open", status, &error))
        return 1;
    status = take(pool, true, "set up", &writer, &error);
    if (status == MC_OK) {
        status = make_tables(writer, &error);
        if (status == MC_OK)
            status = import_customers(writer, &error);
        mc_pool_return(pool, writer);
    }
    bool is_bad = failed("set up", status, &error);
    if (!is_bad)
        is_bad = failed("write a picture", write_picture(pool, &error), &error);
    if (!is_bad)
        is_bad = failed("list", page_through(pool, &picture, &error), &error);
    if (!is_bad)
        is_bad = failed("read the picture", read_picture(pool, picture, &error), &error);
    if (!is_bad)
        is_bad = failed("export", export_customers(pool, &error), &error);
    mc_pool_free(pool);
    return is_bad ? 1 : 0;
}
