internal import MobileCore

/// The error of this module: `MobileStore` throws no other errors, except those of the caller's own closures.
public struct StoreError: Error, Sendable {
    /// The kind of the failure: stable, for programs.
    public let code: Code
    /// The failure, the value concerned and, where known, the remedy; one line, for people.
    public let message: String
    /// SQLite's extended result code; nil unless SQLite failed.
    public let sqliteCode: Int32?
    /// The position in the (inflated) input, in bytes; nil without a position.
    public let byteOffset: Int64?
    /// The number of the input row, from 1; nil without a row.
    public let row: Int?
    /// The underlying failure; nil without one.
    public let cause: (any Error)?

    /// Makes an error that originates in Swift.
    public init(
        _ code: Code, _ message: String, sqliteCode: Int32? = nil, byteOffset: Int64? = nil, row: Int? = nil, cause: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.sqliteCode = sqliteCode
        self.byteOffset = byteOffset
        self.row = row
        self.cause = cause
    }

    /// The kind of a failure. It is a struct, so that a new kind breaks no `switch`; the numbers are stable.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The stable number: that of the core's status, or one above 100 for kinds that only the Swift layer has.
        public let rawValue: Int
        /// Makes a kind from its number.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// A call out of order, or an argument out of its range.
        public static let misuse = Code(rawValue: 1)
        /// An allocation failed.
        public static let noMemory = Code(rawValue: 2)
        /// SQLite failed; ``StoreError/sqliteCode`` has its result code.
        public static let sqlite = Code(rawValue: 3)
        /// A constraint of the database refused a row.
        public static let constraint = Code(rawValue: 4)
        /// A connection did not become free in time.
        public static let timeout = Code(rawValue: 5)
        /// The work was interrupted or cancelled by the caller.
        public static let interrupted = Code(rawValue: 6)
        /// The database or the handle is closed.
        public static let closed = Code(rawValue: 7)
        /// The requested file, row, value or feature does not exist.
        public static let notFound = Code(rawValue: 8)
        /// The database or a stored value is damaged.
        public static let corrupt = Code(rawValue: 9)
        /// The input is not JSON as defined by RFC 8259.
        public static let json = Code(rawValue: 10)
        /// A value does not fit its column.
        public static let type = Code(rawValue: 11)
        /// The input ended too early.
        public static let truncated = Code(rawValue: 12)
        /// The deflated input is damaged.
        public static let compression = Code(rawValue: 13)
        /// A limit was exceeded, such as depth, row length, inflated size or ratio.
        public static let limit = Code(rawValue: 14)
        /// The disk or the database is full.
        public static let full = Code(rawValue: 15)
        /// The operating system refused to read or write.
        public static let io = Code(rawValue: 16)
        /// A write was attempted where only reading is allowed.
        public static let readOnly = Code(rawValue: 17)
        /// A write before the end of a large value, which can only grow. SMP 2.3: `AppendOnly`.
        public static let appendOnly = Code(rawValue: 18)
        /// A write beyond the length announced when a large value was opened. SMP 2.3: `OverLength`.
        public static let overLength = Code(rawValue: 19)
        /// The large value is not open, or open for the other direction. SMP 2.3: `NotOpen`.
        public static let notOpen = Code(rawValue: 101)
        /// The large value is open. SMP 2.3: `NotClosed`.
        public static let notClosed = Code(rawValue: 102)
        /// The object that the large value belongs to has not been created in the database. SMP 2.3: `NotSaved`.
        public static let notSaved = Code(rawValue: 103)

        /// The kind's name, such as `constraint`.
        public var description: String {
            switch self {
            case .notOpen: "not open"
            case .notClosed: "not closed"
            case .notSaved: "not saved"
            default: unsafe String(cString: mc_status_name(mc_status(UInt32(truncatingIfNeeded: rawValue))))
            }
        }
    }
}

extension StoreError: CustomStringConvertible {
    /// The kind and the message.
    public var description: String { "\(code): \(message)" }
}

extension StoreError {
    /// Converts an error of the core.
    init(_ error: mc_error) {
        self.init(
            Code(rawValue: Int(error.code.rawValue)),
            unsafe withUnsafeBytes(of: error.message) { unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) },
            sqliteCode: error.sqlite_code == 0 ? nil : error.sqlite_code,
            byteOffset: error.byte_offset < 0 ? nil : error.byte_offset,
            row: error.row == 0 ? nil : Int(error.row))
    }

    /// Runs one call into the core and throws a status other than `MC_OK`.
    @inline(__always)  // so that its closure is inlined as well: it wraps each call into the core
    static func check(_ call: (UnsafeMutablePointer<mc_error>) -> mc_status) throws(StoreError) {
        if let failure = unsafe failure(of: call) { throw failure }
    }

    /// Runs one call into the core and returns its error or `nil`, for closures that cannot throw.
    @inline(__always)
    static func failure(of call: (UnsafeMutablePointer<mc_error>) -> mc_status) -> StoreError? {
        // Not cleared, because its message takes 500 bytes: the core fills all of it on failure.
        unsafe withUnsafeTemporaryAllocation(of: mc_error.self, capacity: 1) { error in
            let place = error.baseAddress!
            return unsafe call(place) == MC_OK ? nil : StoreError(place.pointee)
        }
    }

    static let usedOutside = StoreError(
        .misuse, "a connection was used after the closure that it was given to; it is valid only inside")
}
