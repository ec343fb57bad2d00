import MobileObjects
import MobileStore

/// A comparison of the objects on two devices: every attribute of every synchronized object, large values by their bytes.
struct DatabaseComparison {
    /// The number of rows compared.
    private(set) var rows = 0
    /// By object: the number of rows that only one of the two has in this form.
    private(set) var differences: [String: Int] = [:]

    init(_ metadata: PackageMetadata, _ one: String, _ other: String) throws {
        for entity in metadata.entities where !entity.isLocal {
            let left = try Self.fingerprints(of: entity, in: one), right = try Self.fingerprints(of: entity, in: other)
            rows += left.count
            let difference = left.symmetricDifference(right).count
            if difference > 0 || left.count != right.count { differences[entity.name] = difference }
        }
    }

    var isEqual: Bool { differences.isEmpty }

    /// One number per row, equal for equal rows; computed from the values in place.
    private static func fingerprints(of entity: EntityMetadata, in path: String) throws -> Set<UInt64> {
        func quoted(_ name: String) -> String { "\"" + name.replacing("\"", with: "\"\"") + "\"" }
        let columns = entity.attributes.map { quoted($0.name) }.joined(separator: ", ")
        let database = try Database(ConnectionProfile(path: path, createsFile: false))
        var result: Set<UInt64> = []
        var pages = try database.pages("SELECT \(columns) FROM \(quoted(entity.name))", size: 1000)
        while let page = try pages.next() {
            for row in page {
                var fingerprint = Fingerprint()
                for attribute in entity.attributes {
                    if attribute.isLarge, !row.isNull(attribute.index) {
                        try fingerprint.add(largeValue: row.integer(attribute.index), in: database)
                    } else {
                        fingerprint.add(row, attribute.index)
                    }
                }
                result.insert(fingerprint.value)
            }
        }
        try database.close()
        return result
    }
}

/// An FNV-1a hash over values in order.
struct Fingerprint {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    private mutating func mix(_ word: UInt64) { value = (value ^ word) &* 0x100_0000_01B3 }

    mutating func add(_ row: Row, _ column: Int) {
        switch row.type(column) {
        case .null: mix(0)
        case .integer:
            mix(1)
            mix(UInt64(bitPattern: row.integer(column)))
        case .real:
            mix(2)
            mix(row.real(column).bitPattern)
        case .text, .blob: row.withBytes(column) { add($0) }
        }
    }

    mutating func add(_ bytes: RawSpan) {
        mix(UInt64(bytes.byteCount))
        for offset in 0..<bytes.byteCount { mix(UInt64(bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self))) }
    }

    /// - Throws: `StoreError` if a chunk is missing.
    mutating func add(largeValue id: Int64, in database: Database) throws {
        let reader = try LargeValueReader(id, in: database)
        mix(UInt64(reader.byteCount))
        while true {
            let piece = reader.unit == .bytes ? try reader.bytes(upTo: 65536) : Array(try reader.text(upTo: 65536).utf8)
            guard !piece.isEmpty else { return }
            for byte in piece { mix(UInt64(byte)) }
        }
    }
}
