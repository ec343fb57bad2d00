import Foundation
@_spi(GeneratedCode) import MobileObjects
import MobileStore
import TestSupport
import Testing

/// Random sequences of all events of pending rows. After each step the database is compared with the rules. Regardless of the rules, no edit may be
/// lost, no value may be written that no user has changed, and in the end the device has the server's rows.
@Suite struct RandomOperationTests {
    @Test("every transition, in every order: what the database has is what the rules say", arguments: RandomSequences.seeds(24))
    func sequence(seed: UInt64) throws {
        var run = try RandomRun(seed: seed)
        for round in 0..<3 {
            for step in 0..<50 {
                let event = try run.step(), place: Comment = "seed \(seed), round \(round), step \(step): \(event)"
                let visible = try run.shop.visible(), pending = try run.shop.pending(), waiting = try run.shop.waiting()
                try #require(visible == run.reference.visible, place)
                try #require(pending == run.reference.pending, place)
                try #require(waiting == run.reference.waiting, place)
                try #require(run.faults == [], place)
                try run.shop.database.checkSearchIndexes(place)
            }
            try run.finish()
            let contents = try run.shop.contents(), isPending = try run.shop.database.hasPendingOperations()
            try #require(contents == run.server.contents, "seed \(seed), round \(round): after the last synchronization")
            try #require(run.server.faults == [], "seed \(seed), round \(round)")
            #expect(!isPending)
        }
    }
}

/// One device and a server, with random events.
private struct RandomRun {
    let shop: Shop
    private(set) var reference: ReferenceClient
    private(set) var server = ReferenceServer()
    private var edits = EditLedger()
    private var random: SeededGenerator
    private var texts = 0
    /// The row that most of the next events are about.
    private var focus: Int64 = 0
    /// Objects of rows that were deleted here, by which they are submitted and cancelled.
    private var deleted: [Int64: GenericEntity] = [:]
    /// Faults of changes by objects that were read before other changes.
    private var stale: [String] = []
    /// Such objects, with their rows at that time.
    private var held: [(key: Int64, object: GenericEntity, read: ReferenceClient.Row)] = []

    init(seed: UInt64) throws {
        shop = try Shop.random()
        random = SeededGenerator(seed: seed)
        reference = ReferenceClient(clock: shop.clock.seconds)
    }

    mutating func step() throws -> String {
        if chance(1, of: 2) {
            shop.clock.seconds += Int64.random(in: 0...3, using: &random)
            reference.clock = shop.clock.seconds
        }
        switch Int.random(in: 0..<30, using: &random) {
        // Few rows, so that many events happen to each.
        case 0...4 where reference.rows.count > 5 && chance(3, of: 4): return try update()
        case 0...2: return try create(chance(1, of: 3) ? .product : .customer)
        case 3...4: return try createOrder()
        case 5...9: return try update()
        case 10: return try move()
        case 11: return try delete()
        case 12: return try move() + ", " + delete()
        case 13...15: return try submit()
        case 16: return try cancel()
        case 17...18: return changeOnServer()
        case 19...20: return try replay(refusing: true)
        case 21: return try tell(Kind.allCases.filter { _ in chance(2, of: 3) })
        case 22: return chance(1, of: 4) && server.answers.isEmpty ? try reset() : try answer()
        case 23...24: return try useHeld()
        case 28: return try postpone()
        // An operation that was deferred and then done, without an answer so far, must not be withdrawn.
        case 29: return try submit() + ", " + postpone() + ", " + (chance(2, of: 3) ? replay(refusing: false) + ", " : "") + cancel()
        case 25...26: return try submit() + ", " + replay(refusing: true) + ", " + answer()
        default: return try answer()
        }
    }

    private mutating func chance(_ part: Int, of whole: Int) -> Bool { Int.random(in: 0..<whole, using: &random) < part }

    /// Faults that must not occur, regardless of the rules.
    var faults: [String] {
        server.faults + stale
            + reference.rows.sorted { $0.key < $1.key }.flatMap { key, row in
                row.now.map { edits.lost(key, $0, isPending: row.change != "N") } ?? []
            }
    }

    // MARK: The device

    private mutating func text() -> String {
        texts += 1
        return "t\(texts)"
    }

    /// Returns a target for a reference: any row of an object that exists here.
    private mutating func target(_ kind: Kind) -> (key: Int64, object: GenericEntity)? {
        guard let key = pick(kind), let object = try? find(key) else { return nil }
        return (key, object)
    }

