import MobileCrypto
import MobileModel
import MobileProtocol
import MobileStore
import Testing

@testable import MobileServer

/// Attacks on the contents that devices fetch on their own: a grant opens them for as long as its user has the right to the rows, and not longer.
@Suite struct ContentAccessTests {
    private let server: TestServer
    private let device: TestDevice
    /// The contents that a download of the device has named: a segment of the sites in the north, and the plan of one of them.
    private let segment: NamedContent
    private let plan: NamedContent

    private var administration: ServerAdministration { server.server.administration }

    init() throws {
        let name = #"{"name": "name", "type": "string", "length": 20}"#
        let model = try PackageModel(
            json: Regions.json.replacing(name, with: name + #", {"name": "plan", "type": "bigString", "nullable": true}"#))
        let more = """
            ALTER TABLE site ADD COLUMN plan TEXT;
            UPDATE site SET plan = '\(String(repeating: "wall ", count: 100))' WHERE id = 1;
            INSERT INTO site (region, year, name)
            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60) SELECT 'NORTH', 2025, 'Site ' || i FROM n;
            """
        server = try TestServer(model: model, tables: Regions.tables + more) {
            $0.segmentRules.leastRows = 20
            $0.segmentRules.namedValueBytes = 100
        }
        for user in ["ada", "bob"] {
            try server.server.administration.setRoles(["sales"], ofUser: user)
            try server.server.administration.setAttribute("region", to: ["NORTH", "EAST"], ofUser: user)
        }
        device = try TestDevice(server)
        let frames = try device.synchronize().frames
        (segment, plan) = (try #require(Self.contents(frames).segment), try #require(Self.contents(frames).plan))
    }

    private static func contents(_ frames: [FrameContent]) -> (segment: NamedContent?, plan: NamedContent?) {
        var found: (segment: NamedContent?, plan: NamedContent?)
        for frame in frames {
            switch frame {
            case .segment(let part): found.segment = part.content
            case .largeValue(let part): found.plan = part.content
            default: break
            }
        }
        return found
    }

    /// The statuses of requests for the segment, the plan, and the rest of each.
    private func statuses(_ device: TestDevice? = nil) throws -> [Int] {
        let device = device ?? self.device
        return try [segment, plan].flatMap { [try device.fetch($0).status, try device.fetch($0, range: "bytes=5-").status] }
    }

    private static let open = [200, 206, 200, 206], closed = [404, 404, 404, 404]

    @Test func `a user who has lost the attribute, or the role, opens nothing with a grant from before`() throws {
        #expect(try statuses() == Self.open)
        try administration.setAttribute("region", to: ["EAST"], ofUser: "ada")
        #expect(try statuses() == Self.closed)
        try administration.setAttribute("region", to: ["EAST", "NORTH"], ofUser: "ada")
        #expect(try statuses() == Self.open)
        try administration.setRoles(["stock"], ofUser: "ada")
        #expect(try statuses() == Self.closed)
        try administration.setRoles(["management"], ofUser: "ada")
        #expect(try statuses() == Self.open)
        try administration.setAttribute("region", to: [], ofUser: "ada")
        try server.restart()
        #expect(try statuses() == Self.closed, "every process checks it")
    }

    @Test func `another user with the same rights, and another device of the user, need grants of their own`() throws {
        let bob = try TestDevice(server, name: "bobs-phone", user: "bob", password: "other"), tablet = try TestDevice(server, name: "tablet")
        let bobs = try bob.synchronize()
        #expect(Self.contents(bobs.frames).segment?.name == segment.name, "the content is the same")
        try tablet.synchronize()
        #expect(try statuses(bob) == Self.closed && statuses(tablet) == Self.closed)
        #expect(try device.fetch(#require(Self.contents(bobs.frames).segment)).status == 404)
        // The device changes hands.
        try administration.removeDevice(device.name, application: "crm")
        let heir = try TestDevice(server, name: device.name, user: "bob", password: "other")
        try heir.synchronize()
        #expect(try statuses(heir) == Self.closed)
    }

    @Test func `a session that has ended opens nothing; the next one of the same device does`() throws {
        let session = try #require(try administration.sessions().first { $0.device == device.name })
        try administration.removeSession(session.id)
        #expect(try statuses() == [401, 401, 401, 401])
        try device.register()
        #expect(try statuses() == Self.open)
        try administration.setLocked(true, user: "ada")
        #expect(try statuses() == [401, 401, 401, 401])
    }

    @Test func `a client that is locked or not subscribed any more opens nothing`() throws {
        try administration.setLocked(true, client: device.client, package: server.package)
        #expect(try statuses() == Self.closed)
        try administration.setLocked(false, client: device.client, package: server.package)
        try device.synchronize()
        #expect(try statuses() == Self.open)
        _ = try device.send(.unsubscribe)
        #expect(try statuses() == Self.closed)
    }

    @Test func `a value whose row has left the user's partition is closed, and so is a segment that its partition has no more`() throws {
        let tablet = try TestDevice(server, name: "tablet")
        try server.backEnd { try $0.execute("UPDATE site SET region = 'SOUTH' WHERE id = 1") }
        #expect(try statuses() == Self.open, "nobody has seen the change yet")
        try tablet.synchronize()
        #expect(try statuses() == [200, 206, 404, 404])
        try server.state { _ = try $0.execute("DELETE FROM _segment") }
        #expect(try statuses() == Self.closed)
    }

    @Test func `a user who gets a region later cannot read the rows that have left it from a segment`() throws {
        try server.backEnd { try $0.execute("UPDATE site SET region = 'SOUTH' WHERE id = 1") }
        try device.synchronize()
        let bob = try TestDevice(server, name: "bobs-phone", user: "bob", password: "other")
        let result = try bob.synchronize()
        #expect(Self.contents(result.frames).segment == nil && result.upserts["Site"] == bob.rows["Site"]?.count)
        #expect(bob.rows("Site", by: "id")[1] == nil && bob.rows["Site"]?.count == device.rows["Site"]?.count)
    }

    // MARK: Checks of a moment ago

    /// The rights are checked in the store again after this time, which no test waits for.
    private func longCheckedTime() throws {
        try server.restart { $0.segmentRules.checkedTime = .seconds(3600) }
    }

    /// The status of an answer that the server gives at once; nil for none.
    private func statusAtOnce(_ content: NamedContent, _ device: TestDevice? = nil, range: String? = nil) -> Int? {
        server.server.answerAtOnce((device ?? self.device).request(content, range: range))?.status
    }

    @Test func `a segment whose reasons were checked a moment ago comes at once, whole and in part`() throws {
        try longCheckedTime()
        #expect(statusAtOnce(segment) == nil, "nothing was checked yet")
        #expect(try statuses() == Self.open)
        #expect(statusAtOnce(segment) == 200 && statusAtOnce(segment, range: "bytes=5-") == 206)
        #expect(statusAtOnce(plan) == nil, "the row of a large value may leave the partition at any time")
        try server.server.administration.removeSession(try #require(administration.sessions().first { $0.device == device.name }).id)
        #expect(statusAtOnce(segment) == 200, "the check was valid for an hour")
        #expect(try statuses() == [401, 401, 401, 401])
    }

    @Test func `after the time of the check the store is asked again`() throws {
        try server.restart { $0.segmentRules.checkedTime = .zero }
        #expect(try statuses() == Self.open)
        #expect(statusAtOnce(segment) == nil)
    }

    @Test func `a check vouches for its own session, grant and partition alone`() throws {
        try longCheckedTime()
        #expect(try statuses() == Self.open)
        let tablet = try TestDevice(server, name: "tablet")
        let own = try #require(Self.contents(try tablet.synchronize().frames).segment)
        #expect(own.name == segment.name)
        // Its synchronization has fetched the segment.
        #expect(statusAtOnce(own, tablet) == 200 && statusAtOnce(segment, tablet) == nil && statusAtOnce(own) == nil)
        // A content without a file here, and the grant of another content.
        let other = NamedContent(name: String(repeating: "a", count: 64), grant: segment.grant)
        #expect(statusAtOnce(other) == nil && statusAtOnce(NamedContent(name: plan.name, grant: segment.grant)) == nil)
        var changed = segment.grant
        changed.replaceSubrange(changed.index(before: changed.endIndex)..., with: changed.hasSuffix("0") ? "1" : "0")
        #expect(statusAtOnce(NamedContent(name: segment.name, grant: changed)) == nil)
        // Another partition, with a signature of its own.
        let grants = try ContentGrants(server.configuration.openStateStore(createsFile: false), server.configuration)
        let session = Accounts.Session(user: "ada", application: "crm", device: device.name)
        var permission = try #require(try grants.permission(segment.grant, for: segment.name, of: session))
        permission.partition += 1
        let moved = NamedContent(name: segment.name, grant: try grants.grant(segment.name, permission, to: session))
        #expect(statusAtOnce(moved) == nil)
        #expect(try device.fetch(moved).status == 404)
    }

    @Test func `a request that is traced takes the way that leaves a line`() throws {
        try longCheckedTime()
        #expect(try statuses() == Self.open)
        let trace = server.server.configuration.requestTrace
        trace.devices = ["another"]
        #expect(statusAtOnce(segment) == nil)
        trace.devices = []
        #expect(statusAtOnce(segment) == 200)
    }

    @Test func `the reasons in a grant are signed`() throws {
        let grants = try ContentGrants(server.configuration.openStateStore(createsFile: false), server.configuration)
        let session = Accounts.Session(user: "ada", application: "crm", device: device.name)
        let permission = try #require(try grants.permission(plan.grant, for: plan.name, of: session))
        var parts = plan.grant.split(separator: ".").map(String.init)
        for (what, other) in [("\(permission.partition)", "\(permission.partition + 1)"), ("Site", "Note"), (device.client, "another")] {
            let text = String(decoding: [UInt8](hexadecimal: parts[1]) ?? [], as: UTF8.self)
            let changed = text.replacing(what, with: other)
            #expect(changed != text)
            let saved = parts[1]
            parts[1] = [UInt8](changed.utf8).hexadecimal
            #expect(try device.fetch(NamedContent(name: plan.name, grant: parts.joined(separator: "."))).status == 404, "\(changed)")
            parts[1] = saved
        }
        #expect(permission.package == server.package && permission.value?.attribute == "plan")
        #expect(try device.fetch(NamedContent(name: plan.name, grant: parts.joined(separator: "."))).status == 200)
    }
}
