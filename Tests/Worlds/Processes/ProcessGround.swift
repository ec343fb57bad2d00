internal import Foundation
internal import MobileCrypto
internal import MobileExecution
internal import MobileServer
internal import PostgreSQLClient
internal import PostgreSQLTestSupport
internal import TestSupport

/// The parts that worlds with processes use one after the other: a server of PostgreSQL with its templates. Two worlds never use it at the same time, because a
/// world may kill it.
final class ProcessGround: Sendable {
    let postgreSQL: PostgreSQLServer
    let guardian: ProcessGuardian

    private static let idle = SystemLock<[ProcessGround]>([])

    private init() throws {
        (postgreSQL, guardian) = (try PostgreSQLServer(hasOwnIdentifier: true), try ProcessGuardian())
    }

    static func borrow() throws -> ProcessGround { try idle.withLock { $0.popLast() } ?? ProcessGround() }

    func giveBack() { Self.idle.withLock { $0.append(self) } }

    /// A new state with the users of worlds. Their passwords are checked fast.
    func newState() throws -> PostgreSQLTestDatabase {
        try PostgreSQLTestDatabase(copyOf: "state_of_worlds", on: postgreSQL) { database in
            var configuration = ServerConfiguration(cachePath: "", packages: [])
            configuration.storeAddress = database.address
            configuration.passwordParameters = .init(n: 16)
            let administration = try ServerAdministration(cacheOf: configuration)
            for user in 0..<2 { try administration.setPassword(ServerBench.password, ofUser: ServerBench.user(user)) }
            try administration.close()
        }
    }
}
