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
