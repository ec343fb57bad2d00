internal import MobileProtocol
internal import MobileStore

/// The inquiries of administrators to devices (*Get Trace*) and the texts of their own logs that the devices answer with. SMP 2.3 calls this log of
/// the server the *domain log*.
struct DomainLog: Sendable {
    let stateStore: any StateStore
    let clock: @Sendable () -> Int64

    /// The number of texts kept per device; the oldest are deleted. A device cannot fill the server's disk.
    static let entriesPerDevice = 1000

    /// Returns the inquiries that the device has not answered yet.
    func inquiries(of session: Accounts.Session) throws -> [ServerInquiry] {
        try stateStore.read { connection in
            try connection.storedRows(
                [InquiryColumn.inquiry], "WHERE application = ?1 AND device = ?2 ORDER BY asked", [.text(session.application), .text(session.device)]
            ).map { ServerInquiry(rawValue: try $0.text(.inquiry)) }
        }
    }

    /// Stores an inquiry to a device. A repeated inquiry changes nothing.
    /// - Throws: ``ServerError/Code/notFound`` for a device that is not registered.
    func ask(_ inquiry: ServerInquiry, device: String, application: String) throws {
        try stateStore.write(label: "inquiry") { connection in
            let key: [Value] = [.text(application), .text(device)]
            guard try connection.first("SELECT 1 FROM _device WHERE application = ?1 AND device = ?2", key) != nil else {
                throw ServerError(.notFound, "application \"\(application)\" has no registered device \"\(device.prefix(80))\"")
            }
            _ = try connection.execute(
                "INSERT INTO _inquiry (application, device, inquiry, asked) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING",
                key + [.text(inquiry.rawValue), .integer(clock())])
        }
    }

    /// Stores a device's answer.
    /// - Throws: ``RequestFailure`` 404 if there is no such inquiry.
    func take(_ content: ClientLogContent, from session: Accounts.Session, package: String) throws {
        let key: [Value] = [.text(session.application), .text(session.device)], inquiry = Value.text(content.inquiry.rawValue)
        try stateStore.write(label: "domain log") { connection in
            let isOpen =
                try connection.first("SELECT 1 FROM _inquiry WHERE application = ?1 AND device = ?2 AND inquiry = ?3", key + [inquiry]) != nil
            guard isOpen else { throw RequestFailure(.notFound, "the log \"\(content.inquiry.rawValue.prefix(80))\" was not requested") }
            for entry in content.entries {
                // A repeated text becomes the newest one.
                try connection.execute(
                    "DELETE FROM _domain_log WHERE application = ?1 AND device = ?2 AND package = ?3 AND inquiry = ?4 AND name = ?5",
                    key + [.text(package), inquiry, .text(entry.name)])
                try connection.execute(
                    """
                    INSERT INTO _domain_log (application, device, user_name, package, inquiry, name, text, received)
                    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
                    """,
                    key + [.text(session.user), .text(package), inquiry, .text(entry.name), .text(entry.text), .integer(clock())])
            }
            _ = try connection.execute(
                """
                DELETE FROM _domain_log WHERE application = ?1 AND device = ?2 AND id NOT IN (
                    SELECT id FROM _domain_log WHERE application = ?1 AND device = ?2 ORDER BY id DESC LIMIT ?3)
                """, key + [.integer(Int64(Self.entriesPerDevice))])
            if content.isLast {
                _ = try connection.execute("DELETE FROM _inquiry WHERE application = ?1 AND device = ?2 AND inquiry = ?3", key + [inquiry])
            }
        }
    }

    /// Returns the texts of one or all devices, the oldest first.
    func entries(device: String?) throws -> [DomainLogEntry] {
        try stateStore.read { connection in
            try connection.storedRows(
                DomainLogColumn.allCases, "WHERE CAST(?1 AS TEXT) IS NULL OR device = CAST(?1 AS TEXT) ORDER BY id", [Value(device)]
            ).map { row in
                DomainLogEntry(
                    application: try row.text(.application), device: try row.text(.device), user: try row.text(.user),
                    package: try row.text(.package), name: try row.text(.name), text: try row.text(.text), received: try row.integer(.received))
            }
        }
    }
}

/// A text of a device's log in the server's domain log.
public struct DomainLogEntry: Sendable, Hashable {
    /// The id of the application that the text comes from.
    public let application: String
    /// The device's id.
    public let device: String
    /// The name of the user who was logged in.
    public let user: String
    /// Name and version of the package whose client sent it.
    public let package: String
    /// The name of the text on the device, such as the name of an interaction.
    public let name: String
    /// The text itself.
    public let text: String
    /// The time of arrival, in milliseconds since 1970.
    public let received: Int64
}
