import Foundation
import MobileStore
import TestSupport
import Testing
import WorklightClient

/// Worklight protocol, section 8, and the class OCLogger of the document.
@Suite struct LogTests {
    private func server(_ reply: @escaping @Sendable (Int) -> Reply = { _ in Reply(status: 201) }) throws -> StrictServer {
        try StrictServer { request, number in
            guard request.name.hasSuffix("loguploader") else { throw StrictServer.Unscripted() }
            return reply(number)
        }
    }

    private func client(_ server: StrictServer, store: String = "client.db", _ change: (inout WLConfiguration) -> Void = { _ in }) throws -> WLClient
    {
        let client = try server.client(store: server.store(store), change)
        client.logs.printer = { _ in }
        return client
    }

    /// The entries that an upload brought.
    private func entries(_ request: StrictRequest) throws -> [JSONValue] {
        let text = try JSONValue(parsing: Gzip.inflate(request.body, maximumLength: 1 << 20))
        let data = try #require(text["__logdata"]?.string)
        #expect(text["isAjaxRequest"] == "true")
        #expect(text["x"]?.string?.hasPrefix("0.") == true)
        return try #require(JSONValue(parsing: "[\(data.dropLast())]").array)
    }

    @Test(
        "WL-136 WLD-53 WLD-54 WLD-65: a level keeps itself and the more severe ones",
        arguments: [
            (OCLogType.info, ["ERROR", "WARN", "INFO"]), (.error, ["ERROR"]), (.warn, ["ERROR", "WARN"]), (.log, ["ERROR", "WARN", "INFO", "LOG"]),
            (.debug, ["ERROR", "WARN", "INFO", "LOG", "DEBUG"]),
        ])
    func levels(level: OCLogType, kept: [String]) throws {
        let server = try server()
        let client = try client(server)
        let printed = RecordedLines()
        client.logs.printer = { printed.add($0) }
        #expect(client.logs.level == .debug)
        client.logs.level = level
        #expect(client.logs.level == level)
        let logger = client.logs.logger(package: "p")
        logger.error("m")
        logger.warn("m")
        logger.info("m")
        logger.log("m")
        logger.debug("m")
        #expect(try client.logs.captured().map { try JSONValue(parsing: $0)["level"]?.string } == kept)
        #expect(printed.all == kept.map { "[\($0)] [p] m" })
    }

    @Test("WL-137 WL-138 WLD-56 WLD-57: an entry has time, level, package, text and metadata; without capture there is none")
    func entry() throws {
        let server = try server()
        let client = try client(server) { $0.clock = { 1_361_109_267.123 } }
        let logger = client.logs.logger(package: "accounts")
        #expect(client.logs.capture)
        client.logs.capture = false
        logger.error("not kept")
        #expect(try client.logs.captured() == [])
        client.logs.capture = true
        logger.error("bälance \"low\"", metadata: ["account": "123-456-789", "n": 1])
        let entry = try JSONValue(parsing: #require(client.logs.captured().first))
        #expect(
            entry == [
                "timestamp": "17-02-2013 13:54:27:123", "level": "ERROR", "pkg": "accounts", "msg": "bälance \"low\"",
                "metadata": ["account": "123-456-789", "n": 1],
            ])
    }

    @Test("WLD-52: one logger for each package; a blank name counts as NONE")
    func packages() throws {
        let client = try client(server())
        #expect(client.logs.logger(package: "a") === client.logs.logger(package: "a"))
        #expect(client.logs.logger(package: "a") !== client.logs.logger(package: "b"))
        #expect(client.logs.logger(package: " ").package == "NONE")
    }

    private final class Place {
        weak var client: WLClient?
        weak var logs: OCLogCenter?
        weak var logger: OCLogger?
    }

    @Test func `a client, its log and its loggers are freed when nobody uses them`() throws {
        let server = try server(), place = Place()
        do {
            let client = try client(server), logger = client.logs.logger(package: "p")
            logger.info("one")
            (place.client, place.logs, place.logger) = (client, client.logs, logger)
        }
        #expect(eventually { place.client == nil && place.logs == nil && place.logger == nil })
        let logger = try client(server).logs.logger(package: "p")
        logger.info("a logger is of use without its client")
        #expect(eventually { place.client == nil })
    }

