public import MobileStore

/// A value with one JSON form, the same on both ends.
///
/// Reading skips unknown members, so that one end can send more than the other understands. A member that is missing, has another type or
/// is out of its range is reported as ``ProtocolError/Code/invalidContent``.
public protocol WireValue: Sendable {
    /// Reads the value.
    init(json: JSONValue) throws(ProtocolError)
    /// The value as JSON.
    var json: JSONValue { get }
}

extension WireValue {
    /// Reads the value from JSON text.
    /// - Throws: ``ProtocolError/Code/invalidJSON`` with the offset in `bytes`, and the errors of ``init(json:)``.
    public init(parsing bytes: [UInt8]) throws(ProtocolError) {
        try self.init(json: JSONValue(wire: bytes))
    }

    /// The value as compact JSON text in UTF-8.
    public var bytes: [UInt8] { json.bytes }
}

extension JSONValue {
    /// Reads JSON from the other end.
    init(wire bytes: [UInt8]) throws(ProtocolError) {
        do {
            self = try JSONValue(parsing: bytes)
        } catch {
            throw ProtocolError(.invalidJSON, error.message, byteOffset: error.byteOffset, cause: error)
        }
    }

    /// The value's kind in error messages.
    var kindName: String {
        switch self {
        case .null: "null"
        case .boolean: "a boolean"
        case .integer: "an integer"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

/// The members of one JSON object from the other end, with its name in errors.
struct WireMembers {
    let object: JSONObject
    let name: String

    init(_ json: JSONValue, _ name: String) throws(ProtocolError) {
        guard let object = json.object else {
            throw ProtocolError(.invalidContent, "\(name): expected an object, found \(json.kindName)")
        }
        self.object = object
        self.name = name
    }

    func string(_ key: String) throws(ProtocolError) -> String {
        let value = try value(key, "a string")
        guard let string = value.string else { throw unexpected(key, "a string", value) }
        return string
    }

    func optionalString(_ key: String) throws(ProtocolError) -> String? {
        isAbsent(key) ? nil : try string(key)
    }

    /// - Parameter range: the valid values.
    func integer(_ key: String, in range: ClosedRange<Int64> = .min ... .max) throws(ProtocolError) -> Int64 {
        let value = try value(key, "an integer")
        guard let integer = value.integer else { throw unexpected(key, "an integer", value) }
        guard range.contains(integer) else {
            throw ProtocolError(
                .invalidContent, "\(name), member \"\(key)\": \(integer) is not between \(range.lowerBound) and \(range.upperBound)")
        }
        return integer
    }

    func optionalInteger(_ key: String, in range: ClosedRange<Int64> = .min ... .max) throws(ProtocolError) -> Int64? {
        isAbsent(key) ? nil : try integer(key, in: range)
    }

    func optionalBoolean(_ key: String) throws(ProtocolError) -> Bool? {
        guard !isAbsent(key) else { return nil }
        let value = try value(key, "a boolean")
        guard case .boolean(let boolean) = value else { throw unexpected(key, "a boolean", value) }
        return boolean
    }

    func array(_ key: String) throws(ProtocolError) -> [JSONValue] {
        let value = try value(key, "an array")
        guard let array = value.array else { throw unexpected(key, "an array", value) }
        return array
    }

    func strings(_ key: String) throws(ProtocolError) -> [String] {
        var strings: [String] = []
        for value in try array(key) {
            guard let string = value.string else { throw unexpected(key, "an array of strings", value) }
            strings.append(string)
        }
        return strings
    }

    /// The members of an object; empty if the member is absent or null.
    func members(_ key: String) throws(ProtocolError) -> JSONObject {
        guard !isAbsent(key) else { return JSONObject() }
        let value = try value(key, "an object")
        guard let object = value.object else { throw unexpected(key, "an object", value) }
        return object
    }

    /// The members of an object; nil if the member is absent or null.
    func optionalMembers(_ key: String) throws(ProtocolError) -> JSONObject? { isAbsent(key) ? nil : try members(key) }

    /// A string that names a case of an enumeration.
    func choice<Choice: RawRepresentable & CaseIterable>(_ key: String, of: Choice.Type) throws(ProtocolError) -> Choice
    where Choice.RawValue == String {
        let name = try string(key)
        guard let choice = Choice(rawValue: name) else {
            let names = Choice.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
            throw ProtocolError(.invalidContent, "\(self.name), member \"\(key)\": \"\(name.prefix(80))\" is none of \(names)")
        }
        return choice
    }

    func isAbsent(_ key: String) -> Bool { object[key] == nil || object[key] == .null }

    func value(_ key: String, _ expected: String) throws(ProtocolError) -> JSONValue {
        guard let value = object[key] else {
            throw ProtocolError(.invalidContent, "\(name), member \"\(key)\": expected \(expected), it is missing")
        }
        return value
    }

    func unexpected(_ key: String, _ expected: String, _ found: JSONValue) -> ProtocolError {
        ProtocolError(.invalidContent, "\(name), member \"\(key)\": expected \(expected), found \(found.kindName)")
    }
}

extension JSONObject {
    /// Sets a member unless its value is nil: on the wire, absent and null are equal for an optional member.
    mutating func set(_ key: String, _ value: String?) { if let value { self[key] = .string(value) } }
    mutating func set(_ key: String, _ value: Int64?) { if let value { self[key] = .integer(value) } }
    mutating func set(_ key: String, _ value: JSONObject) { if !value.isEmpty { self[key] = .object(value) } }
}
