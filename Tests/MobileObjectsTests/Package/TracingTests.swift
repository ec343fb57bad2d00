import Foundation
import MobileExecution
import MobileObjects
import MobileStore
import Testing

/// The texts that a receiver got, line by line.
final class Lines: Sendable {
    private let lines = SystemLock<[String]>([])
    func add(_ line: String) { lines.withLock { $0.append(line) } }
    var all: [String] { lines.withLock { $0 } }
    func clear() { lines.withLock { $0 = [] } }
}

/// The package's logger, the console's, and the traces.
@Suite struct TracingTests {
    let lines = Lines()
    let shop: Shop
    init() throws {
        shop = try Shop(console: ConsoleLogger(sink: { [lines] in lines.add($0) }))
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods")
    }

    // MARK: The package's logger

    @Test("TRC-01 TRC-03: the package's logger makes a log record at the level of the method")
    func logger() throws {
        let logger = shop.database.logger
        logger.level = .trace
        try logger.trace("a")
        try logger.debug("b")
        try logger.info("c")
        try logger.warn("d")
        try logger.error("e")
        try logger.fatal("f")
        let records = try shop.database.logRecords().reversed()
        #expect(records.map(\.message) == ["a", "b", "c", "d", "e", "f"])
        #expect(records.map(\.level) == [.trace, .debug, .info, .warn, .error, .fatal])
        #expect(records.allSatisfy { $0.isFromClient && $0.component == "Shop" && $0.code == 9999 })
    }

    @Test("TRC-02: the level is set and read, and what is below it is neither written nor made", arguments: LogLevel.allCases)
    func loggerLevel(level: LogLevel) async throws {
        #expect(shop.database.logger.level == .info)
        shop.database.logger.level = level
        #expect(shop.database.logger.level == level)
        let made = Lines()
        func message(_ text: String) -> String {
            made.add(text)
            return text
        }
        for other in LogLevel.allCases { try await shop.database.logger.log(other, message(other.name)) }
        let expected = LogLevel.allCases.filter { $0 >= level && $0 != .off }.map(\.name)
        #expect(try await shop.database.logRecords().reversed().map(\.message) == expected)
        #expect(made.all == expected)
    }

    @Test("TRC-04: the logger submits all outstanding records of the client, and no others")
    func submitting() async throws {
        let logger = shop.database.logger
        try await logger.warn("first")
        try await shop.database.write("log") { transaction in
            _ = try transaction.store(
                transaction.database.makeLogRecord(
                    level: .error, code: 412, eisCode: nil, message: "the server's", component: "Customer", entityKey: "1", operation: "update",
                    requestID: "33", timestamp: Date(timeIntervalSince1970: 0)))
        }
        var own = shop.database.newLogRecord(level: .debug, message: "second")
        try await own.save()
        try await logger.submitLogRecords()
        let outstanding = "SELECT group_concat(message) FROM (SELECT message FROM _log_record WHERE state = 1 ORDER BY message_id)"
        #expect(try shop.value(outstanding)?.text == "first,second")
    }

    // MARK: The console

    @Test(
        "TRC-05: the console has the documented levels in ascending order of detail, and drops what is above its own",
        arguments: ConsoleLogLevel.allCases)
    func consoleLevel(level: ConsoleLogLevel) {
        #expect(ConsoleLogLevel.allCases.sorted().map(\.name) == ["LOG_OFF", "LOG_FATAL", "LOG_ERROR", "LOG_WARN", "LOG_INFO", "LOG_DEBUG"])
        let console = shop.database.console
        console.level = level
        #expect(console.level == level)
        for other in ConsoleLogLevel.allCases { console.log(other, "text") }
        let expected: [ConsoleLogLevel: [String]] = [
            .off: [], .fatal: ["FATAL"], .error: ["FATAL", "ERROR"], .warn: ["FATAL", "ERROR", "WARN"],
            .info: ["FATAL", "ERROR", "WARN", "INFO"], .debug: ["FATAL", "ERROR", "WARN", "INFO", "DEBUG"],
        ]
        #expect(lines.all == expected[level]?.map { $0 + ": text" })
    }

