public import Foundation
internal import MobileExecution

/// A directory of one test. It is removed with its contents when the last reference to this object goes: at the end of the test, failed or
/// not. A directory that is still referenced when the process ends is removed then.
public final class TemporaryDirectory: Sendable {
    /// The directory, without a slash at its end.
    public let path: String

    /// Makes a directory.
    /// - Parameters:
    ///   - parent: the directory in which it is made; default the system's directory for temporary files.
    ///   - file: the source file that gives it its name, so that a directory left by a killed process names its test.
    public init(in parent: URL = FileManager.default.temporaryDirectory, file: String = #fileID) throws {
        let test = file.split(separator: "/").last?.prefix { $0 != "." } ?? "Test"
        path = parent.appending(path: "\(test)-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        HeldDirectories.insert(path)
    }

    deinit { HeldDirectories.remove(path) }

    /// The directory.
    public var url: URL { URL(filePath: path) }

    /// The path of a file in the directory.
    public func file(_ name: String) -> String { path + "/" + name }

    /// Writes a file into the directory.
    /// - Returns: its path.
    @discardableResult
    public func write(_ content: some Sequence<UInt8>, to name: String) throws -> String {
        try Data(content).write(to: URL(filePath: file(name)))
        return file(name)
    }
}

/// The existing directories, removed when the process ends.
private enum HeldDirectories {
    private static let paths = SystemLock<Set<String>>([])
    private static let isRegistered = atexit { HeldDirectories.removeAll() } == 0

    static func insert(_ path: String) {
        precondition(isRegistered, "no memory for a function that runs at the end of the process")
        _ = paths.withLock { $0.insert(path) }
    }

    static func remove(_ path: String) {
        try? FileManager.default.removeItem(atPath: path)
        _ = paths.withLock { $0.remove(path) }
    }

    /// Tries more than once, because other threads may be removing or writing the same files.
    private static func removeAll() {
        for path in paths.withLock({ $0 }) {
            for _ in 0..<10 where FileManager.default.fileExists(atPath: path) { remove(path) }
        }
    }
}
