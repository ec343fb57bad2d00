import MobileObjects
import MobileStore
import Testing

/// REL-01: in a one-to-one relationship each end has one other end; setting another one releases the former.
@Suite struct OneToOneTests {
    let shop: Shop
    init() throws {
        shop = try Shop(StaffModel.model)
        try shop.importRows("Person", ["id", "name"], "[[1,1,\"Ann\"],[2,2,\"Ben\"]]")
        for name in ["Passport", "Badge", "Locker", "Permit"] {
            let back = name == "Passport" || name == "Badge" ? "holder" : "user"
            try shop.importRows(name, ["id", "name", "personId", "_ref_\(back)"], "[[11,11,\"first\",1,1],[12,12,\"second\",2,2]]")
        }
        try shop.importRows("Desk", ["id", "name"], "[[21,21,\"desk\"]]")
    }

    private func load(_ object: String, _ key: Int64) throws -> GenericEntity { try shop.objects(object).load(key) }
    private func person(_ key: Int64 = 1) throws -> GenericEntity { try load("Person", key) }
    private func new(_ object: String, _ id: Int64) throws -> GenericEntity { try shop.new(object, ["id": .integer(id), "name": "third"]) }

    /// Returns the rows of an object: key, person and attribute, and the pending change.
    private func rows(_ object: String) throws -> [String] {
        let back = object == "Passport" || object == "Badge" ? "holder" : "user"
        return try shop.database.read { connection in
            try connection.rows("SELECT \"_sk\", \"_ref_\(back)\", \"personId\", \"_pc\" FROM \"\(object)\" ORDER BY \"_sk\"")
        }.map { row in row.map { $0.integer.map(String.init) ?? "-" }.joined(separator: " ") }
    }

    @Test("REL-06: setting another part lets go of the former one, which was read before or not", arguments: [true, false])
    func part(wasRead: Bool) throws {
        let person = try person(), new = try new("Passport", 13)
        let former: GenericEntity? = wasRead ? try person.parent("passport") : nil
        try person.setParent(new, "passport")
        try person.save()
        #expect(try rows("Passport") == ["11 - - 2", "12 2 2 0", "1000 1 1 1"])
        let now: GenericEntity? = try self.person().parent("passport")
        #expect(try now?.surrogateKey == 1000 && self.person().pendingChange == .parent)
        // The released object in memory has no holder any more, and can be changed further.
        if let former {
            let holder: GenericEntity? = try former.parent("holder")
            #expect(holder == nil && former.pendingChange == .update && !former.isDirty)
            try former.set("name", "lost")
            try former.save()
        }
        try person.submitPending()
        try shop.database.submitPendingOperations()
        #expect(try shop.outboxLines().sorted() == ["C Passport 1000", "U Passport 11"])
        let update = try #require(try shop.database.outbox.first { $0.change == .update })
        #expect(update.attributes["personId"] == .null && update.references.isEmpty)
        for record in try shop.database.outbox { try shop.accept(record.id) }
        #expect(try self.person().pendingChange == PendingChange.none && !shop.database.hasPendingOperations())
    }

    @Test("a part that cannot be without its owner is deleted, with the owner's save")
    func neededOwner() throws {
        let person = try person(), new = try new("Badge", 13)
        let former: GenericEntity? = try person.parent("badge")
        try person.setParent(new, "badge")
        #expect(try rows("Badge").count == 2)
        try person.save()
        #expect(try rows("Badge") == ["12 2 2 0", "1000 1 1 1"])
        #expect(former?.isDeleted == true && former?.pendingChange == .delete)
        try person.submitPending()
        #expect(try Set(shop.outboxLines()) == ["D Badge 11", "C Badge 1000"])
        try #require(former).cancelPending()
        #expect(try rows("Badge").first == "11 1 1 0")
    }

