import Foundation
import MobileModel
import MobileObjects
import Testing

/// The result of a query.
@Suite struct ResultSetTests {
    let samples: QueryDatabase
    init() throws { samples = try QueryDatabase() }

    private var names: Query { Query().select("c.id, c.fname as first, c.credit").from("Customer", "c").sorted(by: .ascending("c.id")).take(3) }

    @Test("QRS-01: rows one after the other, values from 0")
    func iteration() throws {
        var seen: [String] = []
        for row in try samples.database.executeQuery(names) {
            #expect(row.count == 3)
            seen.append("\(row[0]) \(row[1]) \(row[2])")
        }
        #expect(seen == ["1 Erin 10", "2 Jane 20.5", "3 John 20.5"])
        #expect(try samples.database.executeQuery(names.where(.equal("id", 0))).isEmpty)
    }

    @Test("QRS-01: thousands of rows, by position as well")
    func manyRows() throws {
        let rows = (100...2600).map { "[\($0),\($0),\"row \($0)\"]" }
        try samples.shop.importRows("AllType", ["id", "name"], "[\(rows.joined(separator: ","))]")
        let results = try samples.database.executeQuery(
            Query().select("id, name").from("AllType").where(.greaterEqual("id", 100)).sorted(by: .ascending("id")))
        #expect(results.count == 2501)
        #expect(results.indices.allSatisfy { results[$0][0] == .integer(Int64($0 + 100)) })
        #expect(results.last?[1] == "row 2600")
    }

