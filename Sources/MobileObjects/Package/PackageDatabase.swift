internal import MobileExecution
public import MobileModel
public import MobileStore

/// The local database of one package, the base class of generated database classes. A process may have any number of them.
/// SMP 2.3: the generated database class, such as `SMP101SMP101DB`.
///
/// Any thread may use it: a lock protects its state, and writers take turns in the store.
//
// `@unchecked Sendable` because the compiler cannot check an open class. Every stored property is a `let` of a Sendable type.
open class PackageDatabase: @unchecked Sendable {
    /// The metadata of the package and its objects.
    public final let metadata: PackageMetadata
    /// The source of time and chance.
    public final let environment: Environment
    final let state: SystemLock<PackageState>
    private final let attachments = SystemLock<[ObjectIdentifier: any Sendable]>([:])

    /// The generated class of each object, in the order of ``PackageMetadata/entities``. Empty without generated code;
    /// callbacks then get ``GenericEntity``.
    open class var entityClasses: [Entity.Type] { [] }

    /// Creates the object for the database of `profile`. `openConnection()` or the first operation opens it, and creates it if needed.
    /// Generated classes offer `open(_:)`, which does both.
    public required init(metadata: PackageMetadata, profile: ConnectionProfile, environment: Environment = Environment()) {
        self.metadata = metadata
        self.environment = environment
        state = SystemLock(PackageState(profile: profile))
    }

    /// Opens the database of any model, without generated code: objects are available as ``GenericEntity``.
    /// With `ConnectionProfile.inMemory(named:)` as its profile it is in memory, for tests and previews, and empty again after it was closed.
    /// - Throws: ``ObjectError``: as `openConnection()`, and ``ObjectError/Code/noSuchClass`` for a model whose names do not resolve.
    public convenience init(model: PackageModel, profile: ConnectionProfile, environment: Environment = Environment()) throws {
        self.init(metadata: try PackageMetadata(model), profile: profile, environment: environment)
        try openConnection()
    }
}

extension PackageDatabase {
    /// Returns the object that a higher module attaches to this database for its lifetime, one per class. It is made on first use.
    package final func attachment<Attachment: AnyObject & Sendable>(_ make: () -> Attachment) -> Attachment {
        attachments.withLock { attachments in
            let key = ObjectIdentifier(Attachment.self)
            if let known = attachments[key] as? Attachment { return known }
            let made = make()
            attachments[key] = made
            return made
        }
    }

    final func tellOfClosing(_ store: Database) {
        for case let attachment as any ClosingObserver in attachments.withLock({ Array($0.values) }) { attachment.closed(store) }
    }
}

extension PackageDatabase {
    /// Returns the text of an error for users, from the services of this database's environment: see ``BaseError/message(from:locale:)``.
    public final func message(of error: any BaseError, locale: String? = nil) -> String {
        error.message(from: environment.services, locale: locale)
    }
}

/// An attachment that is notified when the underlying database is closed.
protocol ClosingObserver: AnyObject {
    func closed(_ store: Database)
}

/// Values that are stored with the database by name.
extension PackageDatabase {
    /// The GUID of this database: the namespace of its operation ids.
    package final var clientID: String {
        get throws { try read { try PackageSettings($0).text(.clientID) ?? "" } }
    }

    /// Returns a value that a higher module stores with the database under its own name; nil where there is none.
    package final func setting(_ name: String) throws -> Value? {
        try read { try PackageSettings($0).value(named: "x." + name) }
    }
}

extension Transaction {
    package func setSetting(_ name: String, _ value: Value) throws {
        try PackageSettings(connection).set(named: "x." + name, value)
    }
}

/// The mutable state of a package database.
struct PackageState: Sendable {
    var profile: ConnectionProfile
    /// Nil while closed.
    var store: Database?
    /// The replay counter that the writer last saw; nil: not known.
    var replayCounter: ReplayCounter?
    /// The greatest counter that objects may have been read with, also in transactions that were rolled back.
    var lastSeenCounter: Int64 = 0
    var handlers: [any CallbackHandler] = []
    /// Handlers of one object, by its position.
    var entityHandlers: [Int: [any CallbackHandler]] = [:]
    /// Values of session personalization keys, which are never stored, by name.
    var sessionValues: [String: AttributeValue] = [:]
    var debugSettings: DebugSettings = []
    var storage = StorageMonitor()
    /// Whether rows of the database have had other surrogate keys before.
    var hasRenumberedRows = false
    /// Whether all rows of an object were removed to come again, so that objects in memory may have keys that mean nothing any more.
    var hasReplacedRows = false
    /// Whether the database is open for reading only, because its disk was full.
    var isWithoutRoom = false

    init(profile: ConnectionProfile) { self.profile = profile }
}
