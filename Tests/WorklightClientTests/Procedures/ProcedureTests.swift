import MobileExecution
import MobileStore
import TestSupport
import Testing
import WorklightClient

/// Worklight protocol, section 5.
@Suite struct ProcedureTests {
    private func server(_ reply: Reply) throws -> StrictServer {
        try StrictServer { request, _ in
            guard request.name == "query" else { throw StrictServer.Unscripted() }
            return reply
        }
    }

    @Test(
        "WL-101 WL-102 WLD-19 WLD-20: parameters arrive as the values that they are",
        arguments: [
            ([], "[]"), (["string", 7, .number("65.878"), true], "[\"string\",7,65.878,true]"),
            ([false, 1, 0, .null, ["a": [1, ["b": .null]]], "ü\"\\\n"], "[false,1,0,null,{\"a\":[1,{\"b\":null}]},\"ü\\\"\\\\\\n\"]"),
            ([.integer(.max), .integer(.min), .number("1e300")], "[9223372036854775807,-9223372036854775808,1e300]"),
        ] as [([JSONValue], String)])
    func parameters(values: [JSONValue], text: String) async throws {
        let server = try server(.success)
        var data = WLProcedureInvocationData(adapter: "Stock", procedure: "quote")
        data.parameters = values
        try await server.connectedClient().invokeProcedure(data)
        #expect(server.requests.last?.field("parameters") == text)
        #expect(server.requests.last?.field("adapter") == "Stock")
        #expect(server.requests.last?.field("procedure") == "quote")
    }

    @Test("WL-103 WLD-22 WLD-23 WLD-37: a success has the status and the whole object")
    func success() async throws {
        let server = try server(.json(["isSuccessful": true, "resultSet": [["ID": 1, "NAME": "a"]], "responseID": "5"]))
        let response = try await server.connectedClient().invokeProcedure(.total)
        #expect(response.status == "200")
        #expect(response.invocationResult?.isSuccessful == true)
        #expect(response.invocationResult?.response == ["isSuccessful": true, "resultSet": [["ID": 1, "NAME": "a"]], "responseID": "5"])
        #expect(response.invocationResult?.procedureInvocationErrors == [])
    }

    @Test(
        "WL-104 WL-105 WL-106 WLD-29 WLD-35 WLD-36: failures of a procedure and their texts",
        arguments: [
            ("{\"isSuccessful\":false,\"errors\":[\"a\",\"b\"]}", ["a", "b"]), ("{\"isSuccessful\":false,\"errors\":\"one\"}", ["one"]),
            ("{\"isSuccessful\":false}", []), ("{\"a\":1}", []), ("{}", []), ("{\"isSuccessful\":1}", []), ("{\"isSuccessful\":\"yes\"}", []),
            ("{\"isSuccessful\":null,\"errors\":[1,{\"x\":2}]}", ["1", "{\"x\":2}"]), ("{\"isSuccessful\":true,\"isSuccessful\":false}", []),
            ("{\"isSuccessful\":[true],\"errors\":7}", []),
        ])
    func failures(body: String, errors: [String]) async throws {
        let server = try server(.text("/*-secure-\n\(body)*/"))
        let client = try await server.connectedClient()
        let found = await failure { try await client.invokeProcedure(.total) }
        #expect(found?.errorCode == .procedureError)
        #expect(found?.errorMsg == "Procedure invocation errorCode.")
        #expect(found?.invocationResult?.isSuccessful == false)
        #expect(found?.invocationResult?.procedureInvocationErrors == errors)
    }

    @Test("WL-105: an answer that is no object is unexpected", arguments: ["<html>portal</html>", "", "null", "true"])
    func noObject(body: String) async throws {
        let server = try server(.text(body))
        let client = try await server.connectedClient()
        let found = await failure { try await client.invokeProcedure(.total) }
        #expect(found?.errorCode == .unexpectedError)
        #expect(found?.invocationResult == nil)
        #expect(found?.responseText == body)
    }

    @Test func `the text true in any case counts as success`() async throws {
        for text in ["true", "TRUE", "True"] {
            let server = try server(.json(["isSuccessful": .string(text)]))
            try await server.connectedClient().invokeProcedure(.total)
        }
    }

