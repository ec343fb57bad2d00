/// cw_import.c: the import of the core, and its comparison with the reference's.
#include "running/cw_import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "running/cw_cell.h"

// ---- The input
// --------------------------------------------------------------------------------------------------------

/// Appends a row as an object. Members whose value is null are left out, as the format allows.
static void add_object(cw_text *text, const cw_member *member, const char *source)
{
    cw_row row = {0};
    const char *separator = "";
    if (!cw_row_parse(source, &row) || row.count != member->column_count) {
        cw_add(text, "%s", source);
        cw_row_free(&row);
        return;
    }
    cw_add(text, "{");
    for (size_t column = row.count; column-- > 0;) {
        if (row.tokens[column].kind == CW_TOKEN_NULL)
            continue;
        cw_add(text, "%s\"%s\": ", separator, member->columns[column]);
        cw_add_bytes(text, row.tokens[column].raw, row.tokens[column].raw_length);
        separator = ",";
    }
    cw_add(text, "}");
    cw_row_free(&row);
}

/// Makes the JSON of one text of the input.
static void make_text(const cw_input *input, int number, bool is_object, cw_text *json)
{
    const bool objects = cw_number(input->line, "objects", 0) != 0;
    size_t open = CW_MEMBERS_MOST;
    cw_add(json, is_object ? "{" : "[");
    for (size_t index = 0; index < input->row_count; index++) {
        const cw_input_row *const row = &input->rows[index];
        const cw_member *const member = &input->members[row->member];
        if (row->input_text != number)
            continue;
        if (is_object && row->member != open)
            cw_add(json, "%s\"%s\":[", open == CW_MEMBERS_MOST ? "" : "],\n ", member->name);
        else if (open != CW_MEMBERS_MOST)
            cw_add(json, ", ");
        open = row->member;
        if (objects && index % 3 != 2)
            add_object(json, member, row->text);
        else
            cw_add(json, "%s", row->text);
    }
    if (is_object && open != CW_MEMBERS_MOST)
        cw_add(json, "]");
    cw_add(json, is_object ? "}" : "]");
}

/// Deflates a text in place.
static void deflate_text(cw_text *text)
{
    const uLong bound = compressBound((uLong)text->length);
    cw_text packed = {0};
    uLongf length = bound;
    Bytef *const bytes = cw_allocate(bound, 1);
    if (compress2(bytes, &length, (const Bytef *)cw_string(text), (uLong)text->length, 6) == Z_OK)
        cw_add_bytes(&packed, bytes, length);
    free(bytes);
    cw_text_free(text);
    *text = packed;
}

// ---- The import
// -------------------------------------------------------------------------------------------------------

typedef struct tables {
    mc_import_table tables[CW_MEMBERS_MOST];
    mc_column columns[CW_MEMBERS_MOST][CW_COLUMNS_MOST];
    const char *keys[CW_MEMBERS_MOST][CW_KEYS_MOST], *large[CW_MEMBERS_MOST][CW_KEYS_MOST];
    mc_import_assignment on_insert[CW_MEMBERS_MOST][CW_ASSIGNED_MOST], assigned[CW_MEMBERS_MOST][CW_ASSIGNED_MOST];
    mc_import_pending pending[CW_MEMBERS_MOST];
    bool has_large;
} tables;

static mc_column_type column_type(const char *name)
{
    static const struct {
        const char *name;
        mc_column_type type;
    } types[] = {
        {"any", MC_COLUMN_ANY},
        {"integer", MC_COLUMN_INTEGER},
        {"real", MC_COLUMN_REAL},
        {"boolean", MC_COLUMN_BOOLEAN},
        {"text", MC_COLUMN_TEXT},
        {"blob", MC_COLUMN_BLOB},
        {"largetext", MC_COLUMN_LARGE_TEXT},
        {"largeblob", MC_COLUMN_LARGE_BLOB},
    };
    for (size_t index = 0; index < sizeof types / sizeof types[0]; index++) {
        if (strcmp(types[index].name, name) == 0)
            return types[index].type;
    }
    return MC_COLUMN_ANY;
}

