public import Foundation
public import MobileStore

/// What all errors of the client's modules have: a stable number, a message, what caused them, and texts in the user's language.
/// SMP 2.3: `SUPBaseException`.
///
/// Catch what is special first, then a module's type, then this:
///
///     do { try customer.update() } catch ObjectError.Code.stale {
///         try customer.refresh()
///     } catch let error as ObjectError {
///         show(crm.message(of: error, locale: "de"))
///     } catch let error as any BaseError where error.recovery == .retry { retryLater() }
public protocol BaseError: Error {
    /// The number of this kind of failure among all modules: the key of its text. 1001 to 1999 the store, 2001 to 2999 objects,
    /// 3001 to 3999 vaults; others are documented numbers of vaults' passwords and of synchronization. SMP 2.3: `errorCode`.
    var errorCode: Int { get }
    /// What was tried with which thing, what was found; one line in English, for developers and logs. See ``message(from:locale:)`` for users.
    var message: String { get }
    /// The failure below this one; nil where it began here.
    var cause: (any Error)? { get }
    /// What the text of the code names, in its order: the first is always ``message``.
    var arguments: [ErrorArgument] { get }
    /// What can be done about it.
    var recovery: ErrorRecovery { get }
}

/// A value in the text of an error, formatted in the language of the text. SMP 2.3: the arguments of `SUPBaseException`.
public enum ErrorArgument: Sendable, Hashable {
    case text(String)
    case integer(Int64)
    case real(Double)
    case date(Date)
}

/// What can be done about an error.
public enum ErrorRecovery: Sendable, Hashable, CaseIterable {
    /// It is transient: the same call can succeed later.
    case retry
    /// Its cause must be removed first; the message says which.
    case removeCause
    /// The state of the application is damaged: end it and start again; a damaged database must be made anew.
    case restart
}

extension BaseError {
    /// The message alone, unless the error says more.
    public var arguments: [ErrorArgument] { [.text(message)] }

    /// The text of the error in the language of a locale, with its arguments formatted for it; ``message`` where no message service is
    /// registered, or it has no text for the code. SMP 2.3: `messageWithLocale:`, `message`.
    /// - Parameters:
    ///   - services: where the message service is registered.
    ///   - locale: such as `de` or `de_AT`; nil (default) means the service's current one.
    public func message(from services: ServiceRegistry, locale: String? = nil) -> String {
        guard let service = services.service((any ErrorMessageService).self) else { return message }
        let text = locale.map { service.message(code: errorCode, locale: $0) } ?? service.message(code: errorCode)
        guard let text else { return message }
        return MessageFormat(text).filled(with: arguments, in: service.formattingLocale(for: locale))
    }
}

extension StoreError: BaseError {
    public var errorCode: Int { 1000 + code.rawValue }

    /// The message, then byte offset and row of the input where they are known.
    public var arguments: [ErrorArgument] { [.text(message), .integer(byteOffset ?? 0), .integer(Int64(row ?? 0))] }

    public var recovery: ErrorRecovery {
        switch code {
        case .timeout, .interrupted, .noMemory: .retry
        case .corrupt: .restart
        default: .removeCause
        }
    }
}

extension ObjectError: BaseError {
    public var errorCode: Int { 2000 + code.rawValue }

    public var recovery: ErrorRecovery {
        switch code {
        case .store: (cause as? any BaseError)?.recovery ?? .removeCause
        case .corrupt: .restart
        default: .removeCause
        }
    }
}

extension ObjectError.Code {
    /// Lets a `catch` name the kind of failure: `catch ObjectError.Code.notFound`.
    public static func ~= (code: ObjectError.Code, error: any Error) -> Bool { (error as? ObjectError)?.code == code }
}
