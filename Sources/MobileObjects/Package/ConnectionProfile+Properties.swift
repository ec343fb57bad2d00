import Foundation
public import MobileStore

/// The settings of a connection profile under their documented names, for code that reads them from a file or was ported from the original.
extension ConnectionProfile {
    /// The database file by name or path. A name, such as `mydb.db`, is a file in the application's documents directory, which must
    /// exist. A path may lead anywhere, also to another volume. Set it before the database is created. SMP 2.3: `databaseFile`.
    public var databaseFile: String {
        get { path }
        set { path = newValue.contains("/") ? newValue : Self.documentsDirectory.appending(path: newValue).path }
    }

    private static var documentsDirectory: URL {
        FileManager.default.urls(for: .documentDirectory, in: .userDomainMask).first ?? URL(filePath: ".", directoryHint: .isDirectory)
    }

    /// Sets a property that is a text, or is written as text. SMP 2.3: `setString`.
    /// - Parameter property: `databaseFile`, or a number: `pageSize` and `cacheSize` in bytes, `maxDbConnections`.
    /// - Throws: ``ObjectError/Code/misuse`` for an unknown property or a value that is not valid; nothing is changed then.
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
    /// - Parameter property: `allowConcurrentWrite`. It has no effect, because several threads may always write here, one after the other.
    /// - Throws: ``ObjectError/Code/misuse`` for an unknown property; nothing is changed then.
    public mutating func setBoolean(_ value: Bool, forProperty property: String) throws {
        switch property {
        case "allowConcurrentWrite": break
        case "databaseFile", "pageSize", "cacheSize", "maxDbConnections":
            throw ObjectError(.misuse, "connection profile: \(property) is not a Boolean; use setString")
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