static void take_assigned(const cw_assigned *from, size_t count, mc_import_assignment *to)
{
    for (size_t index = 0; index < count; index++)
        to[index] =
            (mc_import_assignment){.column = from[index].column, .value = {.value.integer = from[index].value, .kind = MC_VALUE_INTEGER}};
}

static void make_tables(const cw_input *input, tables *made)
{
    for (size_t index = 0; index < input->member_count; index++) {
        const cw_member *const member = &input->members[index];
        const mc_import_mode mode = strcmp(member->mode, "delete") == 0 ? MC_IMPORT_DELETE
            : strcmp(member->mode, "insert") == 0                       ? MC_IMPORT_INSERT
                                                                        : MC_IMPORT_UPSERT;
        for (size_t column = 0; column < member->column_count; column++) {
            made->columns[index][column] = (mc_column){.name = member->columns[column], .type = column_type(member->types[column])};
            made->has_large = made->has_large || made->columns[index][column].type >= MC_COLUMN_LARGE_TEXT;
        }
        for (size_t key = 0; key < member->key_count; key++)
            made->keys[index][key] = member->keys[key];
        for (size_t large = 0; large < member->large_count; large++)
            made->large[index][large] = member->large[large];
        made->has_large = made->has_large || member->large_count > 0;
        take_assigned(member->on_insert, member->on_insert_count, made->on_insert[index]);
        take_assigned(member->assigned, member->assigned_count, made->assigned[index]);
        made->pending[index] =
            (mc_import_pending){.table = member->pending, .assignments = made->assigned[index], .assignment_count = member->assigned_count};
        made->tables[index] = (mc_import_table){.table = member->table,
                                                .member = member->name,
                                                .columns = made->columns[index],
                                                .column_count = member->column_count,
                                                .mode = mode,
                                                .keys = made->keys[index],
                                                .key_count = member->key_count,
                                                .on_insert = made->on_insert[index],
                                                .on_insert_count = mode == MC_IMPORT_DELETE ? 0 : member->on_insert_count,
                                                .pending = member->pending[0] != '\0' ? &made->pending[index] : NULL,
                                                .large = made->large[index],
                                                .large_count = mode == MC_IMPORT_DELETE ? member->large_count : 0};
    }
}

static int observed(void *context, const mc_row_batch *batch, const uint8_t *changes)
{
    for (size_t row = 0; row < batch->row_count; row++)
        cw_outcome_note(context, changes[row]);
    return 0;
}

static mc_status push(mc_import *import, const cw_text *json, size_t chunk, mc_error *error)
{
    mc_status status = MC_OK;
    for (size_t at = 0; at < json->length && status == MC_OK; at += chunk) {
        const size_t length = json->length - at < chunk ? json->length - at : chunk;
        // A copy of its own, so that reading after its end, or after the call, is noticed.
        char *const piece = cw_copy(json->bytes + at, length);
        status = mc_import_push(import, piece, length, error);
        free(piece);
    }
    return status;
}

