import Foundation
import MobileStore
import TestSupport
import Testing

/// The `async` methods of large attributes. They only call their blocking versions, so each is called once, in the usual order.
@Suite struct BigAttributeAsyncTests {
    @Test("BIG-03 BIG-04 BIG-05 BIG-06 BIG-07 BIG-08 BIG-09 BIG-10 BIG-11 BIG-12 BIG-13: a big binary without blocking a thread")
    func binary() async throws {
        let picture = try Picture(), file = picture.store.directory.file("picture")
        let big = BigBinary(of: picture, attribute: 0)
        try await big.openForWrite(6)
        try await big.write([1, 2, 3])
        try await big.writeByte(4)
        try await big.write([5], at: 4)
        await #expect(throws: StoreError.self) { try await big.write([5], at: 4) }
        await #expect(throws: StoreError.self) { try await big.write([6, 7]) }
        try await big.flush()
        try await big.writeByte(6)
        try await big.close()
        try await big.openForRead()
        #expect(try await big.read(2) == [1, 2])
        #expect(try await big.readByte() == 3)
        try await big.seek(5)
        #expect(try await big.read(9) == [6])
        #expect(try await big.readByte() == -1)
        try await big.close()
        try await big.copyToFile(file)
        try Data([8, 9]).write(to: URL(fileURLWithPath: file + "2"))
        try await big.copyFromFile(file + "2")
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == Data([1, 2, 3, 4, 5, 6]))
        try await big.openForRead()
        #expect(try await big.read(9) == [8, 9])
        let error = await #expect(throws: StoreError.self) { try await big.copyToFile(file) }
        #expect(error?.code == .notClosed)
    }

    @Test("BIG-03 BIG-04 BIG-05 BIG-06 BIG-07 BIG-08 BIG-09 BIG-10 BIG-11 BIG-12 BIG-13: a big string without blocking a thread")
    func string() async throws {
        let picture = try Picture(), file = picture.store.directory.file("text")
        let big = BigString(of: picture, attribute: 0)
        try await big.openForWrite()
        try await big.write("añ")
        try await big.writeChar("€")
        try await big.write("z", at: 3)
        await #expect(throws: StoreError.self) { try await big.write("z", at: 3) }
        try await big.flush()
        try await big.close()
        try await big.openForRead()
        #expect(try await big.read(2) == "añ")
        #expect(try await big.readChar() == 0x20AC)
        try await big.seek(3)
        #expect(try await big.read(9) == "z")
        #expect(try await big.readChar() == -1)
        try await big.close()
        let error = await #expect(throws: StoreError.self) { try await big.close() }
        #expect(error?.code == .notOpen)
        try await big.copyToFile(file)
        try await big.copyFromFile(file)
        try await big.openForRead()
        #expect(try await big.read(9) == "añ€z")
    }

    @Test("BIG-09: text goes into a buffer of the caller's in whole characters")
    func textIntoBuffer() throws {
        let picture = try Picture()
        let big = BigString(of: picture, attribute: 0)
        try big.openForWrite()
        try big.write("aé€😀b")
        try big.openForRead()
        var buffer = [UInt8](repeating: 0, count: 6), text = "", positions: [Int64] = []
        while true {
            var elements = buffer.mutableSpan, span = elements.mutableBytes
            let length = try big.read(3, utf8: &span)
            if length == 0 { break }
            text += String(decoding: buffer[..<length], as: UTF8.self)
            positions.append(big.position)
        }
        #expect(text == "aé€😀b" && positions == [3, 5])
        #expect(
            #expect(throws: StoreError.self) {
                var small = [UInt8](repeating: 0, count: 3)
                var elements = small.mutableSpan, span = elements.mutableBytes
                _ = try big.read(1, utf8: &span)
            }?.code == .misuse)
    }
}
