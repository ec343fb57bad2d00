import Foundation
import MobileObjects
import MobileStore
import TestSupport
import Testing

/// Texts of errors: their sources and their languages.
@Suite struct ErrorMessageTests {
    /// Directories of languages that an application adds: German, and some Austrian.
    static let bundle = Repository.fixture("superr.bundle")

    /// Has its own text for everything.
    private struct CustomMessageService: ErrorMessageService {
        func message(code: Int) -> String? { "my own way of retrieving the message" }
        func message(code: Int, locale: String) -> String? { "my own way of retrieving the localized message" }
    }

    /// An error that an application defines, with arguments of all kinds.
    private struct Overdrawn: BaseError {
        var errorCode: Int { 70_001 }
        var message: String { "overdrawn" }
        var cause: (any Error)? { nil }
        var arguments: [ErrorArgument] { [.text("credit"), .integer(1_234_567), .real(0.5), .date(Date(timeIntervalSince1970: 0))] }
        var recovery: ErrorRecovery { .removeCause }
    }

    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// Makes a directory of languages in a bundle of this test.
    private func bundle(_ languages: [String: String]) throws -> URL {
        for (language, text) in languages {
            let folder = directory.url.appending(path: "\(language).lproj")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try text.write(to: folder.appending(path: "ErrorMessages.strings"), atomically: true, encoding: .utf8)
        }
        return directory.url
    }

    private let error = ObjectError(.noSuchAttribute, "object \"Customer\" has no attribute \"colour\"")

    @Test("EMS-01 EMS-02: the service gives the text of a code, in English by default, and in a language where asked for")
    func service() throws {
        let english = MessageBundles(preferredLanguages: [], currentLocale: Locale(identifier: "en_US"))
        #expect(english.message(code: 2012) == "There is no such attribute (%1$@).")
        #expect(english.message(code: 2012, locale: "en") == "There is no such attribute (%1$@).")
        #expect(english.message(code: 99_999) == nil && english.message(code: 99_999, locale: "en") == nil)
        let both = try MessageBundles(directories: [Self.bundle], preferredLanguages: [], currentLocale: Locale(identifier: "de_DE"))
        #expect(both.message(code: 2012, locale: "de") == "Ein solches Attribut gibt es nicht (%1$@).")
        #expect(both.message(code: 2012) == "Ein solches Attribut gibt es nicht (%1$@).")
        #expect(both.message(code: 2012, locale: "en") == "There is no such attribute (%1$@).")
    }

    @Test("EMS-02: every code of this module and of the store has an English text")
    func everyCode() {
        let service = MessageBundles(preferredLanguages: [])
        for code in Array(1001...1019) + Array(1101...1103) + Array(2001...2026) + [2040, 2041] {
            #expect(service.message(code: code, locale: "en") != nil, "\(code)")
        }
    }

