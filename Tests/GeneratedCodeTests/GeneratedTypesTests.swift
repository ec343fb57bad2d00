import Foundation
import MobileObjects
import MobileStore
import TestSupport
import Testing

/// Generated classes of a model with every type and every name that needs care: compiling this file is half of the test.
@Suite struct GeneratedTypesTests {
    /// Runs `body` with an open, empty database of the test's own.
    private func withDatabase(_ body: (XAwkward_Names) throws -> Void) throws {
        let directory = try TemporaryDirectory()
        let database = try XAwkward_Names.open(ConnectionProfile(path: directory.file("a.db")))
        try body(database)
        try database.close()
    }

    private let day = LocalDate(year: 2024, month: 2, day: 29) ?? .epoch

    /// Makes an object with a distinct value in every attribute that has no default.
    private func filled(in database: XAwkward_Names) throws -> XAllTypes {
        let object = XAllTypes(in: database)
        (object.partone, object.parttwo) = ("Ä", day)
        (object.string, object.char, object.binary, object.boolean) = ("λ\u{0}\"", "😀", [0, 255], true)
        (object.byte, object.short, object.int, object.long, object.integer) = (.min, .max, .min, .max, .min)
        (object.decimal, object.float, object.double) = (Decimal(string: "9999999999999999.99") ?? 0, 0.1, 1e-300)
        (object.date, object.time, object.dateTime) = (day, LocalTime("23:59:59") ?? .midnight, Date(timeIntervalSince1970: 1_700_000_000.125))
        object.wide = Decimal(string: "1234567890123456789012345678.0123456789") ?? 0
        // A list has to be given a value before `create`, an empty one too.
        (object.booleanlist, object.charlist, object.bytelist, object.shortlist) = ([true, false], ["x"], [.min], [])
        (object.intlist, object.longlist, object.floatlist, object.doublelist) = ([1], [.max], [0.1], [0.1, 1e300])
        object.timelist = [.midnight]
        object.stringlist = ["a", "", "ü"]
        object.integerlist = [.min, .max]
        object.decimallist = [Decimal(string: "0.1") ?? 0]
        object.datelist = [day]
        object.dateTimelist = [Date(timeIntervalSince1970: 0.125)]
        object.binarylist = [[], [1, 2, 255]]
        object.place = XPostalAddress(
            street: "Kai 1", actor: 2, since: Date(timeIntervalSince1970: 0.5), raw: [0, 255], rent: 1, point: XGeo_Point(x: 0.1, y: -2),
            corners: [XGeo_Point(x: 1), XGeo_Point(near: [XPostalAddress()])])
        object.places = [object.place, XPostalAddress()]
        return object
    }

    @Test("DTT-05 CPX-01: every type comes back from the database as it was: extremes, empty values, lists, structures")
    func roundTrip() throws {
        try withDatabase { database in
            let object = try filled(in: database)
            try object.create()
            let found = try #require(try XAllTypes.findByPrimaryKey(partone: "Ä", parttwo: day, in: database))
            for attribute in XAllTypes.metadata.attributes {
                #expect(found.value(ofAttribute: attribute.index) == object.value(ofAttribute: attribute.index), "\(attribute.name)")
            }
            #expect(found.string == "λ\u{0}\"" && found.char == "😀" && found.binary == [0, 255])
            #expect(found.long == .max && found.integer == .min && found.byte == .min && found.int == .min)
            #expect(found.decimal == Decimal(string: "9999999999999999.99") && found.wide == object.wide)
            #expect(found.double == 1e-300 && found.float == 0.1)
            #expect(found.place == object.place && found.places == object.places && found.otherplace == nil)
            #expect(found.dateTimelist == object.dateTimelist && found.binarylist == object.binarylist)
            #expect(found.string_nullable == nil && found.decimal_nullable == nil && found.dateTime_nullable == nil)
        }
    }

