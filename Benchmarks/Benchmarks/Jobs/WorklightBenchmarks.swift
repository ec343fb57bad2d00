import BenchmarkReferences
import Foundation
import MobileExecution
import MobileServer
import MobileServerWorklight
import MobileStore
import MobileTransport
import WorklightClient

/// Calls of procedures over the Worklight protocol.
enum WorklightBenchmarks {
    static let all = [call]

    private static let calls = 500

    /// A face with one application without a device realm and one procedure, over HTTP.
    private final class Served {
        let face: WorklightServer
        let http: HTTPServer
        let path: String

        init(_ workspace: Workspace) throws {
            path = FileManager.default.temporaryDirectory.appendingPathComponent("worklight-\(UUID().uuidString).db").path
            let adapter = WorklightAdapter(
                "Stock", procedures: ["quote": WorklightProcedure { ["name": $0.parameters[0], "price": .number("65.878")] }])
            let face = try WorklightServer(
                WorklightConfiguration(applications: [WorklightApplication(id: "Demo")], adapters: [adapter]),
                state: ServerConfiguration(cachePath: path))
            self.face = face
            http = try HTTPServer { face.respond(to: $0) }
        }

        func close() throws {
            http.stop()
            try face.close()
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        }

        func client(_ transport: (any Transport)? = nil) throws -> WLClient {
            let client = try WLClient(
                WLConfiguration(host: "127.0.0.1", port: String(http.port), applicationID: "Demo", applicationVersion: "1.0"), transport: transport)
            let connected = Promise<Bool, any Error>()
            client.connect(
                delegate: WLClosureDelegate(onSuccess: { _ in connected.resolve(.success(true)) }, onFailure: { connected.resolve(.failure($0)) }))
            _ = try connected.wait()
            return client
        }
    }

    private static let data = WLProcedureInvocationData(adapter: "Stock", procedure: "quote", parameters: ["IBM", 7, .number("65.878"), true])

    /// Calls the procedure, one call after the other.
    /// - Returns: the responses, in order.
    private static func run(_ client: WLClient, _ count: Int) throws -> [WLResponse] {
        var responses: [WLResponse] = []
        responses.reserveCapacity(count)
        for _ in 0..<count {
            let called = Promise<WLResponse, any Error>()
            client.invokeProcedure(
                data, delegate: WLClosureDelegate(onSuccess: { called.resolve(.success($0)) }, onFailure: { called.resolve(.failure($0)) }))
            responses.append(try called.wait())
        }
        return responses
    }

    /// The check sum of bodies, one after the other (FNV-1a).
    private static func checksum(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    private static let call = Benchmark(
        id: "wl.call", shows: "\(calls) procedure calls, one after the other", limit: 1.5, countsRows: false,
        note: "the request of the reference is that of the subject, byte for byte, so the figure is the share of the client",
        reference: Side("libcurl: the same request to the same server, kept alive") { workspace, watch in
            let served = try Served(workspace)
            let recorder = RecordingTransport()
            _ = try run(served.client(recorder), 1)
            let request = recorder.request
            let outcome = try request.withCURL { client in
                guard br_http_send(client, 1) == 1, br_http_keep(client, calls * 4096) else {
                    throw WrongResult("libcurl: no answer from \(request.url)")
                }
                let answers = watch.measure { br_http_send(client, Int32(calls)) }
                var size = 0
                let bodies = UnsafeRawBufferPointer(start: br_http_bodies(client, &size), count: size)
                return Outcome(rows: Int64(answers), checksum: checksum(bodies))
            }
            try served.close()
            return outcome
        },
        subject: Side("invokeProcedure", threads: 1) { workspace, watch in
            let served = try Served(workspace)
            let client = try served.client()
            _ = try run(client, 1)
            let responses = try watch.measure { try run(client, calls) }
            try served.close()
            let answers = responses.count { response in
                response.invocationResult?.isSuccessful == true && response.getResponseJson()?["price"] == .number("65.878")
            }
            return Outcome(rows: Int64(answers), checksum: checksum(responses.map(\.responseText).joined().utf8))
        })
}
