import Foundation
import MobileStore

/// A directory of its own for one test, removed with everything in it.
final class TemporaryDirectory: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("store-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String) -> String { path + "/" + name }

    /// A profile for `test.db` in this directory.
    func profile(_ change: (inout ConnectionProfile) -> Void = { _ in }) -> ConnectionProfile {
        var profile = ConnectionProfile(path: file("test.db"))
        change(&profile)
        return profile
    }
}