    @Test("TRC-05 TRC-06: each level has a short form; the documented sample prints its first and its last message")
    func shortForms() {
        let console = shop.database.console
        console.level = .info
        console.info("This log message will print to the console")
        console.level = .warn
        console.info("This log message will not print to the console")
        console.error("This log message will print to the console")
        #expect(lines.all == ["INFO: This log message will print to the console", "ERROR: This log message will print to the console"])
        lines.clear()
        console.level = .debug
        console.fatal("1")
        console.error("2")
        console.warn("3")
        console.info("4")
        console.debug("5")
        console("6")
        #expect(lines.all == ["FATAL: 1", "ERROR: 2", "WARN: 3", "INFO: 4", "DEBUG: 5", "INFO: 6"])
    }

    @Test("TRC-07: turned off nothing is written, and no message is even made")
    func off() throws {
        let console = shop.database.console
        console.level = .off
        shop.database.enableTrace()
        shop.database.debugSettings = .standard
        var made = 0
        func message() -> String {
            made += 1
            return "text"
        }
        for level in ConsoleLogLevel.allCases { console.log(level, message()) }
        console(message())
        _ = try shop.database.logRecords()
        #expect(made == 0 && lines.all.isEmpty)
    }

    @Test("two databases have consoles of their own")
    func ownConsoles() throws {
        let other = try Shop()
        other.database.console.level = .off
        #expect(shop.database.console.level == .info)
    }

    // MARK: Traces

    @Test("TRC-08: the trace of statements is switched while the database is open, with values only where asked for")
    func statements() throws {
        let customers = try shop.objects("Customer")
        func traced() throws -> [String] {
            lines.clear()
            _ = try customers.findByPrimaryKey("c1")
            return lines.all
        }
        #expect(try traced().isEmpty)
        shop.database.enableTrace()
        let plain = try traced()
        #expect(plain.contains { $0.hasPrefix("SQL: SELECT") && $0.contains("\"id\" = ?1") } && !plain.joined().contains("'c1'"))
        shop.database.enableTrace(withPayload: true)
        #expect(try traced().contains { $0.contains("\"id\" = 'c1'") })
        #expect(shop.database.connectionProfile.tracesValues)
        shop.database.enableTrace(false)
        #expect(try traced().isEmpty)
        shop.database.enableTrace()
        try shop.database.close()
        #expect(try traced().contains { $0.contains("\"id\" = ?1") })
    }

    @Test("a trace with a sink of its own takes the place of the console's, at once")
    func ownSink() throws {
        let own = Lines()
        shop.database.enableTrace()
        shop.database.connectionProfile.trace = { own.add($0) }
        _ = try shop.database.logRecords()
        #expect(lines.all.isEmpty && own.all.contains { $0.hasPrefix("SELECT \"message_id\"") })
    }

    // MARK: Settings for debugging

    @Test("failures of the database are told where asked for, once each, with the reason")
    func persistenceMessages() throws {
        func fail() {
            #expect(throws: ObjectError.self) {
                try shop.database.transaction { try shop.database.write("bad") { try $0.connection.execute("SELECT * FROM nowhere") } }
            }
        }
        fail()
        #expect(lines.all.isEmpty)
        shop.database.debugSettings = .printPersistenceMessages
        fail()
        #expect(lines.all.count == 1)
        let line = lines.all.first ?? ""
        #expect(line.hasPrefix("ERROR: database Shop: ") && line.contains("no such table: nowhere"), "\(line)")
    }

    @Test("an import leaves a log record per object where asked for, in its own transaction")
    func logRecordOnImport() throws {
        try shop.importCustomer(2, id: "c2", name: "Castle Inn")
        #expect(try shop.database.logRecords().isEmpty)
        shop.database.debugSettings = .logRecordOnImport
        let customer = try shop.objects("Customer").load(2)
        try customer.set("city", "Cork")
        try customer.update()
        try shop.importRows("Customer", ["id", "name", "credit"], "[[1,\"c1\",\"A\",1],[2,\"c2\",\"B\",1],[3,\"c3\",\"C\",1]]")
        try shop.importDeletions("Customer", 3)
        let records = try shop.database.logRecords()
        #expect(
            records.map(\.message) == [
                "import of Customer: 0 inserted, 0 updated, 1 deleted, 0 waiting", "import of Customer: 1 inserted, 1 updated, 0 deleted, 1 waiting",
            ])
        #expect(records.allSatisfy { $0.component == "Customer" && $0.code == 200 && $0.operation == "import" && $0.level == .debug })
        #expect(throws: ObjectError.self) { try shop.importRows("Customer", ["id"], "[[4,null]]") }
        #expect(try shop.database.logRecords().count == 2)
    }
}
