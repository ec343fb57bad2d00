import Foundation
import MobileObjects
import MobileStore
import SampleCRM
import TestSupport
import Testing

/// Searches for words, over a generated class whose model marks `name` and `contact` as searchable.
@Suite final class TextSearchTests {
    let directory: TemporaryDirectory
    let crm: CRM

    init() throws {
        directory = try TemporaryDirectory()
        crm = try CRM.open(ConnectionProfile(path: directory.file("crm.db")))
        try importRows(
            """
            [[1,1,"Harbour Foods","Ann Food","Quay 1","Dublin","NORTH",150,true,"2020-01-01"],
             [2,2,"Harbour Café & Bar",null,"Road 2","Dublin","NORTH",50,true,"2021-01-01"],
             [3,3,"Old Portal","Bob Harbour","Lane 3","Cork","SOUTH",150,false,"2019-01-01"],
             [4,4,"Food Food Food","Cid","Lane 3","Cork","SOUTH",0,true,"2022-05-05"],
             [5,5,"Ó Briain's Main Street Deli","Zoë","Main Street","Cork","SOUTH",0,true,"2022-05-05"]]
            """)
    }

    deinit { try? crm.close() }

    private func importRows(_ json: String) throws {
        let columns = ["_sk", "id", "name", "contact", "street", "city", "region", "creditLimit", "active", "since"]
        try crm.write("import") { transaction in
            let rows = try transaction.importSession(for: "Customer").rows(columns)
            try rows.push([UInt8](json.utf8))
            try rows.finish()
        }
    }

    private func keys(_ search: TextSearch) throws -> [Int64] { try Customer.where(.matching(search)).find(in: crm).map(\.surrogateKey) }
    private func keys(_ text: String) throws -> [Int64] { try crm.customers.matching(text).find().map(\.surrogateKey) }

    @Test("all words, in any attribute; the last one is a beginning")
    func words() throws {
        #expect(try keys("harbour") == [1, 2, 3])
        #expect(try keys("HARBOUR fo") == [1])
        #expect(try keys("foods harb") == [1] && keys("fo harbour") == [] && keys("ood") == [] && keys("harb foods") == [])
        #expect(try keys("food") == [1, 4])
        #expect(try keys(TextSearch("food", beginnings: .none)) == [1, 4])
        #expect(try keys(TextSearch("foo", beginnings: .none)) == [])
        #expect(try keys(TextSearch("har foods", beginnings: .all)) == [1])
        #expect(try keys(TextSearch("portal deli", requiring: .any)) == [3, 5])
        #expect(try keys("main") == [5] && keys("quay") == [])
    }

    @Test("upper and lower case and accents are the same, and other characters separate words")
    func folding() throws {
        #expect(try keys("cafe") == [2] && keys("CAFÉ") == [2] && keys("cafe\u{301}") == [2] && keys("zoe") == [5])
        #expect(try keys("ó briain's deli") == [5] && keys("(deli)") == [5] && keys("food;harbour") == [1])
    }

    @Test("words between quotes stand next to each other, and are complete")
    func phrases() throws {
        #expect(try keys("\"main street\" deli") == [5] && keys("\"street main\"") == [])
        #expect(try keys("\"main str\"") == [] && keys("\"harbour") == [1, 2, 3])
    }

    @Test(
        "no character of the text has a meaning for the index",
        arguments: [
            "AND", "NOT harbour", "NEAR(a b)", "c0:harbour", "{c0}: harbour", "harbour*", "^harbour", "harbour OR cid", "- harbour", "har\0bour", "'",
            "a\"b", "\"\"\"",
            "harbour)", "?1", "\u{FFFF}", "name : x", "+", "\u{301}",
        ])
    func operators(text: String) throws {
        _ = try keys(text)
        _ = try keys(TextSearch(text, requiring: .any, beginnings: .all))
        _ = try crm.customers.matching(text).orderedByRelevance().find()
    }

