internal import MobileCrypto
import MobileStore

/// The content of a submitted operation, as far as its digest covers it.
struct OperationContent {
    /// The values of the record in the outbox, in this order: the columns in ``columns``, then `original` and `follows` if the object refuses conflicts.
    let values: [Value]
    /// The large values that are sent with it: attribute, and id in the store; nil for NULL.
    let largeValues: [(attribute: String, id: Int64?)]

    static let columns: [OutboxColumn] = [.entity, .key, .change, .operation, .batch, .attributes, .primaryKey, .references, .parameters]
}

/// The digest of an operation's content: SHA-256, as 64 hexadecimal digits.
///
/// **It is made when the operation is submitted, stored with its record, and never made again.** Why: the server compares the digests of all arrivals of
/// one id. An upgrade of the model rewrites the record, and the operation must still be the same.
enum OperationDigest {
    /// The number of bytes of a large value that take part, in addition to its length. A submit does not read a value of any length, because other
    /// writers wait for it.
    static let largestPart = 65_536

    /// - Parameter store: the database, whose transaction runs on this thread.
    /// - Throws: ``ObjectError/Code/store`` where libcrypto fails, and the errors of the store.
    static func make(of content: OperationContent, in store: Database) throws -> String {
        let large = try content.largeValues.sorted { $0.attribute < $1.attribute }.map { value -> JSONValue in
            .array([.string(value.attribute)] + (try value.id.map { try part(of: $0, in: store) } ?? [.null]))
        }
        let values = content.values.map { value -> JSONValue in value.integer.map { .integer($0) } ?? .string(value.text ?? "") }
        return try digest(JSONValue.array(values + [.array(large)]).bytes)
    }

    /// Returns the length of a large value, and the digest of its beginning.
    private static func part(of id: Int64, in store: Database) throws -> [JSONValue] {
        let reader: LargeValueReader
        do { reader = try LargeValueReader(id, in: store) } catch let error where error.code == .notFound {
            // The next synchronization settles it as rejected.
            return [.boolean(false)]
        }
        return [.integer(reader.byteCount), .string(try digest(reader.bytes(upTo: largestPart)))]
    }

    private static func digest(_ bytes: [UInt8]) throws -> String {
        do { return try SHA256.digest(of: bytes).hexadecimal } catch {
            throw ObjectError(.store, "the digest of an operation cannot be made: \(error)", cause: error)
        }
    }
}

extension Connection {
    /// Makes the digests of operations that an earlier release submitted.
    /// - Parameter store: the database of this connection.
    func makeMissingDigests(in store: Database) throws {
        for id in try keys("SELECT \"id\" FROM \"_outbox\" WHERE \"digest\" = '' ORDER BY \"id\"") {
            guard let row = try storedRow(OperationContent.columns, "WHERE \"id\" = ?1", [.integer(id)]) else { continue }
            let large = try storedRows([OutboxLargeValueColumn.attribute, .value], "WHERE \"operation\" = ?1", [.integer(id)])
            let content = OperationContent(
                values: try OperationContent.columns.map { try row.value($0) },
                largeValues: try large.map { (try $0.text(.attribute), try $0.optionalInteger(.value)) })
            try execute(
                "UPDATE \"_outbox\" SET \"digest\" = ?2 WHERE \"id\" = ?1", [.integer(id), .text(try OperationDigest.make(of: content, in: store))])
        }
    }
}
