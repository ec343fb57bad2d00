public import MobileModel
internal import MobileStore

/// The back end of the store: a package of three objects, and an SQLite file with its rows.
public enum StoreBackEnd {
    /// The name of the back end in the package.
    public static let name = "store"

    /// Returns the package.
    /// - Throws: `ModelError`, which the tests exclude.
    public static func package() throws -> PackageModel {
        try PackageModel(json: String(decoding: PackageResources.store_mbo_json, as: UTF8.self))
    }

    /// Creates the database in a new file: 3 customers, 2 orders, and products. Its constraints refuse a price below zero.
    /// - Parameter products: the number of products; default 6. The first ones have the texts of the tutorial.
    /// - Throws: `StoreError` if the file cannot be written, or has these tables.
    public static func create(at path: String, products: Int = 6) throws {
        let database = try Database(ConnectionProfile(path: path, journal: .unchanged))
        try database.write(label: "store") { connection in
            for statement in tables { try connection.execute(statement) }
            for (index, customer) in customers.enumerated() {
                try connection.execute(
                    "INSERT INTO customer (id, first, last, city) VALUES (?1, ?2, ?3, ?4)",
                    [Value(index + 1), .text(customer.first), .text(customer.last), .text(customer.city)])
            }
            let insert = try connection.statement("INSERT INTO product (id, name, brand, price, quantity, sku) VALUES (?1, ?2, ?3, ?4, ?5, ?6)")
            for index in 0..<products {
                let sample = texts[index % texts.count], name = index < texts.count ? sample.name : "\(sample.name) \(index + 1)"
                try insert.run([
                    Value(index + 1), .text(name), .text(sample.brand), .integer(sample.price), Value(index * 7 % 40), .text("S-\(1000 + index)"),
                ])
            }
            try connection.execute("INSERT INTO orders (customer, product, quantity) VALUES (1, 1, 2), (2, 3, 1)")
        }
        try database.close()
    }

    private static let tables = [
        "CREATE TABLE customer (id INTEGER PRIMARY KEY AUTOINCREMENT, first TEXT NOT NULL, last TEXT NOT NULL, city TEXT, email TEXT)",
        """
        CREATE TABLE product (
            id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, brand TEXT NOT NULL, price NUMERIC(10, 2) NOT NULL CHECK (price >= 0),
            quantity INTEGER NOT NULL DEFAULT 0, sku TEXT)
        """,
        """
        CREATE TABLE orders (
            id INTEGER PRIMARY KEY AUTOINCREMENT, customer INTEGER NOT NULL REFERENCES customer (id), product INTEGER NOT NULL REFERENCES product (id),
            quantity INTEGER NOT NULL DEFAULT 1)
        """,
    ]

    private static let customers = [("Ada", "Byrne", "Dublin"), ("Liam", "Doyle", "Cork"), ("Nora", "Walsh", "Galway")].map {
        (first: $0.0, last: $0.1, city: $0.2)
    }

    private static let texts = [
        ("Saw", "Northwood", 12), ("Axe", "Northwood", 31), ("Lamp", "Harbour", 45), ("Rope", "Harbour", 8), ("Anvil", "Castle", 210),
        ("Bucket", "Castle", 6),
    ].map { (name: $0.0, brand: $0.1, price: Int64($0.2)) }
}
