import Foundation

/// A file with some content that goes away with this object.
final class TemporaryFile {
    let path: String

    init(_ content: [UInt8]) throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("mobile-transport-\(UUID().uuidString)").path
        try Data(content).write(to: URL(fileURLWithPath: path))
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
