import Foundation
import MobileCrypto
import MobileExecution
import MobileObjects
import MobileProtocol
import MobileStore
import MobileTransport
import SampleCRM
import TestSupport
import Testing

@testable import MobileServer
@testable import MobileSync

/// A device fetches what a download names into files next to its database, continues after any interruption, and shows a group only as a whole.
@Suite struct SegmentDownloadTests {
    /// A server whose segments have a few rows each, and whose values of 500 bytes and more are fetched on their own.
    private func bench(seed: UInt64 = 1) throws -> TestBench {
        try TestBench(seed: seed) {
            $0.segmentRules.leastRows = 5
            $0.segmentRules.textBytes = 600
            $0.segmentRules.namedValueBytes = 500
        }
    }

    /// The content that a user of the device sees.
    private func content(_ device: Device) throws -> [String] {
        let products = try Product.findAll(in: device.crm).map { product in
            let (picture, description) = (try bytes(of: product.picture), try text(of: product.description_))
            return "\(product.surrogateKey) \(product.name) \(picture?.hashValue ?? 0) \(description?.hashValue ?? 0)"
        }
        return try device.customers() + products.sorted()
    }

    private func hasFiles(_ device: Device) -> Bool { FileManager.default.fileExists(atPath: device.crm.downloadFolder) }

    /// The content of a device that gets everything in one answer.
    private func expected(_ bench: TestBench) throws -> [String] {
        let plain = try bench.server { $0.segmentRules.isOn = false }
        defer { try? plain.close() }
        let device = try bench.subscribedDevice("plain", transport: SimulatedTransport(server: { plain.respond(to: $0) }))
        try device.crm.synchronize()
        return try content(device)
    }

