import MobileStore
import TestSupport
import Testing

@Suite struct JSONDocumentTests {
    private let text = #"{"header":{"id":"4711","n":-7},"content":{"rows":[[1,"a\u00fc",null,true],[2,"",12.50,false]],"big":1e400,"e":{}}}"#

    private func document(_ text: String, duplicateKeys: JSONDocument.DuplicateKeys = .refused) throws -> JSONDocument {
        try JSONDocument(parsing: Array(text.utf8), duplicateKeys: duplicateKeys)
    }

    @Test func `values are looked at where they lie`() throws {
        let root = try document(text).root
        #expect(root["header"]["id"].string == "4711")
        #expect(root["header"]["n"].integer == -7 && root["header"]["n"].double == -7)
        let rows = root["content"]["rows"]
        #expect(rows.isArray && rows.count == 2 && rows[0].count == 4)
        #expect(rows.map { $0[1].string } == ["aü", ""])
        #expect(rows[0][1].utf8.byteCount == 3)
        #expect(rows[0][2].isNull && rows[0][2].exists && rows[0][3].boolean == true && rows[1][3].boolean == false)
        #expect(rows[1][2].numberText == "12.50" && rows[1][2].double == 12.5 && rows[1][2].integer == nil)
        #expect(root["content"]["big"].double == nil && root["content"]["big"].numberText == "1e400")
        #expect(root["content"].keys == ["rows", "big", "e"])
        #expect(root["content"].map(\.isObject) == [false, false, true])
        #expect(root["content"]["e"].count == 0 && Array(root["content"]["e"]).isEmpty)
    }

    @Test func `what does not exist has no parts`() throws {
        let root = try document(text).root
        for node in [root["x"], root["x"]["y"][0], root[0], root["header"]["id"]["z"], root["content"]["rows"][2], root["content"]["rows"][-1]] {
            #expect(!node.exists && !node.isNull && node.string == nil && node.integer == nil && node.count == 0)
            #expect(Array(node).isEmpty && node.utf8.byteCount == 0 && node.keys.isEmpty)
        }
    }

    @Test func `a key that comes twice is refused, or the last one is found`() throws {
        let text = #"{"a":1,"b":[2],"\u0061":3}"#
        #expect(#expect(throws: StoreError.self) { try document(text) }?.byteOffset == 15)
        let root = try document(text, duplicateKeys: .lastWins).root
        #expect(root["a"].integer == 3 && root.count == 3)
    }

    /// Short numbers have their digits in the node. Long ones, zeros with a sign and those with a power of ten are read from the text.
    @Test func `a number is the double that Swift reads from the same text`() throws {
        let texts = [
            "0.5", "-0.5", "0.0", "-0.0", "-0", "12.50", "-1.0e3", "1E-7", "4.9e-324", "1.7976931348623157e308", "0.1234567890123456789",
            "9007199254740993.0", "-9007199254740992.5", "99999999999999999999", "123456789012345678.25", "0.000000000000000000000001",
            "3.14159265358979323846264338327950288",
        ]
        var random = SystemRandomNumberGenerator()
        let drawn = (0..<500).map { _ in
            "\(Int64.random(in: -1_000_000_000_000...1_000_000_000_000, using: &random)).\(UInt32.random(in: 0...9_999_999, using: &random))"
        }
        let root = try document("[" + (texts + drawn).joined(separator: ",") + "]").root
        for (node, text) in zip(root, texts + drawn) {
            let expected = try #require(Double(text))
            #expect(node.double?.bitPattern == expected.bitPattern && node.numberText == text, "\(text)")
        }
    }

    @Test func `errors say where`() throws {
        #expect(#expect(throws: StoreError.self) { try document("[1,]") }?.byteOffset == 3)
        #expect(#expect(throws: StoreError.self) { try document("") }?.code == .truncated)
        #expect(#expect(throws: StoreError.self) { try JSONDocument(parsing: Array("[[1]]".utf8), maximumDepth: 1) }?.code == .limit)
        #expect(#expect(throws: StoreError.self) { try JSONDocument(parsing: [], maximumDepth: 0) }?.code == .misuse)
    }
}

