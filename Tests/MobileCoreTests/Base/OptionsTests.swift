import MobileCore
import MobileSQLite
import TestSupport
import Testing

/// Options say with which version of the core their program was compiled.
@Suite struct OptionsTests {
    /// A call with options of the given size and version.
    struct Call: Sendable, CustomTestStringConvertible {
        let type: String
        let size: Int
        let open: @Sendable (_ size: Int, _ version: Int32, _ error: UnsafeMutablePointer<mc_error>) -> mc_status
        var testDescription: String { type }
    }

    private static let calls = [
        Call(type: "mc_pool_options", size: MemoryLayout<mc_pool_options>.size) { size, version, error in
            var options = mc_pool_default_options(), pool: OpaquePointer?
            (options.size, options.version) = (size, version)
            defer { mc_pool_free(pool) }
            return mc_pool_open("/nowhere/core.db", &options, &pool, error)
        },
        Call(type: "mc_checkout", size: MemoryLayout<mc_checkout>.size) { size, version, error in
            var options = mc_default_checkout(), connection: OpaquePointer?
            (options.size, options.version) = (size, version)
            guard let core = try? CorePool() else { return MC_OK }
            return mc_pool_checkout(core.pool, &options, &connection, error)
        },
        Call(type: "mc_export_options", size: MemoryLayout<mc_export_options>.size) { size, version, error in
            var options = mc_export_default_options(), rows: OpaquePointer?
            (options.size, options.version) = (size, version)
            guard let core = try? CorePool() else { return MC_OK }
            let opened = try? core.with { connection in
                try withStatement(connection, "SELECT 1") { mc_export_open(mc_statement_sqlite($0), &options, &rows, error) }
            }
            return opened ?? MC_OK
        },
        Call(type: "mc_import_options", size: MemoryLayout<mc_import_options>.size) { size, version, error in
            var options = mc_import_default_options(), made: OpaquePointer?
            (options.size, options.version) = (size, version)
            guard let core = try? CorePool() else { return MC_OK }
            let opened = try? core.with(writer: true) { mc_import_open(mc_connection_sqlite($0), &options, &made, error) }
            return opened ?? MC_OK
        },
        Call(type: "mc_rows_options", size: MemoryLayout<mc_rows_options>.size) { size, version, error in
            var options = mc_rows_default_options(), rows: OpaquePointer?
            (options.size, options.version) = (size, version)
            return mc_rows_open(&options, &rows, error)
        },
        Call(type: "mc_message_options", size: MemoryLayout<mc_message_options>.size) { size, version, error in
            var options = mc_message_default_options(), message: OpaquePointer?
            (options.size, options.version) = (size, version)
            return mc_message_read("1", 1, &options, &message, error)
        },
        Call(type: "mc_json_writer_options", size: MemoryLayout<mc_json_writer_options>.size) { size, version, error in
            var options = mc_json_writer_default_options(), writer: OpaquePointer?
            (options.size, options.version) = (size, version)
            return mc_json_writer_open(&options, &writer, error)
        },
        Call(type: "mc_zip_options", size: MemoryLayout<mc_zip_options>.size) { size, version, error in
            var options = mc_zip_default_options(), zip: OpaquePointer?
            (options.size, options.version) = (size, version)
            return mc_zip_open(&options, &zip, error)
        },
        Call(type: "mc_blob_writer_options", size: MemoryLayout<mc_blob_writer_options>.size) { size, version, error in
            var options = mc_blob_writer_default_options(), writer: OpaquePointer?
            (options.size, options.version) = (size, version)
            guard let core = try? CorePool() else { return MC_OK }
            return mc_blob_writer_open(core.pool, &options, &writer, error)
        },
        Call(type: "mc_blob_reader_options", size: MemoryLayout<mc_blob_reader_options>.size) { size, version, error in
            var options = mc_blob_reader_default_options(), reader: OpaquePointer?
            (options.size, options.version) = (size, version)
            guard let core = try? CorePool() else { return MC_OK }
            return mc_blob_reader_open(core.pool, 1, &options, &reader, error)
        },
    ]

    @Test("options of another size or version are refused, and the message says what to do", arguments: calls)
    func otherSize(call: Call) {
        let first = call.type == "mc_pool_options" ? firstPoolOptions : call.size, version = MC_VERSION_NUMBER
        for (size, number, message) in [
            (0, 0, "its size is 0 and its version 0; begin with its default options, or with MC_OPTIONS(\(call.type))"),
            (call.size, 0, "its size is \(call.size) and its version 0; begin with its default options, or with MC_OPTIONS(\(call.type))"),
            (
                first - 1, version,
                "its size is \(first - 1), this version has \(first) to \(call.size) bytes; "
                    + "begin with its default options, and change no size"
            ),
            (
                call.size + 8, version,
                "its size is \(call.size + 8), this version has \(first) to \(call.size) bytes; "
                    + "begin with its default options, and change no size"
            ),
            (
                call.size, version + 1_000_000,
                "the program was compiled with version 2.0.0 of the core, the library has version 1.0.0; "
                    + "compile and link one version"
            ),
            (
                call.size + 8, version + 2003,
                "the program was compiled with version 1.2.3 of the core, the library has version 1.0.0; "
                    + "compile and link one version"
            ),
        ] {
            var error = mc_error()
            #expect(call.open(size, number, &error) == MC_ERROR_MISUSE)
            #expect(CoreError(error).message == "\(call.type): \(message)")
        }
    }

    /// The size of pool options before fields were added to them.
    private var firstPoolOptions: Int { MemoryLayout<mc_pool_options>.offset(of: \.opened)! }

    @Test func `programs learn the versions of the core and of SQLite`() {
        #expect(String(cString: mc_version()) == MC_VERSION && mc_version_number() == MC_VERSION_NUMBER)
        let parts = MC_VERSION.split(separator: ".").compactMap { Int32($0) }
        #expect(parts.count == 3 && parts[0] * 1_000_000 + parts[1] * 1000 + parts[2] == MC_VERSION_NUMBER)
        #expect(mc_sqlite_version() == sqlite3_libversion() && mc_sqlite_version_number() == sqlite3_libversion_number())
    }
}
