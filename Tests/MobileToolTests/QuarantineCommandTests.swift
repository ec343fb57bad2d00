import MobileObjects
import MobileServer
import MobileStore
import SampleCRM
import TestSupport
import Testing

/// `mobile admin quarantine`.
@Suite struct QuarantineCommandTests {
    @Test func `rows that are held back are listed with table, key, column and value, and further ones are counted`() throws {
        let folder = try TemporaryDirectory(), backEnd = folder.file("enterprise.db"), path = folder.file("cache.db")
        _ = try SampleBackEnd.create(at: backEnd, scale: 0.0001)
        try MobileServer(
            ServerConfiguration(cachePath: path, packages: [PackageDeployment(CRM.metadata.model, backEnds: ["enterprise": backEnd])])
        ).close()
        func admin(_ arguments: String...) throws -> (status: Int32, output: String) { try Tool.run(["admin", "--cache", path] + arguments) }
        #expect(try admin("quarantine", "--json") == (0, "[]\n"))
        let cache = try Database(ConnectionProfile(path: path))
        _ = try cache.write {
            try $0.execute(
                """
                INSERT INTO _quarantine (partition, name, object, row_key, source, place, attribute, value, expected, noted)
                SELECT n.partition, '7', o.id, '7', 'customer', 'valid_to', 'validTo', '"infi' || char(27) || 'nity"', 'a date of the years 1 to 9999',
                    1800000000000 + 1000 * n.partition
                FROM _object AS o, (SELECT 1 AS partition UNION ALL SELECT 2) AS n WHERE o.name = 'Customer';
                INSERT INTO _quarantine_rest (partition, object, row_count) SELECT 1, id, 12 FROM _object WHERE name = 'Customer';
                """)
        }
        try cache.close()
        let list = try admin("quarantine", "CRM:1.0"), lines = list.output.split(separator: "\n")
        #expect(list.status == 0 && lines.count == 3, "\(list.output)")
        for word in ["2027-01-15T08:00:01.000Z", "CRM:1.0", "Customer", "customer", "valid_to", "a date of the years 1 to 9999"] {
            #expect(list.output.contains(word), "\(word): \(list.output)")
        }
        #expect(!list.output.contains("\u{1B}") && lines.last == "CRM:1.0, Customer: 12 more rows")
        let none = try admin("quarantine", "CRM:9.0")
        #expect(none.status == 0 && none.output.split(separator: "\n").count == 1 && none.output.contains("since"))
        let json = try #require(try JSONValue(parsing: admin("quarantine", "--json").output).array)
        #expect(json.count == 2 && json[0]["column"] == "valid_to" && json[0]["key"] == "7" && json[1]["more"] == 12)
        #expect(try admin("quarantine", "CRM:1.0", "more").status == 64)
    }
}
