import Foundation
import MobileCrypto
import MobileExecution
import MobileProtocol
import MobileStore
import TestSupport
import Testing

@testable import MobileServer

/// First and large downloads name segments, which were made once for all devices.
@Suite struct SegmentDeliveryTests {
    /// Makes a server with 400 customers in the north, which has segments of about 4 KB.
    static func server(
        clock: VirtualClock = VirtualClock(start: .seconds(1_800_000_000)), adjust: @escaping (inout ServerConfiguration) -> Void = { _ in }
    ) throws -> TestServer {
        let server = try FieldSales.server {
            $0.segmentRules.leastRows = 50
            $0.segmentRules.textBytes = 4096
            $0.segmentRules.namedValueBytes = 100
            $0.clock = { clock.milliseconds }
            adjust(&$0)
        }
        try server.backEnd { connection in
            try connection.execute(
                """
                INSERT INTO "the customers" ("customer no", name, region)
                WITH RECURSIVE n (i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 497) SELECT i, 'Customer ' || i, 'NORTH' FROM n
                """)
        }
        return server
    }

    private func device(_ server: TestServer, _ name: String = "phone", user: String = "ada", password: String = "secret") throws -> TestDevice {
        let device = try TestDevice(server, name: name, user: user, password: password)
        device.subscriptions = ["Customer": [["region": "NORTH"]]]
        return device
    }

    private func count(_ server: TestServer, _ sql: String) throws -> Int64 { try server.state { try $0.number(sql) } }

    private func touch(_ server: TestServer, _ first: Int, _ last: Int, _ name: String) throws {
        try server.backEnd {
            try $0.execute(
                "UPDATE \"the customers\" SET name = ?3 || \"customer no\" WHERE \"customer no\" BETWEEN ?1 AND ?2",
                [.integer(Int64(first)), .integer(Int64(last)), .text(name)])
        }
    }

    /// Whether a device has what one has that gets everything at once.
    private func isComplete(_ device: TestDevice, _ server: TestServer) throws -> Bool {
        let names = try server.backEnd { try $0.rows("SELECT name FROM \"the customers\" WHERE region = 'NORTH'").compactMap { $0[0].text } }
        return Set(device.rows("Customer", by: "name").keys) == Set(names.map { .string($0) }) && device.rows["Customer"]?.count == names.count
    }

    @Test func `a first download names segments that are made once, one with few rows names none, and changes come live`() throws {
        let server = try Self.server(), first = try device(server)
        let large = try first.synchronize(groups: ["default", "lines"])
        #expect(large.segments.count > 3 && large.segments.allSatisfy { $0.object == "Customer" } && large.refused.isEmpty)
        #expect(large.segments.reduce(0) { $0 + $1.rows } == 400 && large.upserts == ["Customer": 400, "Order": 2, "Line": 3])
        #expect(try isComplete(first, server))
        let made = try count(server, "SELECT count(*) FROM _segment")
        let second = try device(server, "tablet"), again = try second.synchronize(groups: ["default", "lines"])
        #expect(again.segments.map(\.content.name) == large.segments.map(\.content.name))
        #expect(second.rows == first.rows && second.largeValues == first.largeValues)
        #expect(try count(server, "SELECT count(*) FROM _segment") == made)
        try touch(server, 100, 120, "New ")
        let few = try first.synchronize()
        #expect(few.segments.isEmpty && few.upserts == ["Customer": 21])
        try server.restart()
        let third = try device(server, "desk"), later = try third.synchronize()
        #expect(later.segments.map(\.content.name) == large.segments.map(\.content.name) && later.upserts["Customer"] == 421)
        #expect(try isComplete(third, server) && isComplete(first, server))
    }