    private mutating func create(_ kind: Kind) throws -> String {
        var values = Dictionary(uniqueKeysWithValues: kind.texts.map { ($0, text()) })
        let object = try shop.new(kind.rawValue, ["id": .string("new \(text())")].merging(values.mapValues { .string($0) }) { $1 })
        if kind == .customer, chance(1, of: 2), let product = target(.product) {
            object.setParent(product.object, 1)
            values["favourite"] = String(product.key)
        }
        try object.create()
        noteCreate(object.surrogateKey, kind, values)
        return "create \(kind) \(object.surrogateKey) \(values)"
    }

    private mutating func createOrder() throws -> String {
        guard let parent = target(.customer) else { return "nothing" }
        var values = ["status": text(), "note": text()]
        let order = try shop.new("SalesOrder", values.mapValues { .string($0) })
        parent.object.orders.append(order)
        try chance(1, of: 2) ? order.create() : parent.object.save()
        values["customer"] = String(parent.key)
        noteCreate(order.surrogateKey, .order, values)
        return "create order \(order.surrogateKey) \(values)"
    }

    private mutating func noteCreate(_ key: Int64, _ kind: Kind, _ values: [String: String]) {
        reference.create(key, Version(kind: kind, values: values))
        edits.edit(key, values)
    }

    /// Changes one column, or several; sometimes to the server's value, so that the update changes nothing there.
    private mutating func update() throws -> String {
        guard let kind = Kind.allCases.randomElement(using: &random), let key = pick(kind), let row = reference.rows[key] else { return "nothing" }
        let object = try find(key)
        if chance(1, of: 2) { held = try held.suffix(5) + [(key, find(key), row)] }
        var values: [String: String] = [:]
        for column in kind.texts where values.isEmpty || chance(1, of: 3) {
            let column = chance(1, of: 2) ? column : kind.texts.last ?? column
            values[column] = text()
            if chance(1, of: 4), let known = server.rows[key]?.values[column] { values[column] = known }
        }
        for (column, value) in values { try object.set(column, .string(value)) }
        try object.update()
        return note("update", key, values)
    }

    /// Changes a row by an object that was read before another one's change.
    private mutating func useHeld() throws -> String {
        guard !held.isEmpty else { return "nothing" }
        let index = held.firstIndex { $0.key == focus } ?? Int.random(in: 0..<held.count, using: &random)
        let (key, object, read) = held.remove(at: index), value = text()
        try object.set(read.kind.texts[0], .string(value))
        do {
            try object.update()
            if reference.rows[key]?.isUnchanged(since: read) != true {
                stale.append("an object of \(key) that was read before is not found to be stale")
            }
        } catch let error as ObjectError where error.code == .stale || error.code == .notFound {
            if reference.rows[key]?.now != nil, reference.rows[key]?.isUnchanged(since: read) == true { stale.append("\(error)") }
            return "stale \(key)"
        }
        return note("update again", key, [read.kind.texts[0]: value])
    }

    /// Gives a row another one to refer to.
    private mutating func move() throws -> String {
        let kind: Kind = chance(1, of: 2) ? .order : .customer
        guard let relation = kind.reference, let key = pick(kind), let target = target(relation.target) else { return "nothing" }
        let object = try find(key)
        object.setParent(target.object, kind == .order ? 0 : 1)
        try object.update()
        return note("move", key, [relation.name: String(target.key)])
    }

    private mutating func note(_ event: String, _ key: Int64, _ values: [String: String]) -> String {
        reference.update(key, values)
        edits.edit(key, values)
        return "\(event) \(key) \(values)"
    }

    private mutating func delete() throws -> String {
        let kind = reference.rows[focus]?.kind ?? Kind.allCases.randomElement(using: &random) ?? .order
        guard let key = pick(kind) else { return "nothing" }
        let object = try find(key)
        if kind == .customer {
            for order in try object.orders.all() {
                deleted[order.surrogateKey] = order
                edits.giveUp(order.surrogateKey)
            }
        }
        try object.delete()
        deleted[key] = object
        edits.giveUp(key)
        reference.delete(key)
        return "delete \(key)"
    }