    @Test(arguments: [true, false])
    func `save writes an object that holds the reference and is not a part, with the release of the former one`(isNew: Bool) throws {
        let person = try person(), locker = try isNew ? new("Locker", 13) : load("Locker", 12)
        try person.setParent(locker, "locker")
        try person.save()
        #expect(try rows("Locker") == ["11 - - 2"] + (isNew ? ["12 2 2 0", "1000 1 1 1"] : ["12 1 1 2"]))
        let now: GenericEntity? = try self.person().parent("locker")
        #expect(now?.surrogateKey == locker.surrogateKey && !locker.isDirty && !locker.isNew)
    }

    @Test("setting none lets go of the one that was there", arguments: ["Passport", "Badge", "Locker"])
    func none(object: String) throws {
        let person = try person(), none: GenericEntity? = nil
        try person.setParent(none, object.lowercased())
        try person.save()
        #expect(try rows(object).first == (object == "Badge" ? "12 2 2 0" : "11 - - 2"))
        let now: GenericEntity? = try self.person().parent(object.lowercased())
        #expect(now == nil)
    }

    @Test("the other direction: giving a row another person takes it from the row that the person had", arguments: ["Passport", "Badge", "Locker"])
    func otherEnd(object: String) throws {
        let back = object == "Locker" ? "user" : "holder", person = try person(), second = try load(object, 12)
        let former: GenericEntity? = try person.parent(object.lowercased())
        try second.setParent(person, back)
        try second.save()
        #expect(try rows(object) == (object == "Badge" ? ["12 1 1 2"] : ["11 - - 2", "12 1 1 2"]))
        #expect(former != nil)
        let now: GenericEntity? = try self.person().parent(object.lowercased()),
            others: GenericEntity? = try self.person(2).parent(object.lowercased())
        #expect(now?.surrogateKey == 12 && others == nil)
    }

    @Test("objects that were never saved: the last one that was set counts")
    func unsaved() throws {
        let person = try shop.new("Person", ["id": 3, "name": "Cleo"]), first = try new("Passport", 13), second = try new("Passport", 14)
        try person.setParent(first, "passport")
        try person.setParent(second, "passport")
        try person.save()
        #expect(try rows("Passport").suffix(1) == ["1001 1000 3 1"] && shop.count("Passport") == 3)
        #expect(first.isNew)
        let holder: GenericEntity? = try first.parent("holder")
        #expect(holder == nil)
    }

    @Test("a part that is given to another owner in the meantime is not lost")
    func givenAway() throws {
        let ann = try person(1), ben = try person(2)
        let first: GenericEntity? = try ann.parent("badge"), second: GenericEntity? = try ben.parent("badge")
        try ann.setParent(second, "badge")
        try ben.setParent(first, "badge")
        try shop.database.transaction {
            try ann.save()
            try ben.save()
        }
        #expect(try rows("Badge") == ["11 2 2 2", "12 1 1 2"])
        let now: GenericEntity? = try ann.parent("badge")
        #expect(now === second)
    }

    @Test("what is no part and cannot be without a person is not taken from one: a clear error, and nothing is written")
    func needed() throws {
        let person = try person(), permit = try new("Permit", 13)
        try permit.setParent(person, "user")
        let error = ObjectError.of { try permit.create() }
        #expect(error?.code == .missingValue && error?.message.contains("Person 1 has Permit 11") == true)
        #expect(try rows("Permit") == ["11 1 1 0", "12 2 2 0"])
        try load("Permit", 11).delete()
        try permit.create()
        #expect(try rows("Permit") == ["12 2 2 0", "1000 1 1 1"])
    }

    @Test("a reference that the row itself holds: another row that takes the same target takes it away")
    func ownReference() throws {
        let desk = try load("Desk", 21), ann = try person(1), ben = try person(2)
        try ann.setParent(desk, "desk")
        try ann.save()
        try ben.setParent(desk, "desk")
        try ben.save()
        let before: GenericEntity? = try person(1).parent("desk"), now: GenericEntity? = try person(2).parent("desk")
        #expect(before == nil && now?.surrogateKey == 21)
        #expect(try person(1).value("deskId") == .null && person(2).value("deskId") == 21)
    }
}
