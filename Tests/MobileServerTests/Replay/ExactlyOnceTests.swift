import Foundation
import MobileProtocol
import MobileServer
import MobileStore
import TestSupport
import Testing

/// Nothing is lost and nothing is done twice, at any point of failure of the server or the network.
@Suite struct ExactlyOnceTests {
    static let customer: JSONObject = ["name": "New", "region": "NORTH", "credit": 1, "active": true]

    @Test("SYN-10: an upload whose answer was lost is answered again and not done again, also after a restart")
    func repeatedUpload() throws {
        let server = try FieldSales.server()
        let device = try TestDevice.inRegion("NORTH", of: server)
        let create = device.create("Customer", Self.customer)
        let refused = device.create("Customer", ["name": "", "region": "NORTH", "credit": 1, "active": true])
        let upload = try device.upload([create, refused])
        for _ in 1...3 {
            try device.synchronize(upload: upload, losesAnswer: true)
            try server.restart()
        }
        let result = try device.synchronize(upload: upload)
        #expect(result.results.map(\.outcome) == [.accepted, .rejected])
        #expect(result.logRecords.count == 1)
        #expect(device.rows["Customer"]?[create.key]?["id"] == 4)
        #expect(try server.backEndValue("SELECT count(*) FROM \"the customers\"") == 4)
    }

    @Test("SYN-10: an operation whose outcome cannot be read is neither done again nor decided otherwise: it is deferred", .backEndInFile)
    func unreadableOutcome() throws {
        let lines = RecordedLines()
        let server = try FieldSales.server { $0.log = { lines.add($0) } }
        let device = try TestDevice.inRegion("NORTH", of: server)
        let upload = try device.upload([device.create("Customer", Self.customer)])
        try device.synchronize(upload: upload, losesAnswer: true)
        try server.backEnd { _ = try $0.execute("UPDATE mobile_processed_operation SET outcome = x'05'") }
        let deferred = try device.synchronize(upload: upload)
        #expect(deferred.results.map(\.code) == [503])
        #expect(lines.all.contains { $0.contains("table mobile_processed_operation, column outcome") })
        #expect(try server.backEndValue("SELECT count(*) FROM \"the customers\"") == 4)
    }

    @Test func `a crash between the commits of back end and cache loses no surrogate key`() throws {
        let server = try FieldSales.server()
        let device = try TestDevice.inRegion("NORTH", of: server)
        // The state of the cache between the commits of the back end and of the cache.
        let backup = server.folder.file("cache.backup")
        try server.saveCache(to: backup)

        let customer = device.create("Customer", Self.customer)
        let order = device.create("Order", ["customerId": 0, "status": "NEW"], refs: ["customer": .integer(customer.key)], batch: customer.id)
        let upload = try device.upload([customer, order])
        try device.synchronize(upload: upload, losesAnswer: true)
        try server.reopen(withCache: backup)

        let result = try device.synchronize(upload: upload)
        #expect(result.results.map(\.outcome) == [.accepted, .accepted])
        #expect(device.rows["Customer"]?[customer.key]?["id"] == 4)
        #expect(device.rows["Order"]?[order.key]?["_ref_customer"] == .integer(customer.key))
        #expect(device.rows["Customer"]?.count == 3)
    }

    @Test func `ids are kept until the client has settled them, and then go with the next operation`() throws {
        let server = try FieldSales.server()
        let device = try TestDevice.inRegion("NORTH", of: server)
        for _ in 1...3 { try device.synchronize([device.create("Customer", Self.customer)]) }
        #expect(try server.backEndValue("SELECT count(*) FROM mobile_processed_operation") == 3)
        device.settledBelow = 3
        try device.synchronize([device.create("Customer", Self.customer)])
        #expect(try server.backEndValue("SELECT group_concat(operation) FROM mobile_processed_operation") == "3,4")
    }

    @Test("SYN-18: 32 synchronizations at a time each get their own results, and every operation is done once")
    func atTheSameTime() async throws {
        let server = try FieldSales.server()
        let devices = try (1...16).map { try TestDevice.inRegion("NORTH", of: server, name: "phone \($0)") }
        let uploads = try devices.map { device in
            (device.token, try device.upload((1...3).map { _ in device.create("Customer", Self.customer) }))
        }
        let served = server.server
        // Each upload is sent twice at once, as by an impatient client.
        let statuses = await withTaskGroup(of: Int.self) { group in
            for (token, upload) in uploads + uploads {
                group.addTask {
                    let response = served.respond(
                        to: ServerRequest(
                            method: "POST", path: Endpoint.synchronize, headers: ["authorization": "Bearer \(token)"], body: Spool(upload)))
                    _ = try? TestServer.bytes(of: response)
                    return response.status
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == Array(repeating: 200, count: 32))
        #expect(try server.backEndValue("SELECT count(*) FROM \"the customers\"") == 51)
        for device in devices {
            try device.synchronize()
            #expect(device.rows["Customer"]?.count == 50)
        }
    }
}
