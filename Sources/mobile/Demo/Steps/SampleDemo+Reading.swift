import Foundation
import MobileModel
import MobileObjects
import MobileStore
import MobileSync
import SampleCRM

extension SampleDemo {
    // MARK: 1

    func startServer() throws {
        narrator.begin("A company with a database, and a server in front of it")
        let start = ContinuousClock.now
        contents = try SampleBackEnd.create(at: backEndPath)
        let size = try FileManager.default.attributesOfItem(atPath: backEndPath)[.size] as? Int ?? 0
        narrator.say(
            "back end: \(Format.count(contents.customers, "customer")), \(Format.count(contents.northCustomers)) of them in region NORTH, "
                + "\(Format.count(contents.orders, "order")), \(Format.count(contents.products, "product")), "
                + "\(Format.count(contents.pictures)) with pictures; \(Format.bytes(size)) in \(Format.time(ContinuousClock.now - start))")
        let model = folder.path("crm.mbo.json")
        try CRM.metadata.model.json.write(toFile: model, atomically: true, encoding: .utf8)
        server = try ServerProcess(
            arguments: [
                "--model", model, "--cache", folder.path("server-cache.db"), "--backend", "enterprise=\(backEndPath)",
                "--user", "sales", "--password-fd", "0",
            ], log: folder.path("server.log"))
        try server.start()
        narrator.say("mobile serve runs as process \(server.processID ?? 0) and listens on port \(server.port)")
    }

    // MARK: 2

    func firstSynchronization() throws {
        narrator.begin("A device registers, subscribes to region NORTH and synchronizes for the first time")
        device = try makeDevice("device-1")
        narrator.say("registered as \(device.application.connectionID), subscribed with region = NORTH")
        ProcessMemory.resetPeak()
        let before = ProcessMemory.resident() ?? 0
        let result = try device.synchronize()
        let growth = (ProcessMemory.peak() ?? before) - before
        narrator.say(
            "\(Format.count(result.rowsImported, "row")) and \(Format.count(result.largeValuesImported, "large value")) in \(Format.time(result.duration)): "
                + "\(Format.bytes(result.bytesReceived)) over the wire, \(Format.byteRate(Int(result.bytesReceived), in: result.duration)), "
                + "\(Format.rate(result.rowsImported, "rows", in: result.importDuration)) while importing")
        narrator.say("memory: the device grew by \(Format.bytes(growth)) at most, the server occupies \(Narrator.memory(of: server.processID))")
        let customers = try device.package.entity("Customer").count
        try narrator.check(
            "the device has \(Format.count(contents.northCustomers)) customers", customers == contents.northCustomers, "it has \(customers)")
    }

    // MARK: 3

    func readOffline() throws {
        narrator.begin("Everything is on the device: pages, a query, a customer with orders")
        let crm = device.package
        var bar = ProgressBar("paging"), after: Int64 = 0, customers = 0, letters = 0
        while true {
            let page = try Customer.page(after: after, size: 100, in: crm)
            for customer in page { letters += customer.name.count }
            customers += page.count
            bar.show(customers, of: contents.northCustomers)
            guard let last = page.last else { break }
            after = last.surrogateKey
        }
        let duration = bar.finish()
        narrator.say(
            "\(Format.count(customers, "typed object")) in pages of 100 in \(Format.time(duration)), \(Format.rate(customers, "objects", in: duration)); "
                + "their names have \(Format.count(letters)) letters")

        guard let city = try Customer.page(size: 1, in: crm).first?.city else { throw DemoFailure("the device has no customers") }
        let start = ContinuousClock.now
        let inCity = try Customer.findByCity(city: city, in: crm)
        narrator.say("object query findByCity(\"\(city)\"): \(Format.count(inCity.count, "customer")) in \(Format.time(ContinuousClock.now - start))")

        guard let order = try SalesOrder.page(size: 1, in: crm).first, let customer = order.customer else {
            throw DemoFailure("there is no order with its customer")
        }
        narrator.say("\(customer.name), \(customer.city), credit limit \(Format.money(customer.creditLimit)):")
        for order in customer.orders {
            let number = order.id_.map { " \($0)" } ?? ""
            narrator.say(
                "  order\(number) of \(order.orderDate), \(order.status), \(Format.money(order.total)), \(Format.count(order.lines.count, "line"))"
            )
        }
    }
}
