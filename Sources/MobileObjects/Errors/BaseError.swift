public import Foundation
public import MobileStore

/// The common members of all errors of the client's modules: a stable number, a message, the cause, and texts in the user's language.
/// SMP 2.3: `SUPBaseException`.
///
/// Catch special cases first, then a module's type, then this protocol:
///
///     do { try customer.update() } catch ObjectError.Code.stale {
///         try customer.refresh()
///     } catch let error as ObjectError {
///         show(crm.message(of: error, locale: "de"))
///     } catch let error as any BaseError where error.recovery == .retry { retryLater() }
///
/// As a `LocalizedError` it has a description, a reason (``message``) and a suggestion. A program that it ends prints message, code and remedy.
public protocol BaseError: LocalizedError, CustomDebugStringConvertible {
    /// The number of this kind of failure among all modules: the key of its text. 1001 to 1999 belong to the store, 2001 to 2999 to objects,
    /// 3001 to 3999 to vaults. The others are documented numbers of vaults' passwords and of synchronization. SMP 2.3: `errorCode`.
    var errorCode: Int { get }
    /// The attempted action with the names it used, and the failure: one line in English, for developers and logs. See
    /// ``message(from:locale:)`` for the text for users.
    var message: String { get }
    /// The underlying failure; nil where this error is the first one.
    var cause: (any Error)? { get }
    /// The values for the placeholders of the code's text, in their order. The first is always ``message``.
    var arguments: [ErrorArgument] { get }
    /// The action that can help.
    var recovery: ErrorRecovery { get }
}

/// A value in the text of an error. It is formatted in the language of the text. SMP 2.3: the arguments of `SUPBaseException`.
public enum ErrorArgument: Sendable, Hashable {
    case text(String)
    case integer(Int64)
    case real(Double)
    case date(Date)
}

/// The action that can help after an error.
public enum ErrorRecovery: Sendable, Hashable, CaseIterable {
    /// The failure is transient: the same call can succeed later.
    case retry
    /// The cause must be removed first. The message names it.
    case removeCause
    /// The state of the application is damaged: end the application and start it again. A damaged database must be created again.
    case restart
}

extension BaseError {
    /// The message alone, unless the error has more arguments.
    public var arguments: [ErrorArgument] { [.text(message)] }

    /// Returns the text of the error in the language of a locale, with its arguments formatted for it. Returns ``message`` where no message
    /// service is registered, or the service has no text for the code. SMP 2.3: `messageWithLocale:`, `message`.
    /// - Parameters:
    ///   - services: the registry of the message service.
    ///   - locale: such as `de` or `de_AT`; nil (default) for the service's current one.
    public func message(from services: ServiceRegistry, locale: String? = nil) -> String {
        guard let service = services.service((any ErrorMessageService).self) else { return message }
        let text = locale.map { service.message(code: errorCode, locale: $0) } ?? service.message(code: errorCode)
        guard let text else { return message }
        return MessageFormat(text).filled(with: arguments, in: service.formattingLocale(for: locale))
    }
}

/// The texts of `LocalizedError`, in the application's preferred language. They come from the framework's own message service, because such an error
/// knows no registry; ``message(from:locale:)`` asks the one of an application.
extension BaseError {
    /// The error with the most exact code: the cause where the own code only stands for a failure of the local database.
    private var telling: any BaseError {
        guard [2000 + ObjectError.Code.store.rawValue, 14_816].contains(errorCode), let cause = cause as? any BaseError else { return self }
        return cause.telling
    }

    /// The text of the code with ``message``, for the user: what `localizedDescription` returns.
    public var errorDescription: String? {
        let error = telling
        guard let text = MessageBundles.standard.message(code: error.errorCode) else { return message }
        return MessageFormat(text).filled(
            with: [.text(message)] + error.arguments.dropFirst(), in: MessageBundles.standard.formattingLocale(for: nil))
    }

    /// ``message``.
    public var failureReason: String? { message }

    /// nil: there is no help book.
    public var helpAnchor: String? { nil }

    /// The remedy, in one or two sentences; nil where no text is known for the code.
    public var recoverySuggestion: String? { MessageBundles.standard.remedy(code: telling.errorCode) }

    /// ``message``, ``errorCode`` and ``recoverySuggestion``: what a program prints that ends with the error.
    public var debugDescription: String {
        "\(message) (\(type(of: self)) \(telling.errorCode))" + (recoverySuggestion.map { ". \($0)" } ?? "")
    }
}

extension StoreError: BaseError {
    public var errorCode: Int { 1000 + code.rawValue }

    /// The message, followed by the byte offset and the row of the input; 0 where they are not known.
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
        case .cancelled: .retry
        default: .removeCause
        }
    }
}

extension ObjectError.Code {
    /// Lets a `catch` name the kind of failure: `catch ObjectError.Code.notFound`.
    public static func ~= (code: ObjectError.Code, error: any Error) -> Bool { (error as? ObjectError)?.code == code }
}
