import FaultInjection
import Foundation
import MobileCore
import TestSupport
import Testing

/// Failures while archives are written and read: every allocation, every call of a source and of a sink.
@Suite(.serialized) struct ZipFaultTests {
    private static let entries: [(name: String, content: [UInt8])] = [
        ("first.data", Array(String(repeating: "harbour lamp ", count: 8000).utf8)), ("empty", []),
        ("second.data", (0..<70_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 3) }),
    ]

    /// Bytes in memory as the source or the sink of the core, which fails at one of its calls.
    private final class Bytes {
        var content: [UInt8] = []
        var calls = 0
        /// The call that fails, from 0; nil for none.
        var failing: Int?

        init(_ content: [UInt8] = [], failing: Int? = nil) { (self.content, self.failing) = (content, failing) }

        var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

        private func fails(_ error: UnsafeMutablePointer<mc_error>?) -> Bool {
            defer { calls += 1 }
            guard calls == failing else { return false }
            error?.pointee = mc_error()
            error?.pointee.code = MC_ERROR_IO
            return true
        }

        static func of(_ context: UnsafeMutableRawPointer?) -> Bytes { Unmanaged<Bytes>.fromOpaque(context!).takeUnretainedValue() }

        static let sink: mc_zip_sink = { context, bytes, length, error in
            let target = Bytes.of(context)
            if target.fails(error) { return MC_ERROR_IO }
            target.content += UnsafeRawBufferPointer(start: bytes, count: length)
            return MC_OK
        }

        static let source: mc_zip_source = { context, offset, buffer, length, error in
            let source = Bytes.of(context)
            if source.fails(error) { return MC_ERROR_IO }
            source.content.withUnsafeBytes { buffer.copyMemory(from: $0.baseAddress! + Int(offset), byteCount: length) }
            return MC_OK
        }
    }

    /// Writes the archive to `target`.
    private func write(to target: Bytes) throws(CoreError) {
        var writer: OpaquePointer?
        defer { mc_zip_writer_free(writer) }
        try CoreError.check { mc_zip_writer_open(Bytes.sink, target.context, &writer, $0) }
        for entry in Self.entries {
            try CoreError.check { mc_zip_writer_begin(writer!, entry.name, entry.name.utf8.count, $0) }
            for start in stride(from: 0, to: entry.content.count, by: 30_000) {
                let piece = Array(entry.content[start..<min(start + 30_000, entry.content.count)])
                try CoreError.check { mc_zip_writer_push(writer!, piece, piece.count, $0) }
            }
            try CoreError.check { mc_zip_writer_end(writer!, $0) }
        }
        try CoreError.check { mc_zip_writer_finish(writer!, $0) }
    }

    /// Reads all entries of the archive in `source`.
    private func read(from source: Bytes, into target: Bytes) throws(CoreError) {
        var zip: OpaquePointer?
        defer { mc_zip_free(zip) }
        var options = mc_zip_options(
            read: Bytes.source, context: source.context, length: UInt64(source.content.count), entry_maximum: 0, ratio_maximum: 0)
        try CoreError.check { mc_zip_open(&options, &zip, $0) }
        for index in 0..<mc_zip_entry_count(zip!) {
            try CoreError.check { mc_zip_extract(zip!, index, Bytes.sink, target.context, $0) }
        }
    }

    private var contents: [UInt8] { Self.entries.flatMap(\.content) }

    @Test func `a writer lets go of everything when an allocation fails`() throws {
        let lost = try leftOver {
            try failEachAllocation { () throws(CoreError) in
                let target = Bytes()
                try write(to: target)
                return target.content
            }
        }
        #expect(lost == 0)
    }

    @Test func `a reader lets go of everything when an allocation fails`() throws {
        let archive = Bytes()
        try write(to: archive)
        let bytes = archive.content
        let lost = try leftOver {
            try failEachAllocation { () throws(CoreError) in
                let target = Bytes()
                try read(from: Bytes(bytes), into: target)
                #expect(target.content == contents)
                return target.content
            }
        }
        #expect(lost == 0)
    }

    @Test func `a sink that fails ends the writer with its error, and nothing is lost`() throws {
        let whole = Bytes()
        try write(to: whole)
        let lost = leftOver {
            for call in 0..<whole.calls {
                let target = Bytes(failing: call)
                let error = #expect(throws: CoreError.self) { try write(to: target) }
                #expect(error?.code == MC_ERROR_IO, "call \(call)")
                #expect(whole.content.starts(with: target.content))
            }
        }
        #expect(lost == 0 && whole.calls > 3)
    }

    @Test func `a source or a sink that fails ends the reader with its error, and nothing is lost`() throws {
        let archive = Bytes()
        try write(to: archive)
        let source = Bytes(archive.content), target = Bytes()
        try read(from: source, into: target)
        let lost = leftOver {
            for call in 0..<source.calls {
                let error = #expect(throws: CoreError.self) { try read(from: Bytes(archive.content, failing: call), into: Bytes()) }
                #expect(error?.code == MC_ERROR_IO, "call \(call) of the source")
            }
            for call in 0..<target.calls {
                let part = Bytes(failing: call)
                let error = #expect(throws: CoreError.self) { try read(from: Bytes(archive.content), into: part) }
                #expect(error?.code == MC_ERROR_IO, "call \(call) of the sink")
                #expect(contents.starts(with: part.content))
            }
        }
        #expect(lost == 0 && source.calls > 3 && target.calls > 3)
    }
}
