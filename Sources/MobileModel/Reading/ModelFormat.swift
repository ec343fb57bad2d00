/// The keys of the model's file format, each list in the order of writing. Reader, writer and schema use these lists.
enum ModelFormat {
    static let package = [
        "$schema", "format", "name", "version", "documentation", "namePrefix", "synchronization", "pageSize", "roles", "structures",
        "personalizationKeys", "synchronizationGroups", "backEnds", "objects",
    ]
    static let structure = ["name", "documentation", "attributes"]
    static let personalizationKey = ["name", "type", "nullable", "default", "storage"]
    static let synchronizationGroup = ["name", "interval"]
    static let backEnd = ["name", "kind", "path", "idempotent"]
    static let object = [
        "name", "was", "documentation", "local", "synchronizationGroup", "dynamicQueries", "attributes", "primaryKey", "relationships",
        "synchronizationParameters", "queries", "operations", "conflicts", "binding",
    ]
    static let attribute = [
        "name", "type", "nullable", "length", "precision", "scale", "large", "generated", "searchable", "default", "values", "minimum", "maximum",
        "was", "documentation",
    ]
    static let relationship = ["name", "target", "cardinality", "composite", "inverse", "mapping", "documentation"]
    static let synchronizationParameter = ["name", "type", "nullable", "default", "personalizationKey", "userAttribute", "attribute"]
    static let parameter = ["name", "type", "nullable", "default"]
    static let query = ["name", "documentation", "parameters", "single", "sql"]
    static let operationParameter = ["name", "type", "nullable", "length", "precision", "scale", "default", "attribute"]
    static let operation = ["name", "kind", "documentation", "parameters", "statements"]
    static let binding = ["backEnd", "table", "columns", "load", "changeDetection"]
    static let changeDetection = ["versionColumn", "triggerLog"]

    /// The keys that format 1 does not have: the list they are in, and the key.
    static let keysOfFormat2 = [
        package: ["roles"], object: ["conflicts"], attribute: ["searchable", "values", "minimum", "maximum"],
        synchronizationParameter: ["userAttribute", "attribute"],
        changeDetection: ["triggerLog"],
    ]
}

extension AttributeType: CustomStringConvertible {
    /// The types that have one word and no parts.
    static let simple: [String: AttributeType] = [
        "string": .string, "binary": .binary, "boolean": .boolean, "char": .char, "byte": .byte, "short": .short, "int": .int, "long": .long,
        "integer": .integer, "decimal": .decimal, "float": .float, "double": .double, "date": .date, "time": .time, "dateTime": .dateTime,
        "bigString": .bigString, "bigBinary": .bigBinary,
    ]

    /// Reads a type as a model writes it: `string`, `string[]` for a list, `string?[]` for a list whose elements may be missing, the name of a
    /// structure. A word that is not a simple type counts as a structure's name; validation checks whether that structure exists.
    public init(modelText text: String) {
        if text.hasSuffix("?[]") {
            self = .nullableList(AttributeType(modelText: String(text.dropLast(3))))
        } else if text.hasSuffix("[]") {
            self = .list(AttributeType(modelText: String(text.dropLast(2))))
        } else {
            self = Self.simple[text] ?? .structure(text)
        }
    }

    /// The type as the model writes it.
    public var description: String {
        switch self {
        case .string: "string"
        case .binary: "binary"
        case .boolean: "boolean"
        case .char: "char"
        case .byte: "byte"
        case .short: "short"
        case .int: "int"
        case .long: "long"
        case .integer: "integer"
        case .decimal: "decimal"
        case .float: "float"
        case .double: "double"
        case .date: "date"
        case .time: "time"
        case .dateTime: "dateTime"
        case .bigString: "bigString"
        case .bigBinary: "bigBinary"
        case .structure(let name): name
        case .list(let element): "\(element)[]"
        case .nullableList(let element): "\(element)?[]"
        }
    }

    /// The same as ``description``. SMP 2.3: the name of a `SUPDataType`.
    public var name: String { description }

    /// The type of a list's elements; nil for other types.
    public var element: AttributeType? {
        switch self {
        case .list(let element), .nullableList(let element): element
        default: nil
        }
    }

    /// The range of an integer type; nil for other types.
    public var integerRange: ClosedRange<Int64>? {
        switch self {
        case .byte: Int64(Int8.min)...Int64(Int8.max)
        case .short: Int64(Int16.min)...Int64(Int16.max)
        case .int: Int64(Int32.min)...Int64(Int32.max)
        case .long, .integer: Int64.min...Int64.max
        default: nil
        }
    }

    /// Structures and lists: kept as JSON text.
    public var isComplex: Bool {
        switch self {
        case .structure, .list, .nullableList: true
        default: false
        }
    }
}