    private mutating func submit() throws -> String {
        if chance(1, of: 6) {
            try submitAll()
            return "submit all"
        }
        guard let (key, object) = try pickPending() else { return "nothing" }
        let last = reference.lastCounter
        try object.submitPending()
        reference.submit([key], order: try sent(since: last))
        return "submit \(key)"
    }

    private mutating func submitAll() throws {
        let last = reference.lastCounter
        try shop.database.submitPendingOperations()
        reference.submit(reference.pendingKeys, order: try sent(since: last))
    }

    private func sent(since last: Int64) throws -> [Int64] { try shop.database.outbox(after: last, limit: -1).map(\.surrogateKey) }

    private mutating func cancel() throws -> String {
        let before = reference.pendingKeys
        if chance(1, of: 4) {
            for (key, row) in reference.rows where row.needsSubmit { edits.giveUp(key, row.changed) }
            try shop.database.cancelPendingOperations()
            reference.cancelUnsubmitted()
            giveUpCancelled(before)
            return "cancel all that is not submitted"
        }
        guard let (key, object) = try pickPending() else { return "nothing" }
        try object.cancelPending()
        reference.cancel(key)
        giveUpCancelled(before)
        return "cancel \(key)"
    }

    private mutating func giveUpCancelled(_ before: [Int64]) {
        for key in Set(before).subtracting(reference.pendingKeys) { edits.giveUp(key) }
    }

    private mutating func pick(_ kind: Kind) -> Int64? { pick(reference.rows.filter { $0.value.now?.kind == kind }.keys) }

    private mutating func pick(_ keys: some Sequence<Int64>) -> Int64? {
        let keys = keys.sorted()
        if keys.contains(focus), chance(3, of: 4) { return focus }
        let key = keys.randomElement(using: &random)
        if let key, chance(1, of: 4) { focus = key }
        return key
    }

