internal import MobileModel
internal import MobileStore

extension SQLiteBackEndConnection {
    /// Finds the ordinary tables; others have no rows of their own, or belong to a virtual table.
    func foundTables(schemas: [String]) throws -> (tables: [FoundTable], omissions: [String]) {
        let found = try rows(
            """
            SELECT type, name FROM pragma_table_list WHERE schema = 'main' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
                AND name NOT IN (\(OwnTables.list)) ORDER BY name
            """, [])
        let names = Dictionary(grouping: found) { $0[0].text ?? "" }.mapValues { $0.compactMap { $0[1].text } }
        var omissions = (names["view"] ?? []).map { "view \"\($0)\": it has no primary key" }
        if let virtual = names["virtual"] {
            let shadows = names["shadow"]?.count ?? 0, list = virtual.map { "\"\($0)\"" }.joined(separator: ", ")
            omissions.append(
                "virtual table\(virtual.count == 1 ? "" : "s") \(list)" + (shadows > 0 ? " with \(shadows) tables of their content" : "")
                    + ": objects need ordinary tables")
        }
        return ((names["table"] ?? []).map { FoundTable(name: $0, sql: SQLText.quoted($0), id: .null) }, omissions)
    }

    func described(_ found: FoundTable) throws -> DescribedTable {
        var table = try described(found.name)
        table.leaveOutColumns(unreadable: [])
        try measure(&table)
        let isNull = table.primaryKey.map { SQLText.quoted($0) + " IS NULL" }.joined(separator: " OR ")
        table.hasRowsWithoutKey = try !isNull.isEmpty && !rows("SELECT 1 FROM \(table.sql) WHERE \(isNull) LIMIT 1", []).isEmpty
        return table
    }

    private func described(_ table: String) throws -> DescribedTable {
        let columns = try rows("SELECT name, type, \"notnull\", pk, hidden, dflt_value FROM pragma_table_xinfo(?1)", [.text(table)])
        let key = columns.filter { $0[3].integer ?? 0 > 0 }.sorted { $0[3].integer ?? 0 < $1[3].integer ?? 0 }
        // Such a column is another name of the rowid, which SQLite assigns. A descending one, and one of a table without rowid, has an index of its own.
        let hasIndex = try !rows("SELECT 1 FROM pragma_index_list(?1) WHERE origin = 'pk'", [.text(table)]).isEmpty
        let isRowID = key.count == 1 && key[0][1].text?.uppercased() == "INTEGER" && !hasIndex
        var described = DescribedTable(
            name: table, sql: SQLText.quoted(table),
            columns: columns.map { row in
                // In capital letters: PostgreSQL's types are in small ones.
                let type = row[1].text?.uppercased() ?? "", isKey = row[3].integer ?? 0 > 0
                return DescribedTable.Column(
                    name: row[0].text ?? "", declaredType: type, affinity: BackEndTable.Affinity(declaredType: type),
                    declaredAffinity: BackEndTable.Affinity(declaredType: type), isNullable: row[2].integer == 0 && !isKey,
                    isGenerated: isKey && isRowID || row[4].integer ?? 0 >= 2, defaultSQL: row[5].text)
            }, primaryKey: key.compactMap { $0[0].text }, references: try references(of: table))
        let sql = try rows("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?1", [.text(table)]).first?[0].text ?? ""
        let names = described.columns.map(\.name)
        described.checks = TableChecks(of: sql).conditions.map { condition in
            DescribedTable.Check(columns: TableChecks.columns(of: condition, among: names), sql: condition.sql)
        }
        described.comparesBytes = !TableChecks.tokens(of: sql).contains { !$0.isQuoted && $0.text.caseInsensitivelyEquals("COLLATE") }
        return described
    }

    /// The references with the names of the other tables and columns as these have them: a declaration may write them in other letters of case.
    private func references(of table: String) throws -> [DescribedTable.Reference] {
        let found = try rows(
            """
            SELECT f.id, coalesce(t.name, f."table"), f."from",
                coalesce((SELECT x.name FROM pragma_table_xinfo(f."table") AS x WHERE x.name = f."to" COLLATE NOCASE), f."to")
            FROM pragma_foreign_key_list(?1) AS f LEFT JOIN pragma_table_list AS t ON t.schema = 'main' AND t.name = f."table" COLLATE NOCASE
            ORDER BY f.id, f.seq
            """, [.text(table)])
        return Dictionary(grouping: found) { $0[0].integer ?? 0 }.sorted { $0.key < $1.key }.map { _, rows in
            DescribedTable.Reference(
                columns: rows.compactMap { $0[2].text }, table: rows[0][1].text ?? "", targets: rows.compactMap { $0[3].text })
        }
    }

