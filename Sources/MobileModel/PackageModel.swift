/// The model of one package, from which generator, runtime and server work. ``PackageModel/init(contentsOf:)`` reads it from a `*.mbo.json`
/// file and accepts valid models only, so users of such a model need not check that names resolve.
public struct PackageModel: Sendable, Equatable {
    /// The latest version of the file format. This release reads all versions, and writes the earliest one that has every member of the model.
    public static let currentFormat = 2

    /// The package's name, such as `CRM`; also the name of its generated database class.
    public var name: String
    /// The package's version, such as `1.0`. Client and server address a package by name, colon, version.
    public var version: String
    /// A description for people; nil if the model has none.
    public var documentation: String?
    /// The prefix of every generated class name; empty by default.
    public var namePrefix: String
    /// The way data travels. Default ``Synchronization/replication``.
    public var synchronization: Synchronization
    /// Page size in bytes that the length rules use; a power of two from 1024 to 65536, default 4096.
    public var pageSize: Int
    /// The roles whose users may use the package; empty, which is the default, for all users. The server knows which roles a user has. Format 2.
    public var roles: [String]
    /// Values of several parts, used as attributes and parameters, in the order of the model.
    public var structures: [StructureModel]
    /// Values that belong to the user, in the order of the model.
    public var personalizationKeys: [PersonalizationKeyModel]
    /// The groups of the model, in its order. Objects that name none are in the implicit group `default`.
    public var synchronizationGroups: [SynchronizationGroupModel]
    /// The enterprise's databases that objects are bound to.
    public var backEnds: [BackEndModel]
    /// The business objects, in the order of the model. A synchronization and a schema follow this order.
    public var objects: [ObjectModel]

    /// The ways data travels: by requests that replicate whole groups, or by single messages.
    public enum Synchronization: String, Sendable, Equatable, CaseIterable { case replication, messaging }

    /// Creates a model in code; ``PackageModel/validate()`` checks that the whole model is consistent.
    public init(
        name: String, version: String = "1.0", documentation: String? = nil, namePrefix: String = "",
        synchronization: Synchronization = .replication, pageSize: Int = 4096, roles: [String] = [], structures: [StructureModel] = [],
        personalizationKeys: [PersonalizationKeyModel] = [], synchronizationGroups: [SynchronizationGroupModel] = [],
        backEnds: [BackEndModel] = [], objects: [ObjectModel] = []
    ) {
        self.name = name
        self.version = version
        self.documentation = documentation
        self.namePrefix = namePrefix
        self.synchronization = synchronization
        self.pageSize = pageSize
        self.roles = roles
        self.structures = structures
        self.personalizationKeys = personalizationKeys
        self.synchronizationGroups = synchronizationGroups
        self.backEnds = backEnds
        self.objects = objects
    }

    /// The object with this modelled name; nil if there is none.
    public func object(named name: String) -> ObjectModel? { objects.first { $0.name == name } }
}

/// One business object: a table on the device, a load and operations in the back end.
public struct ObjectModel: Sendable, Equatable {
    /// The modelled name, also the name of the local table and (with the package's prefix) of the generated class.
    public var name: String
    /// A description for people, also the comment of the generated code; nil if the model has none.
    public var documentation: String?
    /// Whether the object exists only on the client, is never synchronized and has no pending state. Default false.
    public var isLocal: Bool
    /// The attributes in the order of the model, which is also the order of the columns.
    public var attributes: [AttributeModel]
    /// Names of the attributes of the modelled primary key, in order; never empty, except in local objects.
    public var primaryKey: [String]
    /// The relationships in the order of the model.
    public var relationships: [RelationshipModel]
    /// Values that choose the rows loaded for a client; ``BackEndBinding/load`` refers to them as `:name`.
    public var synchronizationParameters: [ParameterModel]
    /// The object queries; each becomes a finder.
    public var queries: [QueryModel]
    /// Operations by which the device changes replayed rows; empty by default. A local object has none and can be changed freely.
    public var operations: [OperationModel]
    /// Name of the synchronization group; `default` if the model names none.
    public var synchronizationGroup: String
    /// Whether finders with a dynamic query are generated. Default true.
    public var allowsDynamicQueries: Bool
    /// The source of the rows on the server; nil in a local object.
    public var binding: BackEndBinding?
    /// The name of the object in the model before this one, for upgrades; nil if it has not changed.
    public var was: String?
    /// The effect of an update or delete of a row that changed in the back end since the device last saw it. Default: the last writer wins. Format 2.
    public var conflicts: ConflictRule