    @Test(
        "an object of a generated class whose row has what an attribute cannot have is an error with its names, not another value",
        arguments: [
            ("byte", "128", "128 does not fit byte: -128 to 127"), ("short", "40000", "40000 does not fit short: -32768 to 32767"),
            ("int", "3000000000", "3000000000 does not fit int: -2147483648 to 2147483647"), ("long", "1.5", "the double 1.5, expected long"),
            ("boolean", "2", "the integer 2, expected boolean"), ("string", "x'00'", "1 bytes, expected string"),
            ("binary", "'text'", "the text \"text\", expected binary"), ("decimal", "'much'", "the text \"much\", expected decimal"),
            ("wide", "'12 pieces'", "the text \"12 pieces\", expected decimal"), ("float", "1e300", "the double 1e+300, expected float"),
            ("double", "'0,5'", "the text \"0,5\", expected double"), ("date", "'31.12.2020'", "the text \"31.12.2020\", expected date"),
            ("time", "'8:00'", "the text \"8:00\", expected time"), ("dateTime", "'yesterday'", "the text \"yesterday\", expected dateTime"),
            ("place", "'[]'", "the text \"[]\", expected Postal Address"), ("places", "'{'", "the text \"{\", expected Postal Address[]"),
        ])
    func unreadable(column: String, sql: String, reason: String) throws {
        try withDatabase { database in
            let object = try filled(in: database)
            try object.create()
            func set(_ sql: String) throws {
                try database.write("set") { try $0.connection.execute("UPDATE \"\(XAllTypes.metadata.name)\" SET \"\(column)\" = \(sql)") }
            }
            try set(sql)
            let error = #expect(throws: ObjectError.self) { _ = try XAllTypes.find(object.surrogateKey, in: database) }
            #expect(error?.code == .corrupt)
            #expect(
                error?.message
                    == "All Types \(object.surrogateKey): the row's \(column) cannot be read: \(reason); correct it where the row comes from, and synchronize"
            )
            // The model of this object does not let an application write NULL here, so nothing does but an upgrade.
            try set("NULL")
            #expect(try XAllTypes.find(object.surrogateKey, in: database) != nil)
        }
    }

    @Test func `defaults of the model are the values of new objects and new structures`() throws {
        try withDatabase { database in
            let object = XAllTypes(in: database)
            #expect(object.stringwithdefault == "a\"b\\" && object.charwithdefault == "ß" && object.binarywithdefault == [0, 255])
            #expect(object.booleanwithdefault && object.bytewithdefault == -128 && object.longwithdefault == .min)
            #expect(object.decimalwithdefault == Decimal(string: "-1.25") && object.doublewithdefault == 0.1)
            #expect(object.datewithdefault == day && object.timewithdefault == LocalTime("23:59:58"))
            #expect(object.dateTimewithdefault.timeIntervalSince1970 == 1_767_225_599.125)
            #expect(XPostalAddress().street == "Main Street" && XPostalAddress().rent == Decimal(string: "1.1"))
            #expect(object.isNew && !object.isDirty)
        }
    }

    @Test("FND-07: modelled queries take parameters of every simple type")
    func queries() throws {
        try withDatabase { database in
            let object = try filled(in: database)
            try object.create()
            #expect(try XAllTypes.findbystring(any: "λ\u{0}\"", in: database).count == 1)
            #expect(try XAllTypes.findbylong(any: .max, other: nil, in: database).count == 1)
            #expect(try XAllTypes.findbylong(any: .max, other: 7, in: database).count == 0)
            #expect(try XAllTypes.findbyboolean(any: true, in: database).count == 1)
            #expect(try XAllTypes.findbydecimal(any: object.decimal, in: database).count == 1)
            #expect(try XAllTypes.findbydouble(any: 1e-300, in: database).count == 1)
            #expect(try XAllTypes.findbydate(any: day, in: database).count == 1)
            #expect(try XAllTypes.findbydateTime(any: object.dateTime, in: database).count == 1)
            #expect(try XAllTypes.findbybinary(any: [0, 255], in: database).count == 1)
        }
    }

    @Test("GEN-15: attributes called id, description and words that are keywords at some places only are used without a clash")
    func contextualKeywords() throws {
        try withDatabase { database in
            let object = XContextual(in: database)
            (object.async, object.any, object.open, object.id_) = ("d", "i", "s", "7")
            (object.some, object.dynamic, object.weak) = ("some", "dynamic", nil)
            (object.description_, object.state_, object.row, object.index, object.column, object.value) = ("text", "CA", "r", "x", "c", "v")
            try object.save()
            let found = try #require(try XContextual.findByPrimaryKey(async: "d", any: "i", in: database))
            #expect(found.description_ == "text" && found.row == "r" && found.index == "x" && found.value == "v" && found.open == "s")
            #expect(found.some == "some" && found.dynamic == "dynamic" && found.weak == nil)
            #expect(XContextual.columns.id_.name == "id" && XContextual.columns.unowned.name == "unowned")
        }
    }

    @Test("GEN-15: attributes and relationships with the names of methods keep them, and the methods work")
    func namesOfMethods() throws {
        try withDatabase { database in
            let object = XMethods(in: database), other = XMethods(in: database)
            (object.key, object.call, object.page, object.find, object.json) = (1, "called", [7], [1, 2], 5)
            (object.list, object.value, object.entity, object.load) = (9, 12.5, 0.5, 3)
            object.copyAll = 1
            (other.key, other.copyAll, other.load, other.value) = (2, 1, 1, 1)
            other.object = object
            try object.save()
            try other.save()
            let found = try #require(try XMethods.find(object.surrogateKey, in: database))
            #expect(found.call == "called" && found.page == [7] && found.find == [1, 2] && found.json == 5)
            #expect(found.list == 9 && found.value == 12.5 && found.entity == 0.5 && found.load == 3)
            #expect(found.pages.map(\.key) == [2] && other.object?.key == 1)
            found.call = "again"
            try found.save()
            try object.refresh()
            #expect(object.call == "again" && object.value(ofAttribute: 0) == .integer(1))
            #expect(try XMethods.where(\.value == 12.5 && \.json == 5).find(in: database).count == 1)
            #expect(try XMethods.where(.contains(\.object)).list(in: database).map(\.key) == [2])
            try found.move(weak: "up")
            #expect(try XMethods.findAll(in: database).count == 2 && found.logRecords().count == 0)
        }
    }

    @Test("PAR-03 PAR-04 PAR-05 PAR-06: an object's parameter sets are typed; they are added once, listed and removed")
    func subscriptions() throws {
        try withDatabase { database in
            let north = XPartitionedSubscription(some: "NORTH", from: day)
            let south = XPartitionedSubscription(some: "SOUTH", limit: 2)
            #expect(north.limit == Decimal(string: "0.5") && south.from == nil)
            try XPartitioned.addSubscription(north, in: database)
            try XPartitioned.addSubscription(south, in: database)
            try XPartitioned.addSubscription(north, in: database)
            #expect(try XPartitioned.subscriptions(in: database) == [north, south])
            try XPartitioned.removeSubscription(north, in: database)
            #expect(try XPartitioned.subscriptions(in: database) == [south])
        }
    }

    @Test("PAR-02 GEN-15: parameters called size, user and parameters are used without a clash, beside those that every set has")
    func awkwardParameters() throws {
        try withDatabase { database in
            let set = XPartitionedSubscription(some: "NORTH", user_: "ada", parameters_: "p", save_: "s", hashValue_: 7)
            #expect(set.size_ == 4 && set.parameters["user"] == "ada" && set.parameters["parameters"] == "p" && set.parameters["save"] == "s")
            try XPartitioned.addSubscription(set, in: database)
            var older = try XPartitioned.synchronizationParameters(in: database)
            #expect(older.user == "" && older.user_ == "ada" && older.size == 0 && older.size_ == 4)
            older.user = "bob"
            older.size_ = 5
            try older.save()
            let saved = try XPartitioned.synchronizationParameters(in: database)
            #expect(saved.user == "bob" && saved.user_ == "ada" && saved.size_ == 5)
            #expect(try XPartitioned.subscriptions(in: database).map(\.size_) == [5])
        }
    }

    @Test("PER-01 PER-03: personalization keys are typed, simple ones and structures, and keep what was saved")
    func personalization() throws {
        try withDatabase { database in
            var parameters = try database.personalizationParameters
            #expect(parameters.limit == Decimal(string: "12.5") && parameters.some == "" && parameters.day == nil)
            parameters.some = "x"
            parameters.homeaddress = XPostalAddress(street: "Kai 1", since: Date(timeIntervalSince1970: 1))
            parameters.day = day
            try parameters.save()
            let saved = try database.personalizationParameters
            #expect(saved.some == "x" && saved.homeaddress == parameters.homeaddress && saved.day == day && saved.limit == parameters.limit)
        }
    }

    @Test("GEN-13: the database class is also known under the package's name and DB")
    func databaseClass() {
        #expect(XAwkward_NamesDB.self == XAwkward_Names.self)
        #expect(XAwkward_Names.metadata.name == "Awkward.Names")
    }
}
