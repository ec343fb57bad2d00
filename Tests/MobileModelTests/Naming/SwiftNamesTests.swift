import Foundation
import TestSupport
import Testing

@testable import MobileModel

@Suite struct SwiftNamesTests {
    @Test(
        "GEN-14: points become underscores, white space is removed, nothing else is converted",
        arguments: [("cust_id", "cust_id"), ("Unit Price", "UnitPrice"), ("ns.Customer", "ns_Customer"), ("a\tb c.d", "abc_d"), ("name", "name")])
    func conversion(modelled: String, swift: String) {
        #expect(SwiftNames.converted(modelled) == swift)
    }

    @Test(
        "GEN-15: id and description, and what else the runtime's classes have, get an underscore",
        arguments: [
            ("id", "id_"), ("description", "description_"), ("state", "state_"), ("save", "save_"), ("i d", "id_"), ("identity", "identity"),
        ])
    func reserved(modelled: String, swift: String) {
        #expect(SwiftNames.member(modelled) == swift)
    }

    @Test(
        "GEN-15: attributes and relationships may have the names of methods; what Swift cannot distinguish gets an underscore",
        arguments: [
            ("id", "id_"), ("state", "state_"), ("value", "value"), ("list", "list"), ("package", "package_"), ("save", "save_"), ("city", "city"),
        ])
    func properties(modelled: String, swift: String) {
        #expect(SwiftNames.property(modelled) == swift)
        #expect(ReservedNames.methods.isSubset(of: ReservedNames.members))
    }

    @Test(
        "words that are keywords at some places only are in backticks in generated code",
        arguments: [("async", "`async`"), ("any", "`any`"), ("open", "open"), ("package", "package_"), ("Type", "Type_")])
    func contextualKeywords(modelled: String, swift: String) {
        #expect(SwiftNames.memberInCode(modelled) == swift)
    }

    @Test("GEN-14: each word of the language is refused as an attribute's name, other words are not")
    func keywords() throws {
        #expect(ReservedNames.keywords.isSuperset(of: ["class", "default", "in", "init", "operator", "self", "where"]))
        for word in ReservedNames.keywords.union(ReservedNames.contextualKeywords).union(["open", "Default", "selfish"]) {
            let problems = try BadModel("{\"name\": \"text\", \"type\"", "{\"name\": \"\(word)\", \"type\"", "", "").problems()
            #expect(problems.map(\.code) == (ReservedNames.keywords.contains(word) ? [.name] : []), "\(word): \(problems)")
        }
        // The way of a model of an earlier release.
        let renamed = BadModel("{\"name\": \"text\", \"type\"", "{\"name\": \"classValue\", \"was\": \"class\", \"type\"", "", "")
        #expect(try renamed.problems() == [])
    }

    @Test(
        "the objects of a class have the plural of its name; a name in use gets an underscore",
        arguments: [
            (["Customer", "SalesOrder", "Category"], ["customers", "salesOrders", "categories"]),
            (["URLEntry", "CRM", "Person", "ns.Box"], ["urlEntries", "crms", "people", "ns_Boxes"]),
            (["Event", "LogRecord", "Customers", "Customer"], ["events_", "logRecords_", "customers", "customers_"]),
        ])
    func collections(modelled: [String], swift: [String]) {
        #expect(SwiftNames.collections(modelled) == swift)
    }

    @Test func `every public member of the database class is reserved`() throws {
        var members: Set<String> = []
        for folder in ["Sources/MobileObjects", "Sources/MobileSync"] {
            members.formUnion(try Self.publicMembers(of: ["PackageDatabase"], inFilesOf: folder))
        }
        #expect(members.isSuperset(of: ["events", "subscriptions", "save", "synchronize"]), "the search itself does not work any more")
        #expect(members.subtracting(ReservedNames.packageMembers).sorted() == [])
    }

    /// A member of the runtime that is not reserved would make a model fail in the compiler, with an obscure error.
    @Test func `every public member of the runtime's classes is reserved`() throws {
        let members = try Self.publicMembers(
            of: ["Entity", "ModelledEntity", "SavableEntity", "SubscribableEntity"], inFilesOf: "Sources/MobileObjects")
        #expect(members.isSuperset(of: ["save", "surrogateKey", "findAll", "subscriptions"]), "the search itself does not work any more")
        #expect(members.subtracting(ReservedNames.members).subtracting(ReservedNames.queryAttributes).sorted() == [])
    }

    private static func publicMembers(of types: [String], inFilesOf folder: String) throws -> Set<String> {
        let files = try #require(FileManager.default.enumerator(at: Repository.file(folder), includingPropertiesForKeys: nil))
        var members: Set<String> = []
        for case let file as URL in files where file.pathExtension == "swift" {
            members.formUnion(publicMembers(of: types, in: try String(contentsOf: file, encoding: .utf8)))
        }
        return members
    }

    /// Returns the names of public functions and properties at the first level of declarations of `types`.
    private static func publicMembers(of types: [String], in source: String) -> Set<String> {
        var names: Set<String> = []
        var isWanted = false
        for line in source.split(separator: "\n") {
            // The indentation first: an expression takes a hundred times as long as this comparison.
            let indentation = line.prefix { $0 == " " }.utf8.count
            if indentation == 0,
                let match = line.firstMatch(of: /^(?:public |open |final |package )*(?:class|extension|protocol|struct|enum|actor) (\w+)/)
            {
                isWanted = types.contains(String(match.1))
            }
            if isWanted, indentation == 4,
                let match = line.firstMatch(of: /^ {4}(?:@\w+(?:\(\w+\))? )*(?:public|open) (?:[\w()]+ )*?(?:func|var|let) (\w+)/)
            {
                names.insert(String(match.1))
            }
        }
        return names
    }
}
