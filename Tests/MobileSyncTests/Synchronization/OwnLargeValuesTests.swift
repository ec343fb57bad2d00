import MobileObjects
import MobileStore
import MobileSync
import SampleCRM
import Testing

/// A large value that a device has uploaded is not downloaded by it.
@Suite struct OwnLargeValuesTests {
    private static func content(_ seed: Int, _ count: Int = 200_000) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ ($0 >> 8) &* seed) }
    }

    /// A device with its data, and a product of it without a picture.
    private func device(_ bench: TestBench) throws -> (Device, Product) {
        let device = try bench.synchronizedDevice()
        let id = try #require(try bench.value("SELECT id FROM product WHERE picture IS NULL ORDER BY id")?.integer)
        return (device, try #require(try Product.findByPrimaryKey(id, in: device.crm)))
    }

    /// The picture that a device has.
    private func shownPicture(_ device: Device, _ product: Product) throws -> [UInt8]? {
        let row = try #require(try Product.findByPrimaryKey(product.id_, in: device.crm))
        return try bytes(of: row.picture)
    }

    private func change(_ product: Product, _ bytes: [UInt8], _ text: String? = nil) throws {
        try write(bytes, to: product.picture)
        if let text {
            try product.description_.openForWrite()
            try product.description_.write(text)
            try product.description_.close()
        }
        try product.update()
        try product.submitPending()
    }

    private func picture(_ bench: TestBench, _ product: Product) throws -> [UInt8]? {
        try bench.value("SELECT picture FROM product WHERE id = ?", [.integer(product.id_)])?.blob
    }

    @Test("with the answer to its operation")
    func withTheAnswer() throws {
        let bench = try TestBench(), (device, product) = try device(bench), text = String(repeating: "Größe ", count: 20_000)
        try change(product, Self.content(1), text)
        let result = try device.crm.synchronize()
        #expect(result.operationsAccepted == 1 && result.largeValuesImported == 0 && result.bytesReceived < 50_000)
        #expect(try picture(bench, product) == Self.content(1))
        let row = try #require(try Product.findByPrimaryKey(product.id_, in: device.crm))
        #expect(try !row.isPending && bytes(of: row.picture) == Self.content(1) && MobileSyncTests.text(of: row.description_) == text)
        // The next change of the same value begins with the version that the server has.
        try change(row, Self.content(2))
        #expect(try device.crm.synchronize().largeValuesImported == 0)
        #expect(
            try picture(bench, product) == Self.content(2)
                && shownPicture(device, product) == Self.content(2))
    }

    @Test("with a later download, also when the row has another change by then")
    func later() throws {
        let bench = try TestBench(), (device, product) = try device(bench)
        try change(product, Self.content(1))
        try device.crm.synchronize("default")
        #expect(try picture(bench, product) == Self.content(1))
        let changed = try #require(try Product.findByPrimaryKey(product.id_, in: device.crm)), name = changed.name
        #expect(!changed.isPending)
        changed.name = "Another"
        try changed.update()
        let result = try device.crm.synchronize("catalog")
        #expect(result.largeValuesImported == 0 && result.bytesReceived < 50_000)
        let pending = try #require(try Product.findByPrimaryKey(product.id_, in: device.crm))
        #expect(pending.name == "Another" && pending.isPending)
        try pending.cancelPending()
        let row = try #require(try Product.findByPrimaryKey(product.id_, in: device.crm))
        #expect(try row.name == name && bytes(of: row.picture) == Self.content(1))
        // It was confirmed: what another device makes of it comes.
        try bench.change("UPDATE product SET picture = x'070809' WHERE id = ?", [.integer(product.id_)])
        #expect(try device.crm.synchronize().largeValuesImported == 1)
        #expect(try shownPicture(device, product) == [7, 8, 9])
    }

    @Test("but it is if the back end has made another one of it, and another device gets it")
    func changedByTheBackEnd() throws {
        let bench = try TestBench(), (device, product) = try device(bench)
        try bench.change(
            "CREATE TRIGGER stamp AFTER UPDATE OF picture ON product BEGIN UPDATE product SET picture = x'0102' WHERE id = new.id; END")
        try change(product, Self.content(1))
        #expect(try device.crm.synchronize().largeValuesImported == 1)
        let stored = try picture(bench, product)
        #expect(try stored != Self.content(1) && shownPicture(device, product) == stored)
        let other = try bench.synchronizedDevice("other")
        #expect(try shownPicture(other, product) == stored)
    }

    @Test("a row that the back end keeps although its delete was accepted comes back with its text", arguments: [nil, "catalog"])
    func keptRow(group: String?) throws {
        let bench = try TestBench(), device = try bench.synchronizedDevice(), text = String(repeating: "Größe ", count: 20_000)
        let id = try #require(
            try bench.value("SELECT id FROM customer WHERE region = 'NORTH' AND id NOT IN (SELECT customer_id FROM sales_order)")?.integer)
        try bench.change("CREATE TRIGGER keep BEFORE DELETE ON customer BEGIN SELECT RAISE(IGNORE); END")
        try bench.change("UPDATE customer SET notes = ? WHERE id = ?", [.text(text), .integer(id)])
        try device.crm.synchronize()
        let customer = try #require(try Customer.findByPrimaryKey(id, in: device.crm))
        try customer.delete()
        try customer.submitPending()
        #expect(try device.crm.synchronize(group).operationsAccepted == 1)
        #expect(try (Customer.findByPrimaryKey(id, in: device.crm) == nil) == (group != nil))
        try device.crm.synchronize()
        let back = try #require(try Customer.findByPrimaryKey(id, in: device.crm))
        #expect(try MobileSyncTests.text(of: back.notes) == text && !back.isPending)
        #expect(try device.crm.synchronize().rowsImported == 0)
    }

    @Test("a download whose operation was taken back fails, and the next one brings the content")
    func takenBack() throws {
        let bench = try TestBench(), (device, product) = try device(bench)
        try change(product, Self.content(1))
        let id = try #require(try device.crm.outbox(after: 0, limit: 1).first).id
        try device.crm.write("import") { transaction in
            let session = try transaction.importSession(for: "Product")
            #expect(try !session.setLargeValue(ofOperation: id + 1, of: "picture", key: product.surrogateKey))
            #expect(try !session.setLargeValue(ofOperation: id, of: "description", key: product.surrogateKey))
            #expect(try session.setLargeValue(ofOperation: id, of: "picture", key: product.surrogateKey))
        }
        try device.crm.synchronize()
        #expect(try shownPicture(device, product) == Self.content(1))
    }

    @Test func `an operation whose value is gone holds back no other: it is rejected here, with a log record`() throws {
        let bench = try TestBench(), (device, product) = try device(bench)
        try change(product, Self.content(1))
        let id = try #require(try device.crm.outbox(after: 0, limit: 1).first?.largeValues.first?.id)
        try device.crm.write("lose") { try $0.connection.removeLargeValue(id) }
        let other = try #require(try Customer.findAll(in: device.crm).first)
        other.city = "Galway"
        try other.update()
        try other.submitPending()
        let result = try device.crm.synchronize()
        #expect(result.operationsAccepted == 1 && result.operationsRejected == 1)
        #expect(try bench.value("SELECT city FROM customer WHERE id = ?", [.integer(try #require(other.id_))])?.text == "Galway")
        let row = try #require(try Product.findByPrimaryKey(product.id_, in: device.crm))
        #expect(try row.state == .failed && row.logRecords().first?.message.contains("write the value again") == true)
        try row.cancelPending()
        try device.crm.synchronize()
        #expect(try !device.crm.hasPendingOperations() && shownPicture(device, product) == nil)
    }
}
