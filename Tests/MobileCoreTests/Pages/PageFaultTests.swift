import FaultInjection
import Foundation
import MobileCore
import TestSupport
import Testing

/// Failures in a cursor: every allocation, every operation on the file.
@Suite(.serialized) struct PageFaultTests {
    private static let order = [Term("a", descending: true, nulls: MC_NULLS_LAST), Term("id")]

    /// The distance between failing allocations: all of them with `FAULT_STEP=1` in the environment, otherwise a sample.
    private let step = TestSetting.number("FAULT_STEP") ?? 97

    private func fill(_ connection: OpaquePointer, textBytes: Int = 100) throws {
        try exec(connection, "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b TEXT); CREATE INDEX t_a ON t(a)")
        try exec(
            connection,
            "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100) INSERT INTO t SELECT i, nullif(i % 5, 0), hex(randomblob(\(textBytes))) FROM n"
        )
    }

    /// Reads the pages from the start and back, with a saved position in between.
    private func load(_ connection: OpaquePointer) throws -> [String] {
        let cursor = try TestCursor(["id", "b"], from: "t", where: "b <> ?1", orderedBy: Self.order, values: ["none"])
        _ = try cursor.skip(connection, 3)
        let first = try cursor.page(connection, size: 50).rows
        try cursor.seek(cursor.position)
        return try first + cursor.rest(connection, size: 30) + cursor.page(connection, size: 20, backwards: true).rows
            + cursor.firstPage(connection, size: 60).rows
    }

    @Test("a cursor lets go of everything when an allocation fails", arguments: [true, false])
    func allocations(stays: Bool) throws {
        let lost = try leftOver { try failAllocations(stays: stays) }
        #expect(lost == 0)
    }

    private func failAllocations(stays: Bool) throws {
        let core = try CorePool { $0.statement_cache = 0 }
        try core.with(writer: true) { connection in
            try fill(connection)
            let expected = try load(connection)
            var failures = 0
            for allocation in stride(from: 0, to: 20_000, by: step) {
                fault_memory_fail_after(Int64(allocation), stays)
                let result = Result { try load(connection) }
                let failed = fault_memory_has_failed()
                fault_memory_fail_after(-1, false)
                switch result {
                case .success(let rows):
                    #expect(rows == expected, "allocation \(allocation)")
                case .failure(let error):
                    let error = try #require(error as? CoreError)
                    #expect(error.code == MC_ERROR_NO_MEMORY, "allocation \(allocation): \(error.message)")
                    failures += 1
                }
                guard failed else { break }
            }
            #expect(failures >= 3)
            #expect(try load(connection) == expected)
        }
    }

    @Test("a cursor tells what the file says, and reads on when it is well again", arguments: [4096, 1024, 65536])
    func files(pageSize: Int32) throws {
        let storage = try #require(fault_storage_create(nil))
        defer { fault_storage_free(storage) }
        let name = String(cString: fault_storage_name(storage))
        do {
            let core = try name.withCString { name in
                try CorePool { options in
                    options.vfs = name
                    options.page_size = pageSize
                    options.cache_bytes = Int64(pageSize) * 10
                }
            }
            try core.with(writer: true) { try fill($0, textBytes: Int(pageSize) / 8) }
            let expected = try core.with { try load($0) }
            var failures = 0
            for operation in 0..<5000 {
                fault_storage_fail_after(storage, Int64(operation), 10, false)  // SQLITE_IOERR
                let result = Result { try core.with { try load($0) } }
                let failed = fault_storage_has_failed(storage)
                fault_storage_fail_after(storage, -1, 0, false)
                switch result {
                case .success(let rows): #expect(rows == expected)
                case .failure(let error):
                    #expect((error as? CoreError)?.code == MC_ERROR_IO, "operation \(operation): \(error)")
                    failures += 1
                }
                guard failed else { break }
            }
            #expect(failures > 3)
            #expect(try core.with { try load($0) } == expected)
        }
    }

    @Test("the last page by key reads no more of the file than the first one", arguments: [1024, 4096])
    func reads(pageSize: Int32) throws {
        let storage = try #require(fault_storage_create(nil))
        defer { fault_storage_free(storage) }
        let name = String(cString: fault_storage_name(storage))
        let core = try name.withCString { name in
            try CorePool { options in
                options.vfs = name
                options.page_size = pageSize
                options.cache_bytes = Int64(pageSize) * 10
            }
        }
        try core.with(writer: true) { connection in
            try exec(connection, "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b TEXT)")
            try exec(
                connection,
                "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) INSERT INTO t SELECT i, i % 100, 'the text of row ' || i FROM n"
            )
            try exec(connection, "CREATE INDEX t_a ON t(a)")
            try exec(connection, "PRAGMA wal_checkpoint(TRUNCATE)")
        }
        for (order, most) in [([Term("id")], Int64(pageSize == 1024 ? 12 : 6)), ([Term("a"), Term("id")], 130)] {
            var counts: [Int64] = []
            for position in [order.count == 1 ? [10] : [0, 10], order.count == 1 ? [19_890] : [99, 1999 * 10]] {
                try core.with { connection in
                    try core.with { try exec($0, "SELECT count(b) FROM t") }  // empties the cache
                    let cursor = try TestCursor(["id", "b"], from: "t", where: nil, orderedBy: order)
                    try cursor.seek(position.map { integerValue(Int64($0)) })
                    fault_storage_clear_counts(storage)
                    _ = try cursor.page(connection, size: 100)
                    counts.append(fault_storage_counts(storage).reads)
                }
            }
            #expect(counts[1] <= counts[0] + 4 && counts[0] <= most, "\(order): \(counts)")
        }
    }

    private func integerValue(_ integer: Int64) -> mc_value {
        var value = mc_value()
        value.kind = UInt8(MC_VALUE_INTEGER.rawValue)
        value.value.integer = integer
        return value
    }
}
