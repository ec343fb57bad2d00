import Foundation
import MobileStore
import TestSupport

/// Makes bulk files as servers do.
enum BulkFiles {
    static let schema = [
        "CREATE TABLE client_info (client_id VARCHAR(255), session VARCHAR(255), token VARCHAR(255), token_sent INT, reset BIGINT, port VARCHAR(10), last_sync_success VARCHAR(100))",
        "CREATE TABLE object_values (source_id BIGINT, attrib VARCHAR(255), object VARCHAR(255), value VARCHAR)",
        "CREATE TABLE changed_values (source_id BIGINT, attrib VARCHAR(255), object VARCHAR(255), value VARCHAR, attrib_type VARCHAR(255), update_type VARCHAR(255), sent BIGINT)",
        "CREATE TABLE sources (source_id BIGINT PRIMARY KEY, name VARCHAR(255), token BIGINT, sync_priority BIGINT, partition VARCHAR, sync_type VARCHAR, metadata VARCHAR, source_attribs VARCHAR)",
        "CREATE UNIQUE INDEX by_src_object ON object_values (object, attrib, source_id)",
        "CREATE INDEX by_src_value ON object_values (attrib, source_id, value)",
    ]

    /// Makes the bytes of an archive.
    /// - Parameters:
    ///   - sources: names with types, numbered from 1.
    ///   - values: rows of `object_values`.
    ///   - extra: further statements.
    ///   - replacing: a text in the file, and another of the same length that takes its place.
    static func archive(
        _ directory: TemporaryDirectory, sources: [(String, String)], values: [(Int, String, String, String)] = [], extra: [String] = [],
        replacing: (old: String, new: String)? = nil
    ) throws -> [UInt8] {
        let path = directory.file("bulk-\(UUID().uuidString).data")
        let store = try Database(ConnectionProfile(path: path, journal: .unchanged))
        try store.write { connection in
            for statement in schema { try connection.execute(statement) }
            for (index, source) in sources.enumerated() {
                try connection.execute(
                    "INSERT INTO sources (source_id, name, sync_type, metadata) VALUES (?1, ?2, ?3, '{}')",
                    [Value(index + 1), .text(source.0), .text(source.1)])
            }
            for row in values {
                try connection.execute(
                    "INSERT INTO object_values (source_id, object, attrib, value) VALUES (?1, ?2, ?3, ?4)",
                    [Value(row.0), .text(row.1), .text(row.2), .text(row.3)])
            }
            for statement in extra { try connection.execute(statement) }
        }
        try store.close()
        var bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
        if let replacing { bytes.replace([UInt8](replacing.old.utf8), with: [UInt8](replacing.new.utf8)) }
        return try zip(bytes, name: "kim_1795000000.data")
    }

    static func zip(_ content: [UInt8], name: String) throws -> [UInt8] {
        let archive = Collected()
        let writer = try ZipWriter { archive.bytes += $0.withUnsafeBytes { Array($0) } }
        try writer.begin(name)
        try writer.push(content.span.bytes)
        try writer.end()
        try writer.finish()
        return archive.bytes
    }

    private final class Collected { var bytes: [UInt8] = [] }
}
