internal import MobileStore

extension RhomModel {
    /// Returns the object with an id as a value of a type; nil if there is none. Its properties are named like the attributes, and one named `object` gets the
    /// id: texts, numbers, booleans (`true`, `false`, `1`, `0`) and optionals of them, and anything else that is stored as its raw value.
    /// - Throws: ``RhoConnectErrorCode/runtime``; the message names the attribute that is missing or does not fit.
    public func find<Object: Decodable>(_ object: String, as type: Object.Type = Object.self) throws(RhoConnectError) -> Object? {
        guard let found = try find(object) else { return nil }
        return try RhomCoding.decode(type, found, of: name)
    }

    /// Returns the objects of a query as values of a type; see ``find(_:as:)``.
    /// - Throws: as ``find(_:as:)``.
    public func findAll<Object: Decodable>(_ query: RhomQuery = RhomQuery(), as type: Object.Type) throws(RhoConnectError) -> [Object] {
        var objects: [Object] = []
        for found in try findAll(query) { objects.append(try RhomCoding.decode(type, found, of: name)) }
        return objects
    }

    /// Makes an object of a value's properties; see `create` of an object. Properties that are nil are left out.
    /// - Throws: ``RhoConnectErrorCode/runtime``; a property that is not a text, number or boolean is an error.
    @discardableResult
    public func create(_ object: some Encodable) throws(RhoConnectError) -> String { try create(RhomCoding.encode(object, of: name)) }

    /// Writes the changed properties of a value, whose property `object` is the id; see `save` of an object.
    /// - Throws: as ``create(_:)-(Encodable)``.
    public func save(_ object: some Encodable) throws(RhoConnectError) { try save(RhomCoding.encode(object, of: name)) }
}

/// Conversion between objects and Swift values.
enum RhomCoding {
    static func decode<Object: Decodable>(_ type: Object.Type, _ object: RhomObject, of model: String) throws(RhoConnectError) -> Object {
        do { return try Object(from: ObjectDecoder(object: object)) } catch {
            throw RhoConnectError(
                .runtime, "object \"\(object["object"] ?? "")\" of \"\(model)\" as \(type): \(description(of: error))", cause: error)
        }
    }

    static func encode(_ object: some Encodable, of model: String) throws(RhoConnectError) -> RhomObject {
        let encoder = ObjectEncoder()
        do { try object.encode(to: encoder) } catch {
            throw RhoConnectError(.runtime, "\(type(of: object)) as an object of \"\(model)\": \(description(of: error))", cause: error)
        }
        return encoder.storage.object
    }

    private static func description(of error: any Error) -> String {
        switch error {
        case DecodingError.keyNotFound(let key, _): "the attribute \"\(key.stringValue)\" is missing"
        case DecodingError.typeMismatch(_, let context), DecodingError.dataCorrupted(let context), DecodingError.valueNotFound(_, let context):
            "attribute \"\(context.codingPath.last?.stringValue ?? "")\": \(context.debugDescription)"
        case EncodingError.invalidValue(_, let context): "attribute \"\(context.codingPath.last?.stringValue ?? "")\": \(context.debugDescription)"
        default: "\(error)"
        }
    }
}

/// Decodes the properties of one object.
private struct ObjectDecoder: Decoder {
    let object: RhomObject
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(Properties<Key>(object: object))
    }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw mismatch }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw mismatch }
    private var mismatch: DecodingError {
        .typeMismatch(RhomObject.self, .init(codingPath: [], debugDescription: "an object has properties, and is not a list or a single value"))
    }

    private struct Properties<Key: CodingKey>: KeyedDecodingContainerProtocol {
        let object: RhomObject
        var codingPath: [any CodingKey] { [] }
        var allKeys: [Key] { object.keys.compactMap { Key(stringValue: $0) } }

        func contains(_ key: Key) -> Bool { object[key.stringValue] != nil }
        func decodeNil(forKey key: Key) -> Bool { object[key.stringValue] == nil }
        func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
            guard let text = object[key.stringValue] else {
                throw DecodingError.keyNotFound(key, .init(codingPath: [key], debugDescription: "missing"))
            }
            return try T(from: TextDecoder(text: text, codingPath: [key]))
        }
        func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) throws -> KeyedDecodingContainer<Nested> {
            throw nested(key)
        }
        func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw nested(key) }
        func superDecoder() throws -> any Decoder { ObjectDecoder(object: object) }
        func superDecoder(forKey key: Key) throws -> any Decoder { ObjectDecoder(object: object) }
        private func nested(_ key: Key) -> DecodingError {
            .typeMismatch(RhomObject.self, .init(codingPath: [key], debugDescription: "an attribute is a text, not a list or an object"))
        }
    }
}

