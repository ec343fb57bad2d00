import BenchmarkReferences
import Foundation
import MobileSQLite
import MobileStore

/// A prepared statement in C that runs once per row: the reference of all imports; see `br_insert.h`.
final class CInsert {
    private var handle: OpaquePointer?
    private let sql: String

    init(_ path: String, pageSize: Int, cache: ByteCount, schema: String, _ sql: String) throws {
        var message = CMessage()
        self.sql = sql
        handle = br_insert_open(path, Int32(pageSize), Int64(cache.bytes), schema, sql, &message.characters, CMessage.size)
        if handle == nil { throw WrongResult("\(sql): \(message.text)") }
    }

    deinit { close() }

    func begin() throws { try check(br_insert_begin(handle)) }
    func commit() throws { try check(br_insert_commit(handle)) }
    func add(_ rows: (OpaquePointer) throws -> Bool) throws { try check(try rows(handle!)) }

    /// Runs one transaction.
    func run(_ rows: (OpaquePointer) throws -> Bool) throws {
        try begin()
        try add(rows)
        try commit()
    }

    func close() {
        br_insert_close(handle)
        handle = nil
    }

    private func check(_ done: Bool) throws {
        if !done { throw WrongResult("\(sql): refused") }
    }
}

/// A row of R30 in a program that uses only Foundation and SQLite.
struct FoundationItem: Decodable {
    let key, number, small: Int64
    let price, rate: Double
    let moment: String
    let flag: Bool
    let words3, words8, quoted, place, digest: String

    init(from decoder: any Decoder) throws {
        var row = try decoder.unkeyedContainer()
        key = try row.decode(Int64.self)
        number = try row.decode(Int64.self)
        small = try row.decode(Int64.self)
        price = try row.decode(Double.self)
        rate = try row.decode(Double.self)
        moment = try row.decode(String.self)
        flag = try row.decode(Bool.self)
        words3 = try row.decode(String.self)
        words8 = try row.decode(String.self)
        quoted = try row.decode(String.self)
        place = try row.decode(String.self)
        digest = try row.decode(String.self)
    }

    /// Decodes the rows and runs the statement for each.
    static func insert(_ json: UnsafeRawBufferPointer, by insert: OpaquePointer) throws -> Bool {
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        let items = try JSONDecoder().decode([FoundationItem].self, from: Data(json))
        let statement = br_insert_statement(insert)
        for item in items {
            sqlite3_bind_int64(statement, 1, item.key)
            sqlite3_bind_int64(statement, 2, item.number)
            sqlite3_bind_int64(statement, 3, item.small)
            sqlite3_bind_int64(statement, 4, Int64((item.price * 1e2).rounded()))
            sqlite3_bind_int64(statement, 5, Int64((item.rate * 1e6).rounded()))
            sqlite3_bind_text(statement, 6, item.moment, -1, transient)
            sqlite3_bind_int(statement, 7, item.flag ? 1 : 0)
            sqlite3_bind_text(statement, 8, item.words3, -1, transient)
            sqlite3_bind_text(statement, 9, item.words8, -1, transient)
            sqlite3_bind_text(statement, 10, item.quoted, -1, transient)
            sqlite3_bind_text(statement, 11, item.place, -1, transient)
            sqlite3_bind_text(statement, 12, item.digest, -1, transient)
            guard br_insert_step(insert) else { return false }
        }
        return true
    }
}
