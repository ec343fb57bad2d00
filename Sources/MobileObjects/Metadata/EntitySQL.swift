import MobileStore

/// The SQL texts of one object's table and its original-state table. They are made once per model, with every identifier quoted.
///
/// Columns of both tables, in this order: `_sk`, `_pc`, `_rc`, `_rp`, `_rf`, `_ra`, the attributes, `_ref_...`.
/// The original-state table also has `_sv`, `_im`, `_sc`, `_ch` and `_fc`:
/// - `_sv`: 0 the server has no such row, 1 it has the row, 2 it deleted the row (``ServerVersion``);
/// - `_im`: 1 when an import brought a version since the last submit;
/// - `_sc`: the counter of the row from the time when it was not pending, restored when it is no longer pending;
/// - `_ch`: the values that were changed since the last submit (``ChangedValues``);
/// - `_fc`: the counter of the first change since the last submit. Trees are ordered by it (``SubmissionForest``).
/// Its state columns are copies of the row's, so that pending rows are found without reading the object's table. A pending delete
/// has them only here.
struct EntitySQL: Sendable {
    /// Position of the first attribute in a row that is selected with ``columns``.
    static let firstAttribute = 6
    /// The name of the first source of a query made at run time.
    static let root = "t0"
    /// The suffix of the original-state table's name.
    static let originalSuffix = "_os"

    let table: String
    let originalTable: String
    /// All columns of a row, for SELECT.
    let columns: String
    /// The same columns one by one.
    let selected: [String]
    /// The same columns of the first source of a query made at run time, one by one and as one text.
    let selectedOfRoot: [String]
    let columnsOfRoot: String
    /// Attributes and references, for copies between the two tables.
    let content: [String]
    let attributeColumns: [String]
    let referenceColumns: [String]
    let hasKey: Bool

    /// Rows of ``columns`` in the order of their surrogate keys: with a surrogate key, with a modelled key, after a surrogate key, and all.
    let byKey: PageSelect
    let byPrimaryKey: PageSelect
    let behindKey: PageSelect
    let all: PageSelect
    let selectState: String
    let selectOriginal: String
    let insert: String
    let keyExists: String
    /// The same for a row with another surrogate key, which is the last parameter.
    let keyExistsElsewhere: String
    let delete: String
    let setState: String
    let setOriginalState: String
    let keepOriginal: String
    /// The same for a row that has no change of its own, the counter ?8, and the marks ?6 of the last acceptance.
    let keepOriginalOfUnchanged: String
    let keepOwnValues: String
    let createOriginal: String
    let restoreRow: String
    let restoreDeleted: String
    let deleteOriginal: String

    private let updateMarks: String

