import BenchmarkReferences
import Foundation
import MobileExecution
import MobileObjects
import MobileProtocol
import MobileServer
import MobileStore
import MobileSync
import TestSupport

/// Thousands of devices that listen for events.
enum ListeningBenchmarks {
    static let all = [idle("sync.idle.10k", limit: 1.0, isSecure: false), idle("sync.idle.10k.tls", limit: nil, isSecure: true), wake]

    /// The connections of a benchmark, to one group of synchronization each.
    private final class Connections {
        private let server: ServerOfBenchmarks
        private let group: OpaquePointer
        private let isSecure: Bool

        init(_ workspace: Workspace, _ server: ServerOfBenchmarks, isSecure: Bool = false) throws {
            (self.server, self.isSecure) = (server, isSecure)
            let certificate = isSecure ? workspace.newFile("certificate.pem") : nil
            if let certificate { try LoopbackCertificate.certificate.write(toFile: certificate, atomically: true, encoding: .utf8) }
            let recorder = RecordingTransport(certificate: isSecure ? LoopbackCertificate.certificate : nil)
            let device = try BenchDevice(workspace, port: server.port, isSecure: isSecure, transport: recorder)
            try device.package.synchronize()
            try device.package.closeConnection()
            device.remove(from: workspace)
            guard let field = recorder.request.headers.first(where: { $0.name.lowercased() == "authorization" }),
                let group = br_listeners_new("\(field.name): \(field.value)", certificate)
            else { throw WrongResult("no session, or no memory") }
            self.group = group
        }

        deinit { br_listeners_close(group) }

        func open(_ count: Int, group name: String) throws {
            let address = "\(isSecure ? "https" : "http")://127.0.0.1:\(server.port)\(Endpoint.events)?pkg=Bench:1.0&groups=\(name)&cid=\(name)-"
            var message = CMessage()
            guard br_listeners_open(group, address, Int32(count), 300, &message.characters, CMessage.size) else {
                throw WrongResult("listening: \(message.text)")
            }
        }

        /// Waits for events.
        func wait(for count: Int) -> Int64 { Int64(br_listeners_wait(group, Int32(count), 30)) }
    }

    // MARK: Idle

    private static func idle(_ id: String, limit: Double?, isSecure: Bool) -> Benchmark {
        @Sendable func count(_ workspace: Workspace) -> Int { workspace.isQuick ? 1000 : 10_000 }
        return Benchmark(
            id: id, shows: "resident memory of the server per idle listening device, of 10,000\(isSecure ? ", with TLS" : "")", limit: limit,
            countsRows: false, pairs: 1, note: "a microsecond stands for a byte; the growth from the 100th connection on; all in one session",
            reference: Side("12,288 bytes") { workspace, watch in
                watch.add(.microseconds(12_288))
                return Outcome(rows: Int64(count(workspace)), checksum: 0)
            },
            subject: Side("one process with all connections", threads: 2) { workspace, watch in
                let server = try ServerOfBenchmarks(folder: workspace.serverFolder(rows: 1000), .init(isSecure: isSecure))
                defer { server.stop() }
                let connections = try Connections(workspace, server, isSecure: isSecure)
                try connections.open(100, group: "default")
                guard let before = server.memory else { throw WrongResult("the system does not report a process's memory") }
                try connections.open(count(workspace), group: "default")
                guard let after = server.memory else { throw WrongResult("the server has ended") }
                watch.add(.microseconds((after - before) / count(workspace)))
                // They all listen still.
                let backEnd = try ServerOfBenchmarks.openBackEnd(in: server.folder)
                try backEnd.write { _ = try $0.execute("UPDATE item SET words3 = 'changed' WHERE id = 1") }
                let woken = connections.wait(for: count(workspace) + 100)
                try backEnd.close()
                return Outcome(rows: woken - 100, checksum: 0)
            })
    }

    // MARK: Waking

    private static let wakes = 20, woken = 1000

    private static let wake = Benchmark(
        id: "sync.wake.1k", shows: "a change that concerns 1,000 of 10,000 listening devices: from its commit to the last event", limit: 2.0,
        countsRows: false, pairs: 3, note: "\(wakes) changes; the server looks at its back end every 20 ms",
        reference: Side("1,000 of 1,000", threads: 2) { workspace, watch in try waking(workspace, others: 0, &watch) },
        subject: Side("1,000 of 10,000", threads: 2) { workspace, watch in
            try waking(workspace, others: workspace.isQuick ? 2000 : 9000, &watch)
        })

    @Sendable private static func waking(_ workspace: Workspace, others: Int, _ watch: inout Stopwatch) throws -> Outcome {
        let server = try ServerOfBenchmarks(folder: workspace.serverFolder(rows: 1000), .init(boxes: ["Box", "Part"]))
        defer { server.stop() }
        let connections = try Connections(workspace, server)
        if others > 0 { try connections.open(others, group: "boxes") }
        try connections.open(woken, group: "default")
        let backEnd = try ServerOfBenchmarks.openBackEnd(in: server.folder)
        var events: Int64 = 0
        for number in 0...wakes {
            let change = {
                try backEnd.write { _ = try $0.execute("UPDATE item SET words3 = 'change \(number)' WHERE id = 1") }
                return connections.wait(for: woken)
            }
            // The first one warms up.
            events += number == 0 ? try change() - Int64(woken) : try watch.measure(change)
        }
        try backEnd.close()
        return Outcome(rows: events, checksum: 0)
    }
}