    // MARK: Values

    /// Facts about the values of a column, which SQLite does not keep to its declared type.
    fileprivate struct Measure {
        var hasTexts = false, hasNumbers = false, hasFractions = false, hasOtherWords = false
        var whole: Int?, scale: Int?

        /// SQL for the values in a fixed order. `decimal` is the value as a decimal of any length.
        static func sql(_ column: String, decimal: String) -> String {
            let words = (ColumnExpression.trueWords + ColumnExpression.falseWords).map { "'\($0)'" }.joined(separator: ", ")
            // Only values that are numbers as a whole become decimals.
            let isNumber = "typeof(\(ExactNumber.real)(\(column))) = 'real'"
            return """
                max(typeof(\(ExactNumber.real)(\(column))) = 'text'), max(typeof(\(column)) IN ('integer', 'real')),
                max(typeof(\(ExactNumber.integer)(\(column))) = 'real'), max(typeof(\(column)) = 'text' AND lower(\(column)) NOT IN (\(words))),
                max(CASE WHEN \(isNumber) THEN instr(ltrim(\(decimal), '-') || '.', '.') - 1 - (ltrim(\(decimal), '-') GLOB '0*') END),
                max(CASE WHEN \(isNumber) THEN CASE instr(\(decimal), '.') WHEN 0 THEN 0 ELSE length(\(decimal)) - instr(\(decimal), '.') END END)
                """
        }

        init(_ values: ArraySlice<Value>) {
            let numbers = values.map { $0.integer }
            hasTexts = numbers[0] == 1
            hasNumbers = numbers[1] == 1
            hasFractions = numbers[2] == 1
            hasOtherWords = numbers[3] == 1
            (whole, scale) = (numbers[4].map(Int.init), numbers[5].map(Int.init))
        }

        static let valueCount = 6
    }

    /// Gives each column the type that its rows need.
    private func measure(_ table: inout DescribedTable) throws {
        try findTypes(of: &table)
        let typed = table.columns.indices.filter { table.columns[$0].affinity != .blob }
        for start in stride(from: 0, to: typed.count, by: 500) { try findBytes(Array(typed[start..<min(start + 500, typed.count)]), of: &table) }
        try measureTimes(of: &table)
        try measureNumbers(of: &table)
    }

    /// Columns without a declared type have the type of their values.
    private func findTypes(of table: inout DescribedTable) throws {
        for place in table.columns.indices where table.columns[place].declaredType.isEmpty {
            let name = SQLText.quoted(table.columns[place].name)
            let found = try rows("SELECT DISTINCT typeof(c) FROM (SELECT \(name) AS c FROM \(table.sql) LIMIT \(measuredRows))", [])
            var types = Set(found.compactMap { $0[0].text }).subtracting(["null"])
            if case .text? = table.columns[place].defaultSQL.flatMap(ColumnDefault.init) { types.insert("text") }
            if types == ["blob"] { continue }
            table.columns[place].affinity =
                types == ["integer"] ? .integer : types.isSubset(of: ["integer", "real"]) && !types.isEmpty ? .real : .text
            guard types.count > 1, !types.isSubset(of: ["integer", "real"]) else { continue }
            table.remarks.append(
                "table \"\(table.name)\", column \"\(table.columns[place].name)\" without a type: there are \(types.sorted().joined(separator: " and ")) values; the attribute is a string"
            )
        }
    }

    /// Columns of a type that SQLite does not know, such as GEOMETRY and POINT, are columns of bytes if they have nothing else.
    private func findBytes(_ places: [Int], of table: inout DescribedTable) throws {
        let names = places.enumerated().map { "\(SQLText.quoted(table.columns[$0.element].name)) AS c\($0.offset)" }
        let measures = places.indices.map { "coalesce(max(typeof(c\($0)) = 'blob'), 0), coalesce(max(typeof(c\($0)) NOT IN ('blob', 'null')), 0)" }
        let source = "SELECT \(names.joined(separator: ", ")) FROM \(table.sql) LIMIT \(measuredRows)"
        let found = try rows("SELECT \(measures.joined(separator: ", ")) FROM (\(source))", []).first ?? []
        for (index, place) in places.enumerated() where found.count > 2 * index + 1 && found[2 * index].integer == 1 {
            let name = "table \"\(table.name)\", column \"\(table.columns[place].name)\" of type \(table.columns[place].declaredType)"
            guard found[2 * index + 1].integer == 0, table.columns[place].hasOwnType else {
                table.remarks.append("\(name): there are bytes; their rows are held back, unless the attribute is a string and they are its text")
                continue
            }
            table.remarks.append("\(name): there are bytes; the attribute is one of bytes")
            (table.columns[place].affinity, table.columns[place].declaredType) = (.blob, "")
        }
    }