    @Test func `large changes become an increment, sixteen become one, a changed quarter becomes a new base, and the old ones go after a day`() throws
    {
        let clock = VirtualClock(start: .seconds(1_800_000_000)), server = try Self.server(clock: clock) { $0.segmentRules.mergedIncrements = 2 }
        let phone = try device(server), tablet = try device(server, "tablet"), desk = try device(server, "desk")
        let base = Set(try phone.synchronize().segments.map(\.content.name))
        try tablet.synchronize()
        try touch(server, 100, 149, "One ")
        let increment = try tablet.synchronize()
        #expect(increment.segments.reduce(0) { $0 + $1.rows } == 50 && increment.upserts == ["Customer": 50])
        // Fewer changes than a quarter; the second increment completes the number that is merged.
        try touch(server, 100, 149, "Two ")
        #expect(try tablet.synchronize().upserts == ["Customer": 50])
        #expect(try count(server, "SELECT count(*) FROM _segment_run WHERE retired IS NULL") == 2, "the base, and what was merged")
        let merged = try phone.synchronize()
        #expect(merged.segments.reduce(0) { $0 + $1.rows } == 50, "not the rows of both increments")
        #expect(try isComplete(tablet, server) && isComplete(phone, server))
        try touch(server, 100, 260, "Three ")
        let rewritten = try desk.synchronize()
        #expect(base.isDisjoint(with: rewritten.segments.map(\.content.name)) && rewritten.upserts["Customer"] == 400)
        #expect(try count(server, "SELECT count(*) FROM _segment_run WHERE retired IS NULL") == 1)
        #expect(try count(server, "SELECT count(*) FROM _segment_run") > 3)
        clock.advance(by: .days(1) + .seconds(1))
        try touch(server, 100, 260, "Four ")
        let last = try device(server, "last")
        try last.synchronize()
        #expect(try count(server, "SELECT count(*) FROM _segment_run") == 2, "the base, and the one before")
        #expect(
            try count(server, "SELECT count(*) FROM _segment AS s WHERE NOT EXISTS (SELECT 1 FROM _segment_run AS r WHERE r.run = s.run)") == 0)
        for device in [phone, tablet, desk, last] {
            try device.synchronize()
            #expect(try isComplete(device, server))
        }
    }

    @Test func `tombstones that outnumber the rows go with the base before, and older tokens begin again`() throws {
        let server = try Self.server(), phone = try device(server), tablet = try device(server, "tablet")
        try phone.synchronize()
        try tablet.synchronize()
        try server.backEnd { try $0.execute("DELETE FROM \"the customers\" WHERE \"customer no\" BETWEEN 100 AND 350") }
        try tablet.synchronize()
        // A base at the version of the tablet, and one above it.
        try device(server, "second").synchronize()
        try touch(server, 351, 420, "Changed ")
        try device(server, "third").synchronize()
        #expect(try count(server, "SELECT count(*) FROM _row WHERE deleted = 1") == 0)
        let old = try phone.synchronize(), known = try tablet.synchronize()
        #expect(old.resets == ["Customer"] && known.resets.isEmpty)
        #expect(try isComplete(phone, server) && isComplete(tablet, server))
    }

    @Test("a name alone opens nothing: a grant is for one session's content, and for a time")
    func authorization() throws {
        let clock = VirtualClock(start: .seconds(1_800_000_000)), server = try Self.server(clock: clock)
        let device = try device(server), content = try #require(try device.synchronize().segments.first?.content)
        let whole = try device.fetch(content)
        #expect(whole.status == 200)
        #expect(try SHA256.digest(of: whole.bytes).hexadecimal == content.name)
        // Ada's second device never requested this content.
        let bob = try TestDevice(server, name: "bobs-phone", user: "bob", password: "other"), tablet = try TestDevice(server, name: "tablet")
        try bob.synchronize()
        for stranger in [bob, tablet] { #expect(try stranger.fetch(content).status == 404) }
        let grants = try SegmentHistoryTests.grants(), session = Accounts.Session(user: "ada", application: "crm", device: "phone")
        let segment = ContentPermission(package: "Field:2.0", client: "1", partition: 7)
        var value = segment
        value.value = ContentPermission.LargeValue(object: "Customer", attribute: "notes", surrogateKey: 5)
        let grant = try grants.grant("name", segment, to: session)
        #expect(try grants.permission(grant, for: "name", of: session) == segment)
        #expect(try grants.permission(grants.grant("name", value, to: session), for: "name", of: session) == value)
        for other in [
            Accounts.Session(user: "bob", application: "crm", device: "phone"), Accounts.Session(user: "ada", application: "x", device: "phone"),
            Accounts.Session(user: "ada", application: "crm", device: "tablet"),
        ] { #expect(try grants.permission(grant, for: "name", of: other) == nil, "\(other)") }
        #expect(try grants.permission(grant, for: "another", of: session) == nil)
        // Every digit of the signature counts.
        let digits = Array(grant.utf8)
        for place in grant.utf8.count - 64..<grant.utf8.count {
            var forged = digits
            forged[place] = forged[place] == UInt8(ascii: "0") ? UInt8(ascii: "f") : UInt8(ascii: "0")
            #expect(try grants.permission(String(decoding: forged, as: UTF8.self), for: "name", of: session) == nil, "digit \(place)")
        }
        let other = try #require(try device.synchronize(upload: self.device(server, "desk").upload()).segments.last?.content)
        var parts = content.grant.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        parts[0] = String((Int64(parts[0]) ?? 0) + 1)
        for grant in [other.grant, parts.joined(separator: "."), "", "..", "\(content.grant).", "1..2"] {
            #expect(try device.fetch(NamedContent(name: content.name, grant: grant)).status == 404, "\(grant)")
        }
        #expect(try device.fetch(NamedContent(name: "../cache.db", grant: content.grant)).status == 404)
        let request = ServerRequest(path: "\(Endpoint.segments)/\(content.name)", query: ["grant": content.grant])
        #expect(server.server.respond(to: request).status == 401)
        try server.restart()
        #expect(try device.fetch(content).status == 200, "all processes share the secret")
        clock.advance(by: .days(1))
        #expect(try device.fetch(content).status == 200)
        clock.advance(by: .milliseconds(1))
        #expect(try device.fetch(content).status == 404)
    }

    @Test func `parts of a content come by range, also over HTTP, from the file`() throws {
        let server = try Self.server(), device = try device(server), content = try #require(try device.synchronize().segments.first?.content)
        let whole = try device.fetch(content).bytes, count = whole.count
        let rest = try device.fetch(content, range: "bytes=10-"), middle = try device.fetch(content, range: "bytes=5-7")
        #expect(rest.status == 206 && rest.bytes == Array(whole[10...]))
        #expect(middle.status == 206 && middle.bytes == Array(whole[5...7]))
        #expect(middle.headers.contains { $0.name == "Content-Range" && $0.value == "bytes 5-7/\(count)" })
        let behind = try device.fetch(content, range: "bytes=\(count)-")
        #expect(behind.status == 416 && behind.headers.contains { $0.value == "bytes */\(count)" })
        let http = try HTTPServer(serving: server.server)
        defer { http.stop() }
        for (field, status, expected) in [
            ("bytes=0-\(count * 2)", "206", whole), ("bytes=\(count - 1)-", "206", [whole[count - 1]]), ("lines=1-2", "200", whole),
        ] {
            let connection = try RawConnection(port: http.port)
            let head = "GET \(Endpoint.segments)/\(content.name)?grant=\(content.grant) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
            connection.send(Array("\(head)Authorization: Bearer \(device.token)\r\nRange: \(field)\r\n\r\n".utf8))
            let answer = try #require(connection.receiveAll(within: .seconds(60)))
            let end = try #require(answer.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound)
            #expect(String(decoding: answer[..<end], as: UTF8.self).hasPrefix("HTTP/1.1 \(status)"))
            #expect(Array(answer[end...]) == expected, "\(field)")
        }
    }

    @Test(
        arguments: [
            (nil, .whole), ("bytes=0-", .part(0..<10)), ("bytes=9-", .part(9..<10)), ("bytes=10-", .unsatisfiable), ("bytes=2-4", .part(2..<5)),
            ("bytes=2-99", .part(2..<10)), ("bytes=4-2", .whole), ("bytes=-3", .part(7..<10)), ("bytes=-99", .part(0..<10)),
            ("bytes=-0", .unsatisfiable), ("bytes=-", .whole), ("bytes=1", .whole), ("bytes=1-2,4-5", .whole), ("items=1-2", .whole),
            ("bytes=a-b", .whole), ("bytes=+1-2", .whole), ("bytes=99999999999999999999-", .whole),
        ] as [(String?, ByteRange)])
    fileprivate func ranges(field: String?, expected: ByteRange) {
        #expect(ByteRange(field, length: 10) == expected)
    }

    @Test func `behind a proxy, the answer names the file that the proxy sends`() throws {
        let server = try Self.server { $0.segmentRedirect = "/internal" }, device = try device(server)
        let content = try #require(try device.synchronize().segments.first?.content), answer = try device.fetch(content)
        #expect(answer.status == 200 && answer.bytes.isEmpty)
        #expect(answer.headers.contains { $0.name == "X-Accel-Redirect" && $0.value == "/internal/\(content.name)" })
        #expect(try device.fetch(NamedContent(name: content.name, grant: "1..2")).status == 404)
    }

    @Test func `a file of another content under a name is written again, and the least used files go when there are too many bytes`() throws {
        let folder = try TemporaryDirectory(), files = folder.file("contents")
        let server = try Self.server {
            $0.segmentDirectory = files
            $0.segmentCacheSize = 3000
        }
        let device = try device(server), contents = try device.synchronize().segments
        let kept = try FileManager.default.contentsOfDirectory(atPath: files)
        #expect(!kept.isEmpty && kept.count < contents.count)
        try server.restart()
        for name in kept { try Data([1, 2, 3]).write(to: URL(fileURLWithPath: files + "/" + name)) }
        // A file of an earlier process, longer than the limit.
        let left = files + "/" + String(repeating: "a", count: 64)
        try Data(count: 3001).write(to: URL(fileURLWithPath: left))
        for part in contents {
            let fetched = try device.fetch(part.content)
            #expect(fetched.status == 200 && fetched.bytes.count == part.length)
            #expect(try SHA256.digest(of: fetched.bytes).hexadecimal == part.content.name)
        }
        #expect(!FileManager.default.fileExists(atPath: left))
    }

    @Test func `requests that want the same new content at the same time read it from its source once`() throws {
        let folder = try TemporaryDirectory(), files = SegmentFiles(ServerConfiguration(cachePath: folder.file("cache.db")))
        let content: [UInt8] = [1, 2, 3], name = try SHA256.digest(of: content).hexadecimal, count = 8
        let begun = SystemLock(0), reads = SystemLock(0), everybody = DispatchSemaphore(value: 0)
        let ended = DispatchGroup()
        @Sendable func want() {
            let number = begun.withLock { count in
                count += 1
                return count
            }
            if number == count { everybody.signal() }
            let isThere = try? files.provide(name) { take in
                everybody.wait()
                everybody.signal()
                reads.withLock { $0 += 1 }
                try take(content)
                return true
            }
            #expect(isThere == true)
            ended.leave()
        }
        for _ in 0..<count {
            ended.enter()
            Thread.detachNewThread { want() }
        }
        ended.wait()
        #expect(reads.withLock { $0 } == 1)
    }

    @Test func `long values are fetched on their own, as the cache has seen them`() throws {
        let folder = try TemporaryDirectory(), files = folder.file("contents"), text = String(repeating: "Grüße ", count: 1000)
        let server = try Self.server { $0.segmentDirectory = files }
        try server.backEnd { try $0.execute("UPDATE \"the customers\" SET notes = ?1 WHERE \"customer no\" = 1", [.text(text)]) }
        let device = try device(server), result = try device.synchronize(), key = device.key("Customer", "id", 1)
        let named = result.frames.compactMap { frame -> LargeValuePart? in
            if case .largeValue(let part) = frame, part.content != nil { part } else { nil }
        }
        #expect(named.map(\.attribute) == ["notes"] && named.first?.length == Int64(text.utf8.count))
        #expect(device.largeValues["Customer"]?[key]?["notes"] == Array(text.utf8))
        let content = try #require(named.first?.content)
        #expect(try device.fetch(content, range: "bytes=6990-").bytes == Array(text.utf8.dropFirst(6990)))
        let bob = try TestDevice(server, name: "bobs-phone", user: "bob", password: "other")
        #expect(try bob.fetch(content).status == 404)
        try server.backEnd { try $0.execute("UPDATE \"the customers\" SET notes = notes || '!' WHERE \"customer no\" = 1") }
        let second = try self.device(server, "tablet")
        try second.synchronize()
        #expect(second.largeValues["Customer"]?[second.key("Customer", "id", 1)]?["notes"] == Array((text + "!").utf8))
        try server.backEnd { try $0.execute("UPDATE \"the customers\" SET notes = 'x' || notes WHERE \"customer no\" = 1") }
        // Named before the change and not fetched in time: gone, and the next download has the present value.
        try FileManager.default.removeItem(atPath: files + "/" + content.name)
        #expect(try device.fetch(content).status == 404)
        try device.synchronize()
        #expect(device.largeValues["Customer"]?[key]?["notes"] == Array(("x" + text + "!").utf8))
    }

    @Test func `where no segment can be made, the rows come live, and the log says so`() throws {
        let lines = RecordedLines(), server = try Self.server { $0.log = { lines.add($0) } }
        try server.state { _ = try $0.execute("ALTER TABLE _segment RENAME COLUMN content TO lost") }
        let device = try device(server), result = try device.synchronize()
        #expect(result.segments.isEmpty && result.upserts["Customer"] == 400)
        #expect(try isComplete(device, server))
        #expect(lines.take().contains { $0.contains("segments of Field:2.0 could not be made") })
    }
}
