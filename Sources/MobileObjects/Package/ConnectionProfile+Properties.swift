import Foundation
public import MobileStore

/// The settings of a connection profile under their documented names, for code that reads them from a file or comes from the original.
extension ConnectionProfile {
    /// The database file by name or path. Set to a name, such as `mydb.db`, it lies in the application's documents directory, which must be
    /// there; a path may lead anywhere, also to another volume. Set it before the database is created. SMP 2.3: `databaseFile`.
    public var databaseFile: String {
        get { path }
        set { path = newValue.contains("/") ? newValue : Self.documentsDirectory.appending(path: newValue).path }
    }

    private static var documentsDirectory: URL {
        FileManager.default.urls(for: .documentDirectory, in: .userDomainMask).first ?? URL(filePath: ".", directoryHint: .isDirectory)
    }

    /// Sets a property that is a text, or is written as one. SMP 2.3: `setString`.
    /// - Parameter property: `databaseFile`, or a number: `pageSize` and `cacheSize` in bytes, `maxDbConnections`.
    /// - Throws: ``ObjectError/Code/misuse`` for a property that there is not, or a value that it cannot have; nothing is changed then.
    public mutating func setString(_ value: String, forProperty property: String) throws {
        switch property {
        case "databaseFile":
            guard !value.isEmpty else { throw ObjectError(.misuse, "connection profile: databaseFile is empty") }
            databaseFile = value
        case "pageSize", "cacheSize", "maxDbConnections":
            guard let number = Int(value) else {
                throw ObjectError(.misuse, "connection profile: \(property) \"\(value.prefix(80))\": expected a number")
            }
            switch property {
            case "pageSize": pageSize = number
            case "cacheSize": cacheSize = .bytes(number)
            default: maxConnections = number
            }
        case "allowConcurrentWrite": throw ObjectError(.misuse, "connection profile: \(property) is a Boolean; use setBoolean")
        default: throw Self.unknown(property)
        }
    }

    /// Sets a property that is true or false. SMP 2.3: `setBoolean`.
    /// - Parameter property: `allowConcurrentWrite`: several threads may write at any time here, they take turns, so both values do the same.
    /// - Throws: ``ObjectError/Code/misuse`` for a property that there is not; nothing is changed then.
    public mutating func setBoolean(_ value: Bool, forProperty property: String) throws {
        switch property {
        case "allowConcurrentWrite": break
        case "databaseFile", "pageSize", "cacheSize", "maxDbConnections":
            throw ObjectError(.misuse, "connection profile: \(property) is no Boolean; use setString")
        default: throw Self.unknown(property)
        }
    }

    private static func unknown(_ property: String) -> ObjectError {
        ObjectError(
            .misuse,
            "connection profile: there is no property \"\(property.prefix(80))\"; there are databaseFile, pageSize, cacheSize, maxDbConnections "
                + "and allowConcurrentWrite")
    }
}