/// Decodes one text.
private struct TextDecoder: Decoder, SingleValueDecodingContainer {
    let text: String
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> { throw mismatch("an object") }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw mismatch("a list") }
    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { false }
    func decode(_ type: String.Type) -> String { text }
    func decode(_ type: Bool.Type) throws -> Bool {
        switch text {
        case "true", "1": true
        case "false", "0": false
        default: throw mismatch("true or false")
        }
    }
    func decode(_ type: Double.Type) throws -> Double { try number() }
    func decode(_ type: Float.Type) throws -> Float { try number() }
    func decode(_ type: Int.Type) throws -> Int { try number() }
    func decode(_ type: Int8.Type) throws -> Int8 { try number() }
    func decode(_ type: Int16.Type) throws -> Int16 { try number() }
    func decode(_ type: Int32.Type) throws -> Int32 { try number() }
    func decode(_ type: Int64.Type) throws -> Int64 { try number() }
    func decode(_ type: UInt.Type) throws -> UInt { try number() }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try number() }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try number() }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try number() }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try number() }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try T(from: self) }

    private func number<Number: LosslessStringConvertible>() throws -> Number {
        guard let number = Number(text) else { throw mismatch("a number of type \(Number.self)") }
        return number
    }
    private func mismatch(_ expected: String) -> DecodingError {
        .typeMismatch(String.self, .init(codingPath: codingPath, debugDescription: "expected \(expected), found \"\(text.prefix(80))\""))
    }
}

/// The attributes that an encoder has collected.
private final class ObjectStorage {
    var object: RhomObject = [:]
}

/// Encodes the properties of one value.
private struct ObjectEncoder: Encoder {
    let storage = ObjectStorage()
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(Properties<Key>(storage: storage))
    }
    func unkeyedContainer() -> any UnkeyedEncodingContainer { RefusedContainer(codingPath: []) }
    func singleValueContainer() -> any SingleValueEncodingContainer { RefusedContainer(codingPath: []) }

    private struct Properties<Key: CodingKey>: KeyedEncodingContainerProtocol {
        let storage: ObjectStorage
        var codingPath: [any CodingKey] { [] }

        mutating func encodeNil(forKey key: Key) {}
        mutating func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
            try value.encode(to: TextEncoder(storage: storage, key: key))
        }
        mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) -> KeyedEncodingContainer<Nested> {
            KeyedEncodingContainer(RefusedProperties<Nested>(codingPath: [key]))
        }
        mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { RefusedContainer(codingPath: [key]) }
        mutating func superEncoder() -> any Encoder { ObjectEncoder() }
        mutating func superEncoder(forKey key: Key) -> any Encoder { ObjectEncoder() }
    }
}

/// Encodes one value as a text.
private struct TextEncoder: Encoder, SingleValueEncodingContainer {
    let storage: ObjectStorage
    let key: any CodingKey
    var codingPath: [any CodingKey] { [key] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(RefusedProperties<Key>(codingPath: codingPath))
    }
    func unkeyedContainer() -> any UnkeyedEncodingContainer { RefusedContainer(codingPath: codingPath) }
    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func encodeNil() {}
    func encode<T: Encodable>(_ value: T) throws {
        switch value {
        case let text as String: storage.object[key.stringValue] = text
        case let number as any LosslessStringConvertible: storage.object[key.stringValue] = number.description
        default: try value.encode(to: self)
        }
    }
}

/// Refuses what an attribute cannot hold, when the first value comes.
private struct RefusedContainer: UnkeyedEncodingContainer, SingleValueEncodingContainer {
    let codingPath: [any CodingKey]
    var count: Int { 0 }

    func encodeNil() throws { throw refusal }
    func encode<T: Encodable>(_ value: T) throws { throw refusal }
    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        KeyedEncodingContainer(RefusedProperties<Nested>(codingPath: codingPath))
    }
    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }
    func superEncoder() -> any Encoder { ObjectEncoder() }

    private var refusal: EncodingError {
        .invalidValue("", .init(codingPath: codingPath, debugDescription: "an attribute is a text, a number or a boolean"))
    }
}

/// Refuses the properties of a nested object.
private struct RefusedProperties<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let codingPath: [any CodingKey]

    mutating func encodeNil(forKey key: Key) throws { try RefusedContainer(codingPath: codingPath).encodeNil() }
    mutating func encode<T: Encodable>(_ value: T, forKey key: Key) throws { try RefusedContainer(codingPath: codingPath).encode(value) }
    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) -> KeyedEncodingContainer<Nested> {
        KeyedEncodingContainer(RefusedProperties<Nested>(codingPath: codingPath))
    }
    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { RefusedContainer(codingPath: codingPath) }
    mutating func superEncoder() -> any Encoder { ObjectEncoder() }
    mutating func superEncoder(forKey key: Key) -> any Encoder { ObjectEncoder() }
}
