/// The tables of the sample's back end.
enum SampleSchema {
    static let tables = """
        CREATE TABLE customer (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 80),
            contact TEXT,
            street TEXT NOT NULL,
            city TEXT NOT NULL,
            region TEXT NOT NULL CHECK (region IN ('NORTH', 'EAST', 'SOUTH', 'WEST')),
            phone TEXT,
            email TEXT,
            credit_limit NUMERIC(12, 2) NOT NULL DEFAULT 0 CHECK (credit_limit >= 0),
            discount REAL CHECK (discount BETWEEN 0 AND 1),
            active INTEGER NOT NULL DEFAULT 1 CHECK (active IN (0, 1)),
            since TEXT NOT NULL,
            last_change TEXT,
            notes TEXT
        );
        CREATE TABLE product (
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL,
            price NUMERIC(10, 2) NOT NULL CHECK (price >= 0),
            category TEXT NOT NULL,
            picture BLOB,
            description TEXT
        );
        CREATE TABLE sales_order (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            customer_id INTEGER NOT NULL REFERENCES customer (id),
            order_date TEXT NOT NULL,
            status TEXT NOT NULL DEFAULT 'NEW' CHECK (status IN ('NEW', 'CONFIRMED', 'SHIPPED', 'PAID')),
            total NUMERIC(12, 2) NOT NULL DEFAULT 0 CHECK (total >= 0),
            comment TEXT
        );
        CREATE TABLE sales_order_line (
            order_id INTEGER NOT NULL REFERENCES sales_order (id),
            line INTEGER NOT NULL CHECK (line >= 1),
            product_id INTEGER NOT NULL REFERENCES product (id),
            quantity INTEGER NOT NULL DEFAULT 1 CHECK (quantity > 0),
            price NUMERIC(10, 2) NOT NULL CHECK (price >= 0),
            PRIMARY KEY (order_id, line)
        );
        """

    /// Created last: filling an index in its own order is faster than updating it with each row.
    static let indexes = """
        CREATE INDEX customer_region ON customer (region);
        CREATE INDEX sales_order_customer ON sales_order (customer_id);
        CREATE INDEX sales_order_line_product ON sales_order_line (product_id);
        """

    /// Temporary tables of words, numbered from 0, for the statements that create rows.
    static var words: String {
        SampleRows.lists.map { name, words in
            let rows = words.enumerated().map { "(\($0.offset), '\($0.element.split(separator: "'").joined(separator: "''"))')" }
            return "CREATE TEMP TABLE \(name) (number INTEGER PRIMARY KEY, word TEXT NOT NULL);"
                + "INSERT INTO \(name) VALUES \(rows.joined(separator: ", "));"
        }.joined()
    }
}
