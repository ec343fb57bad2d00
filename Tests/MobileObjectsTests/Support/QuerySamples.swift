import Foundation
import MobileModel
import MobileObjects
import MobileStore

/// The package for tests of queries: the customers and orders of the documented samples, and one object with an attribute of every type.
enum QuerySamples {
    static let model = PackageModel(
        name: "Samples",
        structures: [StructureModel(name: "Address", attributes: [AttributeModel(name: "street", type: .string)])],
        objects: [customer, order, allType, hidden])

    private static let customer = ObjectModel(
        name: "Customer",
        attributes: [
            AttributeModel(name: "id", type: .long),
            AttributeModel(name: "fname", type: .string, isSearchable: true),
            AttributeModel(name: "lname", type: .string, isSearchable: true),
            AttributeModel(name: "state", type: .string, isNullable: true),
            AttributeModel(name: "credit", type: .decimal, isNullable: true, precision: 12, scale: 2),
        ],
        primaryKey: ["id"],
        queries: [
            QueryModel(
                name: "findById", parameters: [ParameterModel(name: "id", type: .long)], isSingle: true,
                sql: "SELECT x.* FROM Customer x WHERE x.id = :id"),
            QueryModel(
                name: "findBusy", parameters: [ParameterModel(name: "least", type: .long), ParameterModel(name: "most", type: .long)],
                sql: """
                    SELECT x.* FROM Customer x JOIN SalesOrder s ON s.cust_id = x.id WHERE x.surrogateKey > 0
                    GROUP BY x.id HAVING count(s.id) > :least AND x.id < :most ORDER BY count(s.id) DESC, x.id
                    """),
            QueryModel(
                name: "findByTurnover", parameters: [ParameterModel(name: "least", type: .decimal)],
                sql: """
                    SELECT x.* FROM Customer x JOIN SalesOrder s ON s.cust_id = x.id
                    GROUP BY x.id HAVING sum(s.total) >= :least AND avg(s.total) > 1.50 ORDER BY sum(s.total) DESC
                    """),
        ], operations: OperationModel.plain)

    private static let order = ObjectModel(
        name: "SalesOrder",
        attributes: [
            AttributeModel(name: "id", type: .long),
            AttributeModel(name: "cust_id", type: .long, isNullable: true),
            AttributeModel(name: "order_date", type: .date, isNullable: true),
            AttributeModel(name: "region", type: .string, isNullable: true),
            AttributeModel(name: "total", type: .decimal, precision: 12, scale: 2, defaultValue: "0"),
        ],
        primaryKey: ["id"], operations: OperationModel.plain)

    static let attributes: [AttributeModel] = [
        AttributeModel(name: "string", type: .string, isNullable: true),
        AttributeModel(name: "binary", type: .binary, isNullable: true),
        AttributeModel(name: "char", type: .char, isNullable: true),
        AttributeModel(name: "byte", type: .byte, isNullable: true),
        AttributeModel(name: "short", type: .short, isNullable: true),
        AttributeModel(name: "int", type: .int, isNullable: true),
        AttributeModel(name: "long", type: .long, isNullable: true),
        AttributeModel(name: "integer", type: .integer, isNullable: true),
        AttributeModel(name: "decimal", type: .decimal, isNullable: true, precision: 10, scale: 4),
        AttributeModel(name: "float", type: .float, isNullable: true),
        AttributeModel(name: "double", type: .double, isNullable: true),
        AttributeModel(name: "date", type: .date, isNullable: true),
        AttributeModel(name: "time", type: .time, isNullable: true),
        AttributeModel(name: "dateTime", type: .dateTime, isNullable: true),
        AttributeModel(name: "boolean", type: .boolean, isNullable: true),
        AttributeModel(name: "wide", type: .decimal, isNullable: true, precision: 30, scale: 10),
        AttributeModel(name: "place", type: .structure("Address"), isNullable: true),
        AttributeModel(name: "days", type: .list(.date), isNullable: true),
        AttributeModel(name: "picture", type: .bigBinary, isNullable: true),
        AttributeModel(name: "manual", type: .bigString, isNullable: true),
    ]

