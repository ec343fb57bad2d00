import PostgreSQLClient
import PostgreSQLTestSupport
import TestSupport

@testable import MobileServer

/// The place of a state on one engine.
final class StateBench {
    let configuration: ServerConfiguration
    private let folder: TemporaryDirectory
    private let database: PostgreSQLTestDatabase?

    init(_ engine: StateStoreTests.Engine) throws {
        folder = try TemporaryDirectory()
        database = engine == .postgreSQL ? try PostgreSQLTestDatabase() : nil
        var configuration = ServerConfiguration(cachePath: folder.file("state.db"))
        configuration.storeAddress = database?.configuration.address
        self.configuration = configuration
    }
}