static void import_on_core(cw_run *run, mc_connection *writer, const cw_input *input, cw_outcome *outcome)
{
    const bool is_object = input->member_count > 1 || cw_number(input->line, "object", 0) != 0;
    const int64_t chunk = cw_number(input->line, "chunk", 0);
    tables *const made = cw_allocate(1, sizeof *made);
    mc_error error = {0};
    mc_import *import = NULL;
    mc_import_counts counts = {0};
    make_tables(input, made);
    const mc_import_options options = {MC_OPTIONS(mc_import_options),
                                       .tables = made->tables,
                                       .table_count = input->member_count,
                                       .is_object = is_object,
                                       .connection = writer,
                                       .observer = cw_number(input->line, "observer", 0) != 0 ? observed : NULL,
                                       .context = outcome,
                                       .commit_rows = run->level == 0 ? cw_number(input->line, "commits", 0) : 0,
                                       .threads = cw_number(input->line, "thread", 0) != 0 ? MC_IMPORT_THREADS_ON : MC_IMPORT_THREADS_OFF};
    mc_status status = made->has_large ? mc_blob_prepare(writer, &error) : MC_OK;
    if (status == MC_OK)
        status = mc_import_open(mc_connection_sqlite(writer), &options, &import, &error);
    for (int number = 0; number < input->text_count && status == MC_OK; number++) {
        cw_text json = {0};
        make_text(input, number, is_object, &json);
        if (cw_number(input->line, "deflate", 0) != 0)
            deflate_text(&json);
        if (number > 0)
            status = mc_import_end_text(import, NULL, &error);
        if (status == MC_OK)
            status = push(import, &json, chunk > 0 ? (size_t)chunk : json.length, &error);
        cw_text_free(&json);
    }
    if (status == MC_OK && !input->is_cancelled)
        status = mc_import_finish(import, &counts, &error);
    if (import != NULL && (status != MC_OK || input->is_cancelled))
        counts = mc_import_progress_counts(import);
    mc_import_free(import);
    free(made);
    outcome->status = status;
    outcome->code = error.sqlite_code;
    outcome->row = status != MC_OK ? error.row : 0;
    outcome->rows = counts.rows;
    outcome->inserted = counts.inserted;
    outcome->updated = counts.updated;
    outcome->diverted = counts.diverted;
    outcome->deleted = counts.deleted;
    outcome->committed = counts.committed;
    (void)snprintf(outcome->message, sizeof outcome->message, "%s", status != MC_OK ? error.message : "");
}

// ---- The comparison
// ---------------------------------------------------------------------------------------------------

static const char *change_name(uint8_t change)
{
    static const char *const names[] = {"inserted", "updated", "deleted", "diverted", "ignored"};
    return change < sizeof names / sizeof names[0] ? names[change] : "not named";
}

static void compare(cw_run *run, const cw_input *input, const cw_outcome *core, const cw_outcome *reference)
{
    if (run->is_faulty && core->status != MC_OK && core->status != reference->status) {
        run->has_failed = true;
        return;
    }
    // Rows of a cancelled import may wait in the scanner, and are then refused by no one.
    if (input->is_cancelled && core->status == MC_OK)
        return;
    if (core->status != reference->status || (core->code != reference->code && core->code != 0))
        cw_fail(run, "status", "import: %s (%d), %s; the reference: %s (%d) at row %lld", mc_status_name(core->status), core->code,
                core->message, mc_status_name(reference->status), reference->code, (long long)reference->row);
    else if (core->row != reference->row)
        cw_fail(run, "row", "import: row %lld is refused instead of row %lld: %s", (long long)core->row, (long long)reference->row,
                core->message);
    if (cw_number(input->line, "observer", 0) != 0) {
        for (size_t row = 0; row < core->change_count && row < reference->change_count; row++) {
            if (core->changes[row] != reference->changes[row])
                cw_fail(run, "codes", "import: row %zu, %.80s, is reported as %s instead of %s", row + 1, input->rows[row].text,
                        change_name(core->changes[row]), change_name(reference->changes[row]));
        }
        if (core->status == MC_OK && core->change_count != reference->change_count)
            cw_fail(run, "codes", "import: %zu rows are reported instead of %zu", core->change_count, reference->change_count);
    }
    if (core->status != MC_OK || input->is_cancelled)
        return;
    if (core->rows != reference->rows || core->inserted != reference->inserted || core->updated != reference->updated
        || core->diverted != reference->diverted || core->deleted != reference->deleted)
        cw_fail(run, "counts",
                "import: rows %lld, inserted %lld, updated %lld, diverted %lld, deleted %lld instead of %lld, %lld, "
                "%lld, %lld, %lld",
                (long long)core->rows, (long long)core->inserted, (long long)core->updated, (long long)core->diverted,
                (long long)core->deleted, (long long)reference->rows, (long long)reference->inserted, (long long)reference->updated,
                (long long)reference->diverted, (long long)reference->deleted);
}