    @Test("words that are operators elsewhere are words here")
    func operatorWords() throws {
        #expect(try keys("NOT harbour") == [] && keys("harbour OR cid") == [] && keys("harbour*") == [1, 2, 3])
    }

    @Test("a text without words is passed by all objects, as an empty search field is")
    func withoutWords() throws {
        #expect(try keys("") == [1, 2, 3, 4, 5] && keys(" -& ") == [1, 2, 3, 4, 5])
        #expect(try crm.customers.matching("").orderedByRelevance().find().map(\.surrogateKey) == [1, 2, 3, 4, 5])
    }

    @Test("a search in some of the attributes")
    func attributes() throws {
        #expect(try keys(TextSearch("harbour", in: ["contact"])) == [3])
        #expect(try keys(TextSearch("food", in: ["name"])) == [1, 4] && keys(TextSearch("food", in: ["name", "contact"])) == [1, 4])
        #expect(try keys(TextSearch("bob harbour", in: ["name"])) == [])
        #expect(try keys(TextSearch("bob cid", in: ["contact"], requiring: .any)) == [3, 4])
    }

    @Test("searches combine with other conditions, with or, not, order, limit, count, sum and paging")
    func combinations() throws {
        #expect(try crm.customers.where(\.city == "Dublin" && .matching("harbour")).ordered(by: \.name).find().map(\.surrogateKey) == [2, 1])
        #expect(try crm.customers.where(.matching("portal") || \.city == "Dublin").find().map(\.surrogateKey) == [1, 2, 3])
        #expect(try crm.customers.where(!.matching("harbour")).find().map(\.surrogateKey) == [4, 5])
        #expect(try crm.customers.matching("harbour").matching("food").find().map(\.surrogateKey) == [1])
        #expect(try crm.customers.matching("harbour").count() == 3 && crm.customers.matching("nothing").isEmpty())
        #expect(try crm.customers.matching("harbour").sum(of: \.creditLimit) == 350)
        #expect(try crm.customers.matching("harbour").limit(1).offset(1).find().map(\.surrogateKey) == [2])
        #expect(try crm.customers.matching("food").first()?.surrogateKey == 1)
        let list = try Customer.all.matching("harbour").list(pageSize: 2, in: crm)
        #expect(try list.count() == 3 && list.map(\.surrogateKey) == [1, 2, 3])
    }

    @Test("relevance: more frequent words come first, and all ways of reading agree")
    func relevance() throws {
        let best = crm.customers.matching("food").orderedByRelevance()
        #expect(try best.find().map(\.surrogateKey) == [4, 1] && best.limit(1).find().map(\.surrogateKey) == [4] && best.first()?.surrogateKey == 4)
        #expect(try best.count() == 2)
        #expect(try Customer.all.matching("food").sortedByRelevance().list(pageSize: 1, in: crm).map(\.surrogateKey) == [4, 1])
        // The relevance is that of the first search; the other one is a condition still.
        #expect(try crm.customers.matching("harbour").matching("food").orderedByRelevance().find().map(\.surrogateKey) == [1])
        var last = AttributeSort.relevance
        last.order = .descending
        #expect(try Customer.findWithQuery(Query().where(.matching("food")).sorted(by: last), in: crm).map(\.surrogateKey) == [1, 4])
        #expect(try crm.customers.matching("harbour").where(\.city == "Dublin" || .matching("bob")).orderedByRelevance().find().count == 3)
    }

    @Test("relevance: 300 objects come in one order, page by page")
    func relevancePages() throws {
        let rows = (100..<400).map {
            "[\($0),\($0),\"\(String(repeating: "Mill ", count: 1 + $0 % 7))Stone\",null,\"s\",\"c\",\"r\",1,true,\"2020-01-01\"]"
        }
        try importRows("[\(rows.joined(separator: ","))]")
        let all = try crm.customers.matching("mill").orderedByRelevance().find().map(\.surrogateKey)
        #expect(all.count == 300 && Set(all).count == 300)
        #expect(try Customer.all.matching("mill").sortedByRelevance().list(pageSize: 7, in: crm).map(\.surrogateKey) == all)
        #expect(try crm.customers.matching("mill").orderedByRelevance().limit(9).find().map(\.surrogateKey) == Array(all.prefix(9)))
    }

