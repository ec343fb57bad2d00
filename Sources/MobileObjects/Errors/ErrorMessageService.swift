public import Foundation

/// Gives the texts of errors by their codes. Make one of your own and register it to say things your way. SMP 2.3:
/// `SUPExceptionMessageService`.
public protocol ErrorMessageService: Sendable {
    /// The text of a code in the current language; nil where there is none. `%@` and `%1$@` stand for the error's arguments.
    /// SMP 2.3: `messageWithErrorCode:`.
    func message(code: Int) -> String?
    /// The same in the language of a locale: `language`, or `language_region`. SMP 2.3: `messageWithErrorCode:locale:`.
    func message(code: Int, locale: String) -> String?
    /// The locale in which arguments are formatted; default: the system's current one.
    func formattingLocale(for locale: String?) -> Locale
}

extension ErrorMessageService {
    /// The device's own, unless the provider says otherwise.
    public func formattingLocale(for locale: String?) -> Locale { .current }
}

/// The default message service: texts from directories `<language>.lproj`, each with a file `ErrorMessages.strings` whose entries are
/// `"code" = "text";`. English comes with the framework; another language is one more directory beside the application's others.
///
/// A text is looked for in `language_region`, then `language`, then in the application's preferred languages, then in English.
/// SMP 2.3: `SUPExceptionMessageServiceImpl` with its `superr.bundle`.
public struct MessageBundles: ErrorMessageService {
    private let languages: [String: [Int: String]]
    private let preferred: [String]
    private let current: Locale

    /// English alone, in the order of preference of the application.
    public init(preferredLanguages: [String] = Bundle.main.preferredLocalizations, currentLocale: Locale = .current) {
        languages = ["en": Self.english]
        preferred = preferredLanguages
        current = currentLocale
    }

    /// English and what lies in `directories`, of which the later ones win, code by code.
    /// - Parameters:
    ///   - directories: with directories `<language>.lproj`, as `superr.bundle` was; one that does not exist has no languages.
    ///   - preferredLanguages: of the application, the most preferred first; default: those of the main bundle.
    ///   - currentLocale: whose language counts where none is named, and in which arguments are formatted where a name is no known
    ///     locale; default: the system's.
    /// - Throws: ``ObjectError/Code/invalidText`` for a file that is not UTF-8 or no list of codes and texts; its message has the line.
    public init(
        directories: [URL], preferredLanguages: [String] = Bundle.main.preferredLocalizations, currentLocale: Locale = .current
    ) throws {
        var languages = ["en": Self.english]
        for directory in directories {
            let contents = (try? FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)) ?? []
            for folder in contents where folder.pathExtension == "lproj" {
                let file = folder.appending(path: "ErrorMessages.strings")
                guard FileManager.default.fileExists(atPath: file.path) else { continue }
                let texts = try Self.texts(of: file)
                languages[Self.normalized(folder.deletingPathExtension().lastPathComponent), default: [:]].merge(texts) { $1 }
            }
        }
        self.languages = languages
        preferred = preferredLanguages
        current = currentLocale
    }

    /// The text in the current language; nil where no bundle has one.
    public func message(code: Int) -> String? { message(code: code, locale: current.identifier) }

    /// The text in a language, else in the nearest one that has it; nil where no bundle has one.
    public func message(code: Int, locale: String) -> String? {
        let name = Self.normalized(locale)
        let language = String(name.prefix { $0 != "_" })
        for candidate in [name, language] + preferred.map(Self.normalized) + ["en"] {
            if let text = languages[candidate]?[code] { return text }
        }
        return nil
    }

    /// The named locale where the system knows it, else the current one.
    public func formattingLocale(for locale: String?) -> Locale {
        guard let locale, case let name = Self.normalized(locale), Locale.availableIdentifiers.contains(name) else { return current }
        return Locale(identifier: name)
    }

    /// `de-AT` and `de_AT` are one.
    private static func normalized(_ locale: String) -> String { locale.replacing("-", with: "_") }

    private static func texts(of file: URL) throws -> [Int: String] {
        guard let text = try? String(contentsOf: file, encoding: .utf8) else {
            throw ObjectError(.invalidText, "\(file.path): the file is not readable as UTF-8")
        }
        return try StringsFile(text, name: file.path).messages
    }

    private static let english: [Int: String] = {
        let text = String(decoding: PackageResources.ErrorMessages_strings, as: UTF8.self)
        do { return try StringsFile(text, name: "en.lproj/ErrorMessages.strings").messages } catch {
            preconditionFailure("the framework's own texts: \(error)")
        }
    }()
}
