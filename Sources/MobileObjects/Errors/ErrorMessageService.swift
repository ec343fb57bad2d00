public import Foundation

/// Provides the texts of errors by their codes. Register your own implementation to change the texts. SMP 2.3:
/// `SUPExceptionMessageService`.
public protocol ErrorMessageService: Sendable {
    /// Returns the text of a code in the current language; nil without a text. `%@` and `%1$@` stand for the error's arguments.
    /// SMP 2.3: `messageWithErrorCode:`.
    func message(code: Int) -> String?
    /// Returns the text in the language of a locale: `language`, or `language_region`. SMP 2.3: `messageWithErrorCode:locale:`.
    func message(code: Int, locale: String) -> String?
    /// Returns what helps after an error with this code, in the current language; nil (default) without a text.
    func remedy(code: Int) -> String?
    /// Returns the locale in which arguments are formatted; default: the system's current one.
    func formattingLocale(for locale: String?) -> Locale
}

extension ErrorMessageService {
    /// Returns nil.
    public func remedy(code: Int) -> String? { nil }

    /// Returns the device's current locale.
    public func formattingLocale(for locale: String?) -> Locale { .current }
}

/// The default message service: texts from directories `<language>.lproj`, each with a file `ErrorMessages.strings` whose entries are
/// `"code" = "text";`, and optionally a file
/// `ErrorRemedies.strings` of the same form with what helps. English comes with the framework. For another language, add one more directory to the application's others.
///
/// The service looks for a text in `language_region`, then `language`, then the application's preferred languages, then English.
/// SMP 2.3: `SUPExceptionMessageServiceImpl` with its `superr.bundle`.
public struct MessageBundles: ErrorMessageService {
    /// The texts of one language, by their codes.
    private struct Texts {
        var messages: [Int: String] = [:], remedies: [Int: String] = [:]
    }

    /// The framework's own texts, for errors that know no registry.
    static let standard = MessageBundles()

    private let languages: [String: Texts]
    private let preferred: [String]
    private let current: Locale

    /// Creates a service with the English texts only.
    public init(preferredLanguages: [String] = Bundle.main.preferredLocalizations, currentLocale: Locale = .current) {
        languages = ["en": Self.english]
        preferred = preferredLanguages
        current = currentLocale
    }

    /// Creates a service with the English texts and those in `directories`. Later directories win, code by code.
    /// - Parameters:
    ///   - directories: folders with directories `<language>.lproj`, as in `superr.bundle`. A folder that does not exist has no languages.
    ///   - preferredLanguages: the application's languages, the most preferred first; default: those of the main bundle.
    ///   - currentLocale: the locale whose language counts where the caller names none. It also formats arguments where the system does
    ///     not know the caller's locale. Default: the system's.
    /// - Throws: ``ObjectError/Code/invalidText`` for a file that is not UTF-8 or not a list of codes and texts; its message has the line.
    public init(
        directories: [URL], preferredLanguages: [String] = Bundle.main.preferredLocalizations, currentLocale: Locale = .current
    ) throws {
        var languages = ["en": Self.english]
        func add(_ name: String, of folder: URL, to texts: WritableKeyPath<Texts, [Int: String]>) throws {
            let file = folder.appending(path: name)
            guard FileManager.default.fileExists(atPath: file.path) else { return }
            let language = Self.normalized(folder.deletingPathExtension().lastPathComponent)
            languages[language, default: Texts()][keyPath: texts].merge(try Self.texts(of: file)) { $1 }
        }
        for directory in directories {
            let contents = (try? FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)) ?? []
            for folder in contents where folder.pathExtension == "lproj" {
                try add("ErrorMessages.strings", of: folder, to: \.messages)
                try add("ErrorRemedies.strings", of: folder, to: \.remedies)
            }
        }
        self.languages = languages
        preferred = preferredLanguages
        current = currentLocale
    }

    /// Returns the text in the current language; nil where no bundle has one.
    public func message(code: Int) -> String? { message(code: code, locale: current.identifier) }

    /// Returns the text in a language, otherwise in the nearest one that has it; nil where no bundle has one.
    public func message(code: Int, locale: String) -> String? { text(\.messages, code, locale) }

    /// Returns what helps after an error with this code, in the current language or the nearest one that has a text; nil where no bundle has one.
    public func remedy(code: Int) -> String? { text(\.remedies, code, current.identifier) }

    private func text(_ texts: KeyPath<Texts, [Int: String]>, _ code: Int, _ locale: String) -> String? {
        let name = Self.normalized(locale)
        let language = String(name.prefix { $0 != "_" })
        for candidate in [name, language] + preferred.map(Self.normalized) + ["en"] {
            if let text = languages[candidate]?[keyPath: texts][code] { return text }
        }
        return nil
    }

    /// Returns the named locale where the system knows it, otherwise the current one.
    public func formattingLocale(for locale: String?) -> Locale {
        guard let locale, case let name = Self.normalized(locale), Locale.availableIdentifiers.contains(name) else { return current }
        return Locale(identifier: name)
    }

    /// Returns the same name for `de-AT` and `de_AT`.
    private static func normalized(_ locale: String) -> String { locale.replacing("-", with: "_") }

    private static func texts(of file: URL) throws -> [Int: String] {
        guard let text = try? String(contentsOf: file, encoding: .utf8) else {
            throw ObjectError(.invalidText, "\(file.path): the file is not readable as UTF-8")
        }
        return try StringsFile(text, name: file.path).messages
    }

    private static let english: Texts = {
        do {
            return Texts(
                messages: try StringsFile(EnglishTexts.messages, name: "en.lproj/ErrorMessages.strings").messages,
                remedies: try StringsFile(EnglishTexts.remedies, name: "en.lproj/ErrorRemedies.strings").messages)
        } catch {
            preconditionFailure("the framework's own texts: \(error)")
        }
    }()
}
