/// mc_import_open.c: opens an import.
#include <inttypes.h>
#include <string.h>

#include "base/mc_memory.h"
#include "base/mc_options.h"
#include "import/mc_import_internal.h"
#include "import/mc_import_sql.h"

static const int64_t INFLATED_BYTES_DEFAULT = INT64_C(64) << 30;
static const int64_t INFLATE_RATIO_DEFAULT = 400;

/// Copies the columns of a table for the scanner. For a null key SQLite would choose a key, so outside of a plain insert it is an error.
static void copy_columns(mc_column *columns, const mc_import_target *target, const mc_import_table *table)
{
    memcpy(columns, table->columns, table->column_count * sizeof *columns);
    for (size_t key = 0; key < target->key_count; key++)
        columns[target->key_columns[key]].required |= table->mode != MC_IMPORT_INSERT;
}

/// Makes a number beyond the largest double an error in columns that convert texts to numbers: it would become infinite.
static void refuse_infinity(mc_import *import, size_t member, const mc_import_table *table)
{
    for (size_t column = 0; column < table->column_count; column++) {
        if (table->columns[column].type == MC_COLUMN_ANY && mc_import_makes_numbers(import->db, table->table, table->columns[column].name))
            mc_rows_set_finite(import->rows, member, column);
    }
}

/// Makes the row scanner.
static mc_status open_rows(mc_import *import, const mc_import_options *options, mc_error *error)
{
    size_t count = 0;
    for (size_t index = 0; index < options->table_count; index++)
        count += options->tables[index].column_count;
    mc_column *const columns = mc_allocate_zeroed(count, sizeof *columns);
    mc_rows_member *const members = mc_allocate_zeroed(options->table_count, sizeof *members);
    mc_status status = MC_OK;
    if (columns == NULL || members == NULL) {
        status = mc_fail(error, MC_ERROR_NO_MEMORY, "import of \"%.80s\": no memory", mc_import_name(import));
        goto done;
    }
    mc_column *next = columns;
    for (size_t index = 0; index < options->table_count; index++) {
        const mc_import_table *const table = &options->tables[index];
        copy_columns(next, &import->targets[index], table);
        members[index] = (mc_rows_member){
            .name = table->member != NULL ? table->member : table->table,
            .columns = next,
            .column_count = table->column_count,
        };
        next += table->column_count;
    }
    const bool is_object = options->is_object || options->table_count > 1;
    const mc_rows_options rows = {
        MC_OPTIONS(mc_rows_options),
        .name = options->tables[0].table,
        .columns = columns,
        .column_count = options->tables[0].column_count,
        .members = is_object ? members : NULL,
        .member_count = options->table_count,
        .depth = options->depth,
        .row_bytes = options->row_bytes,
        .sink = mc_import_take_batch,
        .context = import,
    };
    status = mc_rows_open(&rows, &import->rows, error);
    for (size_t index = 0; index < options->table_count && status == MC_OK; index++)
        refuse_infinity(import, index, &options->tables[index]);

done:
    mc_free(columns);
    mc_free(members);
    return status;
}

static mc_status open_targets(mc_import *import, const mc_import_options *options, mc_error *error)
{
    mc_status status = MC_OK;
    for (size_t index = 0; index < options->table_count && status == MC_OK; index++) {
        import->target_count++;
        status = mc_import_target_open(&import->targets[index], import->db, &options->tables[index], options->connection, error);
    }
    return status;
}

/// Begins the savepoint, and prepares all statements.
static mc_status prepare(mc_import *import, const mc_import_options *options, mc_error *error)
{
    const bool commits = options->commit_rows > 0 || options->commit_bytes > 0;
    const int result = mc_import_savepoint_begin(&import->savepoint);
    if (result != SQLITE_OK)
        return mc_fail_sqlite(error, import->db, result, "import of \"%.80s\"", mc_import_name(import));
    mc_status status = mc_import_check_commits(import, error);
    for (size_t index = 0; index < options->table_count && status == MC_OK; index++)
        status = mc_import_target_prepare(&import->targets[index], &options->tables[index], !commits, error);
    return status;
}

mc_status mc_import_open(sqlite3 *db, const mc_import_options *options, mc_import **out, mc_error *error)
{
    *out = NULL;
    mc_status status = MC_OPTIONS_CHECK(mc_import_options, options, error);
    if (status != MC_OK)
        return status;
    if (options->table_count < 1 || options->commit_rows < 0 || options->commit_bytes < 0)
        return mc_fail(error, MC_ERROR_MISUSE, "import: it takes one table or more, and commits of 0 rows and bytes or more");
    mc_import *const import = mc_allocate_zeroed(1, sizeof *import);
    if (import == NULL)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "import of \"%.80s\": no memory", options->tables[0].table);
    import->db = db;
    import->savepoint.db = db;
    import->commit_rows = options->commit_rows;
    import->commit_bytes = options->commit_bytes;
    import->threads = options->threads;
    import->thread_begins = options->thread_begins;
    import->thread_context = options->thread_context;
    import->progress = options->progress;
    import->observer = options->observer;
    import->context = options->context;
    mc_inflater_init(&import->inflate, mc_import_take_text, import,
                     options->inflated_bytes > 0 ? options->inflated_bytes : INFLATED_BYTES_DEFAULT,
                     options->inflate_ratio > 0 ? options->inflate_ratio : INFLATE_RATIO_DEFAULT);
    import->targets = mc_allocate_zeroed(options->table_count, sizeof *import->targets);
    if (import->targets == NULL) {
        status = mc_fail(error, MC_ERROR_NO_MEMORY, "import of \"%.80s\": no memory", options->tables[0].table);
        goto done;
    }
    status = open_targets(import, options, error);
    if (status == MC_OK)
        status = open_rows(import, options, error);
    if (status == MC_OK)
        status = prepare(import, options, error);
    if (status == MC_OK)
        *out = import;

done:
    if (status != MC_OK)
        mc_import_free(import);
    return status;
}
