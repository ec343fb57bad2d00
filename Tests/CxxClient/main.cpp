/// main.cpp: the core in C++: a pool, a table, an import, pages of rows, each freed by its owner.
///
/// usage: CxxClient DATABASE    a path that does not exist yet. It does the first half of what Tests/CClient does, and prints the same
/// lines. A test builds it against the files that `make install` has installed.
#include <MobileCore.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

namespace
{

/// Checks every status: a failure becomes an exception with the core's message.
void check(mc_status status, const mc_error &error)
{
    if (status != MC_OK)
        throw std::runtime_error(std::string(mc_status_name(status)) + ": " + error.message);
}

template <auto function> struct Free {
    template <typename Handle> void operator()(Handle *handle) const
    {
        function(handle);
    }
};
using Pool = std::unique_ptr<mc_pool, Free<mc_pool_free>>;
using Import = std::unique_ptr<mc_import, Free<mc_import_free>>;
using Page = std::unique_ptr<mc_row_page, Free<mc_row_page_free>>;
using Statement = std::unique_ptr<mc_statement, Free<mc_statement_return>>;

/// A connection that this thread holds until the end of the scope.
class Connection
{
  public:
    Connection(mc_pool *pool, bool writer, const char *label) : pool(pool)
    {
        mc_checkout checkout = mc_default_checkout();  // waits for the time in the pool's options
        checkout.writer = writer;
        checkout.label = label;
        check(mc_pool_checkout(pool, &checkout, &connection, &error), error);
    }
    Connection(const Connection &) = delete;
    Connection &operator=(const Connection &) = delete;
    ~Connection()
    {
        mc_pool_return(pool, connection);
    }

    void execute(const std::string &sql)
    {
        check(mc_connection_exec(connection, sql.data(), sql.size(), nullptr, &error), error);
    }

    Statement statement(const std::string &sql)
    {
        mc_statement *statement = nullptr;
        check(mc_statement_prepare(connection, sql.data(), sql.size(), &statement, &error), error);
        return Statement(statement);
    }

    sqlite3 *sqlite()
    {
        return mc_connection_sqlite(connection);
    }

  private:
    mc_pool *pool;
    mc_connection *connection = nullptr;
    mc_error error;
};

Pool open(const char *path)
{
    const mc_pool_options options = mc_pool_default_options();
    mc_pool *pool = nullptr;
    mc_error error;
    check(mc_pool_open(path, &options, &pool, &error), error);
    return Pool(pool);
}

void import_customers(mc_pool *pool)
{
    Connection writer(pool, true, "set up");
    writer.execute("CREATE TABLE customer(id INTEGER PRIMARY KEY, name TEXT NOT NULL, credit INTEGER)");
    mc_column columns[3] = {};
    columns[0].name = "id";
    columns[0].type = MC_COLUMN_INTEGER;
    columns[1].name = "name";
    columns[1].type = MC_COLUMN_TEXT;
    columns[2].name = "credit";
    columns[2].type = MC_COLUMN_DECIMAL;
    columns[2].precision = 9;
    columns[2].scale = 2;
    mc_import_table table = {};
    table.table = "customer";
    table.columns = columns;
    table.column_count = 3;
    table.mode = MC_IMPORT_UPSERT;
    mc_import_options options = mc_import_default_options();
    options.tables = &table;
    options.table_count = 1;

    mc_error error;
    mc_import *opened = nullptr;
    check(mc_import_open(writer.sqlite(), &options, &opened, &error), error);
    const Import import(opened);
    for (const std::string piece : {"[[1,\"Harbour Foods\",1250.00],[2,\"Caf\\u00e9 ", "Nord\",80.5],[3,\"M\xC3\xBCller\",nul", "l]]"})
        check(mc_import_push(import.get(), piece.data(), piece.size(), &error), error);
    mc_import_counts counts = {};
    check(mc_import_finish(import.get(), &counts, &error), error);
    std::printf("imported %lld rows\n", static_cast<long long>(counts.rows));
}

void page_through(mc_pool *pool)
{
    Connection reader(pool, false, "list");
    const Statement select = reader.statement("SELECT id, name, credit FROM customer ORDER BY id");
    mc_error error;
    mc_row_page *created = nullptr;
    check(mc_row_page_create(&created, &error), error);
    const Page page(created);
    for (bool at_end = false; !at_end;) {
        check(mc_row_page_fill(page.get(), select.get(), 2, 1 << 20, &at_end, &error), error);
        for (size_t row = 0; row < page->row_count; row++) {
            size_t length = 0;
            const char *const text = mc_row_page_text(page.get(), row, 1, &length);
            const mc_cell &credit = *mc_row_page_cell(page.get(), row, 2);
            std::printf("customer %lld: %s", static_cast<long long>(mc_row_page_cell(page.get(), row, 0)->value.integer),
                        std::string(text, length).c_str());
            if (credit.type != MC_TYPE_NULL)
                std::printf(", %lld.%02d", static_cast<long long>(credit.value.integer / 100),
                            static_cast<int>(credit.value.integer % 100));
            std::printf("\n");
        }
    }
}

}  // namespace

int main(int count, char **arguments)
{
    if (count != 2) {
        std::fprintf(stderr, "usage: CxxClient DATABASE\n");
        return 1;
    }
    try {
        const Pool pool = open(arguments[1]);
        import_customers(pool.get());
        page_through(pool.get());
        return 0;
    } catch (const std::exception &failure) {
        std::fprintf(stderr, "%s\n", failure.what());
        return 1;
    }
}
