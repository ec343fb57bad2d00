import MobileCrypto
import MobileProtocol
import MobileStore
import TestSupport
import Testing

@testable import MobileServer

/// Contents that a device has made are not sent to it again.
@Suite struct OwnLargeValuesTests {
    private static let kinds = BackEndKind.allCases
    private let photo = [UInt8]((0..<3000).map { UInt8(truncatingIfNeeded: $0 &* 7) })

    private func parts(_ result: TestDevice.Result) -> [LargeValuePart] {
        result.frames.compactMap { if case .largeValue(let part) = $0 { part } else { nil } }
    }

    private func create(_ device: TestDevice) -> OperationFrame {
        device.create("Customer", ["name": "Harbour", "region": "NORTH", "credit": 1, "active": true])
    }

    private func update(_ device: TestDevice, _ key: Int64, _ attributes: JSONObject) -> OperationFrame {
        let id = device.rows["Customer"]?[key]?["id"] ?? 0
        return OperationFrame(id: device.nextID(), object: "Customer", change: .update, key: key, attributes: attributes, primaryKey: ["id": id])
    }

    private func digest(_ bytes: [UInt8]) throws -> String {
        var digest = try SHA256()
        try digest.update(bytes)
        return try digest.finish().hexadecimal
    }

    @Test("the download names the operation that has brought a content, once for each attribute", arguments: kinds)
    func submitted(kind: BackEndKind) throws {
        let server = try FieldSales.server(on: kind), device = try TestDevice.inRegion("NORTH", of: server)
        device.adjustHeader = { $0.held = [:] }
        let create = create(device), notes = Array("Ünïcode ☃".utf8)
        let result = try device.synchronize([create], large: [create.id: ["photo": photo, "notes": notes]])
        let own = parts(result).filter { $0.owner == .row(key: create.key) }.sorted { $0.attribute < $1.attribute }
        #expect(own.map(\.attribute) == ["notes", "photo"] && own.map(\.submitted) == [create.id, create.id])
        #expect(own.map(\.length) == [Int64(notes.count), 3000])
        // Once it is there, nothing is said about it.
        #expect(try parts(device.synchronize()).isEmpty)
        // The last operation on an attribute of several ones that are accepted together.
        let first = update(device, create.key, ["credit": 2]), second = update(device, create.key, ["credit": 3])
        let again = try device.synchronize([first, second], large: [first.id: ["photo": [1]], second.id: ["photo": [2, 3]]])
        #expect(again.results.map(\.outcome) == [.accepted, .accepted])
        #expect(parts(again).map(\.submitted) == [second.id])
    }

    @Test("an earlier release of the client gets the content", arguments: kinds)
    func earlierClient(kind: BackEndKind) throws {
        let server = try FieldSales.server(on: kind), device = try TestDevice.inRegion("NORTH", of: server)
        let create = create(device)
        let result = try device.synchronize([create], large: [create.id: ["photo": photo]])
        #expect(parts(result).contains { $0.owner == .row(key: create.key) && $0.submitted == nil && $0.length == 3000 })
        #expect(device.largeValues["Customer"]?[create.key]?["photo"] == photo)
    }

    @Test("a content that the back end has made of the device's own is sent", arguments: kinds)
    func changedByTheBackEnd(kind: BackEndKind) throws {
        let server = try FieldSales.server(on: kind), device = try TestDevice.inRegion("NORTH", of: server)
        device.adjustHeader = { $0.held = [:] }
        let create = create(device)
        try device.synchronize([create], groups: [], large: [create.id: ["photo": photo]])
        try server.backEnd {
            try $0.execute("UPDATE \"the customers\" SET photo = \(kind == .sqlite ? "x'0708'" : "'\\x0708'") WHERE name = 'Harbour'")
        }
        device.adjustHeader = { [photo] in
            $0.unconfirmed = ["Customer": [create.key]]
            $0.held = ["Customer": [HeldValue(key: create.key, attribute: "photo", digest: (try? digest(photo)) ?? "")]]
        }
        #expect(try parts(device.synchronize()).contains { $0.owner == .row(key: create.key) && $0.submitted == nil && $0.length == 2 })
        #expect(device.largeValues["Customer"]?[create.key]?["photo"] == [7, 8])
    }

    @Test("a value that the device lists is not sent; it is after a reset, and with an operation on it that is rejected", arguments: kinds)
    func held(kind: BackEndKind) throws {
        let server = try FieldSales.server(on: kind), device = try TestDevice.inRegion("NORTH", of: server)
        let create = create(device)
        try device.synchronize(groups: ["default"])
        let tokens = device.tokens
        try device.synchronize([create], groups: [], large: [create.id: ["photo": photo]])
        let held = HeldValue(key: create.key, attribute: "photo", digest: try digest(photo))
        device.adjustHeader = {
            $0.unconfirmed = ["Customer": [create.key]]
            $0.held = ["Customer": [held]]
        }
        let own = { (result: TestDevice.Result) in self.parts(result).filter { $0.owner == .row(key: create.key) } }
        #expect(try own(device.synchronize()).isEmpty && device.rows["Customer"]?[create.key] != nil)
        // The same download, with a change of the value that is rejected: the device compares the incoming value with another version.
        device.tokens = tokens
        let update = update(device, create.key, ["credit": -1])
        let result = try device.synchronize([update], large: [update.id: ["photo": [1]]])
        #expect(result.results.map(\.outcome) == [.rejected] && own(result).map(\.length) == [3000])
        device.tokens = [:]
        #expect(try own(device.synchronize()).map(\.length) == [3000])
    }

    @Test("more values than the limit, and other forms, are refused")
    func refused() throws {
        let server = try FieldSales.server(), device = try TestDevice.inRegion("NORTH", of: server)
        let value = HeldValue(key: 1, attribute: "photo", digest: "")
        device.adjustHeader = { $0.held = ["Customer": Array(repeating: value, count: SynchronizeHeader.heldLimit + 1)] }
        #expect(try device.synchronize().status == 400)
        // Objects, attributes and digests that do not exist name nothing.
        device.adjustHeader = { $0.held = ["Customer": [value, HeldValue(key: 1, attribute: "phot", digest: "zz")], "Nothing": [value]] }
        #expect(try device.synchronize().status == 200)
        for held: JSONValue in [["Customer": [[1, "photo"]]], ["Customer": [["1", "photo", ""]]], ["Customer": 1], 7] {
            #expect(throws: ProtocolError.self) { try SynchronizeHeader(json: ["version": 2, "cid": "c", "pkg": "p:1", "held": held]) }
        }
        for part: JSONObject in [
            ["length": .null, "submitted": 7], ["length": 1, "submitted": 7, "name": .string(String(repeating: "a", count: 64)), "grant": "1.b"],
        ] {
            var members: JSONObject = ["object": "o", "attribute": "a", "key": 1, "compression": "none"]
            for member in part { members[member.key] = member.value }
            let json = JSONValue.object(members)
            #expect(throws: ProtocolError.self) { try LargeValuePart(json: json) }
        }
    }
}
