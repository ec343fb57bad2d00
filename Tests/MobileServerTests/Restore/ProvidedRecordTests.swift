import MobileExecution
import MobileProtocol
import MobileServer
import MobileStore
import TestSupport
import Testing

/// A back end of an operator's own that keeps its record of operations, and is restored from a backup.
@Suite struct ProvidedRecordTests {
    private func article(_ number: Int64) -> JSONObject {
        ["number": .integer(number), "name": "article", "price": .number("1.5"), "shelf": "A"]
    }

    private func lost(_ result: TestDevice.Result) -> [String: Int64]? {
        result.frames.lazy.compactMap { if case .answer(let answer) = $0 { answer.lost } else { nil } }.first
    }

    @Test func `an operation that the back end loses right after its commit is not answered as accepted, and is done again`() throws {
        let warehouse = Warehouse(life: "first"), device = try ProvidedBackEndTests.device(over: warehouse)
        try device.synchronize()
        let before = warehouse.contents.withLock { $0 }
        warehouse.afterCommit.withLock { [warehouse] in $0 = { warehouse.contents.withLock { $0 = before } } }
        let create = device.create("Article", article(1))
        #expect(try device.synchronize([create]).status == 503 && warehouse.lastNumber() == 0)
        warehouse.afterCommit.withLock { $0 = nil }
        #expect(try device.synchronize([create]).results.map(\.receipt?.number) == [1] && device.rows["Article"]?.count == 1)
        // A settled operation needs no record.
        device.settledBelow = create.id + 1
        #expect(try device.synchronize([create, device.create("Article", article(2))]).results.map(\.outcome) == [.accepted, .accepted])
    }

    @Test func `operations of a back end that does not answer are not lost`() throws {
        let warehouse = Warehouse(life: "first"), device = try ProvidedBackEndTests.device(over: warehouse)
        try device.synchronize()
        let receipt = try #require(device.synchronize([device.create("Article", article(1))]).results.first?.receipt)
        device.adjustHeader = { $0.receipts = [receipt.era: receipt.number, "unknown": 1] }
        // The position is known no longer.
        warehouse.contents.withLock { $0.last += 1 }
        warehouse.isOpen.withLock { $0 = false }
        #expect(try lost(device.synchronize(groups: [])) == [:])
        warehouse.isOpen.withLock { $0 = true }
        #expect(try lost(device.synchronize(groups: [])) == ["unknown": 0])
    }

    @Test(arguments: [true, false])
    func `its lost operations are noticed: under a running server where it knows the life of its data, otherwise when the server starts again`(
        isKnown: Bool
    ) throws {
        let warehouse = Warehouse(life: isKnown ? "first" : nil), device = try ProvidedBackEndTests.device(over: warehouse)
        let other = try TestDevice(device.server, name: "other")
        for device in [device, other] {
            device.subscriptions = ["Article": [["shelf": "A"]]]
            try device.synchronize()
        }
        try device.synchronize([device.create("Article", article(1))])
        let backup = warehouse.contents.withLock { $0 }
        let receipt = try #require(device.synchronize([device.create("Article", article(2))]).results.first?.receipt)
        #expect(receipt.number == 2 && warehouse.eras().map(\.historyID) == [isKnown ? "first" : ""])
        warehouse.contents.withLock { $0 = backup }
        if isKnown { warehouse.life.withLock { $0 = "second" } } else { try device.server.restart() }
        // The other device reaches the same number.
        let create = other.create("Article", article(3)), new = try #require(other.synchronize([create]).results.first?.receipt)
        #expect(new.number == 2 && new.era != receipt.era && warehouse.eras().last?.historyID == (isKnown ? "second" : ""))
        device.adjustHeader = { $0.receipts = [receipt.era: receipt.number] }
        #expect(try lost(device.synchronize()) == [receipt.era: 1])
        #expect(device.rows == other.rows && device.key("Article", "number", 3) == create.key && device.rows["Article"]?.count == 2)
        try other.synchronize([other.create("Article", article(4))])
        #expect(warehouse.eras().count == 2, "an era goes on as long as its life")
    }
}
