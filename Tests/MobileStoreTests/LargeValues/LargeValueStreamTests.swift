import MobileStore
import TestSupport
import Testing

/// An object with one large attribute, like the entities of MobileObjects.
final class Picture: LargeValueHost {
    let store: LargeValueStore
    var isSaved = true
    var value: LargeValue?

    init() throws { store = try LargeValueStore() }

    var largeValueDatabase: Database { store.database }
    var isSavedForLargeValues: Bool { isSaved }
    func largeValue(ofAttribute index: Int) -> Int64? { value?.id }
    func setLargeValue(_ value: LargeValue?, ofAttribute index: Int) { self.value = value }
}

private func code(_ body: () throws -> Void) -> StoreError.Code? { #expect(throws: StoreError.self, performing: body)?.code }

@Suite struct BigBinaryTests {
    @Test("BIG-08 BIG-12 BIG-03 BIG-09 BIG-15: what is written before close is what is read after openForRead")
    func writeAndRead() throws {
        let picture = try Picture()
        let big = BigBinary(of: picture, attribute: 0)
        try big.openForWrite()
        try big.write([1, 2, 3])
        try big.writeByte(4)
        #expect(picture.value == nil)
        try big.close()
        try big.openForRead()
        #expect(try big.read(3) == [1, 2, 3])
        #expect(try big.read(3) == [4])
        #expect(try big.read(3) == nil)
        try big.close()
    }

    @Test("BIG-10 BIG-11 BIG-13: single bytes, -1 at the end, seek from 0")
    func singleBytes() throws {
        let picture = try Picture()
        let big = BigBinary(of: picture, attribute: 0)
        try big.openForWrite()
        try big.writeByte(255)
        try big.writeByte(0)
        try big.openForRead()
        #expect(try [big.readByte(), big.readByte(), big.readByte()] == [255, 0, -1])
        try big.seek(1)
        #expect(try big.readByte() == 0)
    }

    @Test("BIG-07: openForRead again has no effect; after writing it flushes and reopens; NULL is not found")
    func openForRead() throws {
        let picture = try Picture()
        let big = BigBinary(of: picture, attribute: 0)
        #expect(code { try big.openForRead() } == .notFound)
        try big.openForWrite()
        try big.write([1, 2])
        try big.openForRead()
        #expect(try big.readByte() == 1)
        try big.openForRead()
        #expect(try big.readByte() == 2)
    }

    @Test("BIG-03 BIG-04 BIG-09 BIG-10 BIG-11 BIG-12 BIG-13: without the right stream everything is not open")
    func notOpen() throws {
        let picture = try Picture()
        let big = BigBinary(of: picture, attribute: 0)
        for body: () throws -> Void in [
            { try big.close() }, { try big.flush() }, { _ = try big.read(1) }, { _ = try big.readByte() }, { try big.seek(0) },
            { try big.write([1]) }, { try big.writeByte(1) },
        ] { #expect(code(body) == .notOpen) }
        try big.openForWrite()
        #expect(code { _ = try big.read(1) } == .notOpen)
        #expect(code { try big.seek(0) } == .notOpen)
        try big.openForRead()
        #expect(code { try big.write([1]) } == .notOpen)
        #expect(code { try big.writeByte(1) } == .notOpen)
    }

    @Test("BIG-05 BIG-06 BIG-07 BIG-08: nothing goes before the object is saved")
    func notSaved() throws {
        let picture = try Picture()
        picture.isSaved = false
        let big = BigBinary(of: picture, attribute: 0)
        for body: () throws -> Void in [
            { try big.openForRead() }, { try big.openForWrite() }, { try big.copyFromFile("x") }, { try big.copyToFile("x") },
        ] { #expect(code(body) == .notSaved) }
    }

    @Test("BIG-05 BIG-06: files replace values and values files, when the stream is closed")
    func files() throws {
        let picture = try Picture()
        let big = BigBinary(of: picture, attribute: 0)
        let path = picture.store.directory.file("picture")
        try big.openForWrite()
        try big.write([1, 2, 3])
        #expect(code { try big.copyToFile(path) } == .notClosed)
        #expect(code { try big.copyFromFile(path) } == .notClosed)
        try big.close()
        try big.copyToFile(path)
        try big.openForWrite()
        try big.close()
        #expect(try big.length == 0)
        try big.copyFromFile(path)
        try big.openForRead()
        #expect(try big.read(9) == [1, 2, 3])
    }

    @Test("BIG-05 BIG-07: a value is removed when its object is saved and the stream is closed; then there is nothing to read")
    func remove() throws {
        let picture = try Picture()
        let big = BigBinary(of: picture, attribute: 0)
        try big.remove()
        try big.openForWrite()
        try big.write([1])
        #expect(code { try big.remove() } == .notClosed)
        try big.close()
        picture.isSaved = false
        #expect(code { try big.remove() } == .notSaved)
        picture.isSaved = true
        #expect(try big.length == 1)
        try big.remove()
        #expect(try big.length == nil && picture.value == nil)
        #expect(code { try big.openForRead() } == .notFound)
    }

    @Test("BIG-08 BIG-12: an announced length is kept, and a value only grows")
    func limits() throws {
        let picture = try Picture()
        let big = BigBinary(of: picture, attribute: 0)
        try big.openForWrite(2)
        try big.write([1])
        #expect(code { try big.write([2, 3]) } == .overLength)
        #expect(code { try big.write([2], at: 0) } == .appendOnly)
        #expect(code { try big.close() } == .truncated)
        try big.write([2], at: 1)
        try big.close()
        #expect(try big.length == 2)
    }

    @Test("BIG-08: readers have the old value until the new one is closed")
    func oldValueUntilClose() throws {
        let picture = try Picture()
        let big = BigBinary(of: picture, attribute: 0)
        try big.openForWrite()
        try big.write([1])
        try big.close()
        let old = BigBinary(of: picture, attribute: 0)
        try old.openForRead()
        try big.openForWrite()
        try big.write([2])
        try big.flush()
        #expect(try old.readByte() == 1)
        try big.close()
        try old.seek(0)
        #expect(try old.readByte() == 1)
    }
}

@Suite struct BigStringTests {
    @Test("BIG-09 BIG-10 BIG-11 BIG-13: a big string counts Unicode scalars")
    func scalars() throws {
        let picture = try Picture()
        let big = BigString(of: picture, attribute: 0)
        try big.openForWrite()
        try big.write("a😀e\u{301}")
        try big.writeChar("ß")
        try big.openForRead()
        #expect(try big.length == 5)
        #expect(try big.read(2) == "a😀")
        #expect(try big.readChar() == 0x65)
        try big.seek(3)
        #expect(try big.read(9) == "\u{301}ß")
        #expect(try big.readChar() == -1)
        #expect(try big.read(1) == nil)
    }

    @Test("BIG-07: NULL is read as an empty text")
    func null() throws {
        let picture = try Picture()
        let big = BigString(of: picture, attribute: 0)
        try big.openForRead()
        #expect(try big.read(1) == nil)
        #expect(try big.readChar() == -1)
    }

    @Test("BIG-08 BIG-12: lengths are in scalars, and a value only grows")
    func limits() throws {
        let picture = try Picture()
        let big = BigString(of: picture, attribute: 0)
        try big.openForWrite(2)
        try big.write("😀")
        #expect(code { try big.write("ab") } == .overLength)
        #expect(code { try big.write("a", at: 0) } == .appendOnly)
        try big.write("b", at: 1)
        try big.close()
        #expect(try big.length == 2)
    }
}
