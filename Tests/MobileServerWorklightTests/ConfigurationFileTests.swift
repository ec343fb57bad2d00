import MobileServer
import MobileServerWorklight
import MobileStore
import TestSupport
import Testing

/// The configuration file of `mobile serve --worklight`.
@Suite struct ConfigurationFileTests {
    private static let text = """
        {"context": "/Demo", "applications": [{"id": "Demo", "requiresDevice": false, "properties": {"a": 1}}], "realms": ["users"],
         "adapters": [{"name": "Stock", "eventSources": ["prices"],
                       "procedures": {"quotes": {"sql": "SELECT name FROM quote WHERE id = ?", "backEnd": "erp"},
                                      "mine": {"sql": "SELECT 1 AS one", "backEnd": "erp", "realm": "users"}}}]}
        """

    private func configuration(_ text: String, _ directory: TemporaryDirectory) throws -> WorklightConfiguration {
        let backEnd = try Database(ConnectionProfile(path: directory.file("erp.db")))
        try backEnd.write { connection in
            try connection.execute("CREATE TABLE IF NOT EXISTS quote (id INTEGER PRIMARY KEY, name TEXT)")
            try connection.execute("INSERT OR IGNORE INTO quote VALUES (7, 'IBM')")
        }
        return try WorklightConfiguration(file: directory.write(text.utf8, to: "worklight.json"), backEnds: ["erp": WorklightBackEnd(backEnd)])
    }

    @Test func `applications, realms and procedures of the file are served`() throws {
        let directory = try TemporaryDirectory()
        let server = try WorklightServer(
            configuration(Self.text, directory), state: ServerConfiguration(cachePath: directory.file("state.db")))
        let client = StrictClient(server)
        #expect(try client.connect()["gadgetProps"]?["a"] == 1)
        #expect(try client.call("quotes", "[7]")["resultSet"] == [["name": "IBM"]])
        #expect(try client.call("mine").text.contains("j_security_check"))
    }

    @Test(
        "a wrong file names its fault",
        arguments: [
            ("[]", "is not an object"), ("{\"contexts\":1}", "unknown member \"contexts\""), ("{\"context\":1}", "a text"), ("{", ""),
            ("{\"applications\":[{}]}", "\"id\""), ("{\"applications\":[{\"id\":\"A\",\"requiresDevice\":1}]}", "true or false"),
            ("{\"adapters\":[{\"name\":\"A\",\"procedures\":{\"p\":{\"sql\":\"x\",\"backEnd\":\"none\"}}}]}", "no back end \"none\""),
            ("{\"realms\":[1]}", "an array of texts"),
        ])
    func wrong(text: String, part: String) throws {
        let directory = try TemporaryDirectory()
        let error = #expect(throws: ServerError.self) { try configuration(text, directory) }
        #expect(error?.code == .configuration)
        #expect(error?.message.contains(part) == true || part.isEmpty)
    }
}
