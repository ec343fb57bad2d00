import MobileStore
import Synchronization

/// What is told beside the work while somebody looks for an error; off in a new database object. Switched at run time by
/// ``PackageDatabase/debugSettings``. SUP 1.5.3: the definitions in `MBODebugSettings.h`.
public struct DebugSettings: OptionSet, Sendable, Hashable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// A log record for each object of the model that an import brings rows of. SUP 1.5.3: `LOGRECORD_ON_IMPORT`.
    public static let logRecordOnImport = DebugSettings(rawValue: 1)
    /// Failures of the local database go to the console. SUP 1.5.3: `PRINT_PERSISTENCE_MESSAGES`.
    public static let printPersistenceMessages = DebugSettings(rawValue: 2)
    /// Headers of messages to and from the server go to the console, and the contents of replays. SUP 1.5.3: `PRINT_SERVER_MESSAGES`.
    public static let printServerMessages = DebugSettings(rawValue: 4)
    /// Messages of the server go to the console with all they contain, which makes imports slow. SUP 1.5.3: `PRINT_SERVER_MESSAGE_CONTENT`.
    public static let printServerMessageContent = DebugSettings(rawValue: 8)

    /// What a debug build had: headers and failures. SUP 1.5.3: `__DEBUG__`.
    public static let standard: DebugSettings = [.printServerMessages, .printPersistenceMessages]
}

extension PackageDatabase {
    /// What is told beside the work; takes effect at once, default nothing.
    public final var debugSettings: DebugSettings {
        get { state.withLock { $0.debugSettings } }
        set { state.withLock { $0.debugSettings = newValue } }
    }

    /// Where this database writes to developers. SMP 2.3: `MBOLogger`.
    public final var console: ConsoleLogger { environment.console }

    /// Switches the trace of SQL statements on or off, also while the database is open: what runs already ends as it began. The lines go to
    /// ``console`` unless its level is off; with a sink of its own, see `ConnectionProfile.trace`. SMP 2.3: `enableTrace:`,
    /// `enableTrace:withPayload:` of the connection profile.
    /// - Parameters:
    ///   - isOn: whether statements are written; default true.
    ///   - withPayload: with the values of parameters, which are users' data; default false.
    public final func enableTrace(_ isOn: Bool = true, withPayload: Bool = false) {
        let console = environment.console
        var profile = connectionProfile
        let trace: @Sendable (String) -> Void = { statement in console.trace("SQL", statement) }
        profile.trace = isOn ? trace : nil
        profile.tracesValues = isOn && withPayload
        connectionProfile = profile
    }

    /// An error of the store as one of this module, told to the console where that is asked for.
    final func failure(_ error: StoreError) -> ObjectError {
        if error.code == .full { foundNoStorage() }
        if debugSettings.contains(.printPersistenceMessages) { environment.console.error("database \(metadata.name): \(error)") }
        return ObjectError(error)
    }
}
