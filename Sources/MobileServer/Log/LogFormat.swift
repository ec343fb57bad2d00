/// The form of the lines of a server's log.
public enum LogFormat: String, Sendable, CaseIterable {
    /// One sentence for people.
    case text
    /// One JSON object with `time` (UTC), `level` (`info`, `warning`, `error`) and `message`. Lines about requests also have `method`, `path`, `status`
    /// and `milliseconds`, and, as far as they are known, `application`, `device`, `user`, `client` and `passport` (the transaction of an end-to-end
    /// trace).
    case json
}
