import MobileProtocol
import MobileServer
import MobileStore
import Testing

/// The download of a device that has synchronized before: only the changes since then.
@Suite struct DeltaTests {
    @Test("ARC-06 SYN-10: a second device gets exactly what the first one changed")
    func secondDevice() throws {
        let server = try FieldSales.server()
        let first = try TestDevice.inRegion("NORTH", of: server)
        let second = try TestDevice.inRegion("NORTH", of: server, name: "tablet")
        let create = first.create("Customer", ["name": "New", "region": "NORTH", "credit": 1, "active": true])
        let update = first.update("Customer", where: "id", is: 1, set: ["name": "Harbour"], primaryKey: ["id": 1])
        let delete = OperationFrame(
            id: first.nextID(), object: "Customer", change: .delete, key: first.key("Customer", "id", 2), primaryKey: ["id": 2])
        #expect(try first.synchronize([create, update, delete]).results.map(\.outcome) == [.accepted, .accepted, .accepted])
        let result = try second.synchronize()
        #expect(result.upserts == ["Customer": 2])
        #expect(result.deletes == ["Customer": 1])
        #expect(result.resets.isEmpty)
        #expect(second.rows == first.rows.filter { $0.key != "Line" }.merging(second.rows.filter { $0.key == "Line" }) { $1 })
        #expect(second.rows["Customer"]?[create.key]?["name"] == "New")
    }

    @Test func `nothing new is nothing sent, and changes by others are found`() throws {
        let server = try FieldSales.server()
        let device = try TestDevice.inRegion("NORTH", of: server)
        let nothing = try device.synchronize(groups: ["default", "lines"])
        #expect(nothing.upserts.isEmpty && nothing.deletes.isEmpty && nothing.largeValues == 0)
        try server.backEnd { connection in
            try connection.execute("UPDATE \"the customers\" SET rate = 0.25, notes = 'changed' WHERE \"customer no\" = 1")
            try connection.execute("INSERT INTO \"order line\" VALUES (11, 2, 'milk', 3)")
            try connection.execute("DELETE FROM \"order line\" WHERE product = 'salt'")
        }
        let result = try device.synchronize(groups: ["default", "lines"])
        #expect(result.upserts == ["Customer": 1, "Line": 1])
        #expect(result.deletes == ["Line": 1])
        #expect(result.largeValues == 1)
        #expect(device.rows("Customer", by: "id")[1]?["rate"] == .number("0.25"))
        #expect(device.largeValues["Customer"]?[device.key("Customer", "id", 1)]?["notes"] == Array("changed".utf8))
    }

    @Test func `a change of a back end that changes no row sends nothing`() throws {
        let server = try FieldSales.server()
        let device = try TestDevice.inRegion("NORTH", of: server)
        try server.backEnd { connection in
            try connection.execute("UPDATE \"the customers\" SET name = name")
            try connection.execute("CREATE TABLE other (x TEXT)")
        }
        let result = try device.synchronize(groups: ["default", "lines"])
        #expect(result.upserts.isEmpty && result.deletes.isEmpty && result.largeValues == 0)
    }

    @Test("PAR-01: rows that leave the partition are deleted on the device, rows that come into it arrive with their large values")
    func rowsMoveBetweenPartitions() throws {
        let server = try FieldSales.server()
        let north = try TestDevice.inRegion("NORTH", of: server)
        let south = try TestDevice.inRegion("SOUTH", of: server, name: "tablet")
        #expect(Set(south.rows("Customer", by: "id").keys) == [3])
        let key = north.key("Customer", "id", 1)
        try server.backEnd { try $0.execute("UPDATE \"the customers\" SET region = 'SOUTH' WHERE \"customer no\" = 1") }
        #expect(try north.synchronize().deletes == ["Customer": 1])
        let result = try south.synchronize()
        #expect(result.upserts == ["Customer": 1])
        #expect(south.key("Customer", "id", 1) == key, "a row has one key on all devices")
        #expect(south.largeValues["Customer"]?[key]?["photo"] == [0, 255])
        try server.backEnd { try $0.execute("UPDATE \"the customers\" SET region = 'NORTH' WHERE \"customer no\" = 1") }
        try north.synchronize()
        #expect(north.key("Customer", "id", 1) == key)
        #expect(north.largeValues["Customer"]?[key]?["photo"] == [0, 255])
    }

