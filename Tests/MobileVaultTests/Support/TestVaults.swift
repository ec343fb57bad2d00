import Foundation
import MobileCrypto
import MobileStore
import MobileVault
import TestSupport

/// A directory of vaults for one test, removed with its content. Its clocks move only when the test moves them, and its keys are cheap.
final class TestVaults: Sendable {
    private let temporary: TemporaryDirectory
    private let time = VirtualClock(start: .seconds(1_800_000_000)), uptime = VirtualClock()

    init() throws { temporary = try TemporaryDirectory() }

    var path: String { temporary.path }

    /// Makes the directory of the vaults, or that of a group of applications.
    func directory(group: String? = nil, timeout: Duration = .seconds(30)) -> VaultDirectory {
        let (time, uptime) = (time, uptime)
        return VaultDirectory(
            "\(path)/vaults", accessGroup: group, environment: VaultEnvironment(now: { time.date }, uptime: { uptime.now }),
            keyDerivation: PasswordVerifier.Parameters(n: 2, r: 1, p: 1), timeout: timeout)
    }

    func passDays(_ count: Double) { time.set(time.now + .days(count)) }
    func passSeconds(_ count: Int) { uptime.advance(by: .seconds(count)) }

    /// Makes an unlocked vault `crm` with password `good` and salt `salt`.
    func crm() throws -> DataVault {
        try DataVault.createVault("crm", password: "good", salt: "salt", in: directory())
    }

    /// Opens the same vault like another process, locked.
    func otherCRM() throws -> DataVault { try DataVault.getVault("crm", in: directory()) }

    /// Returns the files of the vaults, without that of the lock.
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

    /// Runs `body` while the directory is locked, as by another process.
    func whileLocked(_ body: () throws -> Void) throws {
        try change("\(path)/vaults/vaults.lock") { _ in try body() }
    }

    /// Reads all files in the directory.
    func contents() throws -> [String: Data] {
        var contents: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: "\(path)/vaults") {
            contents[name] = FileManager.default.contents(atPath: "\(path)/vaults/\(name)")
        }
        return contents
    }
}

/// Returns the error that `body` throws; nil when it throws none or one of another type.
func failure<R>(_ body: () throws -> R) -> DataVaultError? {
    do {
        _ = try body()
        return nil
    } catch { return error as? DataVaultError }
}