    /// - Throws: `StoreError` for more columns than a table can have.
    init(table name: String, attributes: [AttributeMetadata], references: [String], primaryKey: [String]) throws {
        let table = Self.quote(name), original = Self.quote(name + Self.originalSuffix)
        let attributeColumns = attributes.map { Self.quote($0.name) }
        let referenceColumns = references.map { Self.quote("_ref_" + $0) }
        let content = attributeColumns + referenceColumns
        let state = #""_sk", "_pc", "_rc", "_rp", "_rf", "_ra""#
        let contentList = content.joined(separator: ", ")
        let all = content.isEmpty ? state : state + ", " + contentList
        let comma = content.isEmpty ? "" : ", " + contentList
        let keyTest = primaryKey.enumerated().map { "\(Self.quote($0.element)) = ?\($0.offset + 1)" }.joined(separator: " AND ")

        self.table = table
        originalTable = original
        columns = all
        let selected = [#""_sk""#, #""_pc""#, #""_rc""#, #""_rp""#, #""_rf""#, #""_ra""#] + content
        self.selected = selected
        selectedOfRoot = selected.map { "\(Self.root).\($0)" }
        columnsOfRoot = selectedOfRoot.joined(separator: ", ")
        self.content = content
        self.attributeColumns = attributeColumns
        self.referenceColumns = referenceColumns
        hasKey = !primaryKey.isEmpty
        func select(_ condition: String?) throws(StoreError) -> PageSelect {
            return try PageSelect(PageQuery(selected, from: table, where: condition, orderedBy: [.init(#""_sk""#)]))
        }
        byKey = try select(#""_sk" = ?1"#)
        // Rows that the server has come first, then pending updates, then creates; those that were refused come after the others.
        let serverFirst = #"("_pc" = 1) * 4 + ("_pc" = 2) * 2 + ("_rf" <> 0)"#
        byPrimaryKey = try PageSelect(
            PageQuery(selected, from: table, where: keyTest.isEmpty ? "0" : keyTest, orderedBy: [.init(serverFirst), .init(#""_sk""#)]))
        behindKey = try select(#""_sk" > ?1"#)
        self.all = try select(nil)
        selectState = #"SELECT "_pc", "_rc", "_rp", "_rf", "_ra" FROM \#(table) WHERE "_sk" = ?1"#
        selectOriginal = #"""
            SELECT "_pc", "_rc", "_rp", "_rf", "_ra", "_sv", "_im", "_sc", "_on", "_pa", "_fc" FROM \#(original) WHERE "_sk" = ?1
            """#
        let places = (1...6 + content.count).map { "?\($0)" }.joined(separator: ", ")
        insert = "INSERT INTO \(table) (\(all)) VALUES (\(places))"
        keyExists = #"SELECT "_sk" FROM \#(table) WHERE \#(keyTest.isEmpty ? "0" : keyTest) ORDER BY \#(serverFirst), "_sk" LIMIT 1"#
        keyExistsElsewhere = #"SELECT "_sk" FROM \#(table) WHERE \#(keyTest.isEmpty ? "0" : keyTest) AND "_sk" <> ?\#(primaryKey.count + 1) LIMIT 1"#
        delete = #"DELETE FROM \#(table) WHERE "_sk" = ?1"#
        let marks = #"SET "_pc" = ?2, "_rc" = ?3, "_rp" = ?4, "_rf" = ?5, "_ra" = ?6"#
        updateMarks = #"UPDATE \#(table) \#(marks)"#
        setState = updateMarks + #" WHERE "_sk" = ?1"#
        setOriginalState = #"UPDATE \#(original) \#(marks) WHERE "_sk" = ?1"#
        keepOriginal = #"""
            INSERT INTO \#(original) (\#(all), "_sv", "_im", "_sc", "_ch", "_fc")
            SELECT "_sk", ?2, ?3, ?4, ?5, ?6\#(comma), 1, 0, "_rc", ?7, ?3 FROM \#(table) WHERE "_sk" = ?1
            """#
        keepOriginalOfUnchanged = keepOriginal + #" AND "_rc" = ?8 AND "_ra" = ?6 AND "_pc" IN (0, 4) AND "_rp" = 0 AND "_rf" = 0"#
        keepOwnValues =
            content.isEmpty
            ? ""
            : #"UPDATE \#(original) SET (\#(contentList)) = (SELECT \#(contentList) FROM \#(table) AS r WHERE r."_sk" = ?1) WHERE "_sk" = ?1"#
        createOriginal = #"INSERT INTO \#(original) (\#(state), "_sv", "_im", "_sc", "_ch", "_fc") VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0, 0, 0, '*', ?3)"#
        restoreRow =
            content.isEmpty
            ? ""
            : #"UPDATE \#(table) SET (\#(contentList)) = (SELECT \#(contentList) FROM \#(original) AS o WHERE o."_sk" = ?1) WHERE "_sk" = ?1"#
        restoreDeleted = #"""
            INSERT INTO \#(table) (\#(all)) SELECT "_sk", 0, "_sc", 0, 0, ?2\#(comma) FROM \#(original) WHERE "_sk" = ?1
            """#
        deleteOriginal = #"DELETE FROM \#(original) WHERE "_sk" = ?1"#
    }

    /// Returns the statement that writes the values at these positions (attributes, then references), from parameter ?7 on, with the marks
    /// of their row.
    func update(_ positions: some Sequence<Int>) -> String {
        var sql = updateMarks, parameter = 7
        for position in positions {
            sql += ", "
            sql += content[position]
            sql += " = ?"
            sql += String(parameter)
            parameter += 1
        }
        sql += #" WHERE "_sk" = ?1"#
        return sql
    }

    /// Returns keys as the text of a list, for `json_each`.
    static func list(_ keys: some Sequence<Int64>) -> String { "[\(keys.map { String($0) }.joined(separator: ","))]" }

    /// Returns a quoted identifier.
    static func quote(_ name: String) -> String { "\"" + name.replacing("\"", with: "\"\"") + "\"" }

    /// Returns a name of the model as a text literal, where SQL takes no parameters or one condition serves all of them.
    static func literal(_ name: String) -> String { "'" + name.replacing("'", with: "''") + "'" }
}
