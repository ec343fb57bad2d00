import Foundation
import MobileCore
import TestSupport
import Testing

/// The decimal point of the process's locale, which affects the C library but must not affect JSON.
@Suite struct LocaleTests {
    static let source = "/usr/share/i18n/locales/de_DE"

    // In a separate process, because the locale applies to the whole process.
    @Test("numbers mean the same where the locale's decimal point is a comma", .enabled(if: FileManager.default.fileExists(atPath: source)))
    func comma() async {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryDirectory()
            let localedef = try Process.run(
                URL(fileURLWithPath: "/usr/bin/localedef"), arguments: ["-i", "de_DE", "-f", "UTF-8", folder.path + "/de_DE.UTF-8"])
            localedef.waitUntilExit()
            setenv("LOCPATH", folder.path, 1)
            precondition(setlocale(LC_ALL, "de_DE.UTF-8") != nil)
            precondition(strtod("0,5", nil) == 0.5, "the locale has a comma")

            for text in ["0.30000000000000004", "1.7976931348623157e+308", "2.225073858507201e-308", "-0.1", "123456789.12345679"] {
                let scan = Scan("[[\(text)]]", columns: [ScanColumn(name: "a")])
                guard case .real(let value)? = scan.rows.first?.first else { preconditionFailure(scan.message) }
                var written = [CChar](repeating: 0, count: Int(MC_JSON_DOUBLE_SIZE))
                let length = mc_json_double_to_text(value, &written)
                precondition(String(decoding: written.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self) == text)
            }
        }
    }
}
