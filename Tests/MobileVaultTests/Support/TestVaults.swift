import Foundation
import MobileCrypto
import MobileStore
import MobileVault
import TestSupport

/// A directory of vaults for one test, removed with everything in it, with clocks that only move when told. Keys cost next to nothing here.
final class TestVaults: Sendable {
    private let temporary: TemporaryDirectory
    private let time = VirtualClock(start: .seconds(1_800_000_000)), uptime = VirtualClock()

    init() throws { temporary = try TemporaryDirectory() }

    var path: String { temporary.path }

    /// The directory of the vaults; of a group of applications where one is named.
    func directory(group: String? = nil, timeout: Duration = .seconds(30)) -> VaultDirectory {
        let (time, uptime) = (time, uptime)
        return VaultDirectory(
            "\(path)/vaults", accessGroup: group, environment: VaultEnvironment(now: { time.date }, uptime: { uptime.now }),
            keyDerivation: PasswordVerifier.Parameters(n: 2, r: 1, p: 1), timeout: timeout)
    }

    func passDays(_ count: Double) { time.set(time.now + .days(count)) }
    func passSeconds(_ count: Int) { uptime.advance(by: .seconds(count)) }

    /// A vault called `crm` with password `good` and salt `salt`, unlocked.
    func crm() throws -> DataVault {
        try DataVault.createVault("crm", password: "good", salt: "salt", in: directory())
    }

    /// The same vault as another process would have it, locked.
    func otherCRM() throws -> DataVault { try DataVault.getVault("crm", in: directory()) }

    /// The files of the vaults, without that of the lock.
    func files() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: "\(path)/vaults").filter { $0.hasSuffix(".vault") }.map { "\(path)/vaults/\($0)" }
    }

    /// Changes the file of a vault behind its back.
    @discardableResult
    func change<R>(_ file: String, _ body: (Connection) throws -> R) throws -> R {
        let database = try Database(ConnectionProfile(path: file, journal: .unchanged, createsFile: false))
        let result = try database.write { try body($0) }
        try database.close()
        return result
    }

    /// Runs `body` while another process would have the directory for itself.
    func whileLocked(_ body: () throws -> Void) throws {
        try change("\(path)/vaults/vaults.lock") { _ in try body() }
    }

    /// What lies in the directory.
    func contents() throws -> [String: Data] {
        var contents: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: "\(path)/vaults") {
            contents[name] = FileManager.default.contents(atPath: "\(path)/vaults/\(name)")
        }
        return contents
    }
}

/// The error that `body` throws; nil where it throws none or another type's.
func failure<R>(_ body: () throws -> R) -> DataVaultError? {
    do {
        _ = try body()
        return nil
    } catch { return error as? DataVaultError }
}
