import Foundation
import MobileServer
import MobileStore
import Testing

/// The guard of a back end: operations that their client has settled are never done again, in any order of requests, and no two operations
/// share an id.
@Suite struct ReplayGuardTests {
    /// A client of ``FieldSales`` that raises the credit of customer 1, which cannot be done twice without a trace.
    private struct Bench {
        let client: HandmadeClient

        init() throws { client = try HandmadeClient() }

        /// Makes the upload of operations that raise the credit by one each.
        func upload(_ ids: Int64..., settledBelow: Int64 = 0, digest: Character? = nil, tokens: String = "{}") -> [UInt8] {
            let digest = digest.map { ", \"digest\": \"\(String(repeating: $0, count: 64))\"" } ?? ""
            let operations = ids.flatMap { id in
                HandmadeClient.frame(
                    "O",
                    #"{"id": \#(id), "mbo": "Customer", "change": "O", "operation": "raise", "key": -1, "parameters": {"number": 1, "amount": 1}\#(digest)}"#
                )
            }
            return client.header(groups: #"["default"]"#, tokens: tokens, more: ", \"settledBelow\": \(settledBelow)") + operations
                + HandmadeClient.frame("Z", "")
        }

        func send(_ upload: [UInt8]) throws -> [String] { try client.synchronize(bytes: upload).outcomes }

        /// The number of operations that were done.
        var done: Int64? {
            get throws {
                try client.server.backEndValue("SELECT CAST(credit - 1250.5 AS INTEGER) FROM \"the customers\" WHERE \"customer no\" = 1")?.integer
            }
        }
    }

    @Test("SYN-10: a duplicate that arrives after its client has settled the operation does nothing, also after a restart")
    func lateDuplicate() throws {
        let bench = try Bench()
        let first = bench.upload(1, settledBelow: 1)
        #expect(try bench.send(first) == ["accepted 200"])
        #expect(try bench.send(bench.upload(2, settledBelow: 2)) == ["accepted 200"])
        #expect(try bench.client.server.backEndValue("SELECT group_concat(operation) FROM mobile_processed_operation") == "2")
        #expect(try bench.send(first) == ["accepted 208"])
        try bench.client.restart()
        #expect(try bench.send(first) == ["accepted 208"])
        // The floor of an older upload lowers nothing, and that of another client is its own.
        #expect(try bench.send(bench.upload(1, 3)) == ["accepted 208", "accepted 200"])
        #expect(try bench.done == 3)
        bench.client.clientID = "another"
        #expect(try bench.send(bench.upload(1)) == ["accepted 200"])
        #expect(try bench.done == 4)
    }

    @Test("and its answer brings the rows of its object again, and no others")
    func rowsAgain() throws {
        let bench = try Bench()
        _ = try bench.send(bench.upload(1))
        let tokens = try bench.client.synchronize(bytes: bench.upload(2, settledBelow: 2)).tokens
        let text = "{" + tokens.map { "\"\($0.key)\": \($0.value)" }.joined(separator: ", ") + "}"
        let ordinary = try bench.client.synchronize(bytes: bench.upload(3, settledBelow: 3, tokens: text))
        #expect(ordinary.rows("upsert", of: "Customer") == 1 && !ordinary.text.contains("reset"))
        let late = try bench.client.synchronize(bytes: bench.upload(1, tokens: text))
        #expect(late.rows("upsert", of: "Customer") == 2 && late.rows("upsert", of: "Order") == 0)
        #expect(late.text.components(separatedBy: "\"reset\"").count == 2)
    }

    @Test("a back end of an earlier release gets its guard, and its records, which have no digests, are taken as they are")
    func earlierRelease() throws {
        let bench = try Bench()
        #expect(try bench.send(bench.upload(1)) == ["accepted 200"])
        try bench.client.restart { try bench.client.server.backEnd { _ = try $0.execute("DROP TABLE mobile_replay_guard") } }
        #expect(try bench.send(bench.upload(1, 2, digest: "a")) == ["accepted 200", "accepted 200"])
        #expect(try bench.send(bench.upload(2)) == ["accepted 200"], "a client may send no digests")
        #expect(try bench.done == 2)
    }

    @Test("another operation under a known id is refused, and leaves the record of the first one as it is")
    func clone() throws {
        let bench = try Bench()
        #expect(try bench.send(bench.upload(1, digest: "a")) == ["accepted 200"])
        let answer = try bench.client.synchronize(bytes: bench.upload(1, 2, digest: "b"))
        #expect(answer.outcomes == ["rejected 582", "accepted 200"])
        #expect(answer.results[0]["message"]?.string?.contains("copied") == true)
        #expect(try bench.send(bench.upload(1, digest: "a")) == ["accepted 200"])
        #expect(try bench.done == 2)
        // A batch is refused as a whole. Those of its operations that did not collide are recorded as refused.
        let batch = [2, 4].map { id in
            HandmadeClient.frame(
                "O",
                #"{"id": \#(id), "mbo": "Customer", "change": "O", "operation": "raise", "batch": 2, "key": -1, "parameters": {"number": 1, "amount": 1}, "digest": "\#(String(repeating: "c", count: 64))"}"#
            )
        }
        let refused = bench.client.header(groups: "[]") + batch.flatMap { $0 } + HandmadeClient.frame("Z", "")
        for _ in 1...2 { #expect(try bench.send(refused) == ["rejected 582", "rejected 582"]) }
        #expect(try bench.send(bench.upload(2, digest: "b")) == ["accepted 200"])
        #expect(try bench.done == 2)
    }

    @Test(
        "a digest that is none is refused with the upload",
        arguments: ["", "ab", String(repeating: "A", count: 64), String(repeating: "g", count: 64)])
    func badDigest(digest: String) throws {
        let client = try HandmadeClient()
        let operation =
            #"{"id": 1, "mbo": "Customer", "change": "O", "operation": "raise", "key": -1, "parameters": {"number": 1, "amount": 1}, "digest": "\#(digest)"}"#
        let answer = try client.synchronize([operation])
        #expect(answer.status == 400 && answer.text.contains("digest"))
    }

    @Test("a client of an earlier version of the protocol is told to update its application; its tokens mean a reset")
    func version() throws {
        let bench = try Bench()
        let old = HandmadeClient.frame("H", #"{"version": 1, "cid": "handmade", "pkg": "Field:2.0", "groups": ["default"]}"#)
        let refused = try bench.client.synchronize(bytes: old + HandmadeClient.frame("Z", ""))
        #expect(refused.status == 400)
        let failure = try JSONValue(parsing: refused.body)
        #expect(failure["code"]?.integer == 581 && failure["message"]?.string?.hasSuffix("update the application") == true)
        let newer = HandmadeClient.frame("H", #"{"version": 3, "cid": "handmade", "pkg": "Field:2.0", "groups": ["default"]}"#)
        #expect(try JSONValue(parsing: bench.client.synchronize(bytes: newer + HandmadeClient.frame("Z", "")).body)["code"]?.integer == 400)

        let token = try #require(try bench.client.synchronize(bytes: bench.upload()).tokens["default"])
        let present = try bench.client.synchronize(bytes: bench.upload(tokens: #"{"default": \#(token)}"#))
        #expect(present.status == 200 && !present.text.contains("reset"))
        var members = try #require(try JSONValue(parsing: token).object)
        members["format"] = nil
        let former = try bench.client.synchronize(bytes: bench.upload(1, tokens: #"{"default": \#(JSONValue.object(members))}"#))
        #expect(former.outcomes == ["accepted 200"] && former.text.contains("reset") && former.rows("upsert", of: "Customer") == 2)
    }
}