    @Test("a query made by names searches each of its sources, and rows of joins")
    func names() throws {
        let order = SalesOrder(in: crm)
        order.customer = try Customer.load(1, in: crm)
        (order.orderDate, order.customerId) = (LocalDate(year: 2026, month: 1, day: 2) ?? .epoch, 1)
        try order.save()
        let query = Query().select("c.name, o.status").from("Customer", "c").join("SalesOrder", "o", "o.customerId", "c.id")
        #expect(try crm.executeQuery(query.where(.matching("harbour"))).count == 1)
        #expect(try crm.executeQuery(query.where(.search(TextSearch("harbour", source: "c")))).count == 1)
        #expect(try crm.executeQuery(query.where(.search(TextSearch("portal", source: "c")))).count == 0)
        let counted = Query().select("city, COUNT(*)").from("Customer").where(.matching("harbour")).groupBy("city").sorted(by: .ascending("city"))
        #expect(try crm.executeQuery(counted).map { "\(try $0[0].string()) \(try $0[1].long())" } == ["Cork 1", "Dublin 2"])
        let buyers = Query().select("o.id").from("SalesOrder", "o")
            .where(.in("o.customerId", Query().select("id").from("Customer").where(.matching("harbour"))))
        #expect(try crm.executeQuery(buyers).count == 1)
        let ranked = Query().select("name").from("Customer").where(.matching("food")).sorted(by: .relevance)
        #expect(try crm.executeQuery(ranked).map { try $0[0].string() } == ["Food Food Food", "Harbour Foods"])
    }

    @Test("searches that the model does not allow are errors that say what to do")
    func errors() throws {
        func message(_ query: Query) -> String {
            do { _ = try crm.executeQuery(query) } catch let error as ObjectError {
                return error.code == .invalidQuery ? error.message : "\(error)"
            } catch {}
            return ""
        }
        let all = Query().from("Customer")
        #expect(message(Query().from("SalesOrder").where(.matching("x"))).contains("SalesOrder has no searchable attributes; mark some in the model"))
        #expect(message(all.where(.matching("x", in: "city"))).contains("Customer.city is not searchable"))
        #expect(message(all.where(.matching("x", in: "town"))).contains("no attribute \"town\""))
        #expect(message(all.where(.search(TextSearch("x", source: "d")))).contains("\"d\", which is not an object"))
        #expect(message(all.sorted(by: .relevance)).contains("add matching"))
        let pairs = Query().select("c.name").from("Customer", "c").join("Customer", "d", "d.city", "c.city")
        #expect(message(pairs.where(.search(TextSearch("harbour", source: "d"))).sorted(by: .relevance)).contains("search of its first source"))
        #expect(message(all.where(.matching("x") || .equal("city", "Cork")).sorted(by: .relevance)).contains("add matching"))
        #expect(message(all.select("city").where(.matching("x")).distinct().sorted(by: .relevance)).contains("relevance"))
        #expect(message(all.select("city").groupBy("city").having(.matching("x"))).contains("use where"))
        #expect(message(all.where(.matching(Array(repeating: "word", count: 65).joined(separator: " ")))).contains("65 words"))
        #expect(try keys(Array(repeating: "harbour", count: 64).joined(separator: " ")) == [1, 2, 3])
    }

    @Test("observers of a search are called for changes of its objects, and others are not", .timeLimit(.minutes(1)))
    func observing() async throws {
        let seen = RecordedLines()
        let one = try crm.store.observe(["SalesOrder"]) { _ in seen.add("SalesOrder") }
        let other = try crm.store.observe(["Customer"]) { _ in seen.add("Customer") }
        let customer = try await Customer.load(1, in: crm)
        customer.name = "Harbour Fish"
        try await customer.save()
        #expect(seen.all == ["Customer"])
        withExtendedLifetime((one, other)) {}
    }
}
