import MobileStore
import Testing

@_spi(GeneratedCode) @testable import MobileObjects

/// Large values that are gone, with a transaction that was rolled back or otherwise: no row gets their ids, and they hold back nothing else.
@Suite struct LostLargeValueTests {
    private let shop: Shop
    private struct Stop: Error {}

    init() throws {
        shop = try Shop()
        try shop.importRows("Product", ["id", "name", "price"], "[[1,1,\"Tea\",2.50],[2,2,\"Coffee\",3.50]]")
        try shop.importPicture([1, 2, 3], key: 1)
    }

    private func product(_ key: Int64 = 1) throws -> GenericEntity { try shop.objects("Product").load(key) }
    private func record(of key: Int64) throws -> OutboxRecord { try #require(try shop.database.outbox.first { $0.surrogateKey == key }) }

    /// Removes the content of the picture that is submitted for a row, as a damaged file would.
    private func losePicture(of key: Int64) throws {
        let id = try #require(try record(of: key).largeValues.first?.id)
        try shop.database.write("lose") { try $0.connection.removeLargeValue(id) }
    }

    @Test(arguments: [false, true])
    func `a value that was written in a transaction leaves its object with the rollback`(isSaved: Bool) throws {
        let product = try product()
        try shop.write(picture: [7], to: product)
        #expect(throws: Stop.self) {
            try shop.database.transaction {
                try shop.write(picture: [8], to: product)
                if isSaved { try product.update() }
                throw Stop()
            }
        }
        // The value that was written before is unsaved again.
        #expect(try product.isDirty && shop.picture(of: product) == [7])
        try product.update()
        #expect(try shop.picture(of: self.product()) == [7])
    }

    @Test func `a value that was written in a nested transaction leaves its object with that one's rollback`() throws {
        let product = try product()
        try shop.database.transaction {
            try? shop.database.transaction {
                try shop.write(picture: [8], to: product)
                throw Stop()
            }
            #expect(!product.isDirty)
            try product.set("name", "Green Tea")
            try product.update()
        }
        #expect(try shop.picture(of: self.product()) == [1, 2, 3])
    }

    @Test func `an update refuses the id of a value that is gone, and takes one that is written again`() throws {
        let product = try product()
        try shop.write(picture: [7], to: product)
        let id = try #require(try product.largeValue(ofAttribute: 4))
        try shop.database.write("lose") { try $0.connection.removeLargeValue(id) }
        let error = ObjectError.of { try product.update() }
        #expect(error?.code == .invalidValue && error?.message.contains("write the value again") == true)
        #expect(try shop.picture(of: self.product()) == [1, 2, 3])
        try shop.write(picture: [8], to: product)
        try product.update()
        #expect(try shop.picture(of: self.product()) == [8])
    }

    @Test func `an operation whose value is gone ends as failed with a log record; others stay, and a cancel brings the server's value back`() throws
    {
        let product = try product()
        try shop.write(picture: [7], to: product)
        try product.submitPending()
        let other = try self.product(2)
        try shop.write(picture: [9], to: other)
        try other.submitPending()
        #expect(try shop.database.rejectOperationsWithoutLargeValues().isEmpty)
        try losePicture(of: 1)
        let outcomes = try shop.database.rejectOperationsWithoutLargeValues()
        #expect(outcomes.map(\.surrogateKey) == [1] && outcomes.allSatisfy { !$0.isAccepted && $0.changedState })
        #expect(try shop.outboxLines() == ["U Product 2"])
        try product.refresh()
        #expect(product.state == .failed)
        #expect(try product.logRecords().first?.message.contains("picture is gone") == true)
        try product.cancelPending()
        #expect(try shop.picture(of: self.product()) == [1, 2, 3] && self.product().state == .unchanged)
    }

    @Test func `after a new value was written, the failed operation is sent again`() throws {
        let product = try product()
        try shop.write(picture: [7], to: product)
        try product.submitPending()
        try losePicture(of: 1)
        _ = try shop.database.rejectOperationsWithoutLargeValues()
        try product.refresh()
        try shop.write(picture: [8], to: product)
        try product.submitPending()
        #expect(try shop.database.rejectOperationsWithoutLargeValues().isEmpty && shop.outboxLines() == ["U Product 1"])
        try shop.accept(product.replayPending)
        #expect(try shop.picture(of: self.product()) == [8])
    }
}