    @Test func `a first synchronization by segments brings what one answer brings, and leaves no file`() throws {
        // The first request waits for the second one.
        let bench = try bench(), second = DispatchSemaphore(value: 0)
        let monitor = ContentMonitor(bench.network) { number in
            if number == 0 { _ = second.wait(timeout: .now() + 60) }
            if number == 1 { second.signal() }
            return nil
        }
        let device = try bench.subscribedDevice(transport: monitor)
        let result = try device.crm.synchronize()
        #expect(monitor.names.count > 5 && !hasFiles(device))
        #expect(try content(device) == expected(bench))
        #expect(result.bytesReceived > monitor.received.values.reduce(0, +))
        #expect(try device.crm.synchronize().rowsImported == 0)
        #expect(monitor.mostAtOnce == 2)
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `cut at random bytes again and again, it goes on where it was, and shows whole groups only`(seed: UInt64) throws {
        let bench = try bench(seed: seed), monitor = ContentMonitor(bench.network)
        let device = try bench.subscribedDevice(transport: monitor), all = try expected(bench)
        let customers = all.count - bench.contents.products
        bench.network.conditions = .unreliable(probability: 0.6, maximumBytes: 900)
        var failures = 0
        for attempt in 0... {
            if attempt == 200 { bench.network.conditions = NetworkConditions() }
            do {
                try device.crm.synchronize()
                break
            } catch { failures += 1 }
            let counts = (try Customer.findAll(in: device.crm).count, try Product.findAll(in: device.crm).count)
            #expect([0, customers].contains(counts.0) && counts.1 == 0)
        }
        #expect(try content(device) == all && !hasFiles(device))
        #expect(failures + monitor.ranges > 0)
        // A group that was stored is not fetched again; within one, each byte came once.
        for (name, count) in monitor.received { #expect(count == monitor.lengths[name], "\(name)") }
    }

    @Test func `after the end of the process, files that are held are not fetched again`() throws {
        let bench = try bench(), broken = ContentMonitor(bench.network) { $0 >= 6 ? .refuse : nil }
        let device = try bench.subscribedDevice(transport: broken)
        #expect(throws: SyncError.self) { try device.crm.synchronize() }
        let held = broken.received.filter { $0.value == broken.lengths[$0.key] }
        #expect(hasFiles(device) && held.count >= 4)
        #expect(try Customer.findAll(in: device.crm).isEmpty)
        try device.application.close()
        try device.crm.closeConnection()
        let monitor = ContentMonitor(bench.network), again = try bench.newDevice(transport: monitor)
        try again.crm.synchronize()
        #expect(try content(again) == expected(bench) && !hasFiles(again))
        #expect(!monitor.names.isEmpty && monitor.names.isDisjoint(with: held.keys))
    }

    @Test func `a content that is not that of its name is noticed, shows nothing, and comes again`() throws {
        let bench = try bench(), damaging = ContentMonitor(bench.network) { $0 == 2 ? .damage : nil }
        let device = try bench.subscribedDevice(transport: damaging)
        let error = #expect(throws: SyncError.self) { try device.crm.synchronize("default") }
        #expect(error?.code == .synchronizationCommunication && error?.isRecoverable == true)
        #expect(error?.message.contains("is damaged") == true, "\(String(describing: error))")
        #expect(try Customer.findAll(in: device.crm).isEmpty && !device.crm.isSynchronized("default"))
        let fetched = damaging.names.count
        try device.crm.synchronize("default")
        #expect(damaging.requests == fetched + 1, "the damaged one only")
        #expect(try Customer.findAll(in: device.crm).count == bench.contents.northCustomers && !hasFiles(device))
    }

    @Test func `a content that has gone costs a new list; the files that are held stay`() throws {
        let bench = try bench(), directory = bench.directory, network = bench.network
        let requests = SystemLock(0)
        // One request at a time: the files disappear while the server is not writing one.
        let serial = SwitchedTransport {
            let number = requests.withLock { number in
                defer { number += 1 }
                return number
            }
            guard number == 6 else { return network }
            // All segments are made again after this: those of rows that have not changed have the same names.
            let cache = try? Database(ConnectionProfile(path: directory.file("cache.db")))
            try? cache?.write { connection in
                for table in ["_segment_run", "_segment"] { _ = try connection.execute("DELETE FROM \(table)", []) }
            }
            try? cache?.close()
            try? FileManager.default.removeItem(atPath: directory.file("cache.db-segments"))
            return network
        }
        let monitor = ContentMonitor(serial, isSerial: true)
        let device = try bench.subscribedDevice(transport: monitor)
        try device.crm.synchronize()
        #expect(try content(device) == expected(bench) && !hasFiles(device))
        #expect(monitor.received.allSatisfy { $0.value == monitor.lengths[$0.key] })
        let gone = ContentMonitor(bench.network) { _ in .gone }, second = try bench.subscribedDevice("second", transport: gone)
        let error = #expect(throws: SyncError.self) { try second.crm.synchronize() }
        #expect(error?.code == .synchronizationCommunication && error?.message.contains("gone") == true)
    }

    @Test func `a long value that breaks in the middle goes on by range, and one that changed meanwhile comes as it is now`() throws {
        let bench = try bench()
        let text = (0..<3000).map { "line \($0)" }.joined(separator: "\n")
        try bench.change("UPDATE product SET description = ?1 WHERE id = 1", [.text(text)])
        bench.network.conditions.longestChunk = 100
        let monitor = ContentMonitor(bench.network), device = try bench.subscribedDevice(transport: monitor)
        bench.network.conditions.fault = { number, random in
            number > 4 && number % 3 != 0 ? .cutDownload(after: Int.random(in: 0...3000, using: &random)) : nil
        }
        for _ in 0..<50 { if (try? device.crm.synchronize("catalog")) != nil { break } }
        bench.network.conditions = NetworkConditions()
        func description() throws -> String? {
            try Product.findAll(in: device.crm).first { $0.id_ == 1 }.flatMap { try MobileSyncTests.text(of: $0.description_) }
        }
        #expect(try description() == text)
        #expect(monitor.ranges > 0 && monitor.received.allSatisfy { $0.value == monitor.lengths[$0.key] })
        try bench.change("UPDATE product SET description = description || '!' WHERE id = 1")
        let backEnd = bench.backEnd, isChanged = SystemLock(false)
        let changing = ContentMonitor(bench.network) { _ in
            // Contents are requested on several threads: none of them continues before the change.
            isChanged.withLock { isChanged in
                if !isChanged { _ = try? backEnd.write { try $0.execute("UPDATE product SET description = description || '?' WHERE id = 1", []) } }
                isChanged = true
            }
            return nil
        }
        let second = try bench.subscribedDevice("second", transport: changing)
        try second.crm.synchronize("catalog")
        let theirs = try Product.findAll(in: second.crm).first { $0.id_ == 1 }.flatMap { try MobileSyncTests.text(of: $0.description_) }
        #expect(theirs == text + "!?")
    }

    @Test func `a proxy that ignores ranges costs the bytes, and damages nothing`() throws {
        let bench = try bench(), monitor = ContentMonitor(bench.network) { _ in .ignoreRange }
        let device = try bench.subscribedDevice(transport: monitor)
        bench.network.conditions = .unreliable(probability: 0.5, maximumBytes: 900)
        for _ in 0..<20 { if (try? device.crm.synchronize()) != nil { break } }
        bench.network.conditions = NetworkConditions()
        try device.crm.synchronize()
        #expect(monitor.ranges > 0 && !hasFiles(device))
        #expect(try content(device) == expected(bench))
    }

    @Test func `values with the same bytes are one content, which is fetched once`() throws {
        let bench = try bench(), text = (0..<3000).map { "line \($0)" }.joined(separator: "\n")
        try bench.change("UPDATE product SET description = ?1", [.text(text)])
        let name = try SHA256.digest(of: text).hexadecimal
        // The request for the text waits for one of another content: the text is not requested once more meanwhile.
        let hasBegun = SystemLock(false), other = DispatchSemaphore(value: 0)
        let monitor = ContentMonitor(
            bench.network,
            visit: { requested in
                if requested == name {
                    hasBegun.withLock { $0 = true }
                    _ = other.wait(timeout: .now() + 5)
                } else if hasBegun.withLock({ $0 }) {
                    other.signal()
                }
            })
        let device = try bench.subscribedDevice(transport: monitor)
        try device.crm.synchronize("catalog")
        let descriptions = try Product.findAll(in: device.crm).map { try MobileSyncTests.text(of: $0.description_) }
        #expect(descriptions.count > 1 && descriptions.allSatisfy { $0 == text })
        #expect(monitor.requests == monitor.names.count && monitor.received.allSatisfy { $0.value == monitor.lengths[$0.key] })
    }

    @Test func `rows with pending changes keep them, and deleting the database removes the files`() throws {
        let bench = try bench(), device = try bench.subscribedDevice()
        try device.crm.synchronize()
        let customer = try #require(try Customer.findAll(in: device.crm).first)
        customer.city = "Mine"
        try customer.save()
        try bench.change("UPDATE customer SET city = 'Theirs', name = name || ' Ltd'")
        try device.crm.recover()
        try device.crm.synchronize()
        try customer.refresh()
        #expect(customer.city == "Mine" && customer.isPending)
        #expect(try Customer.findAll(in: device.crm).filter { $0.city == "Theirs" }.count == bench.contents.northCustomers - 1)
        let broken = try bench.subscribedDevice("broken", transport: ContentMonitor(bench.network) { $0 >= 3 ? .refuse : nil })
        #expect(throws: SyncError.self) { try broken.crm.synchronize() }
        #expect(hasFiles(broken))
        try broken.crm.deleteDatabase()
        #expect(!hasFiles(broken))
    }
}

/// A transport that counts the contents that pass, and does something to some of them.
final class ContentMonitor: Transport {
    enum Fault: Sendable {
        case refuse, damage, gone
        /// A proxy on the way sends the whole content.
        case ignoreRange
    }

    private struct State {
        var requests = 0, ranges = 0, running = 0, mostAtOnce = 0
        var names: Set<String> = []
        var received: [String: Int64] = [:]
        var lengths: [String: Int64] = [:]
        var frames = FrameReader(.download)
    }

    private let transport: any Transport
    /// Held during a request if only one passes at a time.
    private let turn: DispatchSemaphore?
    private let fault: @Sendable (_ request: Int) -> Fault?
    private let visit: @Sendable (_ name: String) -> Void
    private let state = SystemLock(State())

    /// - Parameters:
    ///   - fault: the fault of the n-th request for a content, from 0.
    ///   - visit: called with the name of each requested content.
    init(
        _ transport: any Transport, isSerial: Bool = false, fault: @escaping @Sendable (_ request: Int) -> Fault? = { _ in nil },
        visit: @escaping @Sendable (_ name: String) -> Void = { _ in }
    ) {
        (self.transport, self.fault, self.visit) = (transport, fault, visit)
        turn = isSerial ? DispatchSemaphore(value: 1) : nil
    }

    /// The requested contents.
    var names: Set<String> { state.withLock { $0.names } }
    var requests: Int { state.withLock { $0.requests } }
    /// The number of requests for the rest of a content.
    var ranges: Int { state.withLock { $0.ranges } }
    var mostAtOnce: Int { state.withLock { $0.mostAtOnce } }
    /// The bytes that arrived, by content.
    var received: [String: Int64] { state.withLock { $0.received } }
    /// The lengths that downloads announced.
    var lengths: [String: Int64] { state.withLock { $0.lengths } }

    func send(_ request: TransportRequest, receive: (RawSpan) throws -> Void) throws -> TransportResponse {
        turn?.wait()
        defer { turn?.signal() }
        var request = request
        guard let start = request.url.range(of: Endpoint.segments + "/") else { return try watch(request, receive) }
        let name = String(request.url[start.upperBound...].prefix(64)), hasRange = request.headers.contains { $0.name == "Range" }
        let number = state.withLock { state in
            defer { state.requests += 1 }
            state.ranges += hasRange ? 1 : 0
            state.running += 1
            state.mostAtOnce = max(state.mostAtOnce, state.running)
            state.names.insert(name)
            return state.requests
        }
        defer { state.withLock { $0.running -= 1 } }
        visit(name)
        let fault = fault(number)
        switch fault {
        case .refuse: throw TransportError(.cannotConnect, "refused")
        case .gone: throw TransportError(.httpStatus, "gone", status: 404)
        case .damage, nil: break
        case .ignoreRange: request.headers.removeAll { $0.name == "Range" }
        }
        return try transport.send(request) { chunk in
            let count = chunk.byteCount
            state.withLock { $0.received[name, default: 0] += Int64(count) }
            guard fault == .damage else { return try receive(chunk) }
            var bytes = chunk.withUnsafeBytes { Array($0) }
            bytes[bytes.count / 2] ^= 1
            try receive(bytes.span.bytes)
        }
    }

    /// Reads the announced lengths of the contents in a download.
    private func watch(_ request: TransportRequest, _ receive: (RawSpan) throws -> Void) throws -> TransportResponse {
        guard request.url.hasSuffix(Endpoint.synchronize) else { return try transport.send(request, receive: receive) }
        state.withLock { $0.frames = FrameReader(.download) }
        return try transport.send(request) { chunk in
            let bytes = chunk.withUnsafeBytes { Array($0) }
            try state.withLock { state in
                try state.frames.push(bytes)
                while let frame = try state.frames.next() {
                    switch frame.content {
                    case .segment(let part): state.lengths[part.content.name] = part.length
                    case .largeValue(let part): if let content = part.content { state.lengths[content.name] = part.length }
                    default: break
                    }
                }
            }
            try receive(chunk)
        }
    }
}
