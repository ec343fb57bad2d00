/// The identification of a traced request on its way from the client through the server to the back end, in the
/// header `SAP-PASSPORT`. The traces of all three are joined by it. Each request has a new one. SMP 2.3: "SAP Passport".
public struct E2EPassport: Sendable, Hashable {
    /// Name of the HTTP header field.
    public static let headerName = "SAP-PASSPORT"

    /// The amount of detail that the servers on the way record.
    public let level: E2ETraceLevel
    /// The business transaction that the request belongs to: 16 bytes.
    public let rootContextID: [UInt8]
    /// The request itself: 16 bytes.
    public let connectionID: [UInt8]
    /// The number of the request in its business transaction, from 1.
    public let counter: UInt32
    /// The sender. At most 32 characters of ASCII are sent, other characters as `?`.
    public let component: String
    /// The action of the sender. At most 40 characters of ASCII are sent, other characters as `?`.
    public let action: String

    /// Value of the header field: the passport's 230 bytes as 460 hexadecimal digits.
    public var headerValue: String { Self.hexadecimal(bytes) }

    /// The connection id as 32 hexadecimal digits: the request's id in the trace.
    public var requestID: String { Self.hexadecimal(connectionID) }

    /// The passport, version 3:
    ///
    ///     offset    0  "*TH*"           4     offset 117  previous component   32
    ///               4  version 3        1            149  transaction id       32
    ///               5  length 230       2            181  client                3
    ///               7  trace level      2            184  kind of component     2
    ///               9  component       32            186  root context id      16
    ///              41  service          2            202  connection id        16
    ///              43  user            32            218  connection counter    4
    ///              75  action          40            222  variable parts: none  4
    ///             115  kind of action   2            226  "*TH*"                4
    ///
    /// Numbers are big-endian; texts are padded with spaces.
    public var bytes: [UInt8] {
        var bytes: [UInt8] = Array("*TH*".utf8) + [3] + Self.number(230, 2) + Self.number(level.rawValue, 2)
        bytes += Self.text(component, 32) + Self.number(0, 2) + Self.text("", 32) + Self.text(action, 40) + Self.number(0, 2)
        bytes += Self.text(component, 32) + Self.text(requestID, 32) + Self.text("", 3) + Self.number(0, 2)
        bytes += rootContextID + connectionID + Self.number(Int(counter), 4) + Self.number(0, 4)
        return bytes + Array("*TH*".utf8)
    }

    init(level: E2ETraceLevel, rootContextID: [UInt8], connectionID: [UInt8], counter: UInt32, component: String, action: String) {
        self.level = level
        self.rootContextID = rootContextID
        self.connectionID = connectionID
        self.counter = counter
        self.component = component
        self.action = action
    }

    /// Reads the header field of a request.
    /// - Returns: nil for any value except a passport of version 3.
    public init?(headerValue: String) {
        let digits = Array(headerValue.utf8)
        guard digits.count == 460, headerValue.allSatisfy(\.isHexDigit) else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: 460, by: 2) {
            guard let byte = UInt8(String(decoding: digits[index..<index + 2], as: UTF8.self), radix: 16) else { return nil }
            bytes.append(byte)
        }
        let mark = Array("*TH*".utf8)
        guard Array(bytes[0..<4]) == mark, bytes[4] == 3, Array(bytes[226..<230]) == mark, bytes[5] == 0, bytes[6] == 230,
            let level = E2ETraceLevel(rawValue: Int(bytes[7]) << 8 | Int(bytes[8]))
        else { return nil }
        func text(_ range: Range<Int>) -> String {
            var text = String(decoding: bytes[range], as: UTF8.self)
            while text.last == " " { text.removeLast() }
            return text
        }
        self.init(
            level: level, rootContextID: Array(bytes[186..<202]), connectionID: Array(bytes[202..<218]),
            counter: bytes[218..<222].reduce(0) { $0 << 8 | UInt32($1) }, component: text(9..<41), action: text(75..<115))
    }

    private static func number(_ value: Int, _ length: Int) -> [UInt8] {
        (0..<length).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    private static func text(_ text: String, _ length: Int) -> [UInt8] {
        let bytes = text.unicodeScalars.prefix(length).map { (32..<127).contains($0.value) ? UInt8($0.value) : UInt8(ascii: "?") }
        return bytes + [UInt8](repeating: UInt8(ascii: " "), count: length - bytes.count)
    }

    static func hexadecimal(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
