import Foundation
import MobileExecution
@_spi(GeneratedCode) import MobileObjects
import MobileStore
import Testing

/// The common features of errors, and their differences.
@Suite struct ErrorTests {
    let shop: Shop
    init() throws {
        shop = try Shop()
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods")
    }

    /// Errors of the store that come up through objects.
    private func storeFailure() -> ObjectError? {
        return #expect(throws: ObjectError.self) { try shop.database.read { _ = try $0.first("SELECT * FROM nowhere") } }
    }

    @Test("EXC-01: every error has a number, a message, a cause where there is one, arguments, and a text in a language")
    func base() throws {
        let found = #expect(throws: ObjectError.self) { _ = try shop.objects("Customer").load(7) }
        let error = try #require(found) as any BaseError
        #expect(error.errorCode == 2002 && error.message == "load of Customer 7: there is no such row" && error.cause == nil)
        #expect(error.arguments == [.text("load of Customer 7: there is no such row")])
        #expect(shop.database.message(of: error, locale: "en") == "The object does not exist (load of Customer 7: there is no such row).")
        let texts = try MessageBundles(directories: [ErrorMessageTests.bundle], preferredLanguages: [], currentLocale: Locale(identifier: "de_DE"))
        shop.database.environment.services.register(texts, for: (any ErrorMessageService).self)
        #expect(shop.database.message(of: error, locale: "de") == "Das Objekt gibt es nicht (load of Customer 7: there is no such row).")
        #expect(shop.database.message(of: error) == "Das Objekt gibt es nicht (load of Customer 7: there is no such row).")
        let failure = try #require(storeFailure())
        let cause = try #require(failure.cause as? any BaseError)
        #expect(failure.errorCode == 2001 && cause.errorCode == 1003 && cause is StoreError)
    }

    @Test(
        "EXC-02: an error says whether trying again can help, its cause must be removed, or the application must start again",
        arguments: [
            (StoreError(.timeout, ""), ErrorRecovery.retry), (StoreError(.interrupted, ""), .retry), (StoreError(.full, ""), .removeCause),
            (StoreError(.constraint, ""), .removeCause), (StoreError(.corrupt, ""), .restart),
        ])
    func recovery(error: StoreError, expected: ErrorRecovery) {
        #expect(error.recovery == expected)
        #expect(ObjectError(.store, "", cause: error).recovery == expected)
    }

    @Test("EXC-02: a writer that another one keeps waiting may try again; an object with a taken key may not")
    func recoveryInPlace() throws {
        let error = #expect(throws: ObjectError.self) { try shop.newCustomer("c1").create() }
        #expect(error?.code == .duplicateKey && error?.recovery == .removeCause)
        let damaged = ObjectError(.corrupt, "")
        #expect(damaged.recovery == .restart)
    }

    @Test("EXC-20: a kind of failure is caught before its type, and the type before the base")
    func catching() throws {
        func caught(_ body: () throws -> Void) -> String {
            do { try body() } catch ObjectError.Code.notFound { return "not found" } catch let error as ObjectError {
                return "object \(error.code.rawValue)"
            } catch let error as any BaseError { return "base \(error.errorCode)" } catch { return "other" }
            return "none"
        }
        struct Other: Error {}
        #expect(caught { _ = try shop.objects("Customer").load(7) } == "not found")
        #expect(caught { _ = try shop.objects("Custom") } == "object 11")
        #expect(caught { throw StoreError(.closed, "") } == "base 1007")
        #expect(caught { throw Other() } == "other")
        #expect(caught {} == "none")
    }

    @Test(
        "EXC-18: errors of large attributes have kinds and numbers of their own",
        arguments: [
            (StoreError.Code.notOpen, 1101), (.notClosed, 1102), (.notSaved, 1103), (.appendOnly, 1018), (.overLength, 1019),
        ])
    func largeAttributes(code: StoreError.Code, number: Int) throws {
        let product = try shop.new("Product", ["id": 5, "name": "Tea", "price": 2])
        func fail() throws {
            let picture = product.bigBinary(4)
            switch code {
            case .notSaved: try picture.openForWrite()
            case .notOpen:
                try product.create()
                _ = try picture.readByte()
            case .notClosed:
                try product.create()
                try picture.openForWrite()
                try picture.copyToFile(shop.directory.appending(path: "picture").path)
            case .overLength:
                try product.create()
                try picture.openForWrite(2)
                try picture.write([1, 2, 3])
            default:
                try product.create()
                try picture.openForWrite()
                try picture.write([1, 2, 3])
                try picture.write([4], at: 1)
            }
        }
        let error = #expect(throws: (any Error).self) { try fail() } as? any BaseError
        let root = (error as? ObjectError)?.cause as? StoreError ?? error as? StoreError
        #expect(root?.code == code && root?.errorCode == number, "\(String(describing: error))")
    }

    /// Counts the rejections that are reported to it.
    private final class Rejections: CallbackHandler {
        let keys = SystemLock<[Int64]>([])
        func onReplayFailure(_ object: Entity) { keys.withLock { $0.append(object.surrogateKey) } }
    }

    @Test("EXC-19: an error of the back end is a rejected operation with its log record, and nothing is thrown here")
    func serverSide() throws {
        let handler = Rejections()
        shop.database.registerCallbackHandler(handler)
        let customer = try shop.objects("Customer").load(1)
        try customer.set("city", "Cork")
        try customer.update()
        try customer.submitPending()
        let id = customer.replayPending
        let outcome = try shop.database.write("settle") { transaction in
            _ = try transaction.store(
                transaction.database.makeLogRecord(
                    level: .error, code: 412, eisCode: "275", message: "a constraint of the back end", component: "Customer", entityKey: "1",
                    operation: "update", requestID: "\(id)", timestamp: Date(timeIntervalSince1970: 0)))
            return try transaction.settle([ReplayAnswer(id: id, isAccepted: false)]).first
        }
        #expect(outcome?.isAccepted == false && handler.keys.withLock { $0 } == [1])
        try customer.refresh()
        #expect(customer.state == .failed && customer.replayFailure == customer.replayCounter && customer.city == "Cork")
        #expect(try customer.logRecords().map(\.code) == [412])
    }
}