    @Test("PAR-04 PAR-05 PAR-06 PAR-07: subscriptions come and go with the next synchronization, rows in both stay")
    func subscriptionsChange() throws {
        let server = try FieldSales.server()
        let device = try TestDevice.inRegion("NORTH", of: server)
        device.subscriptions = ["Customer": [["region": "NORTH"], ["region": "SOUTH"]]]
        let both = try device.synchronize()
        #expect(both.upserts == ["Customer": 1] && both.deletes.isEmpty && both.resets.isEmpty)
        #expect(Set(device.rows("Customer", by: "id").keys) == [1, 2, 3])
        try server.backEnd { try $0.execute("UPDATE \"the customers\" SET region = 'SOUTH' WHERE \"customer no\" = 2") }
        let moved = try device.synchronize()
        #expect(moved.deletes.isEmpty, "the row left one partition of the device for the other")
        device.subscriptions = ["Customer": [["region": "SOUTH"]]]
        #expect(try device.synchronize().deletes == ["Customer": 1])
        #expect(Set(device.rows("Customer", by: "id").keys) == [2, 3])
        device.subscriptions = ["Customer": []]
        #expect(try device.synchronize().deletes == ["Customer": 2])
        #expect(device.rows["Customer"]?.isEmpty == true)
    }

    @Test("PER-06 PER-07: a personalization key decides a parameter, over the subscription's own value")
    func personalization() throws {
        let server = try FieldSales.server()
        let device = try TestDevice(server)
        try device.synchronize()
        #expect(device.rows["Customer"]?.isEmpty != false, "no value for the parameter: no rows")
        device.personalization = ["region": "SOUTH"]
        try device.synchronize()
        #expect(Set(device.rows("Customer", by: "id").keys) == [3])
        device.subscriptions = ["Customer": [["region": "NORTH"]]]
        try device.synchronize()
        #expect(Set(device.rows("Customer", by: "id").keys) == [3])
    }

    @Test("SYN-04 SYN-15: only the groups that are asked for are sent, each with its own token")
    func groups() throws {
        let server = try FieldSales.server()
        let device = try TestDevice(server)
        device.subscriptions = ["Customer": [["region": "NORTH"]]]
        try device.synchronize(groups: ["lines"])
        #expect(device.rows["Customer"] == nil && device.rows["Line"]?.count == 3)
        #expect(Set(device.tokens.keys) == ["lines"])
        let unknown = try device.synchronize(groups: ["nowhere"])
        #expect(unknown.status == 404 && unknown.failure?.message == "package \"Field:2.0\" has no synchronization group \"nowhere\"")
    }

    @Test func `an old token brings everything since, however often it is used`() throws {
        let server = try FieldSales.server()
        let device = try TestDevice.inRegion("NORTH", of: server)
        let old = device.tokens
        for name in ["one", "two", "three"] {
            try server.backEnd { try $0.execute("UPDATE \"the customers\" SET name = ?1 WHERE \"customer no\" = 1", [.text(name)]) }
            try device.synchronize()
        }
        try server.backEnd { try $0.execute("DELETE FROM \"the customers\" WHERE \"customer no\" = 2") }
        for _ in 1...2 {
            device.tokens = old
            let result = try device.synchronize()
            #expect(result.upserts == ["Customer": 1] && result.deletes == ["Customer": 1] && result.resets.isEmpty)
        }
        #expect(device.rows("Customer", by: "id").mapValues { $0["name"] } == [1: "three"])
    }

    @Test func `a restart between any two requests changes nothing`() throws {
        let server = try FieldSales.server()
        let device = try TestDevice.inRegion("NORTH", of: server)
        try server.restart()
        let nothing = try device.synchronize()
        #expect(nothing.upserts.isEmpty && nothing.resets.isEmpty)
        let create = device.create("Customer", ["name": "New", "region": "NORTH", "credit": 1, "active": true])
        try device.synchronize([create])
        try server.restart()
        try server.backEnd { try $0.execute("DELETE FROM \"the customers\" WHERE \"customer no\" = 4") }
        #expect(try device.synchronize().deletes == ["Customer": 1])
    }

    @Test func `a server that lost its cache has the device load everything again, without the rows that are gone`() throws {
        let server = try FieldSales.server()
        let device = try TestDevice.inRegion("NORTH", of: server)
        let create = device.create("Customer", ["name": "New", "region": "NORTH", "credit": 1, "active": true])
        try device.synchronize([create])
        let old = try #require(device.keyRange)
        try server.loseCache()
        #expect(try device.synchronize().status == 401)
        try device.register()
        try server.backEnd { try $0.execute("DELETE FROM \"the customers\" WHERE \"customer no\" = 2") }
        device.keysLeft = 0
        let result = try device.synchronize()
        #expect(Set(result.resets) == ["Customer", "Order"])
        #expect(Set(device.rows("Customer", by: "id").keys) == [1, 4])
        #expect(device.rows["Customer"]?[create.key]?["id"] == 4, "the back end still knows which key the device gave")
        let new = try #require(device.keyRange)
        #expect(new.first > old.last)
    }

    @Test func `a token that the server has not made is as good as none`() throws {
        let server = try FieldSales.server()
        let device = try TestDevice.inRegion("NORTH", of: server)
        device.tokens["default"] = Token(["epoch": "made up", "objects": ["Customer": ["1": 5]]])
        #expect(try device.synchronize().resets == ["Customer", "Order"])
        #expect(device.rows["Customer"]?.count == 2)
    }
}
