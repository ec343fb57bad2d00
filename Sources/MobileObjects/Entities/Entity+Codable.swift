import Foundation
import MobileStore

/// The attributes of an object by their modelled names, without large ones, key of the row and state.
///
/// Numbers are numbers, decimals exactly; binaries are base64, dates and times ISO 8601 text. A `dateTime` is a `Date` and follows the
/// encoder's strategy. Structures and lists are JSON objects and arrays.
extension Entity: Encodable {
    /// Encodes the attributes by their modelled names, without large ones, surrogate key and state.
    ///
    ///     let data = try JSONEncoder().encode(customer)
    ///     print(String(decoding: data, as: UTF8.self))
    ///
    /// - Throws: ``ObjectError/Code/invalidValue`` for an attribute with a value that it cannot have, and the errors of the encoder.
    public final func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: AttributeKey.self)
        for attribute in metadata.attributes where !attribute.isLarge {
            let value = value(ofAttribute: attribute.index), key = AttributeKey(stringValue: attribute.name)
            switch value {
            case .null, .large: try container.encodeNil(forKey: key)
            case .integer(let value): try container.encode(value, forKey: key)
            case .real(let value): try container.encode(value, forKey: key)
            case .decimal(let value): try container.encode(value, forKey: key)
            case .boolean(let value): try container.encode(value, forKey: key)
            case .string(let value): try container.encode(value, forKey: key)
            case .binary(let value): try container.encode(Data(value).base64EncodedString(), forKey: key)
            case .date(let value): try container.encode(value, forKey: key)
            case .time(let value): try container.encode(value, forKey: key)
            case .dateTime(let value): try container.encode(value, forKey: key)
            case .json(let text):
                guard let node = try? JSONDecoder().decode(CodableJSON.self, from: Data(text.utf8)) else { throw badValue(value, attribute.index) }
                try container.encode(node, forKey: key)
            }
        }
    }

    /// Sets the attributes that a decoder has; the others keep their values.
    fileprivate final func take(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: AttributeKey.self)
        for attribute in metadata.attributes where !attribute.isLarge {
            let key = AttributeKey(stringValue: attribute.name)
            guard container.contains(key) else { continue }
            try setValue(container.value(of: attribute, key), ofAttribute: attribute.index)
        }
    }
}

extension ModelledEntity {
    /// Creates a new object, not in the database, with the attributes that a decoder has. The others have the model's defaults. Other names are
    /// ignored. `JSONDecoder.decode(_:from:configuration:)` calls it with the package database as configuration.
    ///
    ///     let data = Data(#"{"name": "Station Hotel", "city": "Galway", "since": "2026-11-23"}"#.utf8)
    ///     let customer = try JSONDecoder().decode(Customer.self, from: data, configuration: crm)
    ///     try customer.create()
    ///
    /// - Throws: ``ObjectError/Code/invalidValue`` for null or a number out of range, `DecodingError` for a value of another type.
    public init(from decoder: any Decoder, configuration package: Package) throws {
        self.init(context: EntityContext(package, Self.metadata))
        try take(from: decoder)
    }
}

private struct AttributeKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

extension KeyedDecodingContainer<AttributeKey> {
    fileprivate func value(of attribute: AttributeMetadata, _ key: AttributeKey) throws -> AttributeValue {
        if try decodeNil(forKey: key) { return .null }
        switch attribute.storage {
        case .integer: return .integer(try decode(Int64.self, forKey: key))
        case .boolean: return .boolean(try decode(Bool.self, forKey: key))
        case .scaledDecimal, .textDecimal: return .decimal(try decode(Decimal.self, forKey: key))
        case .real: return .real(try decode(Double.self, forKey: key))
        case .text: return .string(try decode(String.self, forKey: key))
        case .date: return .date(try decode(LocalDate.self, forKey: key))
        case .time: return .time(try decode(LocalTime.self, forKey: key))
        case .dateTime: return .dateTime(try decode(Date.self, forKey: key))
        case .large: return .null
        case .json:
            let data = try JSONEncoder().encode(decode(CodableJSON.self, forKey: key))
            return .json(String(decoding: data, as: UTF8.self))
        case .binary:
            guard let data = Data(base64Encoded: try decode(String.self, forKey: key)) else {
                throw DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: "\(attribute.name): the text is not base64")
            }
            return .binary([UInt8](data))
        }
    }
}

/// Any JSON value, for structures and lists, which are stored in the row as text.
private indirect enum CodableJSON: Codable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case decimal(Decimal)
    case real(Double)
    case string(String)
    case array([CodableJSON])
    case object([String: CodableJSON])

    init(from decoder: any Decoder) throws {
        if let container = try? decoder.container(keyedBy: AttributeKey.self) {
            self = .object(
                Dictionary(
                    uniqueKeysWithValues: try container.allKeys.map { ($0.stringValue, try container.decode(CodableJSON.self, forKey: $0)) }))
            return
        }
        if var container = try? decoder.unkeyedContainer() {
            var elements: [CodableJSON] = []
            while !container.isAtEnd { elements.append(try container.decode(CodableJSON.self)) }
            self = .array(elements)
            return
        }
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode(Double.self), let exact = try? container.decode(Decimal.self) {
            // A number with few digits is a decimal, exactly as written; one beyond a decimal's range is a double.
            self = Double(truncating: exact as NSDecimalNumber) == value ? .decimal(exact) : .real(value)
        } else {
            self = .real(try container.decode(Double.self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        switch self {
        case .object(let members):
            var container = encoder.container(keyedBy: AttributeKey.self)
            for (name, value) in members { try container.encode(value, forKey: AttributeKey(stringValue: name)) }
        case .array(let elements):
            var container = encoder.unkeyedContainer()
            for element in elements { try container.encode(element) }
        default:
            var container = encoder.singleValueContainer()
            switch self {
            case .boolean(let value): try container.encode(value)
            case .integer(let value): try container.encode(value)
            case .decimal(let value): try container.encode(value)
            case .real(let value): try container.encode(value)
            case .string(let value): try container.encode(value)
            default: try container.encodeNil()
            }
        }
    }
}