    private func find(_ key: Int64) throws -> GenericEntity {
        try shop.objects(try #require(reference.rows[key]).kind.rawValue).load(key)
    }

    /// Picks mostly rows with a pending change, sometimes any; with the object to call.
    private mutating func pickPending() throws -> (Int64, GenericEntity)? {
        let any = chance(1, of: 4)
        guard let key = pick(reference.rows.filter { $0.value.change != "N" || any }.keys), let row = reference.rows[key] else { return nil }
        if row.now != nil { return (key, try find(key)) }
        guard let object = deleted[key], object.isDeleted else { return nil }
        return (key, object)
    }

    // MARK: The server

    /// Changes one column on another device, or makes or removes a row there.
    private mutating func changeOnServer() -> String {
        let kind = Kind.allCases.randomElement(using: &random) ?? .customer, key = pick(server.keys(kind))
        switch Int.random(in: 0..<5, using: &random) {
        case 0:
            var version = Version(kind: kind, values: Dictionary(uniqueKeysWithValues: kind.texts.map { ($0, text().uppercased()) }))
            if let relation = kind.reference {
                version.values[relation.name] = server.keys(relation.target).randomElement(using: &random).map { String($0) }
            }
            guard kind != .order || version.parent != 0 else { return "nothing" }
            server.insert(version)
            return "server makes \(version)"
        case 1:
            guard let key, chance(1, of: 2) else { return "nothing" }
            server.remove(key)
            return "server deletes \(key)"
        case 2:
            guard let key, let relation = kind.reference, let target = server.keys(relation.target).randomElement(using: &random) else {
                return "nothing"
            }
            server.write(key, relation.name, String(target))
            return "server moves \(key) to \(target)"
        default:
            guard let key, let column = kind.texts.randomElement(using: &random) else { return "nothing" }
            // Sometimes the value that the device has set as well; but not where the back end would write it in another way.
            let typed = column != "city" && chance(1, of: 4) ? reference.rows[key]?.now?.values[column] : nil, value = typed ?? text().uppercased()
            server.write(key, column, value)
            return "server changes \(column) of \(key) to \(value)"
        }
    }

    /// Replays some waiting operations on the server, or all.
    private mutating func replay(refusing: Bool) throws -> String {
        let outbox = try shop.database.outbox, limit = refusing && chance(1, of: 3) ? 2 : .max
        var random = random
        let taken = server.replay(outbox, limit: limit, edits: &edits) { _ in refusing && Int.random(in: 0..<4, using: &random) == 0 }
        self.random = random
        if let last = taken.last {
            _ = try shop.database.beginDoubt(through: last)
            reference.inDoubt = max(reference.inDoubt, last)
        }
        return "server replays \(taken)"
    }

    /// The server defers waiting operations, from one of them on.
    private mutating func postpone() throws -> String {
        let waiting = try shop.database.outbox.map(\.id).filter { !server.hasProcessed($0) }
        let deferred = waiting.suffix(Int.random(in: 0...waiting.count, using: &random))
        for id in deferred {
            try shop.postpone(id)
            reference.deferred(id)
        }
        return "server defers \(deferred)"
    }

    /// Imports the news about these objects that the device does not have yet.
    private mutating func tell(_ kinds: [Kind]) throws -> String {
        for kind in kinds {
            let news = server.news(kind)
            try shop.database.write("import") { try importNews(news, kind, $0) }
            for (key, version) in news.changed { reference.imported(key, version) }
            for key in news.gone { reference.imported(key, nil) }
        }
        return "import \(kinds)"
    }

    private func importNews(_ news: (changed: [(key: Int64, version: Version)], gone: [Int64]), _ kind: Kind, _ transaction: Transaction) throws {
        let session = try transaction.importSession(for: kind.rawValue)
        var columns = ["_sk", kind == .order ? "number" : "id"] + kind.columns.filter { $0 != kind.reference?.name }
        if let reference = kind.reference { columns += [reference.attribute, "_ref_\(reference.name)"] }
        let rows = try session.rows(columns)
        try rows.push([UInt8](JSONValue.array(news.changed.map { row($0.key, $0.version) }).description.utf8))
        try rows.finish()
        let deletions = try session.deletions()
        try deletions.push([UInt8]("[\(news.gone.map { "[\($0)]" }.joined(separator: ","))]".utf8))
        try deletions.finish()
    }

    private func row(_ key: Int64, _ version: Version) -> JSONValue {
        let kind = version.kind
        var values: [JSONValue] = [.integer(key), kind == .order ? .integer(key) : .string("s\(key)")]
        for column in kind.columns where column != kind.reference?.name {
            let value = version.values[column] ?? ""
            values.append(value.isEmpty ? .null : column == "revision" ? .integer(Int64(value) ?? 0) : .string(value))
        }
        if kind.reference != nil {
            let target = version.values[kind.reference?.name ?? ""].flatMap { Int64($0) }
            values += [target.map { .string("s\($0)") } ?? .null, target.map { .integer($0) } ?? .null]
        }
        return .array(values)
    }

    /// Resets an object: the server sends all rows again.
    private mutating func reset() throws -> String {
        let kind = Kind.allCases.randomElement(using: &random) ?? .customer
        _ = try shop.database.write("reset") { try $0.importSession(for: kind.rawValue).removeAll(keepsKeys: true) }
        reference.reset(kind)
        server.forget(kind)
        return "reset of \(kind), " + (try tell([kind]))
    }

    /// Answers come, sometimes twice. Mostly the import that belongs to them comes first; without it the submitted values must do.
    private mutating func answer(all: Bool = false) throws -> String {
        if all || chance(3, of: 4) { _ = try tell(Kind.allCases) }
        let now = all || chance(3, of: 4) ? server.answers : Array(server.answers.prefix(1))
        server.answers.removeFirst(now.count)
        for answer in now + (chance(1, of: 4) ? now : []) {
            try shop.answer(answer.id, accepted: answer.accepted)
            reference.answered(answer.id, accepted: answer.accepted)
        }
        if server.answers.isEmpty {
            try shop.database.write("answers") { try $0.endDoubt(at: 0) }
            reference.inDoubt = 0
        }
        return "answers \(now.map { "\($0.id) \($0.accepted)" })"
    }

    /// Sends and answers everything, gives up refused changes, and imports the server's news: both sides are equal then.
    mutating func finish() throws {
        for _ in 0..<3 {
            try submitAll()
            let waiting = try shop.waiting()
            #expect(waiting == reference.waiting)
            _ = try replay(refusing: false)
            _ = try answer(all: true)
        }
        let before = reference.pendingKeys
        for kind in Kind.allCases {
            try shop.database.cancelPendingOperations(of: shop.objects(kind.rawValue).metadata)
            for key in before where reference.rows[key]?.kind == kind { reference.cancel(key) }
        }
        giveUpCancelled(before)
        _ = try tell(Kind.allCases)
    }
}