    @Test func `every error is a LocalizedError with text, reason and remedy, and prints them with its code`() {
        let full = StoreError(.full, "write: database or disk is full")
        let error = ObjectError(.store, "save of Customer: write: database or disk is full", cause: full)
        #expect(
            (error as any Error).localizedDescription == "There is no space left on the device (save of Customer: write: database or disk is full).")
        #expect(error.failureReason == error.message && error.recoverySuggestion == "Free space and repeat the call.")
        #expect(
            String(reflecting: error)
                == "save of Customer: write: database or disk is full (ObjectError 1015). Free space and repeat the call.")
        #expect(Overdrawn().recoverySuggestion == nil && String(reflecting: Overdrawn()) == "overdrawn (Overdrawn 70001)")
        #expect(ObjectError(.store, "no cause").recoverySuggestion == "Look at cause, a StoreError.")
        for code in Array(1001...1019) + Array(1101...1103) + Array(2001...2008) + Array(2010...2026) + [2040, 2041] {
            #expect(MessageBundles(preferredLanguages: []).remedy(code: code)?.isEmpty == false, "\(code)")
        }
    }

    @Test("a directory of a language may have remedies as well; the English ones are used where it has none")
    func remedies() throws {
        let folder = try bundle(["fr": "\"2012\" = \"Il n'y a pas cet attribut (%@).\";"])
        try "\"2012\" = \"Corrigez le nom.\";".write(
            to: folder.appending(path: "fr.lproj/ErrorRemedies.strings"), atomically: true, encoding: .utf8)
        let service = try MessageBundles(directories: [folder], preferredLanguages: [], currentLocale: Locale(identifier: "fr_FR"))
        #expect(
            service.remedy(code: 2012) == "Corrigez le nom." && service.remedy(code: 2013) == "Correct the name." && service.remedy(code: 9) == nil)
    }

    @Test("EMS-03: the service is registered, found, replaced by one's own and taken out again; two registries are two")
    func registry() {
        let registry = ServiceRegistry(), other = ServiceRegistry.standard()
        #expect(registry.service((any ErrorMessageService).self) == nil)
        #expect(error.message(from: registry) == "object \"Customer\" has no attribute \"colour\"")
        registry.register(MessageBundles(preferredLanguages: []), for: (any ErrorMessageService).self)
        #expect(error.message(from: registry, locale: "en") == "There is no such attribute (object \"Customer\" has no attribute \"colour\").")
        let before = registry.register(CustomMessageService(), for: (any ErrorMessageService).self)
        #expect(before is MessageBundles)
        #expect(error.message(from: registry) == "my own way of retrieving the message")
        #expect(error.message(from: registry, locale: "es") == "my own way of retrieving the localized message")
        #expect(error.message(from: other, locale: "en").hasPrefix("There is no such attribute"))
        #expect(registry.unregister((any ErrorMessageService).self) is CustomMessageService)
        #expect(registry.service((any ErrorMessageService).self) == nil && registry.unregister((any ErrorMessageService).self) == nil)
    }

    @Test("EMS-04 EMS-08: a language is one more directory with a file of codes and texts")
    func languages() throws {
        let spanish = try bundle(["es": "/* errores */ \"2012\" = \"No existe el atributo (%@).\"; // fin\n\"2002\"=\"No existe\\n\\\"nada\\\"\";\n"])
        let service = try MessageBundles(directories: [Self.bundle, spanish], preferredLanguages: [])
        #expect(service.message(code: 2012, locale: "es") == "No existe el atributo (%@).")
        #expect(service.message(code: 2002, locale: "es") == "No existe\n\"nada\"")
        #expect(service.message(code: 2012, locale: "de") == "Ein solches Attribut gibt es nicht (%1$@).")
    }

    @Test("EMS-08: the German texts have the keys of the English ones, and both name the same arguments")
    func sameKeys() throws {
        let service = try MessageBundles(directories: [Self.bundle], preferredLanguages: [])
        for code in [63, 401, 403, 404, 405, 409, 412, 500, 503, 571, 580, 6600, -794, 14_801, 14_871] + Array(1001...1019) + Array(2001...2026) {
            let english = try #require(service.message(code: code, locale: "en")), german = try #require(service.message(code: code, locale: "de"))
            #expect(german != english)
            for place in ["%1$@", "%2$@", "%3$@"] { #expect(german.contains(place) == english.contains(place), "\(code)") }
        }
    }

    @Test(
        "EMS-05 EMS-06: a text falls back from language_region to language, to the preferred languages, to English",
        arguments: [
            ("de_AT", 1, "region"), ("de-AT", 1, "region"), ("de_AT", 2, "language"), ("de_CH", 2, "language"), ("de", 2, "language"),
            ("de_AT", 3, "second preferred"), ("fr", 2, "preferred"), ("pt_BR", 3, "second preferred"), ("de", 4, "english"), ("", 4, "english"),
        ])
    func fallback(locale: String, code: Int, expected: String) throws {
        let texts = try bundle([
            "de_AT": "\"1\" = \"region\";", "de": "\"1\" = \"language\"; \"2\" = \"language\";",
            "it": "\"2\" = \"preferred\";", "es": "\"2\" = \"second preferred\"; \"3\" = \"second preferred\";",
            "en": "\"1\" = \"english\"; \"2\" = \"english\"; \"3\" = \"english\"; \"4\" = \"english\";",
        ])
        let service = try MessageBundles(directories: [texts], preferredLanguages: ["it", "es"])
        #expect(service.message(code: code, locale: locale) == expected)
        #expect(service.message(code: 5, locale: locale) == nil)
    }

    @Test("EMS-07: arguments are formatted in the locale of the text, and in the current one where that is no known locale")
    func formatting() throws {
        let texts = try bundle(["de": "\"70001\" = \"%4$@: %@ um %@ und %@ überzogen, 100 %%, %5$@%\";", "xx_YY": "\"70001\" = \"%2$@\";"])
        let registry = ServiceRegistry()
        registry.register(
            try MessageBundles(directories: [texts], preferredLanguages: [], currentLocale: Locale(identifier: "en_US")),
            for: (any ErrorMessageService).self)
        let german = Overdrawn().message(from: registry, locale: "de")
        #expect(german.hasPrefix("1.1.1970, ") && german.hasSuffix("0:00: credit um 1.234.567 und 0,5 überzogen, 100 %, %"), "\(german)")
        #expect(Overdrawn().message(from: registry, locale: "de_CH").contains("1’234’567"))
        #expect(Overdrawn().message(from: registry, locale: "xx_YY") == "1,234,567")
    }

    @Test("the store's errors name byte and row in the language of the text")
    func storeError() throws {
        let registry = ServiceRegistry()
        registry.register(try MessageBundles(directories: [Self.bundle], preferredLanguages: []), for: (any ErrorMessageService).self)
        let error = StoreError(.json, "no JSON", byteOffset: 88_213, row: 214)
        #expect(error.message(from: registry, locale: "de") == "Empfangene Daten sind ab Byte 88.213 ungültig (no JSON).")
        #expect(error.message(from: registry, locale: "en") == "Received data are not valid at byte 88,213 (no JSON).")
    }

    @Test(
        "a file that is no list of codes and texts is refused with its line",
        arguments: [
            ("\"a\" = \"text\";", "line 1: the key \"a\" is not the number of an error"), ("\n\"1\" \"text\";", "line 2: expected \"=\""),
            ("\"1\" = text;", "line 1: expected a text in quotes"), ("\"1\" = \"text\"", "line 1: expected \";\""),
            ("\"1\" = \"te", "line 1: a text has no end"), ("/* \n", "line 2: a comment has no end"),
            ("\"1\" = \"\\q\";", "line 1: \\q is not a valid escape"), ("\"1\"=\"a\";\n\"1\"=\"b\";", "line 2: code 1 has a second text"),
        ])
    func badFile(text: String, message: String) throws {
        let texts = try bundle(["en": text])
        let error = #expect(throws: ObjectError.self) { _ = try MessageBundles(directories: [texts]) }
        #expect(error?.code == .invalidText && error?.message.contains(message) == true, "\(error?.message ?? "")")
    }

    @Test("a directory that is not there has no languages; the framework's English stays")
    func noDirectory() throws {
        let service = try MessageBundles(directories: [directory.url.appending(path: "missing")], preferredLanguages: [])
        #expect(service.message(code: 2012, locale: "de") == "There is no such attribute (%1$@).")
    }
}