@Suite struct JSONWriterTests {
    private func text(_ body: (inout JSONWriter) throws(StoreError) -> Void) throws -> String {
        var writer = try JSONWriter()
        try body(&writer)
        return String(decoding: try writer.finish(), as: UTF8.self)
    }

    @Test func `a value is written as it describes itself`() throws {
        let value: JSONValue = ["a": [1, .null, true, "x\"\n\u{1}ü€😀", ["b": [:]]], "": [], "n": try JSONValue(parsing: "12.340")]
        #expect(try text { writer throws(StoreError) in try writer.value(value) } == value.description)
        #expect(try text { writer throws(StoreError) in try writer.number(0.1) } == "0.1")
    }

    @Test func `a part of a document is written as it was`() throws {
        let text = #"{"a":[1,"ü\"",{"b":[],"c":{}},1e400,12.50],"d":null}"#
        let root = try JSONDocument(parsing: Array(text.utf8)).root
        #expect(try self.text { writer throws(StoreError) in try writer.value(root) } == text)
        let wrapped = try self.text { writer throws(StoreError) in
            try writer.array { writer throws(StoreError) in
                try writer.value(root["a"][2])
                try writer.value(root["d"])
            }
        }
        #expect(wrapped == #"[{"b":[],"c":{}},null]"#)
        #expect(throws: StoreError.self) { try self.text { writer throws(StoreError) in try writer.value(root["x"]) } }
    }

    @Test func `the rows of a page are written in one go, by their columns' types`() throws {
        let directory = try TemporaryDirectory()
        let database = try Database(directory.profile())
        var pages = try database.pages("SELECT 1, 1234, 'ü', 1, x'0001', 2.0, NULL UNION ALL SELECT 2, -5, '', 0, x'', 1e300, 'x'")
        let page = try #require(try pages.next())
        #expect(
            try text { writer throws(StoreError) in try writer.rows(of: page) }
                == #"[[1,1234,"ü",1,"AAE=",2.0,null],[2,-5,"",0,"",1e+300,"x"]]"#)
        let types: [JSONColumnType] = [.text, .decimal(precision: 7, scale: 2), .text, .boolean, .blob, .real, .any]
        #expect(
            try text { writer throws(StoreError) in try writer.object { w throws(StoreError) in try w.member("r", rowsOf: page, types: types) } }
                == #"{"r":[["1",12.34,"ü",true,"AAE=",2.0,null],["2",-0.05,"",false,"",1e+300,"x"]]}"#)
        let wrong = #expect(throws: StoreError.self) {
            try text { writer throws(StoreError) in try writer.rows(of: page, types: [.any, .any, .integer, .any, .any, .any, .any]) }
        }
        #expect(wrong?.code == .type && wrong?.row == 1)
        #expect(
            #expect(throws: StoreError.self) { try text { writer throws(StoreError) in try writer.rows(of: page, types: [.any]) } }?.code == .misuse)
    }

    @Test func `a sink gets all of the text in pieces, and what it throws comes back`() throws {
        var pieces: [[UInt8]] = []
        var writer = try JSONWriter { piece in pieces.append(piece.withUnsafeBytes { unsafe [UInt8]($0) }) }
        let long = String(repeating: "0123456789", count: 2000)
        try writer.array { writer throws(StoreError) in for _ in 0..<10 { try writer.value(.string(long)) } }
        #expect(try writer.finish().isEmpty)
        #expect(pieces.count > 3)
        #expect(try JSONValue(parsing: pieces.flatMap { $0 }).array?.count == 10)

        struct Full: Error {}
        var failing = try JSONWriter { _ in throw Full() }
        try failing.value(1)
        do throws(StoreError) {
            _ = try failing.finish()
            Issue.record("the sink has thrown")
        } catch {
            #expect(error.cause is Full)
        }
    }

    @Test func `a text that grows beyond its maximum is an error`() throws {
        var writer = try JSONWriter(maximum: .bytes(10))
        do throws(StoreError) {
            try writer.value("0123456789")
            Issue.record("12 bytes were taken")
        } catch {
            #expect(error.code == .limit)
        }
    }
}
