internal import MobileCrypto
internal import MobileStore

extension DataVault {
    /// The kind of a stored value. SMP 2.3: `SUPDVDataTypeString`, `SUPDVDataTypeBinary`.
    public enum DataType: Sendable, Hashable {
        /// A text: read it with `string(_:)`.
        case string
        /// Bytes: read them with `value(_:)`.
        case binary
        /// A value of a kind that this version does not know, stored by another version: try `string(_:)`, then
        /// `value(_:)`.
        case unknown

        init(byte: UInt8) {
            switch byte {
            case Self.stringByte: self = .string
            case Self.binaryByte: self = .binary
            default: self = .unknown
            }
        }

        static let stringByte: UInt8 = 1
        static let binaryByte: UInt8 = 2
    }

    /// A name under which a value is stored. SMP 2.3: `SUPDVDataName`.
    public struct DataName: Sendable, Hashable {
        /// The name of the value.
        public let name: String
        /// The kind of the value.
        public let type: DataType

        /// Creates a name with the kind of its value.
        public init(name: String, type: DataType) { (self.name, self.type) = (name, type) }
    }

    /// The names in the unlocked vault, sorted, with the kinds of their values. SMP 2.3: `getDataNames`.
    /// - Throws: ``DataVaultError``: ``DataVaultError/Code/locked``, reason ``DataVaultError/Reason/ioRead``.
    public func dataNames() throws -> [DataName] {
        try unlocked(.reading) { connection, _, key in
            try self.entries(connection, key).all().map { DataName(name: $0.name, type: DataType(byte: $0.type)) }.sorted { $0.name < $1.name }
        }
    }

    /// Stores a text, in place of the name's present value. SMP 2.3: `setString:withValue:`.
    /// - Parameters:
    ///   - name: any text but an empty one.
    ///   - value: of any length; it is held in memory as a whole.
    /// - Throws: ``DataVaultError``: ``DataVaultError/Code/locked``, ``DataVaultError/Code/invalidArgument`` for an empty name, reason
    ///   ``DataVaultError/Reason/ioWrite``.
    public func setString(_ name: String, value: String) throws {
        try set(name, DataType.stringByte, Array(value.utf8))
    }

    /// The text stored under a name; nil if there is no value, or it is not text. SMP 2.3: `getString:`.
    /// - Throws: ``DataVaultError``: ``DataVaultError/Code/locked``, reason ``DataVaultError/Reason/ioRead``.
    public func string(_ name: String) throws -> String? {
        guard let bytes = try content(of: name, butNot: .binary) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Stores bytes, in place of the name's present value. SMP 2.3: `setValue:withValue:`.
    /// - Parameters:
    ///   - name: any text but an empty one.
    ///   - value: of any length; it is held in memory as a whole.
    /// - Throws: as `setString(_:value:)`.
    public func setValue(_ name: String, value: [UInt8]) throws { try set(name, DataType.binaryByte, value) }

    /// The bytes stored under a name; nil if there is no value, or it is a text. SMP 2.3: `getValue:`.
    /// - Throws: as `string(_:)`.
    public func value(_ name: String) throws -> [UInt8]? { try content(of: name, butNot: .string) }

    /// Removes the value stored under a name. SMP 2.3: `deleteValue:`.
    /// - Returns: whether there was a value.
    /// - Throws: ``DataVaultError``: ``DataVaultError/Code/locked``, reason ``DataVaultError/Reason/ioWrite``.
    @discardableResult
    public func deleteValue(_ name: String) throws -> Bool {
        try unlocked(.writing) { connection, _, key in try self.entries(connection, key).delete(name) }
    }

    /// Stores a value of a kind that this version may not know.
    func set(_ name: String, _ type: UInt8, _ value: [UInt8]) throws(DataVaultError) {
        try unlocked(.writing) { connection, _, key in
            guard !name.isEmpty else {
                throw DataVaultError(.invalidArgument, .invalidArgument, "vault \"\(self.name)\": the name of a value must not be empty")
            }
            try self.entries(connection, key).set(name, type: type, value)
        }
    }

    private func content(of name: String, butNot other: DataType) throws(DataVaultError) -> [UInt8]? {
        try unlocked(.reading) { connection, _, key in
            let entries = self.entries(connection, key)
            guard let entry = try entries.find(name), DataType(byte: entry.type) != other else { return nil }
            return try entries.value(of: entry)
        }
    }

    func entries(_ connection: Connection, _ key: SecretKey) -> VaultEntries {
        VaultEntries(connection: connection, vault: name, key: key, random: directory.environment.randomBytes)
    }
}
