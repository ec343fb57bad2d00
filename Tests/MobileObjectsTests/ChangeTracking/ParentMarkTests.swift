@_spi(GeneratedCode) import MobileObjects
import Testing

/// The mark P: a parent without a change of its own has it exactly while a composite child is pending, wherever the child came from or went to.
@Suite struct ParentMarkTests {
    let shop: Shop
    init() throws {
        shop = try Shop()
        for key in [1, 2, 3] as [Int64] { try shop.importCustomer(key, id: "c\(key)", name: "Customer \(key)") }
        try shop.importOrder(11, number: 11, customer: 1)
    }

    private func order(_ key: Int64 = 11) throws -> GenericEntity { try shop.objects("SalesOrder").load(key) }

    /// Returns the letters of the three customers.
    private func marks() throws -> String {
        try String([1, 2, 3].map { try shop.objects("Customer").load($0).pendingChange.letter })
    }

    private func move(_ order: GenericEntity, to customer: Int64) throws {
        order.setParent(try shop.objects("Customer").load(customer), 0)
        try order.update()
    }

    private func importMoved(_ key: Int64, to customer: Int64) throws {
        try shop.importRows("SalesOrder", ["_ref_customer"], "[[\(key),\(customer)]]")
    }

    @Test("a child that moved to another parent and is then deleted leaves no mark there", arguments: ["cancel", "accept", "reject"])
    func movedAndDeleted(end: String) throws {
        let order = try order()
        try move(order, to: 2)
        #expect(try marks() == "NPN")
        try order.delete()
        #expect(try marks() == "PNN")
        if end == "cancel" {
            try order.cancelPending()
        } else {
            try order.submitPending()
            #expect(try marks() == "PNN")
            try shop.answer(order.replayPending, accepted: end == "accept")
            #expect(try marks() == (end == "accept" ? "NNN" : "PNN"))
            if end == "reject" { try order.cancelPending() }
        }
        #expect(try marks() == "NNN" && !shop.database.hasPendingOperations())
    }

    @Test("a child that the server has deleted too marks the parent that it had here")
    func deletedOnServer() throws {
        let order = try order()
        try move(order, to: 2)
        try shop.importDeletions("SalesOrder", 11)
        try order.delete()
        let marks = try marks()
        #expect(marks == "NPN")
        try order.submitPending()
        try shop.accept(order.replayPending)
        #expect(try self.marks() == "NNN")
    }

    @Test("a child that moves twice, is submitted in between and answered, is marked where it is", arguments: [true, false])
    func movedTwice(accepted: Bool) throws {
        let order = try order()
        try move(order, to: 2)
        try order.submitPending()
        let first = order.replayPending
        try move(order, to: 3)
        #expect(try marks() == "NNP")
        try shop.answer(first, accepted: accepted)
        #expect(try marks() == "NNP")
        try order.refresh()
        try order.delete()
        // For a row that is deleted here the last parent that the server knows counts.
        #expect(try marks() == (accepted ? "NPN" : "PNN"))
        try order.cancelPending()
        #expect(try marks() == "NNN")
        #expect(try self.order().parentKey == (accepted ? 2 : 1))
    }

    @Test("a new child that moved, was submitted and deleted is marked at one parent only, and at none after its answer", arguments: [true, false])
    func createMoved(accepted: Bool) throws {
        let order = try shop.newOrder(of: shop.objects("Customer").load(2))
        try order.create()
        try order.submitPending()
        let create = order.replayPending
        try move(order, to: 3)
        #expect(try marks() == "NNP")
        try order.delete()
        #expect(try marks().filter { $0 == "P" }.count == 1)
        try shop.answer(create, accepted: accepted)
        #expect(try marks() == (accepted ? "NPN" : "NNN"))
        if accepted {
            try order.refresh()
            try order.submitPending()
            try shop.accept(order.replayPending)
        }
        #expect(try marks() == "NNN" && !shop.database.hasPendingOperations())
    }

    @Test("where an import moves the server's version of a child that is deleted here, the mark moves along")
    func importMovesDeleted() throws {
        let order = try order()
        try order.delete()
        #expect(try marks() == "PNN")
        try importMoved(11, to: 3)
        #expect(try marks() == "NNP")
        try order.submitPending()
        try shop.accept(order.replayPending)
        #expect(try marks() == "NNN")
    }

    @Test(
        "where an import moves a child that was changed here, its parent here keeps the mark until the change is settled", arguments: [true, false])
    func importMovesChanged(cancelled: Bool) throws {
        let order = try order()
        try order.set("status", "PAID")
        try order.update()
        try order.submitPending()
        try importMoved(11, to: 3)
        #expect(try marks() == "PNN")
        if cancelled { try order.cancelPending() } else { try shop.accept(order.replayPending) }
        #expect(try marks() == "NNN")
        #expect(try self.order().parentKey == 3)
    }

    @Test("a parent that is moved or removed by an import takes the mark of its pending children along", arguments: [true, false])
    func importMovesParent(removed: Bool) throws {
        try shop.importLine(21, order: 11, number: 1, text: "tea")
        let line = try shop.objects("Line").load(21)
        try line.set("text", "coffee")
        try line.update()
        #expect(try marks() == "PNN")
        if removed { try shop.importDeletions("SalesOrder", 11) } else { try importMoved(11, to: 2) }
        #expect(try marks() == (removed ? "NNN" : "NPN"))
        try shop.importOrder(11, number: 11, customer: 3)
        #expect(try marks() == "NNP" && order().pendingChange == .parent)
        try line.cancelPending()
        #expect(try marks() == "NNN" && order().pendingChange == PendingChange.none)
    }
}

extension GenericEntity {
    /// The surrogate key of the first parent.
    fileprivate var parentKey: Int64? { (parent(0) as GenericEntity?)?.surrogateKey }
}
