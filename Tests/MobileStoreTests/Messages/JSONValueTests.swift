import MobileStore
import Testing

@Suite struct JSONValueTests {
    @Test(
        "a value is written as it was read",
        arguments: [
            "null", "true", "false", "0", "-1", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "-0", "12.50",
            "1e400", "123456789012345678901234567890.5", #""""#, #""a\"b\\c\n\u0001""#, #""Zürich 東京 😀""#, "[]", "{}", "[[],[{}]]",
            #"{"z":1,"a":[true,null],"m":{"z":"y"}}"#,
        ])
    func roundTrip(text: String) throws {
        #expect(try JSONValue(parsing: text).description == text)
    }

    @Test func `blanks and escapes are read and not written`() throws {
        let value = try JSONValue(parsing: " { \"\\u0061\\/\" :\t[ 1 ,\r\n2 ] } ")
        #expect(value == ["a/": [1, 2]])
        #expect(value.description == #"{"a/":[1,2]}"#)
        #expect(try JSONValue(parsing: #""\ud83d\ude00\u00fc\u0000""#) == "😀ü\0")
    }

    @Test func `numbers are what they were`() throws {
        let numbers = try JSONValue(parsing: "[42, 42.0, 9223372036854775808, -0, 1e400, 0.1, 2.5e-3]")
        #expect(numbers[0] == .integer(42))
        #expect(numbers[1] == .number("42.0"))
        #expect(numbers[2] == .number("9223372036854775808"))
        #expect(numbers[2]?.double == 9223372036854775808)
        #expect(numbers[3]?.double?.sign == .minus)
        #expect(numbers[4]?.double == nil)
        #expect(numbers[4]?.decimalText == "1e400")
        #expect(numbers[5]?.double == 0.1)
        #expect(numbers[6]?.double == 0.0025)
        #expect(JSONValue(Double.infinity) == nil)
    }

    @Test(
        "a double is written as short as it can be and reads back",
        arguments: [
            (0.0, "0.0"), (-0.0, "-0.0"), (1, "1.0"), (0.1, "0.1"), (1234.56, "1234.56"), (-0.001, "-0.001"), (1e300, "1e+300"),
            (.leastNonzeroMagnitude, "5e-324"), (1.0 / 3, "0.3333333333333333"), (0.1 + 0.2, "0.30000000000000004"),
            (1e15, "1e+15"), (123_456_789_012_345, "123456789012345.0"), (.greatestFiniteMagnitude, "1.7976931348623157e+308"),
        ])
    func doubles(value: Double, text: String) throws {
        let written = try #require(JSONValue(value))
        #expect(written.decimalText == text)
        #expect(written.double == value)
    }

    @Test(
        "what is not JSON is refused at its first impossible byte",
        arguments: [
            ("nul!", 3, "expected null, true or false, found '!'"), ("[1,]", 3, "expected a value, found ']'"),
            ("{\"a\" 1}", 5, "expected ':', found '1'"), ("{a:1}", 1, "expected a key or '}', found 'a'"),
            ("01", 1, "expected no digit after a leading 0, found '1'"), ("1.e", 2, "expected a digit, found 'e'"),
            ("[1] 2", 4, "expected nothing after the value, found '2'"), ("\"\u{1}\"", 1, "found byte 0x01"),
            (#""\x""#, 2, "expected an escape"), (#""\ud800x""#, 7, "expected the low surrogate of the pair"),
            (#""\udc00""#, 4, "expected a high surrogate before the low one"), (#"{"a":1,"\u0061":2}"#, 7, "occurs twice"),
            ("[1}", 2, "expected ',' or ']', found '}'"), ("'a'", 0, "expected a value"),
        ])
    func malformed(text: String, offset: Int64, message: String) {
        let error = #expect(throws: StoreError.self) { try JSONValue(parsing: text) }
        #expect(error?.code == .json)
        #expect(error?.byteOffset == offset)
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }

    @Test("text that ends in the middle is truncated, wherever it is cut")
    func truncated() throws {
        let text = Array(#"{"key":["\u00e9\ud83d\ude00é",true,-1.5e+3,{"n":null}]}"#.utf8)
        _ = try JSONValue(parsing: text)
        for length in 0..<text.count {
            let error = #expect(throws: StoreError.self) { try JSONValue(parsing: Array(text[..<length])) }
            #expect(error?.code == .truncated)
            #expect(error?.byteOffset == Int64(length))
        }
    }

    @Test func `invalid UTF-8 is refused at its first impossible byte`() {
        let cases: [([UInt8], Int64)] = [
            ([0x80], 0), ([0xC0, 0x80], 0), ([0xC1, 0xBF], 0), ([0xC3, 0x28], 1), ([0xE0, 0x9F, 0xBF], 1), ([0xED, 0xA0, 0x80], 1),
            ([0xE2, 0x82, 0x28], 2), ([0xF0, 0x8F, 0xBF, 0xBF], 1), ([0xF4, 0x90, 0x80, 0x80], 1), ([0xF5, 0x80], 0), ([0xFF], 0),
            ([0xF0, 0x9F, 0x98, 0x28], 3),
        ]
        for (sequence, offset) in cases {
            for padding in [0, 1, 15, 16, 17, 40] {
                let prefix = [UInt8(ascii: "\"")] + Array(repeating: UInt8(ascii: "a"), count: padding)
                let error = #expect(throws: StoreError.self) { try JSONValue(parsing: prefix + sequence + [UInt8(ascii: "\"")]) }
                #expect(error?.code == .json)
                #expect(error?.byteOffset == Int64(prefix.count) + offset, "\(sequence)")
            }
        }
    }

    @Test func `nesting has a limit`() throws {
        let deep = String(repeating: "[", count: 65) + String(repeating: "]", count: 65)
        let error = #expect(throws: StoreError.self) { try JSONValue(parsing: deep) }
        #expect(error?.code == .limit)
        #expect(error?.byteOffset == 64)
        _ = try JSONValue(parsing: deep, maximumDepth: 65)
        #expect(throws: StoreError.self) { try JSONValue(parsing: "1", maximumDepth: 1025) }
    }

    @Test func `many keys are compared, and the second of two equal ones is named`() {
        let members = (0..<1000).map { #""key\#($0)":0"# } + [#""key7":1"#]
        let text = "{" + members.joined(separator: ",") + "}"
        let error = #expect(throws: StoreError.self) { try JSONValue(parsing: text) }
        #expect(error?.code == .json)
        #expect(error?.byteOffset == Int64(text.utf8.count - 9))
    }

    @Test func `objects keep their order and compare without it`() {
        var object: JSONObject = ["b": 1, "a": 2]
        object["c"] = 3
        object["b"] = nil
        object["a"] = "x"
        #expect(object.keys == ["a", "c"])
        #expect(object == ["c": 3, "a": "x"])
        #expect(object.hashValue == (["c": 3, "a": "x"] as JSONObject).hashValue)
        #expect(object["\u{61}\u{301}"] == nil)
    }
}
