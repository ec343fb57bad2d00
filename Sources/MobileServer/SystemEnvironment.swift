internal import Foundation

/// The clock and the random source of the machine: the defaults of settings that a caller can replace.
enum SystemEnvironment {
    static let milliseconds: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970 * 1000) }

    static let randomBytes: @Sendable (Int) -> [UInt8] = { count in
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }
}

/// Points in time in the protocol's format.
enum Timestamp {
    /// `YYYY-MM-DDTHH:MM:SS.sssZ`
    static func text(milliseconds: Int64) -> String {
        Date(timeIntervalSince1970: Double(milliseconds) / 1000)
            .formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}
