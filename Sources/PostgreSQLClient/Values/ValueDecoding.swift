extension PostgreSQLValue {
    /// Reads a value of a result.
    init(_ bytes: Span<UInt8>, type: UInt32, isBinary: Bool) {
        self = isBinary ? PostgreSQLValue(binary: bytes, type: type) : PostgreSQLValue(text: bytes, type: type)
    }

    private init(binary bytes: Span<UInt8>, type: UInt32) {
        switch type {
        case TypeID.int8, TypeID.int4, TypeID.int2: self = .integer(bytes.signedBigEndian)
        case TypeID.oid, TypeID.bool: self = .integer(Int64(bytes.bigEndian))
        case TypeID.float8: self = .real(Double(bitPattern: bytes.bigEndian))
        case TypeID.float4: self = .real(Double(Float(bitPattern: UInt32(truncatingIfNeeded: bytes.bigEndian))))
        case TypeID.bytea: self = .blob(bytes.bytes)
        case TypeID.void: self = .null
        default: self = .text(bytes.text)
        }
    }

    /// Numbers that cannot be read stay text; PostgreSQL writes none.
    private init(text bytes: Span<UInt8>, type: UInt32) {
        switch type {
        case TypeID.bool: self = .integer(bytes.count == 1 && bytes[0] == UInt8(ascii: "t") ? 1 : 0)
        case TypeID.int8, TypeID.int4, TypeID.int2, TypeID.oid: self = Int64(bytes.text).map { .integer($0) } ?? .text(bytes.text)
        case TypeID.float8: self = Double(bytes.text).map { .real($0) } ?? .text(bytes.text)
        case TypeID.float4: self = Float(bytes.text).map { .real(Double($0)) } ?? .text(bytes.text)
        case TypeID.bytea: self = PostgreSQLValue(hexadecimal: bytes)
        case TypeID.void: self = .null
        default: self = .text(bytes.text)
        }
    }

    /// Reads `\x` and two digits per byte, the only form that sessions of this module let the server write.
    private init(hexadecimal text: Span<UInt8>) {
        func digit(_ offset: Int) -> UInt8 {
            let letter = text[offset]
            return letter < UInt8(ascii: "a") ? letter &- UInt8(ascii: "0") : letter &- UInt8(ascii: "a") &+ 10
        }
        self = .blob(stride(from: 2, to: text.count - 1, by: 2).map { digit($0) << 4 | digit($0 + 1) })
    }
}

extension Span where Element == UInt8 {
    /// The bytes as an unsigned number, the highest byte first; 8 bytes at most.
    var bigEndian: UInt64 {
        var number: UInt64 = 0
        for index in indices { number = number &<< 8 | UInt64(self[index]) }
        return number
    }

    /// The bytes as a signed number, the highest byte first; 8 bytes at most.
    var signedBigEndian: Int64 {
        let unused = 64 - 8 * count
        return unused >= 64 ? 0 : Int64(bitPattern: bigEndian << UInt64(unused)) >> Int64(unused)
    }

    /// A copy of the bytes.
    var bytes: [UInt8] { unsafe withUnsafeBufferPointer { unsafe Array($0) } }

    /// The bytes as text. Damaged UTF-8, which only databases without an encoding have, is repaired.
    var text: String { unsafe withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) } }
}
