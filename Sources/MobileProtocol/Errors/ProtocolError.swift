/// What went wrong while a message or a frame stream was read, written or spooled.
///
/// Programs look at ``code``, people at ``message``; ``byteOffset`` says where in the input the trouble begins.
public struct ProtocolError: Error, Sendable {
    /// A stable name of a kind of failure; the texts never change their meaning.
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A frame that the grammar of the stream does not allow here: unknown type, reserved bits, wrong order.
        public static let malformedFrame = Code(rawValue: "malformedFrame")
        /// A frame, a message or a spool longer than its limit.
        public static let limitExceeded = Code(rawValue: "limitExceeded")
        /// The stream ended before its `Z` frame, or a message before its end.
        public static let truncated = Code(rawValue: "truncated")
        /// Bytes behind the end of the stream.
        public static let trailingBytes = Code(rawValue: "trailingBytes")
        /// A payload that is not JSON.
        public static let invalidJSON = Code(rawValue: "invalidJSON")
        /// JSON in which a member is missing, has the wrong type or a value out of its range.
        public static let invalidContent = Code(rawValue: "invalidContent")
        /// The other end speaks a version of the protocol that this one does not.
        public static let unsupportedVersion = Code(rawValue: "unsupportedVersion")
        /// The temporary file of a spool could not be made, written or read.
        public static let spool = Code(rawValue: "spool")
        /// A call out of order, such as a write after the end of the stream.
        public static let misuse = Code(rawValue: "misuse")
    }

    /// The kind of failure.
    public let code: Code
    /// What was tried, where, what was found and what was expected; one line without users' data.
    public let message: String
    /// Bytes from the start of the stream or message; nil where there is no position.
    public let byteOffset: Int64?
    /// The failure below this one; nil where it began here.
    public let cause: (any Error)?

    /// An error with its offset in the bytes, where it is about bytes.
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
