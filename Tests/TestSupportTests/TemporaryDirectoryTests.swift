import Foundation
import TestSupport
import Testing

/// The directories of tests, all of which are removed.
@Suite struct TemporaryDirectoryTests {
    private struct Failure: Error {}

    private func isThere(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    @Test func `a directory is there while somebody holds it, named after its test, and goes with everything in it`() throws {
        var directory: TemporaryDirectory? = try TemporaryDirectory()
        let path = try #require(directory?.path)
        let file = try #require(try directory?.write([1, 2, 3], to: "file"))
        #expect(path.split(separator: "/").last?.hasPrefix("TemporaryDirectoryTests-") == true)
        #expect(file == path + "/file" && FileManager.default.contents(atPath: file) == Data([1, 2, 3]))
        directory = nil
        #expect(!isThere(path))
    }

    @Test func `two directories of a test are two, in the directory that it names`() throws {
        let outer = try TemporaryDirectory()
        let inner = [try TemporaryDirectory(in: outer.url), try TemporaryDirectory(in: outer.url)]
        #expect(inner[0].path != inner[1].path && inner.allSatisfy { $0.path.hasPrefix(outer.path + "/") && isThere($0.path) })
    }

    @Test func `the directory of a test that throws goes as well`() {
        var path = ""
        func fail() throws {
            let directory = try TemporaryDirectory()
            path = directory.path
            throw Failure()
        }
        #expect(throws: Failure.self) { try fail() }
        #expect(!path.isEmpty && !isThere(path))
    }

    @Test func `a directory that is held when the process ends goes with the process`() async throws {
        let ended = try await #require(processExitsWith: .success, observing: [\.standardOutputContent]) {
            let directory = try TemporaryDirectory()
            try directory.write([1], to: "file")
            _ = Unmanaged.passRetained(directory)
            print("\n\(directory.path)")
            exit(EXIT_SUCCESS)
        }
        let output = String(decoding: ended.standardOutputContent, as: UTF8.self)
        let path = try #require(output.split(separator: "\n").last { $0.contains("TemporaryDirectoryTests-") })
        #expect(!isThere(String(path)), "\(path)")
    }
}