    @Test("WL-139 WLD-58 WLD-59: less than 10,000 bytes are refused; at the limit nothing more is kept, also after a restart")
    func size() throws {
        let server = try server()
        let client = try client(server)
        #expect(client.logs.maxFileSize == 100_000)
        client.logs.maxFileSize = 9999
        #expect(client.logs.maxFileSize == 100_000)
        client.logs.maxFileSize = 10_000
        #expect(client.logs.maxFileSize == 10_000)
        let logger = client.logs.logger(package: "p")
        for number in 0..<200 { logger.info("\(number) " + String(repeating: "x", count: 100)) }
        let kept = try client.logs.captured()
        let bytes = kept.reduce(0) { $0 + $1.utf8.count + 1 }
        #expect(bytes >= 10_000)
        #expect(bytes - (kept.last?.utf8.count ?? 0) - 1 < 10_000)
        #expect(kept.enumerated().allSatisfy { $0.element.contains("\"msg\":\"\($0.offset) ") })
        let second = try self.client(server)
        second.logs.maxFileSize = 10_000
        second.logs.logger(package: "p").info("one more")
        #expect(try second.logs.captured() == kept)
    }

    @Test func `with rotation a full log waits for the next sending, and a new one begins`() async throws {
        let server = try server()
        let client = try client(server) { $0.rotatesFullLog = true }
        client.logs.maxFileSize = 10_000
        let logger = client.logs.logger(package: "p")
        for number in 0..<150 { logger.info("\(number) " + String(repeating: "x", count: 100)) }
        let kept = try client.logs.captured()
        #expect(kept.count < 150 && kept.count > 50)
        #expect(kept.last?.contains("\"msg\":\"149 ") == true)
        // The older part goes first.
        _ = try await client.logs.send()
        #expect(try client.logs.captured().last?.contains("\"msg\":\"149 ") == true)
        _ = try await client.logs.send()
        #expect(try client.logs.captured() == [])
        #expect(try server.requests.flatMap(entries).count == kept.count)
    }

    @Test("WL-140 WLD-55: an empty log is not sent, and two sendings at once make one upload")
    func once() async throws {
        let release = Signal()
        let server = try server { _ in
            release.block()
            return Reply(status: 201)
        }
        let client = try client(server)
        #expect(try await client.logs.send() == 0)
        #expect(server.requests.isEmpty)
        client.logs.logger(package: "p").info("m")
        let withoutResult: () -> Void = { client.logs.send() }
        withoutResult()
        #expect(eventually { server.requests.count == 1 })
        #expect(try await client.logs.send() == 0)
        withoutResult()
        release.fire()
        #expect(try eventually { try client.logs.captured().isEmpty })
        #expect(server.requests.count == 1)
    }

    @Test("WL-141: an upload has its form; lines stay until it is confirmed, and come again after a failure, over restarts too")
    func upload() async throws {
        let server = try server { Reply(status: $0 < 2 ? 500 : 201) }
        let client = try client(server)
        client.logs.logger(package: "p").info("one")
        #expect(await failure { try await client.logs.send() }?.errorCode == .unresponsiveHost)
        client.logs.logger(package: "p").info("two")
        #expect(await failure { try await client.logs.send() } != nil)
        #expect(try client.logs.captured().count == 2)
        let second = try self.client(server)
        #expect(try await second.logs.send() == 1)
        #expect(try second.logs.captured().count == 1)
        #expect(try await second.logs.send() == 1)
        #expect(try second.logs.captured() == [])
        let texts = try server.requests.map { try entries($0).map { $0["msg"] } }
        #expect(texts == [["one"], ["one"], ["one"], ["two"]])
        #expect(server.violations == [])
        #expect(Set(server.requests.map { $0.headers["x-wl-clientlog-deviceid"] }).count == 1)
        #expect(server.requests.first?.headers["x-wl-clientlog-appname"] == "Demo")
    }

    @Test("WL-030: the statuses 200, 201 and 204 confirm an upload", arguments: [(200, true), (201, true), (204, true), (202, false), (404, false)])
    func statuses(status: Int, isConfirmed: Bool) async throws {
        let server = try server { _ in Reply(status: status) }
        let client = try client(server)
        client.logs.logger(package: "p").info("m")
        _ = try? await client.logs.send()
        #expect(try client.logs.captured().isEmpty == isConfirmed)
    }
}
