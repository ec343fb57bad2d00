/// A program that takes customers from a service whose messages do not have the form of its table: it reads a message as a tree of jansson,
/// changes the tree, and imports what is left of it.
#include <MobileCore.h>
#include <inttypes.h>
#include <jansson.h>
#include <mc_message_tree.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// A message of the service. The city is in an object of its own, members that most customers have are sent once, and closed accounts are
/// sent, too.
static const char message[] =
    "{\"defaults\":{\"country\":\"IE\",\"credit\":0},\"customers\":["
    "{\"id\":1,\"name\":\"Harbour Foods\",\"address\":{\"city\":\"Cork\",\"zip\":\"T12\"},\"credit\":9007199254740993},"
    "{\"id\":2,\"name\":\"Quay Books\",\"address\":{\"city\":\"Dublin\"},\"closed\":true},"
    "{\"id\":3,\"name\":\"M\xC3\xBCller\",\"country\":\"DE\"}]}";
/// The same with an error.
static const char damaged[] = "{\"defaults\":{},\"customers\":[{\"id\":1,\"name\":\"Harbour Foods\",}]}";

/// Prints a failure and returns whether there was one.
static bool failed(const char *what, mc_status status, const mc_error *error)
{
    if (status != MC_OK)
        printf("%s: %s: %s\n", what, mc_status_name(status), error->message);
    return status != MC_OK;
}

/// Brings the object of a customer into the form of a row. The row is independent of the message.
static bool make_row(json_t *customer, json_t *defaults)
{
    json_t *const city = json_object_get(json_object_get(customer, "address"), "city");
    return json_object_set_new(customer, "city", city != NULL ? json_incref(city) : json_null()) == 0
        && json_object_update_missing(customer, defaults) == 0 && (city == NULL || json_object_del(customer, "address") == 0);
}

/// The rows of the customers whose accounts are open, as JSON text, which the caller frees; NULL without memory.
static char *make_rows(json_t *root)
{
    json_t *const rows = json_array(), *const defaults = json_object_get(root, "defaults");
    json_t *customer = NULL;
    size_t index = 0;
    bool has_memory = rows != NULL;
    json_array_foreach(json_object_get(root, "customers"), index, customer)
    {
        if (json_is_true(json_object_get(customer, "closed")))
            continue;
        has_memory = has_memory && make_row(customer, defaults) && json_array_append(rows, customer) == 0;
    }
    char *const text = has_memory ? json_dumps(rows, JSON_COMPACT) : NULL;
    json_decref(rows);
    return text;
}

static mc_status import_rows(mc_connection *writer, const char *rows, mc_error *error)
{
    const mc_column columns[] = {
        {.name = "id", .type = MC_COLUMN_INTEGER},     {.name = "name", .type = MC_COLUMN_TEXT},
        {.name = "city", .type = MC_COLUMN_TEXT},      {.name = "country", .type = MC_COLUMN_TEXT},
        {.name = "credit", .type = MC_COLUMN_INTEGER},
    };
    const mc_import_table table = {.table = "customer", .columns = columns, .column_count = 5, .mode = MC_IMPORT_UPSERT};
    const mc_import_options options = {MC_OPTIONS(mc_import_options), .tables = &table, .table_count = 1};
    mc_import *import = NULL;
    mc_import_counts counts = {0};
    mc_status status = mc_import_open(mc_connection_sqlite(writer), &options, &import, error);
    if (status == MC_OK)
        status = mc_import_push(import, rows, strlen(rows), error);
    if (status == MC_OK)
        status = mc_import_finish(import, &counts, error);
    mc_import_free(import);
    if (status == MC_OK)
        printf("imported %" PRId64 " rows\n", counts.rows);
    return status;
}

/// Reads a message, and imports what belongs into the table. A damaged one changes nothing.
static mc_status take_message(mc_connection *writer, const char *text, mc_error *error)
{
    json_t *root = NULL;
    mc_status status = mc_message_read_tree(text, strlen(text), NULL, &root, error);
    if (status != MC_OK)
        return status;
    char *const rows = make_rows(root);
    json_decref(root);
    if (rows == NULL) {
        *error = (mc_error){.code = MC_ERROR_NO_MEMORY, .byte_offset = -1, .message = "no memory for the rows"};
        return MC_ERROR_NO_MEMORY;
    }
    status = import_rows(writer, rows, error);
    free(rows);
    return status;
}

static mc_status list(mc_connection *connection, mc_error *error)
{
    static const char sql[] =
        "SELECT id || ': ' || name || ', ' || coalesce(city, '-') || ', ' || country || ', ' || credit FROM customer ORDER BY id";
    mc_statement *select = NULL;
    bool has_row = true;
    mc_status status = mc_statement_prepare(connection, sql, sizeof sql - 1, &select, error);
    while (status == MC_OK && has_row) {
        size_t length = 0;
        status = mc_statement_step(select, &has_row, error);
        if (status == MC_OK && has_row) {
            const char *const line = mc_statement_column_text(select, 0, &length);
            printf("customer %.*s\n", (int)length, line);
        }
    }
    mc_statement_return(select);
    return status;
}

int main(int count, char **arguments)
{
    static const char schema[] = "CREATE TABLE customer(id INTEGER PRIMARY KEY, name TEXT, city TEXT, country TEXT, credit INTEGER)";
    const mc_pool_options options = mc_pool_default_options();
    const mc_checkout checkout = {MC_OPTIONS(mc_checkout), .writer = true, .label = "customers"};
    mc_error error;
    mc_pool *pool = NULL;
    mc_connection *writer = NULL;
    if (failed("open", mc_pool_open(count > 1 ? arguments[1] : ":memory:", &options, &pool, &error), &error))
        return 1;
    mc_status status = mc_pool_checkout(pool, &checkout, &writer, &error);
    if (status == MC_OK) {
        status = mc_connection_exec(writer, schema, sizeof schema - 1, NULL, &error);
        if (status == MC_OK)
            status = take_message(writer, message, &error);
        if (status == MC_OK && take_message(writer, damaged, &error) != MC_OK)
            printf("refused: %s\n", error.message);
        if (status == MC_OK)
            status = list(writer, &error);
        mc_pool_return(pool, writer);
    }
    const bool is_bad = failed("customers", status, &error);
    mc_pool_free(pool);
    return is_bad ? 1 : 0;
}
