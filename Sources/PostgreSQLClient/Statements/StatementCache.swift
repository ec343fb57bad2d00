/// A statement that the server has prepared.
final class PreparedStatement {
    let name: String
    let parameterTypes: [UInt32]
    let columnNames: [String]
    let columnTypes: [UInt32]
    /// The format in which its results are requested: 1 for binary.
    let format: Int32

    init(name: String, description: ServerResult) {
        self.name = name
        parameterTypes = description.parameterTypes
        columnNames = description.columnNames
        columnTypes = description.columnTypes
        format = TypeID.format(of: columnTypes)
    }
}

/// The prepared statements of a session, by their SQL text. The least recently used ones go first.
struct StatementCache {
    private struct Entry {
        let statement: PreparedStatement
        var lastUse: UInt64
    }
    private let capacity: Int
    private var entries: [String: Entry] = [:]
    private var uses: UInt64 = 0
    private var lastNumber: UInt64 = 0

    /// The names of statements that left the cache, and that the server still knows.
    private(set) var dropped: [String] = []

    init(capacity: Int) { self.capacity = capacity }

    /// The number of statements.
    var count: Int { entries.count }

    /// Finds a statement, and notes its use.
    mutating func find(_ sql: String) -> PreparedStatement? {
        guard let place = entries.index(forKey: sql) else { return nil }
        uses += 1
        entries.values[place].lastUse = uses
        return entries.values[place].statement
    }

    /// A name that no statement of the session has had.
    mutating func newName() -> String {
        lastNumber += 1
        return "mobile_\(lastNumber)"
    }

    /// Keeps a statement.
    mutating func insert(_ statement: PreparedStatement, for sql: String) {
        forget(sql)
        while entries.count >= capacity, let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse }) { forget(oldest.key) }
        uses += 1
        entries[sql] = Entry(statement: statement, lastUse: uses)
    }

    /// Removes a statement, which the server no longer accepts or which is not needed.
    mutating func forget(_ sql: String) {
        if let entry = entries.removeValue(forKey: sql) { dropped.append(entry.statement.name) }
    }

    /// Removes all statements, and counts on the server to have none.
    mutating func forgetAll() {
        entries = [:]
        dropped = []
    }

    /// The server no longer knows these statements.
    mutating func released(_ names: some Collection<String>) { dropped.removeAll(where: names.contains) }
}
