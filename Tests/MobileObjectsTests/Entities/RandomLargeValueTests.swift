import Foundation
@_spi(GeneratedCode) import MobileObjects
import MobileStore
import TestSupport
import Testing

/// Random changes of pictures here and on the server, with answers in every order: the row has the picture that was accepted last.
@Suite struct RandomLargeValueTests {
    @Test("large values: the last picture that the server accepted is the row's, before any import tells it", arguments: RandomSequences.seeds(24))
    func sequence(seed: UInt64) throws {
        var run = try PictureRun(seed: seed)
        for round in 0..<8 {
            for _ in 0..<20 { try run.step() }
            try run.acceptLastPictures()
            let pictures = try run.pictures()
            // Rows that were cancelled after their create was sent are only on the server.
            try #require(pictures == run.server.filter { pictures[$0.key] != nil }, "seed \(seed), round \(round)")
            #expect(try !run.shop.database.hasPendingOperations() && run.shop.database.outbox.isEmpty)
            #expect(try run.shop.count("_mc_value") == pictures.count { !$0.value.isEmpty }, "seed \(seed), round \(round): values that nothing refers to")
        }
    }
}

/// One device and a server's pictures, with random events.
private struct PictureRun {
    let shop: Shop
    /// The server's pictures by surrogate key; empty for NULL.
    private(set) var server: [Int64: [UInt8]] = [:]
    private var random: SeededGenerator
    /// Operations that the server has processed and not answered.
    private var answers: [(id: Int64, isAccepted: Bool)] = []
    private var bytes: UInt8 = 0
    private var created: Int64 = 0

    init(seed: UInt64) throws {
        shop = try Shop()
        random = SeededGenerator(seed: seed)
    }

    mutating func step() throws {
        switch Int.random(in: 0..<12, using: &random) {
        case 0: try create()
        case 1...3: if let product = try any() { try change(product) }
        case 4...6: try any()?.submitPending()
        case 7: try any()?.cancelPending()
        case 8: if let key = server.keys.sorted().randomElement(using: &random) { server[key] = Bool.random(using: &random) ? picture() : [] }
        case 9: replayOnServer(try shop.database.outbox, refusing: true)
        case 10: try importAll()
        default: try answerAll()
        }
    }

    /// Gives every row one more picture, and lets the server accept all waiting operations. The device only receives these answers.
    mutating func acceptLastPictures() throws {
        for product in try shop.objects("Product").findAll() {
            try change(product)
            try product.submitPending()
        }
        replayOnServer(try shop.database.outbox, refusing: false)
        try answerAll()
        // A row whose create was refused before is sent once more.
        for product in try shop.objects("Product").findAll() where product.isPending {
            try change(product)
            try product.submitPending()
        }
        replayOnServer(try shop.database.outbox, refusing: false)
        try answerAll()
    }

    func pictures() throws -> [Int64: [UInt8]] {
        var pictures: [Int64: [UInt8]] = [:]
        for product in try shop.objects("Product").findAll() { pictures[product.surrogateKey] = try shop.picture(of: product) ?? [] }
        return pictures
    }

    private mutating func picture() -> [UInt8] {
        bytes &+= 1
        return [bytes, 0]
    }

    private mutating func create() throws {
        created += 1
        let product = try shop.new("Product", ["id": .integer(created), "name": "Tea", "price": .decimal(3)])
        try product.create()
        if Bool.random(using: &random) { try change(product) }
    }

    private mutating func any() throws -> GenericEntity? { try shop.objects("Product").findAll().randomElement(using: &random) }

    private mutating func change(_ product: GenericEntity) throws {
        // NULL that becomes NULL changes no row, and is not sent: the server's picture would stay.
        if try product.bigBinary(4).length != nil, Int.random(in: 0..<3, using: &random) == 0 {
            try product.bigBinary(4).remove()
        } else {
            try shop.write(picture: picture(), to: product)
        }
        try product.update()
    }

    private mutating func replayOnServer(_ outbox: [OutboxRecord], refusing: Bool) {
        for operation in outbox where !answers.contains(where: { $0.id == operation.id }) {
            let isKnown = operation.change == .create || server[operation.surrogateKey] != nil
            let isAccepted = isKnown && (!refusing || Int.random(in: 0..<4, using: &random) > 0)
            if isAccepted, operation.change == .create { server[operation.surrogateKey] = [] }
            if isAccepted, let value = operation.largeValues.first {
                let reader = value.id.flatMap { try? LargeValueReader($0, in: shop.database.store) }
                server[operation.surrogateKey] = (try? reader?.bytes(upTo: 10)) ?? []
            }
            answers.append((operation.id, isAccepted))
        }
    }

    private mutating func importAll() throws {
        for (key, picture) in server.sorted(by: { $0.key < $1.key }) {
            try shop.importRows("Product", ["id", "name", "price"], "[[\(key),\(key + 1000),\"Tea\",3.00]]")
            try shop.importPicture(picture.isEmpty ? nil : picture, key: key)
        }
    }

    private mutating func answerAll() throws {
        let now = answers
        answers = []
        for answer in now { try shop.answer(answer.id, accepted: answer.isAccepted) }
    }
}
