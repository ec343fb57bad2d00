import MobileModel
import MobileStore
import Testing

@testable import MobileServer

/// The rows that a user may read and change, according to the roles and attributes that the server keeps. The requests are made by hand.
@Suite struct UserAccessTests {
    private let client: HandmadeClient
    private var administration: ServerAdministration { client.server.server.administration }

    init() throws { client = try HandmadeClient(Regions.server()) }

    private func header(_ subscriptions: String = "{}", tokens: String = "{}") -> [UInt8] {
        client.header(subscriptions: subscriptions, groups: #"["default"]"#, tokens: tokens)
    }

    /// The numbers of rows of sites, notes and tags in a first synchronization.
    private func counts(_ subscriptions: String = "{}") throws -> [Int64] {
        let answer = try client.synchronize(header: header(subscriptions))
        return ["Site", "Note", "Tag"].map { answer.rows("upsert", of: $0) }
    }

    private func site(_ id: Int64) throws -> Value? {
        try client.server.backEndValue("SELECT region || ' ' || name FROM site WHERE id = \(id)")
    }

    private func update(_ id: Int64, _ object: String, row: Int64, _ attributes: String, _ more: String = "") -> String {
        #"{"id": \#(id), "mbo": "\#(object)", "change": "U", "key": \#(900 + id), "primaryKey": {"id": \#(row)}, "attributes": {\#(attributes)}\#(more)}"#
    }

    @Test("ERR-04: a user without a role of the package is answered with 403, at once after a change")
    func roles() throws {
        #expect(try counts() == [1, 1, 1])
        try administration.setRoles(["stock"], ofUser: "ada")
        let refused = try client.synchronize(header: header())
        #expect(refused.status == 403 && refused.text.contains("no role that may use"))
        #expect(try client.message("subscribe")["content"]?["code"]?.integer == 403)
        try administration.setRoles(["stock", "management"], ofUser: "ada")
        #expect(try counts() == [1, 1, 1])
        #expect(try client.message("subscribe")["content"]?["code"] == nil)
        try administration.removeUser("bob")
        try administration.setRoles([], ofUser: "ada")
        #expect(try client.synchronize(header: header()).status == 403)
    }

    @Test func `the user's attributes choose the rows, one partition per value, beside the parameters that the client chooses`() throws {
        #expect(try counts(#"{"Site": [{"year": 2026}, {"year": 2025}]}"#) == [2, 1, 1])
        try administration.setAttribute("region", to: ["NORTH", "EAST"], ofUser: "ada")
        #expect(try counts() == [2, 2, 1])
        try administration.setAttribute("region", to: [], ofUser: "ada")
        #expect(try counts() == [0, 0, 1])
    }

    @Test func `a client's own value for a bound parameter is refused, also where it is the right one`() throws {
        for subscription in [#"{"Site": [{"region": "SOUTH"}]}"#, #"{"Site": [{"region": "NORTH"}]}"#, #"{"Note": [{"area": null}]}"#] {
            #expect(try client.synchronize(header: header(subscription)).status == 403)
            #expect(try client.message("subscribe", #"{"subscriptions": \#(subscription)}"#)["content"]?["code"]?.integer == 403)
        }
    }

    @Test func `rows of a region that the user has lost are deleted on the device`() throws {
        let first = try client.synchronize(header: header())
        try administration.setAttribute("region", to: ["SOUTH"], ofUser: "ada")
        let second = try client.synchronize(header: header(tokens: #"{"default": \#(first.tokens["default"] ?? "")}"#))
        #expect(second.rows("delete", of: "Site") == 1 && second.rows("upsert", of: "Site") == 1 && second.rows("reset", of: "Site") == 0)
    }

    @Test func `operations reach the user's own rows only`() throws {
        #expect(
            try client.synchronize(
                [
                    update(1, "Site", row: 1, #""name": "Own""#), update(2, "Site", row: 2, #""name": "Stolen""#),
                    update(3, "Site", row: 1, #""region": "SOUTH""#), update(4, "Note", row: 2, #""text": "Stolen""#),
                    update(5, "Note", row: 1, #""siteId": 2"#), update(6, "Tag", row: 1, #""text": "everybody's""#),
                    // The year is the client's choice: it decides about no right.
                    update(7, "Site", row: 3, #""name": "Other year""#), update(8, "Site", row: 99, #""name": "Nobody's""#),
                ], header: header()
            ).outcomes == [
                "accepted 200", "rejected 404", "rejected 403", "rejected 404", "rejected 403", "accepted 200", "accepted 200", "rejected 404",
            ])
        #expect(try [site(1), site(2), site(3)] == [.text("NORTH Own"), .text("SOUTH Mill"), .text("NORTH Other year")])
        #expect(try client.server.backEndValue("SELECT group_concat(text) FROM note WHERE site IN (1, 2)") == .text("north,south"))
    }

    @Test func `a delete of another user's row is answered as one of a row that is gone`() throws {
        func delete(_ id: Int64, row: Int64) -> String {
            #"{"id": \#(id), "mbo": "Site", "change": "D", "key": \#(900 + id), "primaryKey": {"id": \#(row)}}"#
        }
        try client.server.backEnd { try $0.execute("DELETE FROM note") }
        #expect(
            try client.synchronize([delete(1, row: 2), delete(2, row: 99), delete(3, row: 1)], header: header()).outcomes == [
                "accepted 200", "accepted 200", "accepted 200",
            ])
        #expect(try client.server.backEndValue("SELECT group_concat(id) FROM site") == .text("2,3,4"))
    }

    @Test func `a new row lies within the user's regions`() throws {
        let keys = try #require(try client.synchronize(header: header()).keys).lowerBound
        func create(_ id: Int64, _ object: String, _ attributes: String) -> String {
            #"{"id": \#(id), "mbo": "\#(object)", "change": "C", "key": \#(keys + id), "attributes": {\#(attributes)}}"#
        }
        #expect(
            try client.synchronize(
                [
                    create(1, "Site", #""region": "NORTH", "year": 1999, "name": "Own""#),
                    create(2, "Site", #""region": "SOUTH", "year": 2025, "name": "Smuggled""#),
                    create(3, "Note", #""siteId": 1, "text": "own""#), create(4, "Note", #""siteId": 2, "text": "smuggled""#),
                    create(5, "Note", #""text": "of no site""#),
                ], header: header()
            ).outcomes == ["accepted 200", "rejected 403", "accepted 200", "rejected 403", "rejected 403"])
        #expect(try client.server.backEndValue("SELECT count(*) FROM site WHERE name = 'Smuggled'") == .integer(0))
        #expect(try client.server.backEndValue("SELECT group_concat(text) FROM note WHERE id > 3") == .text("own"))
    }

    @Test func `statements of the model change the tested row only`() throws {
        func rename(_ id: Int64, row: Int64, number: Int64) -> String {
            update(id, "Site", row: row, "", #", "operation": "rename", "parameters": {"number": \#(number), "label": "renamed"}"#)
        }
        func retitle(_ id: Int64, row: Int64, _ attributes: String = "") -> String {
            update(id, "Site", row: row, attributes, #", "operation": "retitle", "parameters": {"label": "renamed"}"#)
        }
        #expect(
            try client.synchronize(
                [
                    rename(1, row: 1, number: 2), rename(2, row: 2, number: 2), rename(3, row: 1, number: 1),
                    retitle(4, row: 1, #""id": 2"#), retitle(5, row: 3),
                ], header: header()
            ).outcomes == ["rejected 403", "rejected 404", "accepted 200", "rejected 403", "accepted 200"])
        #expect(try [site(1), site(2), site(3)] == [.text("NORTH renamed"), .text("SOUTH Mill"), .text("NORTH renamed")])
    }

    @Test("a reference that fills a part of the key moves no statement to another user's row", arguments: ["retext", "drop"])
    func referencesInKeys(operation: String) throws {
        // Another user's synchronization has given the site of the south its surrogate key, and keys can be guessed.
        try administration.setAttribute("region", to: ["SOUTH"], ofUser: "ada")
        _ = try client.synchronize(header: header())
        try administration.setAttribute("region", to: ["NORTH"], ofUser: "ada")
        let key = try client.server.state {
            try $0.number(
                """
                SELECT k.sk FROM _key AS k JOIN _key_space AS s ON s.space = k.object JOIN _object AS o ON o.id = s.object
                WHERE o.name = 'Site' AND CAST(k.k AS TEXT) = '2'
                """)
        }
        let (change, parameters) = operation == "drop" ? ("D", "{}") : ("U", #"{"label": "stolen"}"#)
        let answer = try client.synchronize(
            [
                #"{"id": 1, "mbo": "Line", "change": "\#(change)", "operation": "\#(operation)", "key": 901, "primaryKey": {"siteId": 1, "number": 1}, "attributes": {"siteId": 1}, "refs": {"site": \#(key)}, "parameters": \#(parameters)}"#
            ], header: header())
        #expect(answer.outcomes == ["rejected 403"])
        #expect(try client.server.backEndValue("SELECT group_concat(text) FROM line") == .text("north,south"))
    }

    @Test func `roles and attributes are kept, and go with the user`() throws {
        try administration.setAttribute("level", to: ["3"], ofUser: "ada")
        try client.restart()
        #expect(try administration.roles(ofUser: "ada") == ["sales"])
        #expect(try administration.attributes(ofUser: "ada") == ["region": ["NORTH"], "level": ["3"]])
        func refused(_ body: (ServerAdministration) throws -> Void) -> ServerError.Code? {
            do {
                try body(administration)
                return nil
            } catch { return (error as? ServerError)?.code }
        }
        #expect(refused { try $0.setRoles(["sales"], ofUser: "eve") } == .notFound)
        #expect(refused { try $0.setRoles([""], ofUser: "ada") } == .configuration)
        #expect(refused { try $0.setAttribute("region", to: ["a\0b"], ofUser: "ada") } == .configuration)
        #expect(refused { try $0.setAttribute("region", to: Set((0...2000).map { "\($0)" }), ofUser: "ada") } == .configuration)
        #expect(try administration.attributes(ofUser: "ada")["region"] == ["NORTH"])
        try administration.removeUser("ada")
        #expect(try administration.roles(ofUser: "ada").isEmpty)
        #expect(try administration.attributes(ofUser: "ada").isEmpty)
    }

    @Test func `a value that does not fit its parameter refuses the user, and a column that is missing refuses the package`() throws {
        let model = try PackageModel(
            json: Regions.json.replacing(#""type": "int", "default": 2025"#, with: #""type": "int", "userAttribute": "year""#).replacing(
                #", "attribute": "region"}"#, with: "}"))
        let server = try TestServer(model: model, tables: Regions.tables)
        try server.server.administration.setRoles(["sales"], ofUser: "ada")
        try server.server.administration.setAttribute("region", to: ["NORTH"], ofUser: "ada")
        try server.server.administration.setAttribute("year", to: ["2026"], ofUser: "ada")
        let client = try HandmadeClient(server)
        #expect(try client.synchronize(header: client.header(subscriptions: "{}", groups: #"["default"]"#)).rows("upsert", of: "Site") == 1)
        #expect(
            try client.synchronize(
                [update(1, "Site", row: 3, #""year": 2025"#), update(2, "Site", row: 1, #""name": "x""#)],
                header: client.header(subscriptions: "{}", groups: "[]")
            ).outcomes == ["rejected 403", "rejected 404"])
        try server.server.administration.setAttribute("year", to: ["soon"], ofUser: "ada")
        let refused = try client.synchronize(header: client.header(subscriptions: "{}", groups: #"["default"]"#))
        #expect(refused.status == 403 && refused.text.contains("has a value that does not fit the type int"))
        let missing = try PackageModel(
            json: Regions.json.replacing(
                #""load": "SELECT * FROM site"#, with: #""columns": {"region": "area"}, "load": "SELECT *, region AS area FROM site"#))
        #expect(#expect(throws: ServerError.self) { try TestServer(model: missing, tables: Regions.tables) }?.code == .missingColumn)
    }
}
