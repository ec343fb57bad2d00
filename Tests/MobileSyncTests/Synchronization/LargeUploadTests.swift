import Foundation
import MobileExecution
import MobileObjects
import MobileStore
import MobileTransport
import SampleCRM
import TestSupport
import Testing

@testable import MobileSync

/// Long uploads, which go in pieces and continue after a cut.
@Suite struct LargeUploadTests {
    /// Counts the bytes of pieces, and the requests by method.
    private final class Counting: Transport {
        let transport: any Transport
        let bytes = SystemLock(0)
        let methods = SystemLock<[String: Int]>([:])
        /// Whether the answers to synchronizations are lost.
        let losesAnswers = SystemLock(false)

        init(_ transport: any Transport) { self.transport = transport }

        /// The number of requests so far.
        var count: Int { methods.withLock { $0.values.reduce(0, +) } }

        func send(_ request: TransportRequest, receive: (RawSpan) throws -> Void) throws -> TransportResponse {
            methods.withLock { $0[request.method, default: 0] += 1 }
            if request.method == "PUT", case .bytes(let piece) = request.body { bytes.withLock { $0 += piece.count } }
            guard losesAnswers.withLock({ $0 }), request.url.hasSuffix("/mobile/v1/synchronize") else {
                return try transport.send(request, receive: receive)
            }
            _ = try transport.send(request) { _ in }
            throw TransportError(.interrupted, "the answer is lost")
        }
    }

    private static let picture = patternBytes(3_000_000)

    /// Submits an update of a picture.
    private func submit(_ device: Device) throws {
        let product = try #require(try Product.findByPrimaryKey(3, in: device.crm))
        try write(Self.picture, to: product.picture)
        try product.update()
        try product.submitPending()
    }

    private func outcome(_ bench: TestBench) throws -> [Int64?] {
        try [
            bench.value("SELECT count(*) FROM mobile_processed_operation")?.integer,
            bench.value("SELECT picture = ?1 FROM product WHERE id = 3", [.blob(Self.picture)])?.integer,
        ]
    }

    @Test("an upload that is cut at random bytes continues where the server's bytes end, and is done once", arguments: 1...6 as ClosedRange<UInt64>)
    func cuts(seed: UInt64) throws {
        let bench = try TestBench(seed: seed), transport = Counting(bench.network)
        let device = try bench.subscribedDevice(transport: transport)
        try device.crm.synchronize()
        try submit(device)
        let before = transport.count
        // Every second request of the first twelve breaks.
        bench.network.conditions.fault = { request, random in
            guard request < before + 12, request % 2 == 0 else { return nil }
            return Bool.random(using: &random) ? .cutUpload(after: .random(in: 0...300_000, using: &random)) : .cutResponse
        }
        var attempts = 0, result: SynchronizationResult?
        while result == nil, attempts < 10 {
            attempts += 1
            result = try? device.crm.synchronize()
        }
        #expect(result?.operationsAccepted == 1 && attempts < 10, "seed \(seed)")
        #expect(try outcome(bench) == [1, 1], "seed \(seed)")
        // Pieces that were cut off are sent again, and no more: the largest has 4 MB, the first 256 KB.
        #expect(transport.bytes.withLock { $0 } < 2 * Self.picture.count, "seed \(seed)")
    }

    @Test("the upload continues after the application has ended, and after the answer was lost; then the server forgets it")
    func restarts() throws {
        let bench = try TestBench(), transport = Counting(bench.network)
        let device = try bench.subscribedDevice(transport: transport)
        try device.crm.synchronize()
        try submit(device)
        var puts = 0
        let before = transport.count
        // HEAD, PUT, then nothing gets through.
        bench.network.conditions.fault = { request, _ in request < before + 2 ? nil : .refuse }
        #expect(throws: SyncError.self) { try device.crm.synchronize() }
        let sent = transport.bytes.withLock { $0 }
        try device.crm.closeConnection()
        // The pieces and the synchronization arrive, but not its answer.
        bench.network.conditions.fault = { _, _ in nil }
        transport.losesAnswers.withLock { $0 = true }
        #expect(throws: SyncError.self) { try device.crm.synchronize() }
        transport.losesAnswers.withLock { $0 = false }
        let complete = transport.bytes.withLock { $0 }
        try device.crm.synchronize()
        #expect(transport.bytes.withLock { $0 } == complete, "no byte is sent twice after a lost answer")
        puts = transport.methods.withLock { $0["PUT"] ?? 0 }
        #expect(puts > 1 && transport.bytes.withLock { $0 } < Self.picture.count + sent)
        #expect(try outcome(bench) == [1, 1])
        #expect(transport.methods.withLock { $0["DELETE"] } == 1)
        let folders = try FileManager.default.contentsOfDirectory(atPath: bench.directory.file("cache.db-uploads"))
        let files = try folders.flatMap { try FileManager.default.contentsOfDirectory(atPath: bench.directory.file("cache.db-uploads/\($0)")) }
        #expect(files.isEmpty)
    }

    @Test("a short upload goes as before, and a long one does where the server takes no pieces")
    func without() throws {
        let bench = try TestBench(), transport = Counting(bench.network)
        let device = try bench.subscribedDevice(transport: transport)
        try device.crm.synchronize()
        let customer = try #require(try Customer.findByPrimaryKey(1, in: device.crm))
        customer.name = "Short"
        try customer.update()
        try customer.submitPending()
        try device.crm.synchronize()
        #expect(transport.methods.withLock { $0["PUT"] } == nil)
        let other = try bench.subscribedDevice("other", transport: Refusing(bench.network))
        try other.crm.synchronize()
        try submit(other)
        #expect(try other.crm.synchronize().operationsAccepted == 1)
        #expect(try outcome(bench) == [2, 1])
    }

    /// A server that knows no uploads in pieces.
    private final class Refusing: Transport {
        let transport: any Transport
        init(_ transport: any Transport) { self.transport = transport }

        func send(_ request: TransportRequest, receive: (RawSpan) throws -> Void) throws -> TransportResponse {
            guard !request.url.contains("/mobile/v1/uploads/") else { throw TransportError(.httpStatus, "status 404", status: 404) }
            return try transport.send(request, receive: receive)
        }
    }
}
