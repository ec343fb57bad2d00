import Foundation
import MobileObjects
import MobileStore
import MobileSync
import SampleCRM
import Testing

/// The complete main job, over a network in memory: two devices and a server.
@Suite struct MainJobTests {
    @Test("LIF-01 PAR-07 SYN-03 SYN-17: register, subscribe, synchronize: the device has exactly the rows of its parameters")
    func firstSynchronization() throws {
        let bench = try TestBench()
        let device = try bench.subscribedDevice()
        #expect(try !device.crm.isSynchronized("default"))
        let result = try device.crm.synchronize()
        #expect(result.groups == ["default", "catalog"])
        #expect(try device.crm.isSynchronized("default"))
        #expect(try Customer.findAll(in: device.crm).count == bench.contents.northCustomers)
        #expect(try Customer.findAll(in: device.crm).allSatisfy { $0.region == "NORTH" })
        #expect(try Product.findAll(in: device.crm).count == bench.contents.products)
        let orders = try bench.value("SELECT count(*) FROM sales_order o JOIN customer c ON c.id = o.customer_id WHERE c.region = 'NORTH'")
        #expect(try Int64(SalesOrder.findAll(in: device.crm).count) == orders?.integer)
        #expect(result.largeValuesImported > 0)
        #expect(result.bytesReceived > 0 && result.rowsImported > bench.contents.products)
    }

    @Test func `large attributes come with the same bytes as in the back end`() throws {
        let bench = try TestBench()
        let device = try bench.synchronizedDevice()
        for row in try bench.rows("SELECT id, picture, description FROM product ORDER BY id") {
            let product = try #require(try Product.findByPrimaryKey(row[0].integer ?? 0, in: device.crm))
            #expect(try bytes(of: product.picture) == row[1].blob)
            #expect(try text(of: product.description_) == row[2].text)
        }
    }

    @Test("PND-01 PSP-01 PSP-02 PSP-04 PSP-05 SYN-10 SYN-21: a tree made offline gets the back end's keys, and another device sees it")
    func createTreeOffline() throws {
        let bench = try TestBench()
        let first = try bench.synchronizedDevice("first"), second = try bench.synchronizedDevice("second")
        let customer = Customer(in: first.crm)
        customer.name = "Harbour Foods"
        customer.street = "1 Quay"
        customer.city = "Dublin"
        customer.since = try #require(LocalDate(year: 2026, month: 4, day: 30))
        for day in 1...2 {
            let order = SalesOrder(in: first.crm)
            order.orderDate = try #require(LocalDate(year: 2026, month: 5, day: day))
            order.total = 10
            let line = SalesOrderLine(in: first.crm)
            line.line = 1
            line.productId = 1
            order.lines.append(line)
            customer.orders.append(order)
        }
        try customer.save()
        #expect(customer.isPending && customer.pendingChange == .create)
        try customer.submitPending()
        #expect(try first.crm.hasPendingOperations())
        let result = try first.crm.synchronize()
        #expect(result.operationsSent == 5 && result.operationsAccepted == 5 && result.operationsRejected == 0)
        #expect(try !first.crm.hasPendingOperations())

        let id = try #require(try bench.value("SELECT id FROM customer WHERE name = 'Harbour Foods'")?.integer)
        #expect(
            try bench.value("SELECT count(*) FROM sales_order_line l JOIN sales_order o ON o.id = l.order_id WHERE o.customer_id = ?", [.integer(id)])
                == .integer(2))
        let mine = try #require(try Customer.findByPrimaryKey(id, in: first.crm))
        #expect(mine.surrogateKey == customer.surrogateKey && !mine.isPending && mine.orders.count == 2)