    /// Creates an object with these values; omitted ones have the defaults of the format.
    public init(
        name: String, documentation: String? = nil, isLocal: Bool = false, attributes: [AttributeModel] = [], primaryKey: [String] = [],
        relationships: [RelationshipModel] = [], synchronizationParameters: [ParameterModel] = [], queries: [QueryModel] = [],
        operations: [OperationModel] = [], synchronizationGroup: String = "default", allowsDynamicQueries: Bool = true,
        binding: BackEndBinding? = nil, was: String? = nil, conflicts: ConflictRule = .lastWriter
    ) {
        self.name = name
        self.documentation = documentation
        self.isLocal = isLocal
        self.attributes = attributes
        self.primaryKey = primaryKey
        self.relationships = relationships
        self.synchronizationParameters = synchronizationParameters
        self.queries = queries
        self.operations = operations
        self.synchronizationGroup = synchronizationGroup
        self.allowsDynamicQueries = allowsDynamicQueries
        self.binding = binding
        self.was = was
        self.conflicts = conflicts
    }

    /// The synchronization parameters that the client chooses; the user's attributes on the server give the others their values.
    public var chosenParameters: [ParameterModel] { synchronizationParameters.filter { $0.userAttribute == nil } }
    /// The attribute with this modelled name; nil if there is none.
    public func attribute(named name: String) -> AttributeModel? { attributes.first { $0.name == name } }
    /// The relationship with this modelled name; nil if there is none.
    public func relationship(named name: String) -> RelationshipModel? { relationships.first { $0.name == name } }
}

/// The effect of a device's update or delete of a row that changed in the back end since the device last saw it. Operations of kind other are done in
/// either case: they name no row.
public enum ConflictRule: String, Sendable, CaseIterable {
    /// The operation is done.
    case lastWriter
    /// The operation is rejected, and the rejection has the back end's row.
    case refuse
}

/// The types of attributes, parameters and elements of structures. (DTT-05 of the documented API, and large values.)
public indirect enum AttributeType: Sendable, Equatable, Hashable {
    case string, binary, boolean, char, byte, short, int, long, integer, decimal, float, double, date, time, dateTime
    /// A string or binary kept outside of the row, in chunks, and read as a stream.
    case bigString, bigBinary
    /// A structure of the package, by name. In attributes of objects and parameters of operations also an object: its attributes are the value.
    case structure(String)
    /// A list of any type except lists and large values; kept as JSON text.
    case list(AttributeType)
    /// A list whose elements may be missing.
    case nullableList(AttributeType)
}

/// One attribute of an object or structure.
public struct AttributeModel: Sendable, Equatable {
    /// The modelled name.
    public var name: String
    /// A description for people, also the comment of the generated code; nil if the model has none.
    public var documentation: String?
    /// The type after the length rules: ``AttributeType/bigString`` or ``AttributeType/bigBinary`` for a string or binary made large.
    public var type: AttributeType
    /// Whether the value may be missing. Default false.
    public var isNullable: Bool
    /// The largest length in characters of a string or bytes of a binary; nil if the model sets none.
    public var length: Int?
    /// The number of digits of a decimal, 1 to 38, default 18; nil for other types.
    public var precision: Int?
    /// The number of digits of a decimal after the point, 0 to precision, default 2; nil for other types.
    public var scale: Int?
    /// Whether the back end assigns the value when the row is created there. Default false.
    public var isGenerated: Bool
    /// Whether the device keeps an index of the words of a string, for searches over text. Default false. Format 2.
    public var isSearchable: Bool
    /// Value of new objects, in its JSON form as text (`"0"`, `"\"NEW\""`); nil if there is none.
    public var defaultValue: String?
    /// The only values that a device saves, besides none, each in its JSON form as text; empty if there is no such rule. Format 2.
    public var values: [String]
    /// The least number that a device saves, in its JSON form as text; nil if there is no such rule. Format 2.
    public var minimum: String?
    /// The greatest number that a device saves, as ``minimum``.
    public var maximum: String?
    /// The name of the attribute in the model before this one, for upgrades; nil if it has not changed.
    public var was: String?

