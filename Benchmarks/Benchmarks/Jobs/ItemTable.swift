import MobileStore

/// The table for data set R30, with its original-state table: the form that the object layer makes for an object with these attributes.
enum ItemTable {
    /// The columns of the values of a row, in order. The first one is the surrogate key.
    static let columns = ["_sk", "number", "small", "price", "rate", "moment", "flag", "words3", "words8", "quoted", "place", "digest"]

    /// The columns as text for SQL.
    static var columnList: String { columns.map { "\"\($0)\"" }.joined(separator: ", ") }

    private static let values = """
        "number" INTEGER NOT NULL, "small" INTEGER NOT NULL, "price" INTEGER NOT NULL, "rate" INTEGER NOT NULL, "moment" TEXT NOT NULL,
        "flag" INTEGER NOT NULL, "words3" TEXT NOT NULL, "words8" TEXT NOT NULL, "quoted" TEXT NOT NULL, "place" TEXT NOT NULL,
        "digest" TEXT NOT NULL
        """
    private static let marks = """
        "_pc" INTEGER NOT NULL DEFAULT 0, "_rc" INTEGER NOT NULL DEFAULT 0, "_rp" INTEGER NOT NULL DEFAULT 0, "_rf" INTEGER NOT NULL DEFAULT 0,
        "_ra" INTEGER NOT NULL DEFAULT 0
        """

    static let schema = """
        CREATE TABLE "Item" ("_sk" INTEGER PRIMARY KEY, \(values), \(marks));
        CREATE TABLE "Item_os" ("_sk" INTEGER PRIMARY KEY, \(marks), "_sv" INTEGER NOT NULL DEFAULT 0, "_im" INTEGER NOT NULL DEFAULT 0,
            \(values.replacing(" NOT NULL", with: "")));
        """

    static let insert = #"INSERT INTO "Item" (\#(columnList)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"#

    /// The insertion of a row that may exist.
    static let upsert =
        #"\#(insert) ON CONFLICT ("_sk") DO UPDATE SET \#(columns.dropFirst().map { "\"\($0)\" = excluded.\"\($0)\"" }.joined(separator: ", "))"#

    /// Sets all values of a row by its key, with the parameters of ``insert``.
    static let update =
        #"UPDATE "Item" SET \#(columns.dropFirst().enumerated().map { "\"\($1)\" = ?\($0 + 2)" }.joined(separator: ", ")) WHERE "_sk" = ?1"#

    /// Reads the values of all rows in the order of their keys.
    static let select = #"SELECT \#(columnList) FROM "Item" ORDER BY "_sk""#

    /// The rules of the columns in the JSON.
    static let rules: [String: JSONColumnRule] = {
        let types: [JSONColumnType] = [
            .integer, .integer, .integer, .decimal(precision: 7, scale: 2), .decimal(precision: 7, scale: 6), .text, .boolean,
            .text, .text, .text, .text, .text,
        ]
        return Dictionary(uniqueKeysWithValues: zip(columns, types.map { JSONColumnRule($0, isNullable: false) }))
    }()
}
