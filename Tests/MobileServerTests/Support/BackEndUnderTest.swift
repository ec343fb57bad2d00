import Foundation
import MobileModel
import MobileStore
import PostgreSQLClient
import PostgreSQLTestSupport
import Testing

@testable import MobileServer

/// The engines of back ends in tests.
enum BackEndKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case sqlite, postgreSQL

    var testDescription: String { rawValue }

    /// The engine of tests that do not choose one: SQLite, or PostgreSQL with `SERVER_BACKEND=postgresql` in the environment.
    static let underTest: BackEndKind = ProcessInfo.processInfo.environment["SERVER_BACKEND"] == "postgresql" ? .postgreSQL : .sqlite
}

/// A transaction of a test on a back end, independent of the server.
struct TestBackEnd {
    private let connection: any SQLConnection

    init(_ connection: any SQLConnection) { self.connection = connection }

    @discardableResult
    func execute(_ sql: String, _ values: [Value] = []) throws -> Int { try connection.execute(sql, values) }
    func rows(_ sql: String, _ values: [Value] = []) throws -> [[Value]] { try connection.rows(sql, values) }
    func first(_ sql: String, _ values: [Value] = []) throws -> [Value]? { try connection.first(sql, values) }
}

extension Trait where Self == ConditionTrait {
    /// A test about a back end in an SQLite file.
    static var backEndInFile: Self { .disabled(if: BackEndKind.underTest == .postgreSQL, "the back end is in PostgreSQL") }
}

extension SQLBackEnd {
    /// Opens an SQLite file without a server, as the back end of a model's objects.
    static func enterprise(_ path: String, for model: PackageModel) throws -> SQLBackEnd {
        let engine = try SQLiteEngine(name: "enterprise", path: path, timeout: .seconds(5))
        let backEnd = SQLBackEnd(name: "enterprise", engine: engine, isIdempotent: true, wholeValueLimit: 1 << 20)
        try backEnd.check(model.objects, of: model)
        return backEnd
    }
}

extension MobileServer {
    /// The engine of the first package's back end.
    func sqliteBackEnd(_ name: String) throws -> SQLiteEngine {
        let backEnd = try #require(packages[0].deployed.backEnds[name]?.system as? SQLBackEnd)
        return try #require(backEnd.engine as? SQLiteEngine)
    }
}

extension PostgreSQLTestDatabase {
    /// The address as a deployment names it.
    var address: String { "postgresql://postgres@/\(name)?host=\(server.folder)&port=\(server.port)" }

    /// Makes a database with tables.
    convenience init(tables: String) throws {
        try self.init()
        try connect().run(script: Self.functionsOfSQLite + tables)
    }

    /// Functions of SQLite that tests use in queries on back ends.
    private static let functionsOfSQLite = """
        CREATE FUNCTION joined(text, text) RETURNS text LANGUAGE sql AS $$ SELECT coalesce($1 || ',', '') || $2 $$;
        CREATE FUNCTION joined(text, bigint) RETURNS text LANGUAGE sql AS $$ SELECT coalesce($1 || ',', '') || $2 $$;
        CREATE AGGREGATE group_concat(text) (sfunc = joined, stype = text);
        CREATE AGGREGATE group_concat(bigint) (sfunc = joined, stype = text);
        CREATE FUNCTION typeof(text) RETURNS text LANGUAGE sql AS $$ SELECT 'text' $$;
        """
}