    /// Creates an attribute with these values; omitted ones have the defaults of the format.
    public init(
        name: String, documentation: String? = nil, type: AttributeType, isNullable: Bool = false, length: Int? = nil,
        precision: Int? = nil, scale: Int? = nil, isGenerated: Bool = false, isSearchable: Bool = false, defaultValue: String? = nil,
        values: [String] = [], minimum: String? = nil, maximum: String? = nil, was: String? = nil
    ) {
        self.name = name
        self.documentation = documentation
        self.type = type
        self.isNullable = isNullable
        self.length = length
        self.precision = precision
        self.scale = scale
        self.isGenerated = isGenerated
        self.isSearchable = isSearchable
        self.defaultValue = defaultValue
        self.values = values
        self.minimum = minimum
        self.maximum = maximum
        self.was = was
    }

    /// Whether the value is kept outside of the row, in chunks.
    public var isLarge: Bool { type == .bigString || type == .bigBinary }
}

/// A relationship, seen from the object that has it.
public struct RelationshipModel: Sendable, Equatable {
    /// The modelled name.
    public var name: String
    /// A description for people, also the comment of the generated code; nil if the model has none.
    public var documentation: String?
    /// Name of the object at the other end.
    public var target: String
    /// The possible number of objects at either end.
    public var cardinality: Cardinality
    /// A composite parent owns its children: save, submit and cancel cascade. Default false; only on the parent's side.
    public var isComposite: Bool
    /// Name of the relationship in the target that is this one seen from there; nil if the relationship is one-way.
    public var inverse: String?
    /// Attributes of this object and of the target whose values are equal, in the order of the model.
    public var mapping: [Mapping]

    /// The number at this end, then at the other: a customer has oneToMany orders.
    public enum Cardinality: String, Sendable, Equatable, CaseIterable { case oneToOne, oneToMany, manyToOne }
    /// A pair of attributes whose values are equal.
    public struct Mapping: Sendable, Hashable {
        /// Name of an attribute of the object that has the relationship.
        public var source: String
        /// Name of an attribute of the target.
        public var target: String
        /// Creates a pair of these attributes.
        public init(source: String, target: String) { (self.source, self.target) = (source, target) }
    }

    /// Creates a relationship with these values; omitted ones have the defaults of the format.
    public init(
        name: String, documentation: String? = nil, target: String, cardinality: Cardinality, isComposite: Bool = false,
        inverse: String? = nil, mapping: [Mapping] = []
    ) {
        self.name = name
        self.documentation = documentation
        self.target = target
        self.cardinality = cardinality
        self.isComposite = isComposite
        self.inverse = inverse
        self.mapping = mapping
    }
}

/// A parameter of a query, an operation or a synchronization.
public struct ParameterModel: Sendable, Equatable {
    /// The modelled name.
    public var name: String
    /// The type of its values.
    public var type: AttributeType
    /// Whether the value may be missing. Default false.
    public var isNullable: Bool
    /// In an operation: the largest length in characters of a string or bytes of a binary; nil if the model sets none.
    public var length: Int?
    /// In an operation: the number of digits of a decimal, 1 to 38; nil for other types, and where the default of attributes applies.
    public var precision: Int?
    /// In an operation: the number of digits of a decimal after the point, 0 to precision; nil as ``precision``.
    public var scale: Int?
    /// The default value as JSON text; nil if there is none.
    public var defaultValue: String?
    /// The personalization key whose value takes precedence over the parameter's own; nil if there is none.
    public var personalizationKey: String?
    /// In an operation: the attribute that fills the parameter; nil if callers must give a value. In a synchronization parameter with a
    /// ``userAttribute``: the attribute that has the parameter's value in every row of the load; nil where no attribute has it.
    public var attribute: String?
    /// In a synchronization: the server-side attribute of the user that alone gives the parameter its values; nil if the client chooses them. Format 2.
    public var userAttribute: String?
    /// Creates a parameter with these values; omitted ones have the defaults of the format.
    public init(
        name: String, type: AttributeType, isNullable: Bool = false, length: Int? = nil, precision: Int? = nil, scale: Int? = nil,
        defaultValue: String? = nil, personalizationKey: String? = nil, attribute: String? = nil, userAttribute: String? = nil
    ) {
        self.name = name
        self.type = type
        self.isNullable = isNullable
        self.length = length
        self.precision = precision
        self.scale = scale
        self.defaultValue = defaultValue
        self.personalizationKey = personalizationKey
        self.attribute = attribute
        self.userAttribute = userAttribute
    }
}

