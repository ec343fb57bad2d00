import Foundation
@_spi(GeneratedCode) import MobileObjects
import MobileStore
import Testing

/// Large attributes as parts of objects: the current value of a row, and the values that still exist.
@Suite struct LargeAttributeTests {
    let shop: Shop
    init() throws {
        shop = try Shop()
        try shop.importRows("Product", ["id", "name", "price"], "[[1,1,\"Tea\",2.50]]")
        try setOnServer([1, 2, 3])
    }

    private func product() throws -> GenericEntity { try shop.objects("Product").load(1) }

    private func setOnServer(_ bytes: [UInt8]?, key: Int64 = 1) throws { try shop.importPicture(bytes, key: key) }
    private func picture(of product: GenericEntity) throws -> [UInt8]? { try shop.picture(of: product) }
    private func write(_ bytes: [UInt8], to product: GenericEntity) throws { try shop.write(picture: bytes, to: product) }
    private var values: Int { get throws { try shop.count("_mc_value") } }

    @Test("BIG-15 BIG-08 BIG-14: a written value is the object's at close and the row's at update; only one value remains")
    func writeAndUpdate() throws {
        let product = try product()
        #expect(try picture(of: product) == [1, 2, 3])
        try write([9, 8], to: product)
        #expect(product.isDirty)
        #expect(try picture(of: product) == [9, 8] && picture(of: self.product()) == [1, 2, 3])
        try product.update()
        #expect(try picture(of: self.product()) == [9, 8] && product.pendingChange == .update)
        #expect(try values == 2)
    }

    @Test("BIG-14: a removed value is NULL in the object at once, in the row after the update, and in the operation; the old one is kept for a cancellation")
    func remove() throws {
        let product = try product()
        try product.bigBinary(4).remove()
        #expect(product.isDirty)
        #expect(try picture(of: product) == nil && picture(of: self.product()) == [1, 2, 3])
        try product.submitPending()
        #expect(try picture(of: self.product()) == nil)
        let record = try #require(try shop.database.outbox.first)
        #expect(record.largeValues.map(\.attribute) == ["picture"] && record.largeValues.map(\.id) == [nil])
        try self.product().cancelPending()
        #expect(try picture(of: self.product()) == [1, 2, 3] && values == 1)
    }

