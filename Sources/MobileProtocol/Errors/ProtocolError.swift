/// A failure while a message or a frame stream was read, written or spooled.
///
/// Programs check ``code``, people read ``message``; ``byteOffset`` is the place of the error in the input.
public struct ProtocolError: Error, Sendable {
    /// A stable name of a kind of failure; its meaning never changes.
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A frame that the grammar of the stream does not allow here: unknown type, reserved bits, wrong order.
        public static let malformedFrame = Code(rawValue: "malformedFrame")
        /// A frame, a message or a spool longer than its limit.
        public static let limitExceeded = Code(rawValue: "limitExceeded")
        /// The stream ended before its `Z` frame, or a message before its end.
        public static let truncated = Code(rawValue: "truncated")
        /// Bytes after the end of the stream.
        public static let trailingBytes = Code(rawValue: "trailingBytes")
        /// A payload that is not JSON.
        public static let invalidJSON = Code(rawValue: "invalidJSON")
        /// JSON in which a member is missing, has the wrong type or a value out of its range.
        public static let invalidContent = Code(rawValue: "invalidContent")
        /// The other end speaks a version of the protocol that this one does not, and that is not an earlier one.
        public static let unsupportedVersion = Code(rawValue: "unsupportedVersion")
        /// The other end speaks an earlier version of the protocol, which is no longer supported.
        public static let outdatedVersion = Code(rawValue: "outdatedVersion")
        /// The temporary file of a spool could not be created, written or read.
        public static let spool = Code(rawValue: "spool")
        /// A call out of order, such as a write after the end of the stream.
        public static let misuse = Code(rawValue: "misuse")
    }

    /// The kind of failure.
    public let code: Code
    /// The action, the place, and the found and expected values; one line without users' data.
    public let message: String
    /// Bytes from the start of the stream or message; nil if there is no position.
    public let byteOffset: Int64?
    /// The underlying failure; nil if there is none.
    public let cause: (any Error)?

    /// Creates an error, with its offset if it concerns bytes.
    public init(_ code: Code, _ message: String, byteOffset: Int64? = nil, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.byteOffset = byteOffset
        self.cause = cause
    }
}

extension ProtocolError: CustomStringConvertible {
    public var description: String {
        guard let byteOffset else { return message }
        return "\(message) (byte \(byteOffset))"
    }
}
