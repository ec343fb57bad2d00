internal import MobileCore

/// The SQL function that reads a text that is plainly a time, in a fraction of the time that `strftime` takes. Every connection has it, for statements of the
/// program only. For any other value its result is NULL, see `mc_plain_time.h`.
package enum PlainTime: Int32 {
    /// `2026-03-31`
    case date = 1
    /// `23:59:58`
    case timeOfDay
    /// `2026-03-31T23:59:58.123Z`
    case dateTime

    /// Returns the call for an expression.
    package func call(_ expression: String) -> String { "\(MC_PLAIN_TIME)(\(expression), \(rawValue))" }
}