    /// Gives each column of numbers the type that its rows need.
    private func measureNumbers(of table: inout DescribedTable) throws {
        let places = table.columns.indices.filter { [.integer, .real, .numeric].contains(table.columns[$0].affinity) }
        // A statement of SQLite has at most 2000 columns.
        for start in stride(from: 0, to: places.count, by: 100) { try measure(Array(places[start..<min(start + 100, places.count)]), of: &table) }
    }

    private func measure(_ places: [Int], of table: inout DescribedTable) throws {
        let columns = places.map { SQLText.quoted(table.columns[$0].name) }
        // The 15 digits that each double keeps: further ones come from arithmetic.
        let inner = columns.indices.map { index in
            let column = columns[index]
            let digits = "CASE typeof(\(column)) WHEN 'real' THEN printf('%.15g', \(column)) ELSE \(column) END"
            return "\(column) AS v\(index), \(ExactNumber.decimal)(\(digits), 1000, 1000) AS d\(index)"
        }
        let measures = columns.indices.map { Measure.sql("v\($0)", decimal: "d\($0)") }.joined(separator: ", ")
        let found =
            try rows(
                "SELECT \(measures) FROM (SELECT \(inner.joined(separator: ", ")) FROM \(table.sql) LIMIT \(measuredRows))", []
            ).first ?? []
        for (index, place) in places.enumerated() where found.count >= (index + 1) * Measure.valueCount {
            let measure = Measure(found[(index * Measure.valueCount)..<((index + 1) * Measure.valueCount)])
            table.columns[place].take(measure, &table.remarks, table: table.name)
        }
    }
}

extension DescribedTable.Column {
    /// Takes the measure of the rows: a type that holds all of them.
    fileprivate mutating func take(_ measure: SQLiteBackEndConnection.Measure, _ remarks: inout [String], table: String) {
        let place = "table \"\(table)\", column \"\(name)\" of type \(declaredType)"
        if isBytesName {
            (affinity, declaredType) = (.blob, "")
        } else if isTextName || (affinity == .numeric && !isNumberName && !(measure.hasNumbers && !measure.hasTexts)) {
            (affinity, declaredType) = (.text, "")
        } else if isBooleanName {
            guard measure.hasOtherWords else { return }
            remarks.append("\(place): there are texts that are neither true nor false; the attribute is a string")
            (affinity, declaredType) = (.text, "")
        } else if affinity == .numeric, isTimeName {
            return
        } else if measure.hasTexts {
            remarks.append("\(place): there are texts that are not numbers; the attribute is a string")
            (affinity, declaredType) = (.text, "")
        } else if affinity == .integer, measure.hasFractions {
            remarks.append("\(place): there are numbers with a fraction, or beyond 64 bits; the attribute is a double")
            (affinity, declaredType) = (.real, "")
        } else if affinity == .numeric, let whole = measure.whole, let scale = measure.scale {
            digits = (whole, scale)
        }
    }

    /// The type of the attribute of a column that SQLite takes for one of numbers, and whose name says that it has dates or times.
    var timeType: AttributeType? {
        guard affinity == .numeric, !isBytesName, !isTextName, !isBooleanName else { return nil }
        let type = declaredType.uppercased()
        if type.contains("DATETIME") || type.contains("TIMESTAMP") { return .dateTime }
        return type.contains("DATE") ? .date : type.contains("TIME") ? .time : nil
    }

    /// Types whose values are not numbers to their owner; SQLite does not know them, and takes them for numbers.
    private var isTextName: Bool {
        affinity == .numeric
            && ["JSON", "UUID", "GUID", "UNIQUEIDENTIFIER", "INET", "CIDR", "MACADDR", "ENUM", "SET", "ANY", "XML", "STRING"].contains {
                declaredType.hasPrefix($0)
            }
    }

    /// Whether the type is one of an extension. SQLite takes POINT for an integer.
    fileprivate var hasOwnType: Bool {
        declaredType.hasSuffix("POINT") || affinity == .numeric && !isNumberName && !isTextName && !isBytesName
    }

    private var isBytesName: Bool { affinity == .numeric && ["BINARY", "VARBINARY", "BYTEA", "IMAGE"].contains { declaredType.hasPrefix($0) } }

    private var isNumberName: Bool {
        isBooleanName || isTimeName || ["NUM", "DEC", "MONEY", "CURRENCY", "FIXED"].contains { declaredType.contains($0) }
    }

    private var isBooleanName: Bool { declaredType.contains("BOOL") }

    private var isTimeName: Bool { ["DATE", "TIME"].contains { declaredType.contains($0) } }
}
