import MobileModel
import MobileProtocol
import MobileStore
import TestSupport
import Testing

@testable import MobileServer

/// The identity of a row is the name of the package, the object and the modelled key, in all versions.
@Suite struct SharedIdentityTests {
    private static let later = "Field:3.0", groups = ["default", "lines"]

    /// The model of a later version.
    private static func model(_ version: String = "3.0", _ change: (String) -> String = { $0 }) throws -> PackageModel {
        let json = FieldSales.json.replacing(#""version": "2.0""#, with: #""version": "\#(version)""#)
            .replacing(#"{"name": "code", "type": "string", "nullable": true, "length": 10},"#, with: "")
        return try PackageModel(json: change(json))
    }

    private static func deploy(_ model: PackageModel, _ configuration: inout ServerConfiguration, at place: String? = nil) {
        let places = place.map { ["enterprise": $0] } ?? configuration.packages[0].backEnds
        configuration.packages.append(PackageDeployment(model, backEnds: places))
    }

    private static func server(_ models: PackageModel...) throws -> TestServer {
        try FieldSales.server { configuration in for model in models { deploy(model, &configuration) } }
    }

    private static func device(_ server: TestServer, package: String? = nil, name: String = "phone") throws -> TestDevice {
        let device = try TestDevice(server, package: package, name: name)
        device.subscriptions = ["Customer": [["region": "NORTH"]]]
        try device.synchronize(groups: groups)
        return device
    }

    private static func customer(_ name: String, region: String = "NORTH") -> JSONObject {
        var customer = RestoredBackEndTests.customer(name)
        customer["region"] = .string(region)
        return customer
    }

    /// The surrogate keys of all rows, by object.
    private func keys(_ device: TestDevice) -> [String: Set<Int64>] { device.rows.mapValues { Set($0.keys) } }

    @Test func `all versions know a row under the same surrogate key`() throws {
        let server = try Self.server(Self.model())
        let present = try Self.device(server), later = try Self.device(server, package: Self.later, name: "later")
        #expect(keys(present).values.allSatisfy { !$0.isEmpty } && keys(present).count == 3)
        #expect(keys(later) == keys(present))
        try server.restart()
        let third = try Self.device(server, package: Self.later, name: "third")
        #expect(keys(third) == keys(present))
    }

    /// The version that reads the record of operations first is not the one that has the operation.
    @Test(arguments: [false, true]) func `a row that a device of one version creates has its key in the other version`(isLater: Bool) throws {
        let server = try Self.server(Self.model())
        let present = try Self.device(server), later = try Self.device(server, package: Self.later, name: "later")
        let (creating, other) = isLater ? (later, present) : (present, later)
        let create = creating.create("Customer", Self.customer("new"))
        // The answer is lost, so that this version has not read the record.
        try creating.synchronize(upload: creating.upload([create]), losesAnswer: true)
        let result = try other.synchronize(groups: Self.groups)
        #expect(result.upserts == ["Customer": 1] && other.key("Customer", "name", "new") == create.key)
        #expect(try creating.synchronize([create], groups: Self.groups).results.map(\.code) == [200])
        #expect(keys(creating) == keys(other) && creating.key("Customer", "name", "new") == create.key)
        // The other version knows the row by its key.
        let id = try #require(other.rows["Customer"]?[create.key]?["id"])
        let update = other.update("Customer", where: "name", is: "new", set: ["name": "changed"], primaryKey: ["id": id])
        #expect(try other.synchronize([update]).results.map(\.code) == [200])
        try creating.synchronize()
        #expect(creating.key("Customer", "name", "changed") == create.key)
    }

    @Test func `a version that is deployed later has the keys that rows have, also those of rows which no device has`() throws {
        let server = try FieldSales.server(), present = try Self.device(server)
        let create = present.create("Customer", Self.customer("elsewhere", region: "WEST"))
        #expect(try present.synchronize([create]).results.map(\.code) == [200])
        try server.restart { Self.deploy(try! Self.model(), &$0) }
        let later = try Self.device(server, package: Self.later, name: "later")
        #expect(keys(later) == keys(present))
        let update = OperationFrame(
            id: later.nextID(), object: "Customer", change: .update, key: create.key, attributes: ["name": "found"], primaryKey: [:])
        #expect(try later.synchronize([update]).results.map(\.code) == [200])
        #expect(try server.backEndValue(#"SELECT count(*) FROM "the customers" WHERE name = 'found' AND region = 'WEST'"#) == 1)
    }

    @Test func `another key has surrogate keys of its own, and so has another database`() throws {
        let other = try Self.model { $0.replacing(#"["orderId", "line"]"#, with: #"["line", "orderId"]"#) }
        let server = try Self.server(other)
        let present = try Self.device(server), later = try Self.device(server, package: Self.later, name: "later")
        #expect(keys(later)["Customer"] == keys(present)["Customer"] && keys(later)["Order"] == keys(present)["Order"])
        #expect(keys(later)["Line"]?.count == 3 && keys(later)["Line"]?.isDisjoint(with: keys(present)["Line"] ?? []) == true)
    }

    @Test(.backEndInFile) func `a version with another database has surrogate keys of its own`() throws {
        let server = try FieldSales.server(), place = server.folder.file("other.db")
        let present = try Self.device(server)
        #expect(try present.synchronize([present.create("Customer", Self.customer("new"))]).results.map(\.code) == [200])
        try present.synchronize()
        let other = try Database(ConnectionProfile(path: place, journal: .unchanged))
        try other.write { _ = try $0.execute(FieldSales.tables) }
        try other.close()
        try server.restart { Self.deploy(try! Self.model(), &$0, at: place) }
        let later = try Self.device(server, package: Self.later, name: "later")
        #expect(later.rows["Customer"]?.count == 2)
        for (object, found) in keys(later) { #expect(found.isDisjoint(with: keys(present)[object] ?? []), "\(object)") }
        // No version takes the other one's back end for a restored one.
        try present.synchronize()
        #expect(try present.synchronize().resets.isEmpty && later.synchronize().resets.isEmpty)
    }

    @Test func `a version whose attributes have changed loads its rows again, and they keep their surrogate keys`() throws {
        let server = try FieldSales.server(), device = try Self.device(server)
        let before = keys(device)
        try server.restart { $0.packages[0] = PackageDeployment(try! Self.model("2.0"), backEnds: $0.packages[0].backEnds) }
        let result = try device.synchronize(groups: Self.groups)
        #expect(Set(result.resets) == ["Customer", "Order", "Line"] && keys(device) == before)
        func counts() throws -> [[Value]] { try server.state { try $0.rows("SELECT count(*) FROM _key GROUP BY object ORDER BY 1", []) } }
        let present = try counts()
        // Another key: those of the former one go.
        let changed = try Self.model("2.0") { $0.replacing(#"["orderId", "line"]"#, with: #"["line", "orderId"]"#) }
        try server.restart { $0.packages[0] = PackageDeployment(changed, backEnds: $0.packages[0].backEnds) }
        try device.synchronize(groups: Self.groups)
        #expect(keys(device)["Customer"] == before["Customer"] && keys(device)["Line"]?.count == 3)
        #expect(keys(device)["Line"]?.isDisjoint(with: before["Line"] ?? []) == true)
        #expect(try counts() == present)
    }

    @Test(.stateInFile) func `a version of an earlier release keeps its keys, and shares them with the next version`() throws {
        let server = try FieldSales.server(), device = try Self.device(server)
        let before = keys(device)
        try server.server.close()
        let cache = try Database(ConnectionProfile(path: server.folder.file("cache.db")))
        try cache.write { connection in for statement in CacheVersionTests.toVersion13 { _ = try connection.execute(statement) } }
        try cache.close()
        try server.restartClosed()
        let result = try device.synchronize(groups: Self.groups)
        #expect(result.resets.isEmpty && result.upserts.isEmpty && keys(device) == before)
        try server.restart { Self.deploy(try! Self.model(), &$0) }
        #expect(try keys(Self.device(server, package: Self.later, name: "later")) == before)
    }

    @Test func `a key that a restored back end gives again belongs to the new row in all versions`() throws {
        let server = try Self.server(Self.model()), backup = server.folder.file("enterprise.backup")
        let present = try Self.device(server), later = try Self.device(server, package: Self.later, name: "later")
        try server.saveBackEnd(to: backup)
        #expect(try present.synchronize([present.create("Customer", Self.customer("gone"))]).results.map(\.code) == [200])
        try later.synchronize()
        let gone = later.key("Customer", "name", "gone")
        #expect(gone != 0)
        try server.reopen(withBackEnd: backup)
        let create = later.create("Customer", Self.customer("new"))
        #expect(try later.synchronize([create]).results.map(\.code) == [200])
        for device in [present, later] {
            try device.synchronize()
            #expect(device.rows["Customer"]?[gone] == nil && device.rows["Customer"]?[create.key]?["name"] == "new")
        }
        // An update of the lost row does not reach the new one.
        let update = OperationFrame(
            id: present.nextID(), object: "Customer", change: .update, key: gone, attributes: ["name": "stolen"],
            primaryKey: ["id": present.rows["Customer"]?[create.key]?["id"] ?? .null])
        #expect(try present.synchronize([update]).results.map(\.outcome) == [.rejected])
        #expect(try server.backEndValue(#"SELECT count(*) FROM "the customers" WHERE name = 'stolen'"#) == 0)
    }
}
