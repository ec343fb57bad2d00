import Foundation
import TestSupport
import Testing

/// The public functions of MobileObjects and MobileSync that throw: those that wait for the database, the server or a thread are refused in asynchronous
/// code and have an `async` form there.
@Suite struct BlockingFormTests {
    /// A public function as its file declares it.
    private struct Function {
        let file: String
        let name: String
        let head: String
        let isAsync: Bool
        let isRefused: Bool
    }

    /// Functions that wait for nothing, by file, with the reason. `*` stands for all of a file.
    private static let withoutWaiting: [(file: String, names: [String], reason: String)] = [
        ("AttributeValue+Reading.swift", ["*"], "values in memory"), ("QueryResultSet.swift", ["*"], "values in memory"),
        ("QueryResultSet+Getters.swift", ["*"], "values in memory"), ("LocalDate.swift", ["*"], "values in memory"),
        ("LocalTime.swift", ["*"], "values in memory"), ("Row+Values.swift", ["*"], "values in memory"),
        ("ClassMetadata.swift", ["*"], "metadata"), ("EntityMetadata.swift", ["*"], "metadata"), ("OperationMetadata.swift", ["*"], "metadata"),
        ("PackageMetadata.swift", ["*"], "metadata"), ("EntityClass.swift", ["entity"], "metadata"),
        ("ConnectionProfile+Properties.swift", ["*"], "a value in memory"),
        ("Entity+Codable.swift", ["encode"], "the attributes in memory"),
        ("Entity+Utilities.swift", ["json", "copyAll"], "the attributes in memory"),
        ("Entity+Members.swift", ["*"], "the attributes in memory; large ones are streams"),
        ("GenericEntity.swift", ["setValue"], "the attributes in memory"),
        ("QueryObservation.swift", ["observe"], "nothing is read before the first result"),
        ("Entity.swift", ["setValue"], "the attributes in memory"),
        ("Entity+LargeAttributes.swift", ["*"], "for the streams of large attributes"),
        ("Entity+RelationshipNames.swift", ["children", "setParent"], "lists that are read when they are looked at"),
        ("PersonalizationParameters.swift", ["setValue"], "a value in memory"),
        ("Listing.swift", ["*"], "lists and cursors that are read when they are looked at"),
        ("EntitySet+Lists.swift", ["list"], "a list that is read when it is looked at"),
        ("PerformanceAgent.swift", ["*"], "measurements in memory, and a small file"), ("E2ETraceService.swift", ["*"], "a trace in memory"),
        ("Application.swift", ["setIdentifier"], "a value in memory"),
        ("PackageDatabase+Login.swift", ["beginOnlineLogin", "asyncOnlineLogin"], "the answer comes later"),
        ("PackageDatabase+Synchronization.swift", ["beginSynchronize"], "the answer comes later"),
    ]

    private static func functions() throws -> [Function] {
        var functions: [Function] = []
        for module in ["MobileObjects", "MobileSync"] {
            let files = try #require(FileManager.default.enumerator(at: Repository.file("Sources/\(module)"), includingPropertiesForKeys: nil))
            for case let file as URL in files where file.pathExtension == "swift" {
                functions += Self.functions(in: try String(contentsOf: file, encoding: .utf8), file.lastPathComponent)
            }
        }
        return functions
    }

    /// Relies on the formatter's layout: members begin in the fifth column.
    private static func functions(in text: String, _ file: String) -> [Function] {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.indices.compactMap { index in
            guard lines[index].hasPrefix("    "), !lines[index].hasPrefix("     "), !lines[index].contains("@_spi"),
                let match = lines[index].firstMatch(of: /\b(?:public|open) (?:[\w()]+ )*func `?(\w+)/)
            else { return nil }
            let attributes = lines[..<index].reversed().prefix { $0.hasPrefix("    @") }
            guard !attributes.contains(where: { $0.contains("@_spi") }) else { return nil }
            // The head ends with the brace of the body; a default value that is a closure would end it early, and there is none.
            let head = lines[index...].joined(separator: " ").prefix { $0 != "{" }
            return Function(
                file: file, name: String(match.1), head: String(head), isAsync: head.contains(" async"),
                isRefused: (attributes + [lines[index]]).contains { $0.contains("noasync") })
        }
    }

    @Test func `each function that waits is refused in asynchronous code, and has an async form next to it`() throws {
        let functions = try Self.functions(), blocking = functions.filter { !$0.isAsync && ($0.head.contains(" throws") || $0.isRefused) }
        #expect(blocking.count { $0.isRefused } > 120, "the search itself does not work any more")
        for function in blocking {
            let isWithoutWaiting = Self.withoutWaiting.contains {
                $0.file == function.file && ($0.names == ["*"] || $0.names.contains(function.name))
            }
            #expect(function.isRefused != isWithoutWaiting, "\(function.file): \(function.head)")
            guard function.isRefused else { continue }
            let twins = functions.count { $0.file == function.file && $0.name == function.name && $0.isAsync }
            let forms = blocking.count { $0.file == function.file && $0.name == function.name && $0.isRefused }
            #expect(twins >= forms, "\(function.file): \(function.name) has \(forms) blocking forms and \(twins) async ones")
        }
    }

    @Test func `each exception is a function`() throws {
        let functions = try Self.functions()
        for (file, names, _) in Self.withoutWaiting {
            for name in names {
                #expect(functions.contains { $0.file == file && (name == "*" || $0.name == name) && !$0.isRefused }, "\(file): \(name)")
            }
        }
    }
}
