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
        TestDefaults.apply(to: &profile)
        change(&profile)
        return profile
    }
}

/// `make soak` runs all tests of the store with other page and cache sizes than people have; see the same type of the core's tests.
enum TestDefaults {
    private static func number(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap { Int($0) } }
    /// `CORE_PAGE_SIZE` in the environment, in bytes.
    static let pageSize = number("CORE_PAGE_SIZE")
    /// `CORE_CACHE_PAGES` in the environment.
    static let cachePages = number("CORE_CACHE_PAGES")

    static var areUsual: Bool { pageSize == nil && cachePages == nil }

    static func apply(to profile: inout ConnectionProfile) {
        if let pageSize { profile.pageSize = pageSize }
        if let cachePages { profile.cacheSize = .bytes(cachePages * (pageSize ?? 4096)) }
    }
}
