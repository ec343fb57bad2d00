internal import Foundation
internal import MobileExecution
internal import MobileStore

/// Files of BLOB attributes whose values were replaced or removed. They are deleted after the commit, unless a value or a waiting change still names them: a
/// transaction that did not commit changes nothing, and an upload finds its file.
final class ReplacedFiles: Sendable {
    private struct File: Hashable {
        let source: Int
        let value: String
    }
    private let candidates = SystemLock<Set<File>>([])

    /// Notes the files of objects that are about to change.
    /// - Parameter objects: nil for all objects of the model.
    func note(_ objects: @autoclosure () throws -> [String]?, of source: Source, in connection: Connection) throws {
        let names = try BlobNames.read(source.id, in: connection).union(source.blobAttributes.keys)
        guard !names.isEmpty else { return }
        var values: [String] = []
        if let objects = try objects() {
            for object in Set(objects) {
                let attributes = try source.table.attributes(of: object, in: connection) ?? [:]
                values += attributes.filter { names.contains($0.key) }.values
            }
        } else {
            for name in names { values += try source.table.values(of: name, in: connection) }
        }
        // Only files of the folder: others belong to the application.
        let files = values.filter { !$0.isEmpty && !$0.contains("/") }.map { File(source: source.id, value: $0) }
        candidates.withLock { $0.formUnion(files) }
    }

    /// Deletes the noted files that nothing names any more.
    func delete(in database: RhomDatabase, _ sources: [Source]) {
        let files = candidates.withLock { files in
            defer { files = [] }
            return files
        }
        for file in files {
            guard let source = sources.first(where: { $0.id == file.source }) else { continue }
            let isUsed = try? database.read { connection in
                let names = try BlobNames.read(source.id, in: connection).union(source.blobAttributes.keys)
                if try names.contains(where: { try source.table.hasValue(file.value, of: $0, in: connection) }) { return true }
                return try connection.first(
                    "SELECT 1 FROM changed_values WHERE source_id = ?1 AND value = ?2 AND update_type <> 'delete'",
                    [Value(source.id), .text(file.value)]) != nil
            }
            if isUsed == false { try? FileManager.default.removeItem(atPath: database.blobFolder + file.value) }
        }
    }
}

extension ObjectTable {
    /// Returns the values of an attribute in all objects.
    fileprivate func values(of attribute: String, in connection: Connection) throws(StoreError) -> [String] {
        if let columns {
            guard columns.contains(attribute) else { return [] }
            return try connection.rows("SELECT \(attribute.quoted) FROM \(name.quoted) WHERE \(attribute.quoted) IS NOT NULL").compactMap(
                \.first?.text)
        }
        return try connection.rows("SELECT value FROM object_values WHERE source_id = ?1 AND attrib = ?2", [Value(sourceID), .text(attribute)])
            .compactMap(\.first?.text)
    }

    /// Whether an object has a value.
    fileprivate func hasValue(_ value: String, of attribute: String, in connection: Connection) throws(StoreError) -> Bool {
        if let columns {
            guard columns.contains(attribute) else { return false }
            return try connection.first("SELECT 1 FROM \(name.quoted) WHERE \(attribute.quoted) = ?1 LIMIT 1", [.text(value)]) != nil
        }
        return try connection.first(
            "SELECT 1 FROM object_values WHERE source_id = ?1 AND attrib = ?2 AND value = ?3 LIMIT 1",
            [Value(sourceID), .text(attribute), .text(value)])
            != nil
    }
}