/// An object query of the model.
public struct QueryModel: Sendable, Equatable {
    /// The modelled name.
    public var name: String
    /// A description for people, also the comment of the generated code; nil if the model has none.
    public var documentation: String?
    /// The parameters in the order of the generated method.
    public var parameters: [ParameterModel]
    /// Whether the result is one object or none. Default false: a list, for which a form with skip and take is generated as well.
    public var isSingle: Bool
    /// Object SQL: `SELECT x.* FROM Object x ...`; objects and attributes have their modelled names, `:name` is a parameter, and
    /// `surrogateKey` is the local key that every object has.
    public var sql: String
    /// Creates a query with these values; omitted ones have the defaults of the format.
    public init(name: String, documentation: String? = nil, parameters: [ParameterModel] = [], isSingle: Bool = false, sql: String) {
        self.name = name
        self.documentation = documentation
        self.parameters = parameters
        self.isSingle = isSingle
        self.sql = sql
    }
}

/// An operation that the server replays on the back end.
public struct OperationModel: Sendable, Equatable {
    /// The modelled name.
    public var name: String
    /// A description for people, also the comment of the generated code; nil if the model has none.
    public var documentation: String?
    /// The effect on a row.
    public var kind: Kind
    /// Values in addition to the attributes, in the order of the generated method.
    public var parameters: [ParameterModel]
    /// SQL statements for the back end, run in order in one transaction; `:name` is an attribute (or parameter), `:old.name` the
    /// value before the change. Empty for create, update and delete: made from the binding's table and columns.
    public var statements: [String]
    /// The effects of operations. Other: an operation that does not create, update or delete an object.
    public enum Kind: String, Sendable, Equatable, CaseIterable { case create, update, delete, other }
    /// Creates an operation with these values; omitted ones have the defaults of the format.
    public init(name: String, documentation: String? = nil, kind: Kind, parameters: [ParameterModel] = [], statements: [String] = []) {
        self.name = name
        self.documentation = documentation
        self.kind = kind
        self.parameters = parameters
        self.statements = statements
    }
}

/// A value of several parts; kept as JSON text in its object's row.
public struct StructureModel: Sendable, Equatable {
    /// The modelled name.
    public var name: String
    /// A description for people, also the comment of the generated code; nil if the model has none.
    public var documentation: String?
    /// The parts, in the order of the model; never large.
    public var attributes: [AttributeModel]
    /// Creates a structure with these values; omitted ones have the defaults of the format.
    public init(name: String, documentation: String? = nil, attributes: [AttributeModel] = []) {
        (self.name, self.documentation, self.attributes) = (name, documentation, attributes)
    }
}

/// A value that belongs to the user, such as a sales region.
public struct PersonalizationKeyModel: Sendable, Equatable {
    /// The modelled name.
    public var name: String
    /// The type of its values.
    public var type: AttributeType
    /// Whether the value may be missing. Default false.
    public var isNullable: Bool
    /// The default value as JSON text; nil if there is none.
    public var defaultValue: String?
    /// The place where the value is kept.
    public var storage: Storage
    /// Client: in the local database. Server: kept on the server too. Session: lost when the application ends.
    public enum Storage: String, Sendable, Equatable, CaseIterable { case client, server, session }
    /// Creates a key with these values; omitted ones have the defaults of the format.
    public init(name: String, type: AttributeType, isNullable: Bool = false, defaultValue: String? = nil, storage: Storage = .client) {
        self.name = name
        self.type = type
        self.isNullable = isNullable
        self.defaultValue = defaultValue
        self.storage = storage
    }
}

/// Objects that are synchronized together.
public struct SynchronizationGroupModel: Sendable, Equatable {
    /// The modelled name.
    public var name: String
    /// Minutes between checks for changes to push; 0 (default): no checks.
    public var interval: Int
    /// Creates a group with these values; omitted ones have the defaults of the format.
    public init(name: String, interval: Int = 0) { (self.name, self.interval) = (name, interval) }
}
