import MobileModel
import Testing

/// The rule for large strings and binaries.
@Suite struct LengthRuleTests {
    /// Reads a package with one object of these attributes (after a key `id`), and returns the types and the warnings.
    private func read(_ attributes: String, pageSize: Int = 4096, queries: String = "") throws -> (types: [String], warnings: [String]) {
        let json = """
            {"format": 1, "name": "Shop", "pageSize": \(pageSize), "backEnds": [{"name": "erp"}], "objects": [{
              "name": "Customer", "attributes": [{"name": "id", "type": "long"}, \(attributes)], "primaryKey": ["id"],
              \(queries) "binding": {"backEnd": "erp", "table": "customer"}}]}
            """
        var warnings: [ModelProblem] = []
        let model = try PackageModel(json: json, warnings: &warnings)
        return (model.objects[0].attributes.dropFirst().map { "\($0.name) \($0.type)" }, warnings.map { "\($0.path): \($0.message)" })
    }

    @Test(
        "GEN-08: a string over 8191 and a binary over 32767 become large, with a warning that says so",
        arguments: [("string", 8191, "string"), ("string", 8192, "bigString"), ("binary", 32767, "binary"), ("binary", 32768, "bigBinary")])
    func longValues(type: String, length: Int, result: String) throws {
        let read = try read("{\"name\": \"a\", \"type\": \"\(type)\", \"length\": \(length)}", pageSize: 65_536)
        #expect(read.types == ["a \(result)"])
        #expect(read.warnings.isEmpty == (type == result))
    }

    @Test func `the warning names attribute, length and what to do`() throws {
        #expect(
            try read("{\"name\": \"notes\", \"type\": \"string\", \"length\": 9000}").warnings == [
                "objects[0].attributes[1]: \"notes\" becomes a bigString: its length 9000 is over 8191, the longest string in a row; say so with \"large\": true, or keep it in the row with false"
            ])
    }

    @Test("GEN-08: over the page size the largest attributes become large first, of equal ones the first")
    func pageSum() throws {
        let attributes = """
            {"name": "a", "type": "string", "length": 1500}, {"name": "b", "type": "binary", "length": 2000},
            {"name": "c", "type": "string", "length": 2000}, {"name": "d", "type": "string", "length": 100}
            """
        let read = try read(attributes)
        #expect(read.types == ["a string", "b bigBinary", "c string", "d string"])
        #expect(
            read.warnings == [
                "objects[0].attributes[2]: \"b\" becomes a bigBinary: the attributes of \"Customer\" sum up to 5608, the page size is 4096; say so with \"large\": true, keep it in the row with false, or choose a larger page size"
            ])
        #expect(try self.read(attributes, pageSize: 2048).types == ["a string", "b bigBinary", "c bigString", "d string"])
        #expect(try self.read(attributes, pageSize: 8192).types == ["a string", "b binary", "c string", "d string"])
    }

    @Test func `large values do not count in the sum`() throws {
        let read = try read("{\"name\": \"a\", \"type\": \"string\", \"length\": 9000}, {\"name\": \"b\", \"type\": \"string\", \"length\": 4000}")
        #expect(read.types == ["a bigString", "b string"])
    }

    @Test func `strings without a length stay as they are modelled`() throws {
        let attributes = (0..<50).map { "{\"name\": \"a\($0)\", \"type\": \"string\"}" }.joined(separator: ", ")
        let read = try read(attributes, pageSize: 1024)
        #expect(read.types.allSatisfy { $0.hasSuffix(" string") } && read.warnings == [])
    }

    @Test("what an attribute says under large wins over both rules")
    func marks() throws {
        let attributes = """
            {"name": "a", "type": "string", "length": 9000, "large": false}, {"name": "b", "type": "string", "length": 10, "large": true},
            {"name": "c", "type": "binary", "length": 50, "large": false}
            """
        let read = try read(attributes)
        #expect(read.types == ["a string", "b bigString", "c binary"])
    }

    @Test("GEN-07 GEN-09: an object that does not fit into the page is warned about, with a page size that holds it")
    func tooLarge() throws {
        let read = try read("{\"name\": \"a\", \"type\": \"string\", \"length\": 5000, \"large\": false}")
        #expect(
            read.warnings == [
                "objects[0]: the attributes of \"Customer\" sum up to 5008, more than the page size of 4096; a page size of 8192 holds them"
            ])
        #expect(try self.read("{\"name\": \"a\", \"type\": \"int\"}").warnings == [])
    }

    @Test func `what queries compare stays in the row`() throws {
        let queries = """
            "queries": [{"name": "findByA", "parameters": [{"name": "a", "type": "string"}], "sql": "SELECT x.* FROM Customer x WHERE x.a = :a"}],
            """
        let read = try read(
            "{\"name\": \"a\", \"type\": \"string\", \"length\": 4000}, {\"name\": \"b\", \"type\": \"string\", \"length\": 3000}", queries: queries)
        #expect(read.types == ["a string", "b bigString"])
    }

    @Test("GEN-07: without a page size it is 4096")
    func defaultPageSize() throws {
        #expect(try PackageModel(json: "{\"format\": 1, \"name\": \"Shop\"}").pageSize == 4096)
    }

    @Test("a model whose attributes were kept in the row by hand is written so that they stay there")
    func written() throws {
        let json = """
            {"format": 1, "name": "Shop", "objects": [{"name": "Note", "local": true, "attributes": [
              {"name": "a", "type": "string", "length": 9000, "large": false}, {"name": "b", "type": "string", "length": 9000}]}]}
            """
        let model = try PackageModel(json: json)
        #expect(model.objects[0].attributes.map(\.type) == [.string, .bigString])
        #expect(try PackageModel(json: model.json) == model)
    }
}
