public import MobileModel
public import MobileStore
import Synchronization

/// The local database of one package: what generated database classes derive from. Any number of them live in one process.
/// SMP 2.3: the generated database class, such as `SMP101SMP101DB`.
///
/// All of it may be used from any thread: its state lies behind a lock, and writers take turns in the store.
//
// `@unchecked Sendable` because a class that may be derived from cannot be checked; every stored property is a `let` of a Sendable type.
open class PackageDatabase: @unchecked Sendable {
    /// What is known about the package and its objects.
    public final let metadata: PackageMetadata
    /// Where time and chance come from.
    public final let environment: Environment
    final let state: Mutex<PackageState>
    private final let attachments = Mutex<[ObjectIdentifier: any Sendable]>([:])

    /// The generated class of each object, in the order of ``PackageMetadata/entities``; empty where there is no generated code, and
    /// callbacks then get ``GenericEntity``.
    open class var entityClasses: [Entity.Type] { [] }

    /// Names the database of `profile`; it is opened, and created if needed, by `openConnection()` or by the first operation.
    /// Generated classes offer `open(_:)`, which does both.
    public required init(metadata: PackageMetadata, profile: ConnectionProfile, environment: Environment = Environment()) {
        self.metadata = metadata
        self.environment = environment
        state = Mutex(PackageState(profile: profile))
    }

    /// Opens the database of any model, without generated code: objects are reached through ``GenericEntity``.
    /// - Throws: ``ObjectError``: as `openConnection()`, and ``ObjectError/Code/noSuchClass`` for a model whose names do not resolve.
    public convenience init(model: PackageModel, profile: ConnectionProfile, environment: Environment = Environment()) throws {
        self.init(metadata: try PackageMetadata(model), profile: profile, environment: environment)
        try openConnection()
    }
}

extension PackageDatabase {
    /// What a module above keeps with this database while it lives, made when it is asked for first: one object per class.
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
    /// The text of an error for users, from the services of this database's environment: see ``BaseError/message(from:locale:)``.
    public final func message(of error: any BaseError, locale: String? = nil) -> String {
        error.message(from: environment.services, locale: locale)
    }
}

/// An attachment that must know when the database below is closed.
protocol ClosingObserver: AnyObject {
    func closed(_ store: Database)
}

/// What is kept with the database by name.
extension PackageDatabase {
    /// The GUID of this database: the namespace of its operation ids.
    package final var clientID: String {
        get throws { try read { try PackageSettings($0).text(.clientID) ?? "" } }
    }

    /// A value that a module above keeps with the database, by a name of its own; nil where there is none.
    package final func setting(_ name: String) throws -> Value? {
        try read { try PackageSettings($0).value(named: "x." + name) }
    }
}

extension Transaction {
    package func setSetting(_ name: String, _ value: Value) throws {
        try PackageSettings(connection).set(named: "x." + name, value)
    }
}

/// What changes while a package database lives.
struct PackageState: Sendable {
    var profile: ConnectionProfile
    /// Nil while closed.
    var store: Database?
    /// As the writer last saw it; nil: not known.
    var replayCounter: ReplayCounter?
    var handlers: [any CallbackHandler] = []
    /// Handlers of one object, by its position.
    var entityHandlers: [Int: [any CallbackHandler]] = [:]
    /// Values of session personalization keys, which are never stored, by name.
    var sessionValues: [String: AttributeValue] = [:]
    var debugSettings: DebugSettings = []
    var storage = StorageMonitor()

    init(profile: ConnectionProfile) { self.profile = profile }
}