        try second.crm.synchronize()
        let theirs = try #require(try Customer.findByPrimaryKey(id, in: second.crm))
        #expect(theirs.surrogateKey == customer.surrogateKey)
        #expect(theirs.orders.map { $0.lines.count } == [1, 1])
        #expect(try first.customers() == second.customers())
    }

    @Test("OPS-04: two devices change different attributes of one row, and both changes last")
    func changesOfTwoDevices() throws {
        let bench = try TestBench()
        let first = try bench.synchronizedDevice("first"), second = try bench.synchronizedDevice("second")
        let mine = try #require(try Customer.findAll(skip: 0, take: 1, in: first.crm).first)
        let theirs = try #require(try Customer.find(mine.surrogateKey, in: second.crm))
        mine.city = "Galway"
        try mine.save()
        try mine.submitPending()
        theirs.street = "7 Long Walk"
        try theirs.save()
        try theirs.submitPending()
        for device in [first, second, first] { try device.crm.synchronize() }
        for device in [first, second] {
            let customer = try #require(try Customer.find(mine.surrogateKey, in: device.crm))
            #expect(customer.city == "Galway" && customer.street == "7 Long Walk" && !customer.isPending)
        }
    }

    @Test(
        "PND-18 PSP-07 PSP-08 PSP-11 PSP-13 ERR-07: a change that the back end's constraint refuses stays pending, with its log record; it can be repaired and sent again"
    )
    func rejectedChange() throws {
        let bench = try TestBench()
        let device = try bench.synchronizedDevice()
        let customer = try #require(try Customer.findByPrimaryKey(1, in: device.crm))
        let before = customer.creditLimit
        customer.creditLimit = -1
        try customer.update()
        try customer.submitPending()
        let submitted = customer.replayCounter
        _ = device.handler.take()
        let result = try device.crm.synchronize()
        #expect(result.operationsRejected == 1 && result.operationsAccepted == 0)
        #expect(device.handler.take().contains("replayFailure Customer \(customer.surrogateKey)"))
        try customer.refresh()
        #expect(customer.isPending && customer.pendingChange == .update)
        #expect(customer.replayFailure == submitted && customer.replayPending == 0)

        let record = try #require(try customer.logRecords().first)
        #expect(record.code == 412 && record.component == "Customer" && record.requestID == String(submitted))
        #expect(record.eisCode == "275")  // SQLITE_CONSTRAINT_CHECK
        #expect(record.message.contains("\"creditLimit\" of \"Customer\""))
        #expect(try bench.value("SELECT credit_limit FROM customer WHERE id = 1") != .integer(-1))

        customer.creditLimit = before + 1
        try customer.update()
        try customer.submitPending()
        #expect(try device.crm.synchronize().operationsAccepted == 1)
        try customer.refresh()
        #expect(!customer.isPending && customer.replayFailure == 0)
    }

    @Test("PND-06 PND-10: cancelPending after a rejection brings the server's version back")
    func cancelRejected() throws {
        let bench = try TestBench()
        let device = try bench.synchronizedDevice()
        let customer = try #require(try Customer.findByPrimaryKey(2, in: device.crm))
        let name = customer.name
        customer.name = "Nobody"
        customer.creditLimit = -5
        try customer.update()
        try customer.submitPending()
        try device.crm.synchronize()
        try customer.refresh()
        try customer.cancelPending()
        try customer.refresh()
        #expect(customer.name == name && !customer.isPending)
        #expect(try !device.crm.hasPendingOperations())
    }

    @Test func `a value that the application gives to a generated attribute stands until the back end's own arrives`() throws {
        let bench = try TestBench()
        let crm = try bench.synchronizedDevice().crm
        let customer = Customer(in: crm, name: "Quay Books", street: "Quay 1", city: "Galway", since: .epoch)
        customer.id_ = 4711
        try customer.save()
        #expect(try Customer.load(customer.surrogateKey, in: crm).id_ == 4711)
        try customer.submitPending()
        #expect(try crm.synchronize().operationsAccepted == 1)
        try customer.refresh()
        #expect(try bench.rows("SELECT id FROM customer WHERE name = 'Quay Books'") == [[.integer(customer.id_ ?? 0)]] && customer.id_ != 4711)
    }

    @Test func `an accepted delete is gone on both devices and in the back end`() throws {
        let bench = try TestBench()
        let first = try bench.synchronizedDevice("first"), second = try bench.synchronizedDevice("second")
        try bench.change("INSERT INTO customer (name, street, city, region, since) VALUES ('Short Lived', 's', 'c', 'NORTH', '2026-01-01')")
        try first.crm.synchronize()
        try second.crm.synchronize()
        let customer = try #require(try Customer.findByName(name: "Short Lived", in: first.crm))
        try customer.delete()
        try customer.submitPending()
        #expect(try first.crm.synchronize().operationsAccepted == 1)
        #expect(try bench.value("SELECT count(*) FROM customer WHERE name = 'Short Lived'") == .integer(0))
        try second.crm.synchronize()
        #expect(try Customer.findByName(name: "Short Lived", in: second.crm) == nil)
        #expect(try first.customers() == second.customers())
    }

    @Test func `a picture that was streamed in on one device is read on the other, and removed there also here`() throws {
        let bench = try TestBench()
        let first = try bench.synchronizedDevice("first"), second = try bench.synchronizedDevice("second")
        let product = try #require(try Product.findByPrimaryKey(2, in: first.crm))
        let picture = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 17 ^ $0 >> 8) }
        try write(picture, to: product.picture)
        try product.update()
        try product.submitPending()
        let result = try first.crm.synchronize()
        #expect(result.operationsAccepted == 1 && result.bytesSent > Int64(picture.count))
        #expect(try bench.value("SELECT picture FROM product WHERE id = 2") == .blob(picture))
        try second.crm.synchronize()
        let theirs = try #require(try Product.findByPrimaryKey(2, in: second.crm))
        #expect(try bytes(of: theirs.picture) == picture)
        try product.refresh()
        #expect(!product.isPending)
        #expect(try bytes(of: product.picture) == picture)

        try theirs.picture.remove()
        try theirs.submitPending()
        #expect(try second.crm.synchronize().operationsAccepted == 1)
        #expect(try bench.value("SELECT picture FROM product WHERE id = 2") == .null)
        try first.crm.synchronize()
        try product.refresh()
        #expect(try bytes(of: product.picture) == nil)
    }

    @Test("X-46: an edit between the submit and its answer stays, and goes up with the next submit")
    func editWhileWaiting() throws {
        let bench = try TestBench()
        let device = try bench.synchronizedDevice()
        let customer = try #require(try Customer.findByPrimaryKey(3, in: device.crm))
        customer.city = "Cork"
        try customer.update()
        try customer.submitPending()
        customer.city = "Galway"
        try customer.update()
        try device.crm.synchronize()
        try customer.refresh()
        #expect(customer.city == "Galway" && customer.isPending)
        #expect(try bench.value("SELECT city FROM customer WHERE id = 3") == .text("Cork"))
        try customer.submitPending()
        try device.crm.synchronize()
        try customer.refresh()
        #expect(customer.city == "Galway" && !customer.isPending)
        #expect(try bench.value("SELECT city FROM customer WHERE id = 3") == .text("Galway"))
    }

    @Test func `a change in the back end does not touch a pending row; cancelling shows it`() throws {
        let bench = try TestBench()
        let device = try bench.synchronizedDevice()
        let customer = try #require(try Customer.findByPrimaryKey(5, in: device.crm))
        customer.name = "Mine"
        try customer.update()
        try bench.change("UPDATE customer SET name = 'Theirs' WHERE id = 5")
        try device.crm.synchronize()
        try customer.refresh()
        #expect(customer.name == "Mine" && customer.isPending)
        try customer.cancelPending()
        try customer.refresh()
        #expect(customer.name == "Theirs" && !customer.isPending)
    }
}
