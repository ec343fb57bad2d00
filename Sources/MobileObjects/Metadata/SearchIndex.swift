import MobileStore

/// The index of the words of one object's searchable attributes: an FTS5 table that has the words, and not the text, which stays in the object's table.
///
///     row changes -> triggers note the key and the indexed text -> end of the transaction: index updated, notes deleted
///
/// **Triggers write to a table of notes, and not to the index.** Why: SQLite calls the index's savepoint before each statement that may be undone, and
/// FTS5 then writes what it has collected. 100,000 rows with 27 words each take 4.3 s so, and 1.6 s in one statement.
///
/// **An import into an empty table drops the triggers**, and makes the index of all rows at the end: triggers make SQLite collect the rows of each step.
struct SearchIndex: Sendable {
    /// The positions of the attributes in the index.
    let attributes: [Int]
    /// The table, not quoted; a condition names it as a column of itself.
    let name: String
    /// The statements that make the tables, without the triggers.
    let tableStatements: [String]
    let triggerStatements: [String]
    let dropTriggers: [String]
    let dropTables: [String]
    /// Whether something was noted.
    let hasNotes: String
    /// Take the noted rows out of the index, put those that exist into it, and delete the notes.
    let update: [String]
    /// Makes the index of all rows.
    let rebuild: [String]

    /// - Returns: nil where no attribute is searchable.
    init?(of object: String, _ attributes: [AttributeMetadata]) {
        let searchable = attributes.filter(\.isSearchable)
        guard !searchable.isEmpty else { return nil }
        self.attributes = searchable.map(\.index)
        name = "_search:\(object)"
        let table = EntitySQL.quote(object), index = EntitySQL.quote(name)
        let notes = EntitySQL.quote(name + ":notes"), rows = EntitySQL.quote(name + ":rows")
        let columns = searchable.map { EntitySQL.quote($0.name) }
        let words = searchable.indices.map { "\"c\($0)\"" }.joined(separator: ", ")
        let texts = columns.joined(separator: ", ")

        tableStatements = [
            // FTS5 reserves some names, such as "rank": its columns are numbered.
            """
            CREATE VIEW \(rows) AS SELECT "_sk" AS "key", \
            \(zip(columns, searchable.indices).map { "\($0) AS \"c\($1)\"" }.joined(separator: ", ")) FROM \(table)
            """,
            """
            CREATE VIRTUAL TABLE \(index) USING fts5(\(words), content=\(rows), content_rowid="key", tokenize="unicode61 remove_diacritics 2")
            """,
            // `indexed`: whether the index has the row, with these texts.
            "CREATE TABLE \(notes) (\"key\" INTEGER PRIMARY KEY, \"indexed\" INTEGER NOT NULL, \(words))",
        ]
        dropTables = ["DROP TABLE IF EXISTS \(index)", "DROP TABLE IF EXISTS \(notes)", "DROP VIEW IF EXISTS \(rows)"]

        // The first note of a row counts, because it has what the index has.
        func note(_ row: String, isIndexed: Bool) -> String {
            let noted = isIndexed ? columns.map { "\(row).\($0)" } : columns.map { _ in "NULL" }
            return """
                INSERT INTO \(notes) SELECT \(row)."_sk", \(isIndexed ? 1 : 0), \(noted.joined(separator: ", ")) \
                WHERE NOT EXISTS (SELECT 1 FROM \(notes) WHERE "key" = \(row)."_sk");
                """
        }
        let triggers = ["insert", "update", "delete"].map { EntitySQL.quote("_search:\(object):\($0)") }
        let differs = (["\"_sk\""] + columns).map { "old.\($0) IS NOT new.\($0)" }.joined(separator: " OR ")
        triggerStatements = [
            "CREATE TRIGGER \(triggers[0]) AFTER INSERT ON \(table) BEGIN \(note("new", isIndexed: false)) END",
            """
            CREATE TRIGGER \(triggers[1]) AFTER UPDATE OF "_sk", \(texts) ON \(table) WHEN \(differs) \
            BEGIN \(note("old", isIndexed: true)) \(note("new", isIndexed: false)) END
            """,
            "CREATE TRIGGER \(triggers[2]) AFTER DELETE ON \(table) BEGIN \(note("old", isIndexed: true)) END",
        ]
        dropTriggers = triggers.map { "DROP TRIGGER IF EXISTS \($0)" }

        hasNotes = "SELECT EXISTS (SELECT 1 FROM \(notes))"
        let forget = "DELETE FROM \(notes) WHERE TRUE"
        // FTS5 would otherwise write at the commit, whose changes are reported.
        let write = "SAVEPOINT \"search\"; RELEASE \"search\""
        update = [
            "INSERT INTO \(index) (\(index), rowid, \(words)) SELECT 'delete', \"key\", \(words) FROM \(notes) WHERE \"indexed\"",
            "INSERT INTO \(index) (rowid, \(words)) SELECT \"key\", \(words) FROM \(rows) WHERE \"key\" IN (SELECT \"key\" FROM \(notes))",
            forget, write,
        ]
        rebuild = ["INSERT INTO \(index) (\(index)) VALUES ('rebuild')", forget, write]
    }

    /// Returns the condition that a row with this key has the words of an expression.
    /// - Parameter place: the place where the expression is bound.
    func condition(key: String, place: String) -> String {
        let index = EntitySQL.quote(name)
        return "\(key) IN (SELECT rowid FROM \(index) WHERE \(index) MATCH \(place))"
    }

    /// Returns the join by which rows with the words of an expression are found in their order of relevance.
    func join(key: String, place: String, alias: String) -> String {
        let index = EntitySQL.quote(name)
        return " JOIN \(index) AS \(alias) ON \(alias).rowid = \(key) AND \(alias).\(index) MATCH \(place)"
    }
}
