import PostgreSQLClient
import PostgreSQLTestSupport
import Testing

extension PostgreSQLTests {
    /// Values of all types arrive as they were sent.
    @Suite struct ValueTests {
        let connection: PostgreSQLConnection

        // No test here writes, so they need no database of their own.
        init() throws { connection = try PostgreSQLConnection(PostgreSQLServer.shared().configuration(database: "postgres")) }

        @Test(
            "a parameter comes back in its column's type",
            arguments: [
                (.integer(.max), "bigint", .integer(.max)), (.integer(.min), "bigint", .integer(.min)), (-7, "integer", -7),
                (-7, "smallint", -7), (4_000_000_000, "oid", 4_000_000_000), (5, "numeric", "5"), (5, "text", "5"), (5, "double precision", 5.0),
                (1, "boolean", 1), (false, "boolean", 0), ("12", "bigint", 12),
                (0.1, "double precision", 0.1), (.real(-.infinity), "double precision", .real(-.infinity)), (0.1, "numeric", "0.1"),
                (.real(.leastNonzeroMagnitude), "double precision", .real(.leastNonzeroMagnitude)), (1.5, "real", 1.5),
                ("Grüße 🌍", "text", "Grüße 🌍"), ("", "text", ""), ("x", "varchar", "x"), ("'\\", "text", "'\\"),
                ("\\x41", "bytea", .blob(Array("\\x41".utf8))),
                (.blob([0, 255, 0xC0, 0x80, 39, 92]), "bytea", .blob([0, 255, 0xC0, 0x80, 39, 92])), (.blob([]), "bytea", .blob([])),
                ("2026-11-23", "date", "2026-11-23"), ("06:05:24.5", "time", "06:05:24.5"),
                ("2026-11-23 06:05:24.25", "timestamp", "2026-11-23 06:05:24.25"),
                ("2026-11-23T06:05:24+02:00", "timestamptz", "2026-11-23 04:05:24+00"), ("{\"a\": 1}", "jsonb", "{\"a\": 1}"),
                ("123456789012345678901234567890.5", "numeric", "123456789012345678901234567890.5"), ("{1,2}", "integer[]", "{1,2}"),
                (.null, "bigint", .null), (.null, "text", .null), (.null, "bytea", .null),
            ] as [(PostgreSQLValue, String, PostgreSQLValue)])
        func roundTrip(value: PostgreSQLValue, type: String, expected: PostgreSQLValue) throws {
            // Alone the value is binary where that is possible; next to a numeric it is text.
            #expect(try connection.first("SELECT CAST(?1 AS \(type))", [value]) == [expected])
            #expect(try connection.first("SELECT CAST(?1 AS \(type)), CAST(?2 AS numeric)", [value, "1.50"]) == [expected, "1.50"])
        }

        @Test("NaN arrives as NaN in both formats")
        func notANumber() throws {
            for columns in ["?1::float8", "?1::float8, 1::numeric"] {
                #expect(try connection.first("SELECT \(columns)", [.real(.nan)])?[0].real?.isNaN == true)
            }
        }

        @Test("every byte and many lengths survive in bytea and text")
        func lengths() throws {
            for length in [0, 1, 255, 256, 65_537, 1_000_000] {
                let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31) }, text = String(repeating: "ä", count: length)
                #expect(try connection.first("SELECT ?1::bytea, ?2::text", [.blob(bytes), .text(text)]) == [.blob(bytes), .text(text)])
                #expect(try connection.first("SELECT ?1::bytea, 1::numeric", [.blob(bytes)])?[0] == .blob(bytes))
            }
        }

        @Test("U+0000 in a text is refused before anything is sent, with the place")
        func zeroCharacter() throws {
            let error = #expect(throws: PostgreSQLError.self) { try connection.execute("SELECT ?1::int, ?2::text", [1, "ab\0c"]) }
            #expect(error?.code == .invalidText)
            #expect(error?.message == "parameter 2: a text has U+0000 as its character 3, which PostgreSQL cannot store")
            #expect(throws: PostgreSQLError.self) { try connection.execute("SELECT 1 -- \0") }
            #expect(throws: PostgreSQLError.self) { try connection.run(script: "SELECT 1; \0") }
            #expect(try connection.first("SELECT 1") == [1])
        }

        @Test("bytes go to bytea alone, and other numbers of values are refused before anything is sent")
        func misuse() throws {
            let bytes = #expect(throws: PostgreSQLError.self) { try connection.execute("SELECT ?1::bigint", [.blob([0, 0, 0, 0, 0, 0, 0, 1])]) }
            #expect(bytes?.code == .misuse)
            let count = #expect(throws: PostgreSQLError.self) { try connection.execute("SELECT ?1::bigint, ?2::bigint", [1]) }
            #expect(count?.code == .misuse)
            #expect(count?.message == "the statement has 2 parameters, it was given 1 values")
        }

        @Test(
            "numbers and texts that do not fit are the server's refusal",
            arguments: [("integer", 3_000_000_000), ("smallint", 70_000), ("bigint", "x"), ("date", "2026-02-30"), ("boolean", 2)]
                as [(String, PostgreSQLValue)])
        func outOfRange(type: String, value: PostgreSQLValue) throws {
            let error = #expect(throws: PostgreSQLError.self) { try connection.execute("SELECT ?1::\(type)", [value]) }
            #expect(error?.code == .invalidValue)
        }

        @Test("text that is not UTF-8 is refused where bytes become text")
        func invalidUTF8() throws {
            let error = #expect(throws: PostgreSQLError.self) {
                try connection.execute("SELECT convert_from(?1, 'UTF8')", [.blob([0x61, 0xC0, 0x80])])
            }
            #expect(error?.code == .invalidText)
            #expect(error?.sqlState == "22021")
        }
    }
}
