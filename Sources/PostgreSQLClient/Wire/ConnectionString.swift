internal import MobilePostgreSQL

/// The settings of a connection string or URI.
enum ConnectionString {
    /// Reads a string like `host=db1 dbname=crm` or `postgresql://db1/crm`.
    /// - Throws: `.misuse`. Its message repeats no part of the string, which may contain a password.
    static func parse(_ text: String) throws(PostgreSQLError) -> [(key: String, value: String)] {
        var message: UnsafeMutablePointer<CChar>?
        guard let options = unsafe PQconninfoParse(text, &message) else {
            let reason = unsafe message.map { unsafe String(cString: $0) } ?? "no memory"
            unsafe PQfreemem(message)
            // The parts in quotation marks are of the string.
            let known = reason.oneLine.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
            let safe = known.map { $0.offset % 2 == 0 ? String($0.element) : "\"...\"" }.joined()
            throw PostgreSQLError(.misuse, "a connection string cannot be read: \(safe)")
        }
        defer { unsafe PQconninfoFree(options) }
        var settings: [(key: String, value: String)] = [], option = unsafe options
        while let key = unsafe option.pointee.keyword {
            if let value = unsafe option.pointee.val { unsafe settings.append((String(cString: key), String(cString: value))) }
            unsafe option += 1
        }
        return settings
    }
}

/// Texts as a C array of C strings that ends with NULL.
@safe final class CStrings {
    private let owned: [UnsafeMutableBufferPointer<CChar>]
    private let array: UnsafeMutablePointer<UnsafePointer<CChar>?>

    init(_ texts: [String]) {
        unsafe owned = texts.map { text in
            let copy = UnsafeMutableBufferPointer<CChar>.allocate(capacity: text.utf8.count + 1)
            _ = unsafe copy.initialize(fromContentsOf: text.utf8CString)
            return unsafe copy
        }
        unsafe array = .allocate(capacity: texts.count + 1)
        for index in texts.indices { unsafe (array + index).initialize(to: UnsafePointer(owned[index].baseAddress)) }
        unsafe (array + texts.count).initialize(to: nil)
    }

    deinit {
        for index in unsafe owned.indices { unsafe owned[index].deallocate() }
        unsafe array.deallocate()
    }

    /// The array, as long as this object lives.
    var pointers: UnsafePointer<UnsafePointer<CChar>?> { unsafe UnsafePointer(array) }
}

extension PostgreSQLError {
    /// The failure of a connection that was not made. The server's SQLSTATE is between severity and text: `FATAL:  28P01: password ...`.
    init(connecting message: String, needsPassword: Bool) {
        let state = message.firstMatch(of: #/:  ([0-9A-Z]{5}): /#).map { String($0.1) }
        let code = state.map(SQLState.code) ?? .connectionFailed
        let text = message.replacing(#/:  [0-9A-Z]{5}: /#, with: ": ").replacing(#/ LOCATION: .*$/#, with: "")
        switch code {
        case .authentication, .undefinedObject, .outOfResources, .shuttingDown, .permission: self.init(code, text, sqlState: state)
        default: self.init(needsPassword ? .authentication : .connectionFailed, text, sqlState: state)
        }
    }
}
