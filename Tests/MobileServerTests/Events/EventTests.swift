import Foundation
import MobileProtocol
import MobileStore
import TestSupport
import Testing

@testable import MobileServer

/// Server-sent events about the groups of a device.
@Suite struct EventTests {
    private func change(_ server: TestServer, _ sql: String) throws { try server.backEnd { _ = try $0.execute(sql) } }

    @Test("a row that is changed in the back end is news of its group alone, for the devices that have its partition")
    func news() throws {
        let server = try FieldSales.server()
        let http = try HTTPServer(listening: server.server)
        defer { http.stop() }
        let north = try TestDevice.inRegion("NORTH", of: server), south = try TestDevice.inRegion("SOUTH", of: server, name: "tablet")
        let first = try ListeningConnection(http, north), second = try ListeningConnection(http, south)
        #expect(first.reads("event: listening\ndata: {}\n\n") && first.text.contains("\r\nContent-Type: text/event-stream\r\n"), "\(first.text)")
        #expect(first.text.contains("HTTP/1.1 200 ") && first.text.contains("Cache-Control: no-store") && first.isQuiet() && second.isQuiet())
        try change(server, #"UPDATE "the customers" SET name = 'Harbour Goods' WHERE "customer no" = 1"#)
        #expect(first.news() == ["default"] && second.isQuiet())
        let result = try north.synchronize(groups: ["default", "lines"])
        #expect(result.upserts == ["Customer": 1] && north.rows("Customer", by: "name")["Harbour Goods"] != nil)
        try change(server, #"UPDATE "order line" SET quantity = 6 WHERE "order" = 10 AND line = 1"#)
        #expect(first.news() == ["lines"] && second.news() == ["lines"])
        #expect(first.isQuiet(), "an event is sent once")
    }

    @Test("a client of HTTP/1.0, such as a proxy, gets the same events without chunks")
    func oldProtocol() throws {
        let server = try FieldSales.server()
        let http = try HTTPServer(listening: server.server)
        defer { http.stop() }
        let device = try TestDevice.inRegion("NORTH", of: server), listener = try ListeningConnection(http, device, version: "1.0")
        #expect(listener.reads("\r\n\r\nevent: listening\ndata: {}\n\n") && listener.isQuiet(), "\(listener.text)")
        for name in ["Harbour Goods", "Harbour Foods"] {
            try change(server, "UPDATE \"the customers\" SET name = '\(name)' WHERE \"customer no\" = 1")
            #expect(listener.news() == ["default"])
        }
        try change(server, #"UPDATE "order line" SET quantity = 6 WHERE "order" = 10 AND line = 1"#)
        #expect(listener.news() == ["lines"] && listener.isQuiet())
    }

    @Test("a device that missed changes hears about them at once, and one without a token too")
    func missed() throws {
        let server = try FieldSales.server()
        let http = try HTTPServer(listening: server.server)
        defer { http.stop() }
        let device = try TestDevice.inRegion("NORTH", of: server)
        try change(server, #"DELETE FROM "order line" WHERE line = 2"#)
        #expect(try ListeningConnection(http, device).news() == ["lines"])
        try device.synchronize(groups: ["default", "lines"])
        #expect(try ListeningConnection(http, device).isQuiet())
        device.tokens["default"] = nil
        #expect(try ListeningConnection(http, device).news() == ["default"])
    }

    @Test("a device with a later version than a restored store hears of it at once, even if the rows are the same")
    func restored() throws {
        let server = try FieldSales.server(), backup = server.folder.file("backup.db"), device = try TestDevice.inRegion("NORTH", of: server)
        try server.saveCache(to: backup)
        for name in ["Lost", "Harbour Foods"] {
            try change(server, "UPDATE \"the customers\" SET name = '\(name)' WHERE \"customer no\" = 1")
            try device.synchronize(groups: ["default", "lines"])
        }
        try server.reopen(withCache: backup)
        let http = try HTTPServer(listening: server.server)
        defer { http.stop() }
        #expect(try ListeningConnection(http, device).news() == ["default"])
        #expect(try device.synchronize(groups: ["default", "lines"]).resets == ["Customer"])
        #expect(try ListeningConnection(http, device).isQuiet())
    }

    @Test("a device's own change is no news to it, but to the others")
    func ownChange() throws {
        let server = try FieldSales.server()
        let http = try HTTPServer(listening: server.server)
        defer { http.stop() }
        let writer = try TestDevice.inRegion("NORTH", of: server), reader = try TestDevice.inRegion("NORTH", of: server, name: "tablet")
        let own = try ListeningConnection(http, writer), other = try ListeningConnection(http, reader)
        #expect(own.reads("event: listening") && other.reads("event: listening"))
        let operation = writer.create("Customer", ["name": "New", "region": "NORTH", "credit": 1, "active": true])
        let result = try writer.synchronize([operation], groups: ["default", "lines"])
        #expect(result.results.map(\.outcome) == [.accepted] && result.upserts["Customer"] == 1)
        #expect(other.news() == ["default"] && own.isQuiet())
        // A change behind its back is news again.
        try change(server, #"UPDATE "the customers" SET name = 'Newer' WHERE name = 'New'"#)
        #expect(own.news() == ["default"])
    }

    @Test("back ends are looked at while somebody listens, and only then")
    func looks() throws {
        let server = try FieldSales.server()
        let http = try HTTPServer(listening: server.server)
        defer { http.stop() }
        let device = try TestDevice.inRegion("NORTH", of: server), events = server.server.events
        #expect(!events.isWatching && events.count == 0)
        var connection: ListeningConnection? = try ListeningConnection(http, device)
        #expect(connection?.reads("event: listening") == true && events.isWatching && events.count == 1)
        connection = nil
        #expect(eventually { events.count == 0 && !events.isWatching }, "a heartbeat finds the closed connection")
        connection = try ListeningConnection(http, device)
        try change(server, #"DELETE FROM "order line" WHERE line = 2"#)
        #expect(connection?.news() == ["lines"], "and they are looked at again")
    }

    @Test("a server that leaves sends its listeners away, each with a time of its own, and waits for none of them")
    func drain() throws {
        let server = try FieldSales.server()
        let http = try HTTPServer(listening: server.server, heartbeat: .seconds(45))
        let devices = try (1...3).map { try TestDevice.inRegion("NORTH", of: server, name: "phone \($0)") }
        let connections = try devices.map { try ListeningConnection(http, $0) }
        for connection in connections { #expect(connection.reads("event: listening")) }
        let drained = concurrently { http.drain(notice: .zero, timeout: .seconds(600)) }
        for connection in connections { #expect(connection.reads("event: end\ndata: {}\n\n") && connection.text.contains(/retry: \d+\n/)) }
        #expect(drained() && server.server.events.count == 0)
    }

    @Test("a client that does not read is cut, and one that reads is not")
    func slowReader() throws {
        let server = try FieldSales.server()
        let http = try HTTPServer(listening: server.server, heartbeat: .milliseconds(200))
        defer { http.stop() }
        let slow = try TestDevice.inRegion("NORTH", of: server), quick = try TestDevice.inRegion("NORTH", of: server, name: "tablet")
        let stuck = try ListeningConnection(http, slow, receiveBuffer: 2048), read = try ListeningConnection(http, quick)
        #expect(stuck.reads("event: listening") && read.reads("event: listening") && server.server.events.count == 2)
        let registry = server.server.events.registry
        var version: Int64 = 1_000_000
        let isCut = eventually {
            version += 1
            registry.note(registry.watched.map { ($0, PartitionPosition(version: version, era: "")) })
            return read.news() != nil && registry.count == 1
        }
        // The groups of one change may come in two events.
        #expect(isCut && eventually { read.isQuiet() })
        version += 1
        registry.note(registry.watched.map { ($0, PartitionPosition(version: version, era: "")) })
        withExtendedLifetime(stuck) { #expect(read.news() != nil && registry.count == 1) }
    }

    @Test("a stream ends after its time, so that the session of its client is checked again")
    func time() throws {
        let server = try FieldSales.server()
        let http = try HTTPServer(listening: server.server, time: .milliseconds(200))
        defer { http.stop() }
        let device = try TestDevice.inRegion("NORTH", of: server)
        let connection = try ListeningConnection(http, device)
        #expect(connection.reads("event: end\ndata: {}\n\n"))
        #expect(eventually { server.server.events.count == 0 })
    }
}
