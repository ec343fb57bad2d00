import CMobileTransport
import Foundation
import MobileCore
import MobileCrypto
import MobileExecution
import MobileProtocol
import MobileServer
import TestSupport
import Testing

/// A large value is downloaded from a real server and uploaded to it, between socket and table, without Swift or a file in between: the
/// core's writer and reader are directly the sink and source of the transport.
@Suite struct LargeValueStreamTests {
    private static let length = 12_000_000

    @Test("BIG-01: a value streams from the network into the database and back, in memory for a piece")
    func roundTrip() throws {
        let received = SystemLock("")
        let server = try LoopbackServer { request in
            guard request.method == "GET" else {
                received.withLock { $0 = (try? Self.digest(of: request)) ?? "unreadable" }
                return ServerResponse(status: 200)
            }
            var sent = 0
            return ServerResponse(
                status: 200,
                body: .stream {
                    let size = min(50_001, Self.length - sent)
                    guard size > 0 else { return nil }
                    defer { sent += size }
                    return patternBytes(size, from: sent)
                })
        }
        defer { server.http.stop() }
        let store = try BlobFile()
        let writer = try store.openWriter()
        defer { mc_blob_writer_free(writer) }
        try perform("GET", server, context: UnsafeMutableRawPointer(writer)) { request in
            request.write = { mc_blob_writer_sink($0!, $1, $2) }
        }
        #expect(mc_blob_writer_failure(writer).pointee.code == MC_OK && mc_blob_writer_bytes(writer) == Int64(Self.length))
        var value: Int64 = 0
        #expect(mc_blob_writer_finish(writer, &value, nil) == MC_OK)
        defer { mc_blob_unpin(store.pool, value) }

        var reader: OpaquePointer?
        #expect(mc_blob_reader_open(store.pool, value, nil, &reader, nil) == MC_OK)
        defer { mc_blob_reader_free(reader) }
        try perform("POST", server, context: UnsafeMutableRawPointer(reader!)) { request in
            request.length = mc_blob_reader_description(reader!).bytes
            request.read = { mc_blob_reader_source($0!, $1, $2) }
            request.write = { _, _, _ in true }
        }
        #expect(mc_blob_reader_failure(reader!).pointee.code == MC_OK)
        let expected = try StreamDigest()
        try expected.add(patternBytes(Self.length).span.bytes)
        #expect(try received.withLock { $0 } == expected.finish())
    }