static void meet(cw_run *run, const cw_input *input, const cw_outcome *reference)
{
    static const struct {
        const char *setting;
        cw_feature feature;
    } settings[] = {{"observer", CW_OBSERVED_IMPORT}, {"deflate", CW_DEFLATED},   {"objects", CW_OBJECTS},
                    {"thread", CW_SECOND_THREAD},     {"chunk", CW_SMALL_CHUNKS}, {"commits", CW_COMMITS}};
    for (size_t index = 0; index < sizeof settings / sizeof settings[0]; index++) {
        if (cw_number(input->line, settings[index].setting, 0) != 0)
            cw_meet(run, settings[index].feature);
    }
    for (size_t index = 0; index < input->member_count; index++) {
        const cw_member *const member = &input->members[index];
        cw_meet(run, strcmp(member->mode, "delete") == 0 ? CW_DELETE : strcmp(member->mode, "insert") == 0 ? CW_INSERT : CW_UPSERT);
        if (member->pending[0] != '\0')
            cw_meet(run, CW_PENDING);
        if (member->on_insert_count > 0)
            cw_meet(run, CW_ON_INSERT);
    }
    if (input->member_count > 1)
        cw_meet(run, CW_MEMBERS);
    if (input->text_count > 1)
        cw_meet(run, CW_TEXTS);
    if (input->row_count > 4096)
        cw_meet(run, CW_BIG_IMPORT);
    if (input->is_cancelled)
        cw_meet(run, CW_CANCELLED_IMPORT);
    if (reference->status != MC_OK)
        cw_meet(run, CW_REFUSED_IMPORT);
}

/// Imports on the reference: all or nothing, or as far as the core has committed.
static void import_on_reference(cw_run *run, const cw_input *input, const cw_outcome *core, cw_outcome *reference)
{
    int64_t changes = 0;
    (void)cw_reference_exec(run, "SAVEPOINT i", strlen("SAVEPOINT i"), &changes);
    cw_reference_import(run, input, input->row_count, reference);
    const bool is_undone = reference->status != MC_OK || input->is_cancelled;
    if (is_undone)
        (void)cw_reference_exec(run, "ROLLBACK TO i", strlen("ROLLBACK TO i"), &changes);
    int code = cw_reference_exec(run, "RELEASE i", strlen("RELEASE i"), &changes);
    if (code != SQLITE_OK && !is_undone) {  // a foreign key that is checked at the end
        (void)cw_reference_exec(run, "ROLLBACK TO i; RELEASE i", strlen("ROLLBACK TO i; RELEASE i"), &changes);
        reference->status = (code & 0xFF) == SQLITE_CONSTRAINT ? MC_ERROR_CONSTRAINT : MC_ERROR_SQLITE;
        reference->code = code;
    }
    if (is_undone && core->committed > 0 && core->committed <= (int64_t)input->row_count) {
        cw_outcome part = {0};
        cw_reference_import(run, input, (size_t)core->committed, &part);
        free(part.changes);
    }
}

void cw_step_import(cw_run *run, size_t line)
{
    cw_input input;
    cw_outcome core = {0}, reference = {0};
    mc_connection *const writer = cw_writer(run);
    if (writer != NULL && cw_input_read(run, line, &input)) {
        import_on_core(run, writer, &input, &core);
        import_on_reference(run, &input, &core, &reference);
        compare(run, &input, &core, &reference);
        meet(run, &input, &reference);
        free(core.changes);
        free(reference.changes);
    }
    if (writer != NULL)
        cw_input_free(&input);
}
