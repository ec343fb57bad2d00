import Foundation
import MobileGenerator
import MobileModel
import TestSupport
import Testing

@testable import MobileModelCommands

/// Deployment units of the original platform become models.
@Suite struct DeploymentUnitTests {
    private static let fixture = Repository.fixture("deployment_unit.xml")

    private func text() throws -> String { try String(contentsOf: Self.fixture, encoding: .utf8) }

    @Test("GEN-06: names, types, keys, lengths and structures of a deployment unit are those of the model")
    func carriesOver() throws {
        let model = try DeploymentUnit(contentsOf: Self.fixture).model
        #expect(model.name == "Fleet" && model.version == "1.4" && model.synchronization == .replication)
        #expect(
            model.structures == [
                StructureModel(
                    name: "Credentials",
                    attributes: [
                        AttributeModel(name: "user", type: .string, length: 40),
                        AttributeModel(name: "secret", type: .string, isNullable: true, length: 200),
                        AttributeModel(name: "scopes", type: .list(.string)),
                    ])
            ])
        let vehicle = try #require(model.object(named: "Vehicle"))
        #expect(vehicle.primaryKey == ["plate"] && !vehicle.allowsDynamicQueries && !vehicle.isLocal)
        #expect(
            vehicle.attributes == [
                AttributeModel(name: "plate", type: .string, length: 12),
                AttributeModel(name: "model", type: .string, isNullable: true, length: 60),
                AttributeModel(name: "mileage", type: .decimal, precision: 28, scale: 8),
                AttributeModel(name: "firstUse", type: .date, isNullable: true),
                AttributeModel(name: "photo", type: .bigBinary, isNullable: true, length: 400_000),
                AttributeModel(name: "notes", type: .list(.string)),
            ])
        let trip = try #require(model.object(named: "Trip"))
        #expect(trip.primaryKey == ["vehicle", "number"] && trip.attributes.map(\.name) == ["vehicle", "number"])
        #expect(trip.attributes.allSatisfy { !$0.isNullable } && trip.operations.isEmpty && trip.allowsDynamicQueries)
    }

    @Test("GEN-06: queries that find objects, default operations and synchronization parameters are carried over")
    func queriesAndOperations() throws {
        let vehicle = try #require(DeploymentUnit(contentsOf: Self.fixture).model.object(named: "Vehicle"))
        #expect(
            vehicle.queries == [
                QueryModel(
                    name: "findOlder", parameters: [ParameterModel(name: "day", type: .date)],
                    sql: "SELECT x.* FROM Vehicle x WHERE x.firstUse < :day"),
                QueryModel(
                    name: "findByModel", parameters: [ParameterModel(name: "model", type: .string)], isSingle: true,
                    sql: "SELECT x.* FROM Vehicle x WHERE x.model = :model"),
            ])
        #expect(vehicle.operations == [OperationModel(name: "create", kind: .create), OperationModel(name: "update", kind: .update)])
        #expect(vehicle.synchronizationParameters == [ParameterModel(name: "depot", type: .string, defaultValue: "\"DUB\"")])
        #expect(vehicle.binding?.load?.hasPrefix("SELECT x.* FROM Vehicle x WHERE x.depot = :depot") == true)
    }

    @Test("GEN-06: what a model has no place for is told with its line, its place and what to do")
    func remarks() throws {
        let unit = try DeploymentUnit(contentsOf: Self.fixture)
        let remarks = unit.remarks.map(\.description)
        for part in [
            "package Fleet: check-interval 10m", "package Fleet: the back end is called \"enterprise\"",
            "package Fleet: its cache and back-end parts", "entity Vehicle: partition-by-requestor",
            "entity Vehicle, attribute trips: type \"Trip*\" is not carried over; add a relationship",
            "entity Vehicle, query findBroken: not carried over: the object \"Vehicle\" has no attribute \"broken\"",
            "entity Vehicle, query countAll: returns int",
            "entity Vehicle, index byModel: create it at run time: createIndex with the attributes model, firstUse",
            "entity Vehicle: access for Dispatcher", "entity Vehicle, operation create: its statement is made from the attributes",
            "entity Vehicle, operation scrap: not carried over: add it with its statements and parameters reason: string?, day: date",
            "entity Vehicle, operation audit: not carried over", "entity Vehicle, operation reload: is called on the server only",
            "entity Vehicle, download-data: its statement is now the binding's load", "entity Vehicle: its back-end parts",
            "entity Vehicle: \"photo\" becomes a bigBinary",
            "entity Trip: is published without replay", "entity Trip, attribute vehicle: is part of the key",
            "entity Trip, attribute track: type \"Geometry\"", "entity Trip: <hologram> is not known",
        ] {
            #expect(remarks.contains { $0.contains(part) }, "\(part)")
        }
        #expect(unit.remarks.map(\.line) == unit.remarks.map(\.line).sorted())
        let lines = try text().split(separator: "\n", omittingEmptySubsequences: false)
        let broken = try #require(unit.remarks.first { $0.place == "entity Vehicle, query findBroken" })
        #expect(lines[broken.line - 1].contains("findBroken"))
    }

    @Test("GEN-06: the model that a unit becomes can be written, read and generated from")
    func generates() throws {
        let unit = try DeploymentUnit(contentsOf: Self.fixture)
        let again = try PackageModel(json: unit.model.json)
        #expect(again.object(named: "Vehicle")?.attribute(named: "photo")?.type == .bigBinary)
        #expect(PackageGenerator(again, source: "fleet.mbo.json").files.map(\.name).contains("Vehicle.swift"))
    }

    @Test("GEN-05: the unit of an orchestrated package needs the files of its bundle beside it, and travels by messages")
    func orchestrated() throws {
        let directory = try TemporaryDirectory()
        let unit = directory.url.appending(path: "sup-db.xml")
        try FileManager.default.copyItem(at: Self.fixture, to: unit)
        for missing in ["afx-esdma.xml", "ds-doe.xml"] {
            let failure = try #require(throws: DeploymentUnit.Failure.self) { try DeploymentUnit(contentsOf: unit) }
            #expect(failure.cause.hasPrefix("\(missing) is not next to it"))
            try Data("<x/>".utf8).write(to: directory.url.appending(path: missing))
        }
        #expect(try DeploymentUnit(contentsOf: unit).model.synchronization == .messaging)
    }

    @Test(
        "what is no deployment unit is refused with the line",
        arguments: [
            ("", 1, "not well-formed XML"), ("<package name='A'>\n<entity", 2, "not well-formed XML"), ("<model/>", 1, "the root is <model>"),
            (String(repeating: "<package>", count: 101), 1, "elements are nested deeper than 100 levels"),
        ])
    func refused(text: String, line: Int, cause: String) throws {
        let failure = try #require(throws: DeploymentUnit.Failure.self) { try DeploymentUnit(Data(text.utf8)) }
        #expect(failure.line == line && failure.cause.hasPrefix(cause), "\(failure)")
    }

    @Test func `a unit that names external entities or grows without end is not followed`() throws {
        let secret =
            "<!DOCTYPE package [<!ENTITY x SYSTEM 'file:///etc/hostname'>]><package name='A'><entity name='E' key='k' alternate-key='a'><attribute name='a' type='string'/><query name='q'><sql>&x;</sql></query></entity></package>"
        if let unit = try? DeploymentUnit(Data(secret.utf8)) { #expect(unit.model.objects[0].queries.isEmpty) }
        var bomb = "<!DOCTYPE package [<!ENTITY a0 'aaaaaaaaaaaaaaaaaaaa'>"
        for level in 1...9 { bomb += "<!ENTITY a\(level) '\(String(repeating: "&a\(level - 1);", count: 10))'>" }
        bomb += "]><package name='A'><entity name='E'><query name='q'><sql>&a9;</sql></query></entity></package>"
        #expect(throws: (any Error).self) { try DeploymentUnit(Data(bomb.utf8)) }
    }

    @Test func `damaged units are refused or converted, whatever is cut out of them`() throws {
        let bytes = try Array(Data(contentsOf: Self.fixture))
        for start in stride(from: 0, to: bytes.count, by: 37) {
            let damaged = bytes[..<start] + bytes[min(start + 19, bytes.count)...]
            do {
                let unit = try DeploymentUnit(Data(damaged))
                try unit.model.validate()
            } catch is DeploymentUnit.Failure {
            } catch is ModelError {}
        }
    }
}
