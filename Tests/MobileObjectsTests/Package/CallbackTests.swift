import MobileExecution
import MobileObjects
import MobileStore
import Testing

/// Records the calls that it receives.
private final class Recorder: CallbackHandler {
    private let name: String
    private let book: Book

    final class Book: Sendable {
        private let entries = SystemLock<[String]>([])
        func add(_ entry: String) { entries.withLock { $0.append(entry) } }
        var lines: [String] { entries.withLock { $0 } }
    }

    init(_ name: String, _ book: Book) { (self.name, self.book) = (name, book) }

    func onReplaySuccess(_ object: Entity) {
        book.add("\(name) success \(object.keyToString()) \(object.pendingChange.letter)\(object.isDeleted ? " deleted" : "")")
    }
    func onReplayFailure(_ object: Entity) { book.add("\(name) failure \(object.keyToString())") }
}

/// A handler that receives failures and reads the row in the transaction of the call.
private final class Reader: CallbackHandler {
    let seen = SystemLock<[String]>([])
    func onReplayFailure(_ object: Entity) {
        let found = try? object.package.entity("Customer").find(object.surrogateKey)
        seen.withLock { $0.append("\(found?.replayFailure ?? -1)") }
    }
}

@Suite struct CallbackTests {
    let shop: Shop
    init() throws {
        shop = try Shop()
        for key in [1, 2] as [Int64] { try shop.importCustomer(key, id: "c\(key)", name: "Customer \(key)") }
    }

    private func submitted(_ key: Int64) throws -> GenericEntity {
        let customer = try shop.objects("Customer").load(key)
        try customer.set("city", "Cork")
        try customer.update()
        try customer.submitPending()
        return customer
    }

    @Test("CBK-02 CBK-07 CBK-08: handlers of the object and of the database are both called, the object's first")
    func bothHandlers() throws {
        let book = Recorder.Book()
        shop.database.registerCallbackHandler(Recorder("database", book))
        shop.database.registerCallbackHandler(Recorder("customer", book), for: try shop.objects("Customer").metadata)
        shop.database.registerCallbackHandler(Recorder("product", book), for: try shop.objects("Product").metadata)
        try shop.accept(submitted(1).replayPending)
        try shop.reject(submitted(2).replayPending)
        #expect(book.lines == ["customer success 1 U", "database success 1 U", "customer failure 2", "database failure 2"])
    }

    @Test("CBK-07: the object has the data from before the synchronization, a deleted one says so")
    func dataFromBefore() throws {
        let book = Recorder.Book()
        shop.database.registerCallbackHandler(Recorder("database", book))
        let customer = try shop.objects("Customer").load(1)
        try customer.delete()
        try customer.submitPending()
        try shop.accept(customer.replayPending)
        #expect(book.lines == ["database success 1 D deleted"])
    }

    @Test("an answer to an older submission, or to a cancelled change, calls nobody")
    func nobody() throws {
        let book = Recorder.Book()
        shop.database.registerCallbackHandler(Recorder("database", book))
        let customer = try submitted(1)
        let id = customer.replayPending
        try customer.cancelPending()
        try shop.accept(id)
        #expect(book.lines.isEmpty)
    }

    @Test("CBK-04: a callback runs inside of the transaction, and objects that it finds see its changes")
    func insideTransaction() throws {
        let reader = Reader()
        shop.database.registerCallbackHandler(reader)
        let id = try submitted(1).replayPending
        try shop.reject(id)
        #expect(reader.seen.withLock { $0 } == ["\(id)"])
    }

    @Test("CBK-01: the default handler answers everything and continues every synchronization")
    func defaults() throws {
        let handler = DefaultCallbackHandler(), customer = try shop.objects("Customer").load(1)
        handler.onReplaySuccess(customer)
        handler.onImportSuccess()
        handler.onMessageStart(size: 0, method: "import", object: nil)
        #expect(handler.onSynchronize(["default"], SynchronizationContext(status: .starting)) == .continue)
    }
}