    @Test(
        "a value that is written and never saved is removed by the next transaction: its object was read again, is gone, or its save was taken back",
        arguments: ["refresh", "gone", "rolled back", "closed"])
    func neverSaved(way: String) throws {
        var product: GenericEntity? = try product()
        if let product { try write([9, 8], to: product) }
        #expect(try values == 2)
        switch way {
        case "refresh": try product?.refresh()
        case "rolled back":
            #expect(throws: CancellationError.self) {
                try shop.database.transaction {
                    try product?.update()
                    throw CancellationError()
                }
            }
            #expect(try values == 2)
            product = nil
        default: product = nil
        }
        if way == "closed" { try shop.database.closeConnection() } else { try shop.newCustomer("other").create() }
        #expect(try values == 1 && picture(of: self.product()) == [1, 2, 3])
    }

    @Test func `a value that waits for its save stays, whatever other transactions do`() throws {
        let product = try product()
        try write([9, 8], to: product)
        try shop.newCustomer("other").create()
        #expect(throws: CancellationError.self) {
            try shop.database.transaction {
                try product.update()
                throw CancellationError()
            }
        }
        try shop.newCustomer("another").create()
        try product.update()
        try shop.newCustomer("third").create()
        #expect(try picture(of: self.product()) == [9, 8])
    }

    @Test("BIG-14: the last of removing and writing counts; a save that fails keeps what was not saved")
    func removeAndWrite() throws {
        let product = try product(), picture = product.bigBinary(4)
        try picture.remove()
        try write([9], to: product)
        try product.update()
        #expect(try self.picture(of: self.product()) == [9])
        try picture.remove()
        #expect(throws: CancellationError.self) {
            try shop.database.transaction {
                try product.update()
                #expect(!product.isDirty)
                throw CancellationError()
            }
        }
        #expect(product.isDirty)
        #expect(try picture.length == nil && self.picture(of: self.product()) == [9])
        try product.refresh(keepingChanges: true)
        #expect(try picture.length == nil)
        try product.update()
        #expect(try self.picture(of: self.product()) == nil)
        try product.bigBinary(4).remove()
        #expect(!product.isDirty, "it is NULL already")
    }

    @Test("BIG-14: a value that is still open for writing is refused by a save, which changes nothing")
    func notClosed() throws {
        let product = try product(), picture = product.bigBinary(4)
        try picture.openForWrite()
        try picture.write([9, 8])
        try product.set("name", "Green tea")
        for change in [{ try product.save() }, { try product.update() }, { try product.submitPending() }] as [() throws -> Void] {
            let error = try #require(#expect(throws: ObjectError.self) { try change() })
            #expect((error.cause as? StoreError)?.code == .notClosed && error.message.contains("Product: picture is open for writing"))
            #expect(error.recoverySuggestion == "Close it first.")
        }
        #expect(try self.product().value("name") == "Tea" && self.picture(of: self.product()) == [1, 2, 3])
        try picture.close()
        try product.save()
        #expect(try self.product().value("name") == "Green tea" && self.picture(of: self.product()) == [9, 8])
        // Nothing can be lost by a stream that is open for reading.
        try picture.openForRead()
        try product.set("name", "Tea")
        try product.save()
        #expect(try picture.read(2) == [9, 8])
    }

    @Test("BIG-15: submit without an update takes the written value along")
    func submitOnly() throws {
        let product = try product()
        try write([9, 8], to: product)
        try product.submitPending()
        let record = try #require(try shop.database.outbox.first)
        let id = try #require(record.largeValues.first?.id)
        #expect(record.largeValues.map(\.attribute) == ["picture"])
        #expect(try LargeValueReader(id, in: shop.database.store).bytes(upTo: 10) == [9, 8])
    }

    @Test("BIG-07 BIG-05: a large attribute of a new object is not open to streams")
    func notSaved() throws {
        let product = try shop.new("Product", ["id": 2, "name": "Coffee", "price": .decimal(3)])
        #expect(#expect(throws: StoreError.self) { try product.bigBinary(4).openForWrite(1) }?.code == .notSaved)
        #expect(#expect(throws: StoreError.self) { try product.bigBinary(4).openForRead() }?.code == .notSaved)
        try product.create()
        try write([1], to: product)
        try product.save()
        #expect(try picture(of: product) == [1] && product.isCreated)
    }

    @Test("an unchanged large value is not submitted with a change of other attributes")
    func unchanged() throws {
        let product = try product()
        try product.set("name", "Green tea")
        try product.update()
        try product.submitPending()
        #expect(try shop.database.outbox[0].largeValues.isEmpty)
    }

    @Test("cancel brings the server's value back and removes the other one")
    func cancel() throws {
        let product = try product()
        try write([9, 8], to: product)
        try product.update()
        try product.cancelPending()
        #expect(try picture(of: product) == [1, 2, 3] && values == 1)
    }

    @Test("cancel after submit keeps the submitted value for the record that is still sent")
    func cancelAfterSubmit() throws {
        let product = try product()
        try write([9, 8], to: product)
        try product.submitPending()
        let record = try #require(try shop.database.outbox.first)
        try product.cancelPending()
        #expect(try picture(of: product) == [1, 2, 3] && values == 2)
        try shop.reject(record.id)
        #expect(try values == 1)
    }

    @Test("accepted: the submitted value remains, or the server's if an import brought one since", arguments: [false, true])
    func accepted(imports: Bool) throws {
        let product = try product()
        try write([9, 8], to: product)
        try product.submitPending()
        if imports { try setOnServer([7]) }
        #expect(try picture(of: self.product()) == [9, 8])
        try shop.accept(product.replayPending)
        #expect(try picture(of: self.product()) == (imports ? [7] : [9, 8]) && values == 1)
    }

    @Test("accepted create with an imported row and no imported value: the submitted value remains")
    func acceptedCreate() throws {
        let product = try shop.new("Product", ["id": 2, "name": "Coffee", "price": .decimal(3)])
        try product.create()
        try write([5, 5], to: product)
        try product.submitPending()
        let key = product.surrogateKey
        try shop.importRows("Product", ["id", "name", "price"], "[[\(key),2,\"Coffee\",3.00]]")
        try shop.accept(product.replayPending)
        try product.refresh()
        #expect(try picture(of: product) == [5, 5] && !product.isPending && values == 2)
    }

    @Test("a create that was accepted after its picture was submitted again: the newer picture remains")
    func submittedAgain() throws {
        let product = try shop.new("Product", ["id": 2, "name": "Coffee", "price": .decimal(3)])
        try product.create()
        try write([5], to: product)
        try product.submitPending()
        let create = product.replayPending
        try write([6], to: product)
        try product.submitPending()
        try shop.accept(create)
        try product.refresh()
        #expect(try picture(of: product) == [6] && product.isPending)
        try shop.accept(product.replayPending)
        try product.refresh()
        #expect(try picture(of: product) == [6] && !product.isPending && values == 2)
    }

    @Test("a create that is accepted after its row was changed and deleted here: what cancel brings back has the picture that was submitted")
    func deletedSince() throws {
        let product = try shop.new("Product", ["id": 2, "name": "Coffee", "price": .decimal(3)]),
            none = try shop.new("Product", ["id": 3, "name": "Milk", "price": .decimal(1)])
        for product in [product, none] { try product.create() }
        try write([5], to: product)
        for product in [product, none] {
            try product.submitPending()
            try write([6], to: product)
            try product.update()
            try product.delete()
        }
        for record in try shop.database.outbox { try shop.accept(record.id) }
        for product in [product, none] { try product.cancelPending() }
        #expect(try picture(of: shop.objects("Product").load(product.surrogateKey)) == [5])
        #expect(try picture(of: shop.objects("Product").load(none.surrogateKey)) == nil)
        #expect(try values == 2 && !shop.database.hasPendingOperations())
    }

    @Test("an import of a value for a pending row that did not change it shows, and is not sent back")
    func importUnchanged() throws {
        let product = try product()
        try product.set("name", "Green tea")
        try product.update()
        try setOnServer([7])
        #expect(try picture(of: self.product()) == [7] && values == 1)
        try product.refresh()
        try product.submitPending()
        #expect(try shop.database.outbox[0].largeValues.isEmpty)
    }

    @Test("NULL comes by an import; deleting rows removes their values")
    func nullAndDelete() throws {
        try setOnServer(nil)
        #expect(try picture(of: product()) == nil && values == 0)
        try setOnServer([4])
        #expect(try values == 1)
        try shop.importDeletions("Product", 1)
        #expect(try values == 0)
    }

    @Test("deleting a row here keeps the server's value until the answer")
    func deleteHere() throws {
        let product = try product()
        try product.delete()
        #expect(try values == 1)
        try product.submitPending()
        try shop.accept(product.replayPending)
        #expect(try values == 0)
    }

    @Test("BIG-02: lists carry no large values")
    func lists() throws {
        let product = try #require(try shop.objects("Product").findAll().first)
        #expect(try product.value("picture") == .null)
    }

    @Test("a text attribute counts in Unicode scalars")
    func text() throws {
        let product = try product()
        let manual = product.bigString(5)
        try manual.openForWrite(0)
        try manual.write("naïve café \u{1F375}")
        try manual.close()
        try product.save()
        let again = try self.product(), found = again.bigString(5)
        #expect(try found.length == 12)
        try found.openForRead()
        try found.seek(11)
        #expect(try found.read(5) == "\u{1F375}")
        #expect(again.bigString(5) === found && !again.isDirty)
    }

    @Test("values that were written and never saved are gone when the database is opened again")
    func reopened() throws {
        let product = try product()
        try write([9, 8], to: product)
        #expect(try values == 2)
        try shop.database.closeConnection()
        try product.refresh()
        try shop.database.closeConnection()
        #expect(try values == 1 && picture(of: self.product()) == [1, 2, 3])
    }

    @Test("a value that was written outlives another opening of the file, and can be saved then")
    func openedTwice() throws {
        let product = try product()
        try write([9, 8], to: product)
        let second = try PackageDatabase(
            model: ShopModel.model, profile: ConnectionProfile(path: shop.directory.appending(path: "shop.db").path, maxConnections: 2))
        _ = try second.entity("Product").load(1)
        try product.update()
        #expect(try picture(of: self.product()) == [9, 8])
        try second.close()
    }
}
