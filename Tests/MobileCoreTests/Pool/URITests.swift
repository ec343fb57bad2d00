import Foundation
import MobileCore
import TestSupport
import Testing

/// Databases whose path is a URI.
@Suite struct URITests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory(in: quickDirectory) }

    private func open(_ uri: String, _ change: (inout mc_pool_options) -> Void = { _ in }) throws -> CorePool {
        try CorePool(existing: uri.replacing("{dir}", with: directory.path)) {
            $0.uri = true
            change(&$0)
        }
    }

    private func make(_ file: String) throws {
        let core = try CorePool(existing: directory.file(file))
        try core.with(writer: true) { try exec($0, "CREATE TABLE t(a); INSERT INTO t VALUES (5)") }
        core.close()
    }

    private func settings(_ core: CorePool) -> mc_pool_settings {
        var settings = mc_pool_settings()
        mc_pool_get_settings(core.pool, &settings)
        return settings
    }

    @Test func `a path in a URI may have any character`() throws {
        try make("a b?ä#%.db")
        for uri in [
            "file:{dir}/a%20b%3f%C3%A4%23%.db", "file://{dir}/a b%3Fä%23%25.db#fragment?mode=ro", "file://localhost{dir}/a%20b%3fä%23%25.db?",
        ] {
            let core = try open(uri) { $0.creates_file = false }
            // A reader opens the same file.
            #expect(try core.integer("SELECT a FROM t") == 5, "\(uri)")
            core.close()
        }
    }

    @Test func `parameters set the options of their meaning`() throws {
        try make("core.db")
        for (query, isReadOnly) in [
            ("mode=ro", true), ("mode=rw", false), ("mode=rwc&cache=private", false), ("immutable=1&mode=ro", true),
            ("mode=ro&immutable=on&nolock=1", true), ("psow=0&vfs=unix&=&other", false), ("immutable=0", false),
        ] {
            let core = try open("file:{dir}/core.db?\(query)")
            #expect(settings(core).read_only == isReadOnly, "\(query)")
            #expect(try core.integer("SELECT a FROM t") == 5, "\(query)")
            core.close()
        }
        let missing = #expect(throws: CoreError.self) { _ = try open("file:{dir}/no.db?mode=rw") }
        #expect(missing?.code == MC_ERROR_NOT_FOUND)
        let made = try open("file:{dir}/no.db?mode=rwc")
        try made.with(writer: true) { try exec($0, "CREATE TABLE t(a)") }
        #expect(FileManager.default.fileExists(atPath: directory.file("no.db")))
    }

    @Test(
        "parameters that contradict options, or make no sense for a pool, are refused by name, and no file is made",
        arguments: [
            ("mode=rw", true, "mode=rw contradicts the option for reading only: leave one out"),
            ("mode=ro&mode=rw", false, "mode=rw contradicts the option for reading only: leave one out"),
            ("mode=memory&mode=rwc", false, "mode=rwc contradicts a database in memory: leave one out"),
            ("mode=rx", false, "mode=rx is not a mode: use ro, rw, rwc or memory"),
            ("mode=ro&immutable=1&immutable=0", false, "immutable=0 contradicts the option for files that do not change: leave one out"),
            ("immutable=maybe", false, "immutable=maybe is not a switch: use 1 or 0"),
            ("cache=shared", false, "cache=shared is not for files: the connections of a pool have caches of their own; leave it out"),
            ("cache=big", false, "cache=big is not a cache: use private, or shared for a database in memory"),
            ("nolock=1", false, "nolock=1 leaves the connections of a pool without locks: leave it out, or use immutable=1"),
            ("vfs=unix&vfs=memdb", false, "vfs=memdb contradicts the VFS or the storage layers of the options: leave one out"),
        ])
    func contradiction(query: String, isReadOnly: Bool, message: String) throws {
        let uri = "file:\(directory.path)/core.db?\(query)"
        let error = #expect(throws: CoreError.self) { _ = try open(uri) { $0.read_only = isReadOnly } }
        #expect(error?.code == MC_ERROR_MISUSE && error?.message == "open \"\(uri.prefix(80))\": \(message)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
    }

    @Test func `no file of another host, no zero byte, no path in place of a URI, and no file without being created`() throws {
        for (uri, message) in [
            ("file://server/core.db", "open \"file://server/core.db\": the host \"server\" is not this one; use file:/PATH"),
            ("file:/a%00b", "open \"file:/a%00b\": neither a path nor a parameter has a zero byte (%00)"),
            ("/core.db", "open \"/core.db\": a URI begins with \"file:\"; for a path, leave out the option for URIs"),
            ("file:?mode=ro", "database path \"\": name a file, or \":memory:\""),
        ] {
            let error = #expect(throws: CoreError.self) { _ = try open(uri) }
            #expect(error?.code == MC_ERROR_MISUSE && error?.message == message)
        }
        let created = #expect(throws: CoreError.self) { _ = try open("file:{dir}/core.db?mode=rwc") { $0.creates_file = false } }
        #expect(created?.message.hasSuffix("mode=rwc contradicts the option that no file is created: leave one out") == true)
    }

    @Test func `a URI in memory has the database of its name with a shared cache, and one of its own without`() throws {
        let name = UUID().uuidString
        let pools = try [
            "file:\(name)?mode=memory&cache=shared", "file:\(name)?mode=memory&cache=shared", "file:\(name)?mode=memory", "file::memory:",
        ]
        .map { try open($0) }
        for (pool, value) in [(pools[0], 1), (pools[2], 2), (pools[3], 3)] {
            try pool.with(writer: true) { try exec($0, "CREATE TABLE t(a); INSERT INTO t VALUES (\(value))") }
            #expect(settings(pool).in_memory)
        }
        #expect(try pools.map { try $0.integer("SELECT a FROM t") } == [1, 1, 2, 3])
    }

    @Test func `SQLite's own storage in memory has no log, and is refused as that`() throws {
        let error = #expect(throws: CoreError.self) { _ = try open("file:/\(UUID().uuidString)?vfs=memdb") }
        #expect(error?.code == MC_ERROR_SQLITE && error?.message.hasSuffix("cannot be switched to WAL: its storage has no shared memory") == true)
        let core = try open("file:/\(UUID().uuidString)?vfs=memdb") { $0.journal = MC_JOURNAL_UNCHANGED }
        try core.with(writer: true) { try exec($0, "CREATE TABLE t(a); INSERT INTO t VALUES (7)") }
        #expect(try core.integer("SELECT a FROM t") == 7)
    }

    @Test func `without the option a path is never a URI`() throws {
        let folder = FileManager.default.currentDirectoryPath
        let file = "file:\(UUID().uuidString)?mode=memory"
        defer { try? FileManager.default.removeItem(atPath: folder + "/" + file) }
        let core = try CorePool(existing: file)
        try core.with(writer: true) { try exec($0, "CREATE TABLE t(a)") }
        #expect(try core.integer("SELECT count(*) FROM t") == 0)
        core.close()
        #expect(FileManager.default.fileExists(atPath: folder + "/" + file))
    }

    @Test func `without memory a URI is not read`() throws {
        try make("core.db")
        let uri = "file:\(directory.path)/core%2edb?mode=rw&psow=1&vfs=unix&other=a%20b"
        try failEachAllocation { () throws(CoreError) in
            var options = mc_pool_default_options(), pool: OpaquePointer?
            options.uri = true
            try CoreError.check { mc_pool_open(uri, &options, &pool, $0) }
            mc_pool_free(pool)
            return []
        }
    }
}
