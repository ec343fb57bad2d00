/// A time of day without a time zone, to the second: the type of `time` attributes. SMP 2.3: `SUPTimeValue`.
public struct LocalTime: Sendable, Hashable {
    /// 0 to 86,399.
    public let secondsSinceMidnight: Int

    /// Fails when hour (0 to 23), minute or second (0 to 59) is out of range.
    public init?(hour: Int, minute: Int, second: Int = 0) {
        guard (0...23).contains(hour), (0...59).contains(minute), (0...59).contains(second) else { return nil }
        secondsSinceMidnight = (hour * 60 + minute) * 60 + second
    }

    /// Creates a time from text such as `17:05:09`; fails for any other text.
    public init?(_ text: String) {
        var text = text
        guard let parsed = text.withUTF8({ ISO8601Text.time($0, 0, isWhole: true) }) else { return nil }
        self = parsed
    }

    init(secondsSinceMidnight: Int) { self.secondsSinceMidnight = secondsSinceMidnight }

    /// 00:00:00, the value of a new object's `time` attribute before the application sets one.
    public static let midnight = LocalTime(secondsSinceMidnight: 0)

    /// 0 to 23.
    public var hour: Int { secondsSinceMidnight / 3600 }
    /// 0 to 59.
    public var minute: Int { secondsSinceMidnight / 60 % 60 }
    /// 0 to 59.
    public var second: Int { secondsSinceMidnight % 60 }
}

extension LocalTime: Comparable {
    public static func < (left: LocalTime, right: LocalTime) -> Bool { left.secondsSinceMidnight < right.secondsSinceMidnight }
}

extension LocalTime: CustomStringConvertible {
    /// ISO 8601, as in the database and on the wire: `17:05:09`.
    public var description: String { ISO8601Text.digits(hour, 2) + ":" + ISO8601Text.digits(minute, 2) + ":" + ISO8601Text.digits(second, 2) }
}

extension LocalTime: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let time = LocalTime(text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "\"\(text)\" is not a time such as 17:05:09")
        }
        self = time
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