    @Test("WL-107 WLD-07 WLD-24 WLD-30: the context comes back with success and failure, and is never sent")
    func context() async throws {
        let server = try StrictServer { request, number in
            guard request.name == "query" else { throw StrictServer.Unscripted() }
            return number == 0 ? .success : .json(["isSuccessful": false])
        }
        let client = try await server.connectedClient()
        let options = WLProcedureOptions(invocationContext: "the-context")
        #expect(try await client.invokeProcedure(.total, options: options).invocationContext as? String == "the-context")
        #expect(await failure { try await client.invokeProcedure(.total, options: options) }?.invocationContext as? String == "the-context")
        for request in server.requests {
            #expect(!String(decoding: request.body, as: UTF8.self).contains("context"))
            #expect(!request.headers.values.contains { $0.contains("the-context") })
        }
    }

    @Test("WL-108 WLD-06: the time-out of the client and of a call; zero means none")
    func timeout() async throws {
        let release = Signal(), late = Signal()
        let server = try StrictServer { request, number in
            guard request.name == "query" else { throw StrictServer.Unscripted() }
            if number < 2 { release.block() } else { late.block() }
            return .success
        }
        #expect(WLConfiguration(host: "h", applicationID: "a", applicationVersion: "1").defaultTimeout == .seconds(10))
        let client = try server.client { $0.defaultTimeout = .milliseconds(60) }
        // Machines under load need more for the connect.
        try await client.connect(timeout: .seconds(600))
        let began = ContinuousClock.now
        #expect(await failure { try await client.invokeProcedure(.total) }?.errorCode == .requestTimeout)
        let options = WLProcedureOptions(timeout: .milliseconds(300), invocationContext: 7)
        let second = ContinuousClock.now
        let found = await failure { try await client.invokeProcedure(.total, options: options) }
        #expect(found?.errorCode == .requestTimeout)
        #expect(found?.errorMsg == "Request timed out.")
        #expect(found?.invocationContext as? Int == 7)
        #expect(second - began >= .milliseconds(60))
        #expect(ContinuousClock.now - second >= .milliseconds(300))
        release.fire()
        let timers = BlockingWork(threads: 1)
        _ = timers.start(after: .milliseconds(400)) { late.fire() }
        try await client.invokeProcedure(.total, options: WLProcedureOptions(timeout: .zero))
    }

    @Test("WL-109: six calls at a time end independently")
    func parallel() async throws {
        let gates = (0..<6).map { _ in Signal() }
        let server = try StrictServer { request, _ in
            guard request.name == "query", let number = request.parameters?.first?.integer else { throw StrictServer.Unscripted() }
            gates[Int(number)].block()
            return number == 3 ? .json(["isSuccessful": false]) : .json(["isSuccessful": true, "n": .integer(number)])
        }
        let client = try await server.connectedClient()
        let delegates = gates.map { _ in RecordingDelegate() }
        for (number, delegate) in delegates.enumerated() {
            client.invokeProcedure(WLProcedureInvocationData(adapter: "a", procedure: "p", parameters: [.integer(Int64(number))]), delegate: delegate)
        }
        for number in [5, 3, 0, 4, 1, 2] {
            gates[number].fire()
            await delegates[number].called()
            #expect(delegates[number].events.all == [number == 3 ? "failure procedureError" : "success 200"])
        }
    }

    private struct Quote: Decodable, Equatable {
        let name: String
        let price: Double?
    }

    @Test func `a result is read as a type of the application`() async throws {
        let server = try server(
            .json(["isSuccessful": true, "resultSet": [["name": "IBM", "price": .number("65.878")], ["name": "X", "price": .null]]]))
        let client = try await server.connectedClient()
        let quotes = try await client.invokeProcedure(.total, as: [Quote].self, member: "resultSet")
        #expect(quotes == [Quote(name: "IBM", price: 65.878), Quote(name: "X", price: nil)])
        await #expect(throws: DecodingError.self) { try await client.invokeProcedure(.total, as: [Quote].self, member: "nothing") }
    }

    @Test("WL-135 WLD-14: an activity is posted, and its failure has no effect", arguments: [200, 500])
    func activity(status: Int) async throws {
        let server = try StrictServer { request, _ in
            guard request.name == "logactivity" else { throw StrictServer.Unscripted() }
            return .text("", status: status)
        }
        let client = try await server.connectedClient()
        client.logActivity("opened the ünit")
        #expect(eventually { !server.requests("logactivity").isEmpty })
        #expect(server.requests("logactivity").first?.field("activity") == "opened the ünit")
        #expect(client.isConnected)
        #expect(server.violations == [])
    }
}
