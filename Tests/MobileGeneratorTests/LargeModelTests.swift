import Foundation
import MobileGenerator
import MobileModel
import TestSupport
import Testing

/// A model with 200 objects: each has attributes of many types, a query, a named update, its own operation and a parent.
@Suite struct LargeModelTests {
    private static let model: PackageModel = {
        let types: [AttributeType] = [.string, .int, .decimal, .date, .dateTime, .boolean, .list(.string)]
        let objects = (0..<200).map { number in
            ObjectModel(
                name: "Object\(number)",
                attributes: [AttributeModel(name: "id", type: .long, isGenerated: true), AttributeModel(name: "parentId", type: .long)]
                    + types.enumerated().flatMap { position, type in
                        [false, true].map { isNullable in
                            AttributeModel(
                                name: "\(isNullable ? "optional" : "value")\(position)", type: type, isNullable: isNullable,
                                precision: type == .decimal ? 12 : nil, scale: type == .decimal ? 2 : nil)
                        }
                    },
                primaryKey: ["id"],
                relationships: number == 0
                    ? []
                    : [
                        RelationshipModel(
                            name: "parent", target: "Object\(number - 1)", cardinality: .manyToOne,
                            mapping: [.init(source: "parentId", target: "id")])
                    ],
                queries: [
                    QueryModel(
                        name: "findByText", parameters: [ParameterModel(name: "text", type: .string)],
                        sql: "SELECT x.* FROM Object\(number) x WHERE x.value0 = :text")
                ],
                operations: OperationModel.plain + [
                    OperationModel(
                        name: "move", kind: .update, parameters: [ParameterModel(name: "reason", type: .string)],
                        statements: ["UPDATE t SET a = :reason WHERE id = :id"]),
                    OperationModel(
                        name: "close", kind: .other, parameters: [ParameterModel(name: "day", type: .date)], statements: ["UPDATE t SET d = :day"]),
                ], binding: BackEndBinding(backEnd: "erp", table: "t\(number)"))
        }
        return PackageModel(name: "Large", backEnds: [BackEndModel(name: "erp")], objects: objects)
    }()

    @Test func `200 objects of one model give a class each, their operations, and the same bytes every time`() throws {
        try Self.model.validate()
        let files = PackageGenerator(Self.model, source: "large.mbo.json").files
        #expect(files.count == 202 && Set(files.map(\.name)).count == 202)
        #expect(files.last?.text.contains("public final class Object199CloseOperation: Entity, QueryableEntity, SavableEntity {") == true)
        #expect(files.last?.text.contains("CRM") == false && files.last?.text.contains("Large.metadata.operationClasses[199]") == true)
        #expect(PackageGenerator(Self.model, source: "large.mbo.json").files == files)
        #expect(try PackageModel(json: Self.model.json) == Self.model)
    }

    /// The test takes a minute of processor time: `make large-model` runs it.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["LARGE_MODEL"] != nil, "make large-model compiles the 200 classes"))
    func `the generated classes of 200 objects compile`() throws {
        let directory = try TemporaryDirectory()
        let files = PackageGenerator(Self.model, source: "large.mbo.json").files
        for file in files { try file.text.write(to: directory.url.appending(path: file.name), atomically: true, encoding: .utf8) }
        let (status, messages) = try Program.run(
            URL(filePath: "/usr/bin/env"),
            ["swiftc", "-typecheck", "-swift-version", "6"] + BuiltModules.options + files.map { directory.file($0.name) }
        ) { $0.environment = ProcessInfo.processInfo.environment.merging(["TMPDIR": directory.path]) { $1 } }
        #expect(status == 0, "\(messages.prefix(2000))")
    }
}
