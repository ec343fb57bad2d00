internal import MobileCrypto
internal import MobileStore

/// The values of an unlocked vault. Names are sealed like values, because a name can reveal as much as its value. A name is found by opening
/// all of them, about a microsecond each: a vault holds few, and a keyed digest would be one more secret to protect.
///
/// Vault, row, name and value are authenticated together: a value moved to another name, row or vault does not open.
struct VaultEntries {
    let connection: Connection
    let vault: String
    let key: SecretKey
    let random: @Sendable (Int) throws -> [UInt8]

    struct Entry {
        let id: Int64
        let name: String
        /// The byte of ``DataVault/DataType`` in the file.
        let type: UInt8
    }

    /// Reads all entries, in the order of their creation.
    func all() throws -> [Entry] {
        try connection.rows("SELECT id, name FROM entry ORDER BY id").map { row in
            guard let id = row[0].integer, let sealed = row[1].blob else { throw DataVaultError.damaged(vault, "an entry has no name") }
            let content = try open(sealed, Fields.join("name", Fields.bytes(of: vault), Fields.bytes(of: id)), "the name of entry \(id)")
            guard let type = content.first, let name = String(validating: content.dropFirst(), as: UTF8.self) else {
                throw DataVaultError.damaged(vault, "the name of entry \(id) is not text")
            }
            return Entry(id: id, name: name, type: type)
        }
    }

    /// Finds the entry of a name; nil if there is none.
    func find(_ name: String) throws -> Entry? {
        // Swift compares texts by canonical equivalence, which is also the rule for names.
        try all().first { $0.name == name }
    }

    func value(of entry: Entry) throws -> [UInt8] {
        guard let sealed = try connection.first("SELECT value FROM entry WHERE id = ?", [.integer(entry.id)])?.first?.blob else {
            throw DataVaultError.damaged(vault, "entry \(entry.id) has no value")
        }
        return try open(sealed, context(of: entry), "the value of entry \(entry.id)")
    }

    /// Stores a value under a name, in place of its present value.
    func set(_ name: String, type: UInt8, _ value: [UInt8]) throws {
        try write(Entry(id: try find(name)?.id ?? nextID(), name: name, type: type), value)
    }

    private func nextID() throws -> Int64 {
        try connection.number("SELECT coalesce(max(id), 0) + 1 FROM entry")
    }

    /// - Returns: whether there was an entry.
    func delete(_ name: String) throws -> Bool {
        guard let entry = try find(name) else { return false }
        return try connection.execute("DELETE FROM entry WHERE id = ?", [.integer(entry.id)]) == 1
    }

    /// Encrypts every name and every value again under another key.
    func reseal(under key: SecretKey) throws {
        let resealed = VaultEntries(connection: connection, vault: vault, key: key, random: random)
        for entry in try all() {
            var content = try value(of: entry)
            defer { content.cleanse() }
            try resealed.write(entry, content)
        }
    }

    private func write(_ entry: Entry, _ value: [UInt8]) throws {
        let nameContext = Fields.join("name", Fields.bytes(of: vault), Fields.bytes(of: entry.id))
        let name = try key.seal([entry.type] + Fields.bytes(of: entry.name), associatedData: nameContext, random: random)
        let value = try key.seal(value, associatedData: context(of: entry), random: random)
        try connection.execute(
            "INSERT OR REPLACE INTO entry (id, name, value) VALUES (?, ?, ?)", [.integer(entry.id), .blob(name), .blob(value)])
    }

    private func context(of entry: Entry) -> [UInt8] {
        Fields.join("value", Fields.bytes(of: vault), Fields.bytes(of: entry.id), Fields.bytes(of: entry.name), [entry.type])
    }

    private func open(_ sealed: [UInt8], _ context: [UInt8], _ what: String) throws -> [UInt8] {
        do { return try key.open(sealed, associatedData: context) } catch {
            guard error.code == .notAuthentic else { throw error }
            throw DataVaultError.damaged(vault, "\(what) was changed or is damaged", cause: error)
        }
    }
}