    @Test("QRS-02: names of the columns, and all rows")
    func columnsAndRows() throws {
        let results = try samples.database.executeQuery(names)
        #expect(results.columnNames == ["c.id", "first", "c.credit"])
        #expect(results.columnTypes == [.long, .string, .decimal])
        #expect(results.rows.map { $0[1] } == ["Erin", "Jane", "John"])
        let all = try samples.database.executeQuery(Query().from("Customer", "c").join("SalesOrder", "s", "s.cust_id", "c.id").take(0))
        #expect(
            all.columnNames
                == ["c.id", "c.fname", "c.lname", "c.state", "c.credit", "s.id", "s.cust_id", "s.order_date", "s.region", "s.total"])
        #expect(
            try samples.database.executeQuery(Query().from("SalesOrder").take(0)).columnNames == ["id", "cust_id", "order_date", "region", "total"])
    }

    @Test("QRS-03: next goes row by row, until false")
    func cursor() throws {
        var results = try samples.database.executeQuery(names), seen: [Int64] = []
        #expect(#expect(throws: ObjectError.self) { try results.long(1) }?.code == .misuse)
        while results.next() { seen.append(try results.long(1)) }
        #expect(seen == [1, 2, 3])
        var moved = results.next()
        #expect(!moved && results.currentRow == 3)
        #expect(throws: ObjectError.self) { try results.long(1) }
        moved = results.previous()
        #expect(moved && results.currentRow == 2)
        moved = results.move(to: 0)
        #expect(try moved && results.long(1) == 1)
        moved = results.move(to: 3)
        #expect(!moved && results.currentRow == 0)
        moved = results.previous()
        #expect(!moved && results.currentRow == -1)
        moved = results.next()
        results.reset()
        #expect(moved && results.currentRow == -1)
    }

    @Test("QRS-04: getters take the column from 1, its name, or both, which must agree")
    func getters() throws {
        var results = try samples.database.executeQuery(names)
        _ = results.next()
        #expect(try results.long(1, "c.id") == 1 && results.long(1) == 1 && results.long("c.id") == 1 && results.long("id") == 1)
        #expect(try results.string(2, "first") == "Erin" && results.string("first") == "Erin")
        #expect(try results.decimal(3, "credit") == 10)
        for wrong in [0, 4, -1] { #expect(#expect(throws: ObjectError.self) { try results.string(wrong) }?.code == .noSuchAttribute) }
        #expect(#expect(throws: ObjectError.self) { try results.string(2, "c.fname") }?.code == .noSuchAttribute)
        #expect(#expect(throws: ObjectError.self) { try results.string("nothing") }?.code == .noSuchAttribute)
        var joined = try samples.database.executeQuery(Query().from("Customer", "c").join("SalesOrder", "s", "s.cust_id", "c.id"))
        _ = joined.next()
        #expect(#expect(throws: ObjectError.self) { try joined.long("id") }?.code == .noSuchAttribute, "two columns have it")
        #expect(try joined.long("s.id") == 2001)
    }

    @Test("QRS-04 DTT-03: a getter for every type, with a form that takes null")
    func types() throws {
        var results = try samples.database.executeQuery(Query().from("AllType").sorted(by: .ascending("id")))
        _ = results.next()
        #expect(try results.string("string") == "alpha" && results.nullableString("string") == "alpha")
        #expect(try results.binary("binary") == [0, 1] && results.nullableBinary("binary") == [0, 1])
        #expect(try results.char("char") == "a" && results.nullableChar("char") == "a")
        #expect(try results.byte("byte") == 1 && results.nullableByte("byte") == 1)
        #expect(try results.short("short") == 10 && results.nullableShort("short") == 10)
        #expect(try results.int("int") == 100 && results.nullableInt("int") == 100)
        #expect(try results.long("long") == 1000 && results.nullableLong("long") == 1000)
        #expect(try results.integer("integer") == 10000 && results.nullableInteger("integer") == 10000)
        #expect(try results.decimal("decimal") == 1.5 && results.nullableDecimal("decimal") == 1.5)
        #expect(try results.float("float") == 0.5 && results.nullableFloat("float") == 0.5)
        #expect(try results.double("double") == 2.25 && results.nullableDouble("double") == 2.25)
        #expect(try results.date("date").description == "2020-01-01" && results.nullableDate("date") == results.date("date"))
        #expect(try results.time("time").description == "08:00:00" && results.nullableTime("time") == results.time("time"))
        #expect(try results.dateTime("dateTime").timeIntervalSince1970 == 1_577_865_600 && results.nullableDateTime("dateTime") != nil)
        #expect(try results.boolean("boolean") && results.nullableBoolean("boolean") == true)
        for _ in 0..<2 { _ = results.next() }
        #expect(try results.nullableString("string") == nil && results.nullableBinary("binary") == nil && results.nullableChar("char") == nil)
        #expect(try results.nullableByte("byte") == nil && results.nullableShort("short") == nil && results.nullableInt("int") == nil)
        #expect(try results.nullableLong("long") == nil && results.nullableInteger("integer") == nil && results.nullableDecimal("decimal") == nil)
        #expect(try results.nullableFloat("float") == nil && results.nullableDouble("double") == nil && results.nullableBoolean("boolean") == nil)
        #expect(try results.nullableDate("date") == nil && results.nullableTime("time") == nil && results.nullableDateTime("dateTime") == nil)
    }

    @Test("DTT-03: values of rows are read by the same getters, null included")
    func valuesOfRows() throws {
        let query = Query().select("c.fname, s.order_date").from("Customer", "c").join("SalesOrder", "s", "s.cust_id", "c.id", type: .left)
            .sorted(by: .ascending("c.id"), .ascending("s.id"))
        let rows = try samples.database.executeQuery(query)
        #expect(try rows.map { try $0[0].nullableString() } == ["Erin", "Erin", "Jane", "John", "John", "Douglas", "Ann"])
        #expect(
            try rows.map { try $0[1].nullableDate()?.description } == ["2010-03-01", "2010-04-01", "2010-03-02", nil, nil, nil, nil])
        #expect(try rows[0][1].date() == LocalDate(year: 2010, month: 3, day: 1))
        #expect(try rows[0].value("order_date").read(as: LocalDate?.self) == LocalDate(year: 2010, month: 3, day: 1))
    }

    @Test("QRS-05 EXC-11 EXC-12: another type than the value's, and null or a number out of range, are two errors")
    func typeErrors() throws {
        var results = try samples.database.executeQuery(Query().from("AllType").sorted(by: .descending("id")))
        func code(_ read: () throws -> Any?) -> ObjectError.Code? { #expect(throws: ObjectError.self) { _ = try read() }?.code }
        _ = results.next()
        #expect(code { try results.string("string") } == .invalidDataType, "null")
        #expect(code { try results.date("date") } == .invalidDataType)
        _ = results.next()
        #expect(code { try results.date("string") } == .wrongDataType)
        #expect(code { try results.string("int") } == .wrongDataType)
        #expect(code { try results.nullableDateTime("date") } == .wrongDataType)
        #expect(code { try results.int("double") } == .wrongDataType)
        #expect(code { try results.boolean("byte") } == .wrongDataType)
        #expect(try results.byte("short") == -20)
        #expect(code { try results.byte("int") } == .invalidDataType)
        #expect(code { try results.char("name") } == .invalidDataType, "three characters")
    }

    @Test("DTT-02: lists of dates, times and moments with and without nulls; null in a list of the latter is an error")
    func lists() throws {
        let rows = try samples.database.executeQuery(Query().select("days").from("AllType").sorted(by: .ascending("id")))
        let first = LocalDate("2020-01-01") ?? .epoch, second = LocalDate("2021-02-03") ?? .epoch
        #expect(rows[0][0].decoded(as: [LocalDate].self) == [first])
        #expect(rows[0][0].decoded(as: [LocalDate?].self) == [first])
        #expect(rows[1][0].decoded(as: [LocalDate].self) == nil)
        #expect(rows[1][0].decoded(as: [LocalDate?].self) == [second, nil])
        let object = try #require(try samples.database.entity("AllType").find(23))
        try object.setValue(try .encoded([nil, second]), "days")
        try object.update()
        #expect(try samples.database.entity("AllType").find(23)?.value("days").decoded(as: [LocalDate?].self) == [nil, second])
        let times: [LocalTime?] = [LocalTime("23:59:59"), nil], moments: [Date?] = [nil, Date(timeIntervalSince1970: 0.25)]
        #expect(try AttributeValue.encoded(times).decoded(as: [LocalTime?].self) == times)
        #expect(try AttributeValue.encoded(times).decoded(as: [LocalTime].self) == nil)
        #expect(try AttributeValue.encoded(moments).decoded(as: [Date?].self) == moments)
        #expect(try AttributeValue.encoded(moments.compactMap(\.self)).decoded(as: [Date].self) == moments.compactMap(\.self))
        #expect(try AttributeValue.encoded(moments).decoded(as: [Date].self) == nil)
    }
}