    private static let allType = ObjectModel(
        name: "AllType",
        attributes: [AttributeModel(name: "id", type: .long), AttributeModel(name: "name", type: .string)] + attributes,
        primaryKey: ["id"], operations: OperationModel.plain)

    private static let hidden = ObjectModel(
        name: "Hidden", attributes: [AttributeModel(name: "id", type: .long)], primaryKey: ["id"], allowsDynamicQueries: false)
}

/// A database of the package with rows as a server sends them.
final class QueryDatabase {
    let shop: Shop
    var database: PackageDatabase { shop.database }

    init(trace: (@Sendable (String) -> Void)? = nil) throws {
        shop = try Shop(QuerySamples.model, trace: trace)
        try shop.importRows(
            "Customer", ["id", "fname", "lname", "state", "credit"],
            """
            [[1,1,"Erin","Devlin","CA",10.00],[2,2,"Jane","Doe","NY",20.50],[3,3,"John","Doe","CA",20.50],[4,4,"John","Smith",null,5],
             [5,5,"Douglas","Smith","TX",null],[6,6,"Ann","O'Neil","NY",300]]
            """)
        try shop.importRows(
            "SalesOrder", ["id", "cust_id", "order_date", "region", "total"],
            """
            [[11,2001,1,"2010-03-01","Eastern",100],[12,2002,1,"2010-04-01","Western",50.25],[13,2003,2,"2010-03-02","Eastern",1],
             [14,2004,5,null,"Central",7.50],[15,2005,null,"2010-05-05",null,2],[16,2006,99,"2010-06-06","Canada",3]]
            """)
        let all = QuerySamples.attributes.filter { !$0.isLarge }.map(\.name)
        try shop.importRows(
            "AllType", ["id", "name"] + all,
            #"""
            [[21,1,"one","alpha","AAE=","a",1,10,100,1000,10000,1.5000,0.5,2.25,"2020-01-01","08:00:00","2020-01-01T08:00:00.000Z",true,
              1.5,"{\"street\":\"Kai 1\"}","[\"2020-01-01\"]"],
             [22,2,"two","beta","AAI=","b",-2,-20,-200,-2000,-20000,-2.2500,1.5,-4.5,"2021-02-03","09:30:00","2021-02-03T09:30:00.250Z",false,
              -2.5,"{\"street\":\"Kai 2\"}","[\"2021-02-03\",null]"],
             [23,3,"three",null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null]]
            """#)
        try shop.importRows("Hidden", ["id"], "[[31,1]]")
    }

    func rows(_ query: Query) throws -> [[AttributeValue]] { try database.executeQuery(query).map(Array.init) }

    /// Returns the values of the first column in readable form.
    func texts(_ query: Query) throws -> [String] { try database.executeQuery(query).map { $0[0].description } }

    /// Returns the keys of the customers that pass a test.
    func customers(_ test: TestCriteria) throws -> [Int64] {
        try database.entity("Customer").findWithQuery(Query().where(test)).map(\.surrogateKey)
    }

    /// Returns the ids of the rows of AllType that pass a test.
    func allTypes(_ test: TestCriteria) throws -> [Int64] {
        try database.entity("AllType").findWithQuery(Query().where(test)).map { $0.surrogateKey - 20 }
    }

    /// Returns the error code of a failing query.
    func error(_ query: Query) -> ObjectError.Code? {
        do { _ = try database.executeQuery(query) } catch let error as ObjectError { return error.code } catch {}
        return nil
    }

    static func number(_ integer: Int64) -> Decimal { Decimal(integer) }

    static func decimal(_ text: String) -> AttributeValue { .decimal(Decimal(string: text, locale: nil) ?? 0) }
}
