import MobileExecution
import MobileStore

/// Additional output for the search for an error; off in a new database object. It is switched at run time by
/// ``PackageDatabase/debugSettings``. SUP 1.5.3: the definitions in `MBODebugSettings.h`.
public struct DebugSettings: OptionSet, Sendable, Hashable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// A log record for each object of the model whose rows an import brings. SUP 1.5.3: `LOGRECORD_ON_IMPORT`.
    public static let logRecordOnImport = DebugSettings(rawValue: 1)
    /// Failures of the local database are written to the console. SUP 1.5.3: `PRINT_PERSISTENCE_MESSAGES`.
    public static let printPersistenceMessages = DebugSettings(rawValue: 2)
    /// Headers of messages to and from the server, and the contents of replays, are written to the console. SUP 1.5.3: `PRINT_SERVER_MESSAGES`.
    public static let printServerMessages = DebugSettings(rawValue: 4)
    /// Messages of the server are written to the console in full, which makes imports slow. SUP 1.5.3: `PRINT_SERVER_MESSAGE_CONTENT`.
    public static let printServerMessageContent = DebugSettings(rawValue: 8)

    /// The output of a debug build: headers and failures. SUP 1.5.3: `__DEBUG__`.
    public static let standard: DebugSettings = [.printServerMessages, .printPersistenceMessages]
}

extension PackageDatabase {
    /// The additional output, empty by default. A change takes effect at once.
    public final var debugSettings: DebugSettings {
        get { state.withLock { $0.debugSettings } }
        set { state.withLock { $0.debugSettings = newValue } }
    }

    /// The console for developers of this database. SMP 2.3: `MBOLogger`.
    public final var console: ConsoleLogger { environment.console }

    /// Switches the trace of SQL statements on or off, also while the database is open. Running statements end as they began. The lines go to
    /// ``console`` unless its level is off; for a separate sink, see `ConnectionProfile.trace`. SMP 2.3: `enableTrace:`,
    /// `enableTrace:withPayload:` of the connection profile.
    /// - Parameters:
    ///   - isOn: whether statements are written; default true.
    ///   - withPayload: whether the values of parameters, which are users' data, are written as well; default false.
    public final func enableTrace(_ isOn: Bool = true, withPayload: Bool = false) {
        let console = environment.console
        var profile = connectionProfile
        let trace: @Sendable (String) -> Void = { statement in console.trace("SQL", statement) }
        profile.trace = isOn ? trace : nil
        profile.tracesValues = isOn && withPayload
        connectionProfile = profile
    }

    /// Converts an error of the store to one of this module, and writes it to the console if ``debugSettings`` request that.
    final func failure(_ error: StoreError) -> ObjectError {
        if error.code == .full { foundNoStorage() }
        if debugSettings.contains(.printPersistenceMessages) { environment.console.error("database \(metadata.name): \(error)") }
        return ObjectError(error)
    }
}
