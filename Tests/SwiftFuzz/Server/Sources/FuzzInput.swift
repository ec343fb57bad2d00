import MobileProtocol
import MobileServer

/// A request in the fuzzer's format. The first byte defines the format of the rest; an input with another first byte is not a request.
///
///     f   an upload, a frame per line: its letter, then its payload. A payload `#12` of a data frame stands for 12 bytes
///     u   the body of a synchronization, byte by byte
///     m   the body of a request with messages
///     t   the body of a trace
struct FuzzInput {
    let path: String
    let body: [UInt8]

    init?(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let kind = bytes.first else { return nil }
        let rest = Array(bytes.dropFirst())
        switch kind {
        case UInt8(ascii: "f"): (path, body) = (Endpoint.synchronize, Self.frames(rest))
        case UInt8(ascii: "u"): (path, body) = (Endpoint.synchronize, rest)
        case UInt8(ascii: "m"): (path, body) = (Endpoint.messages, rest)
        case UInt8(ascii: "t"): (path, body) = (Endpoint.traces, rest)
        default: return nil
        }
    }

    private static func frames(_ text: [UInt8]) -> [UInt8] {
        var body: [UInt8] = []
        for line in text.split(separator: UInt8(ascii: "\n")) {
            let payload = payload(of: Array(line))
            body += [line[line.startIndex], 0, 0, 0] + withUnsafeBytes(of: UInt32(payload.count).bigEndian) { Array($0) } + payload
        }
        return body
    }

    /// Returns the payload after the letter of a frame, with its abbreviation expanded.
    static func payload(of line: [UInt8]) -> [UInt8] {
        let payload = Array(line.dropFirst())
        guard line.first == UInt8(ascii: "D"), payload.first == UInt8(ascii: "#"),
            let count = Int(String(decoding: payload.dropFirst().prefix(8), as: UTF8.self)), (1...ProtocolLimit.framePayload).contains(count)
        else { return payload }
        return (0..<count).map { UInt8(truncatingIfNeeded: $0) }
    }
}
