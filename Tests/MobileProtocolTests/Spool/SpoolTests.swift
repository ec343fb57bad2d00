import Foundation
import MobileProtocol
import TestSupport
import Testing

/// Bytes in memory, or in a file without a name when there are many.
@Suite struct SpoolTests {
    let content = (0..<10_000).map { UInt8(truncatingIfNeeded: $0 * 7 / 3) }

    @Test("what was written reads back in chunks of any size, from memory and from a file", arguments: [1, 7, 4096, 20_000], [0, 100, 10_000])
    func readsBack(size: Int, memoryLimit: Int) throws {
        let spool = Spool(memoryLimit: memoryLimit)
        for start in stride(from: 0, to: content.count, by: size) {
            try spool.append(Array(content[start..<min(start + size, content.count)]))
        }
        #expect(spool.isInFile == (memoryLimit < content.count))
        #expect(spool.length == content.count)
        for _ in 0..<2 {
            var read: [UInt8] = []
            while let chunk = try spool.nextChunk(maximum: size) {
                #expect(chunk.count <= size)
                read += chunk
            }
            #expect(read == content)
            #expect(spool.position == content.count)
            spool.rewind()
        }
    }

    @Test("bytes from any place are read without moving what is read next", arguments: [0, 10_000])
    func places(memoryLimit: Int) throws {
        let spool = Spool(memoryLimit: memoryLimit)
        try spool.append(content)
        let first = try spool.nextChunk(maximum: 10)
        #expect(try spool.chunk(at: 9_990, maximum: 100) == Array(content[9_990...]))
        #expect(try spool.chunk(at: 0, maximum: 10) == first)
        #expect(try spool.chunk(at: 10_000) == nil && spool.chunk(at: .max) == nil && spool.chunk(at: 5, maximum: 0) == nil)
        #expect(spool.position == 10)
    }

    @Test("the file has no name")
    func namelessFile() throws {
        let directory = try TemporaryDirectory()
        let spool = Spool(memoryLimit: 10, directory: directory.path)
        try spool.append(content)
        #expect(spool.isInFile)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
    }

    @Test("more than the maximum is refused, and nothing of it is added")
    func maximumLength() throws {
        let spool = Spool(memoryLimit: 10, maximumLength: 100)
        try spool.append(Array(content.prefix(90)))
        let error = #expect(throws: ProtocolError.self) { try spool.append(Array(content.prefix(11))) }
        #expect(error?.code == .limitExceeded)
        #expect(spool.length == 90)
        try spool.append(Array(content[90..<100]))
        #expect(try spool.remainingBytes() == Array(content.prefix(100)))
    }

    @Test("a directory that does not exist is an error that names it")
    func noDirectory() {
        let spool = Spool(memoryLimit: 10, directory: "/nowhere/at/all")
        let error = #expect(throws: ProtocolError.self) { try spool.append(content) }
        #expect(error?.code == .spool)
        #expect(error?.message == "cannot make a temporary file in /nowhere/at/all: No such file or directory")
    }

    @Test("the rest is given as a whole when it is short enough")
    func remainingBytes() throws {
        let spool = Spool(content)
        _ = try spool.nextChunk(maximum: 9990)
        let error = #expect(throws: ProtocolError.self) { _ = try spool.remainingBytes(maximum: 9) }
        #expect(error?.code == .limitExceeded)
        #expect(try spool.remainingBytes(maximum: 10) == Array(content.suffix(10)))
        #expect(try spool.remainingBytes() == [])
    }
}