    @Test func `what a value cannot take ends the request, and the reason is kept`() throws {
        let server = try LoopbackServer { _ in ServerResponse(status: 200, body: .bytes(Array("plain text \u{FF}".utf8) + [0xFF])) }
        defer { server.http.stop() }
        let store = try BlobFile()
        let writer = try store.openWriter(MC_BLOB_SCALARS)
        defer { mc_blob_writer_free(writer) }
        let error = #expect(throws: TransportFailure.self) {
            try perform("GET", server, context: UnsafeMutableRawPointer(writer)) { request in
                request.write = { mc_blob_writer_sink($0!, $1, $2) }
            }
        }
        #expect(error?.code == CT_ERROR_SINK)
        #expect(mc_blob_writer_failure(writer).pointee.code == MC_ERROR_TYPE && mc_blob_writer_failure(writer).pointee.byte_offset == 13)
    }

    @Test func `a value that cannot be read on ends the request, and the reason is kept`() throws {
        let server = try LoopbackServer { _ in ServerResponse(status: 200) }
        defer { server.http.stop() }
        let store = try BlobFile()
        let writer = try store.openWriter()
        defer { mc_blob_writer_free(writer) }
        let bytes = [UInt8](repeating: 1, count: 600_000)
        var value: Int64 = 0
        #expect(mc_blob_writer_write(writer, bytes, bytes.count, nil) == MC_OK && mc_blob_writer_finish(writer, &value, nil) == MC_OK)
        defer { mc_blob_unpin(store.pool, value) }
        try store.execute("DELETE FROM _mc_chunk WHERE id = (SELECT max(id) FROM _mc_chunk)")
        var reader: OpaquePointer?
        #expect(mc_blob_reader_open(store.pool, value, nil, &reader, nil) == MC_OK)
        defer { mc_blob_reader_free(reader) }
        let error = #expect(throws: TransportFailure.self) {
            try perform("POST", server, context: UnsafeMutableRawPointer(reader!)) { request in
                request.length = 600_000
                request.read = { mc_blob_reader_source($0!, $1, $2) }
                request.write = { _, _, _ in true }
            }
        }
        #expect(error?.code == CT_ERROR_SOURCE)
        #expect(mc_blob_reader_failure(reader!).pointee.code == MC_ERROR_CORRUPT)
    }

    private struct TransportFailure: Error { let code: ct_status }

    private func perform(
        _ method: String, _ server: LoopbackServer, context: UnsafeMutableRawPointer, _ change: (inout ct_request) -> Void
    ) throws {
        var options = ct_options()
        options.maximum_connections = 1
        var client: OpaquePointer?
        var failure = ct_error()
        guard ct_client_create(&options, &client, &failure) == CT_OK else { throw TransportFailure(code: failure.code) }
        defer { ct_client_free(client) }
        let status = method.withCString { method in
            "http://127.0.0.1:\(server.http.port)/value".withCString { url in
                var request = ct_request(
                    method: method, url: url, header_lines: nil, header_count: 0, context: context, read: nil, rewind: nil, length: -1,
                    short_body: nil, sent_once: false,
                    begin: { _, _ in }, field: { _, _, _, _, _ in }, write: { _, _, _ in false }, connect_milliseconds: 0, stall_milliseconds: 0,
                    total_milliseconds: 0)
                change(&request)
                var summary = ct_summary()
                return ct_client_perform(client!, &request, &summary, &failure)
            }
        }
        if status != CT_OK { throw TransportFailure(code: status) }
    }

    private static func digest(of request: ServerRequest) throws -> String {
        let digest = try StreamDigest()
        while let chunk = try request.body.nextChunk() { try digest.add(chunk.span.bytes) }
        return try digest.finish()
    }
}

/// A database file for large values, in its own directory.
private final class BlobFile {
    let pool: OpaquePointer
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        var options = mc_pool_default_options()
        var pool: OpaquePointer?
        #expect(mc_pool_open(directory.file("values.db"), &options, &pool, nil) == MC_OK)
        self.pool = try #require(pool)
        try onWriter { mc_blob_prepare($0, nil) }
    }

    deinit { mc_pool_free(pool) }

    func openWriter(_ unit: mc_blob_unit = MC_BLOB_BYTES) throws -> OpaquePointer {
        var options = mc_blob_writer_options(
            size: MemoryLayout<mc_blob_writer_options>.size, version: MC_VERSION_NUMBER, unit: unit, length: -1, chunk_size: 0,
            timeout_ns: Int64(MC_WAIT_FOREVER))
        var writer: OpaquePointer?
        #expect(mc_blob_writer_open(pool, &options, &writer, nil) == MC_OK)
        return try #require(writer)
    }

    func execute(_ sql: String) throws { try onWriter { mc_connection_exec($0, sql, sql.utf8.count, nil, nil) } }

    private func onWriter(_ body: (OpaquePointer) -> mc_status) throws {
        var checkout = mc_checkout(
            size: MemoryLayout<mc_checkout>.size, version: MC_VERSION_NUMBER, writer: true, is_long: false, loose: false,
            timeout_ns: Int64(MC_WAIT_FOREVER), label: nil, ticket: nil)
        var connection: OpaquePointer?
        #expect(mc_pool_checkout(pool, &checkout, &connection, nil) == MC_OK)
        #expect(body(try #require(connection)) == MC_OK)
        mc_pool_return(pool, connection!)
    }
}
