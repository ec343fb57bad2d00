import Foundation
import MobileModel
import MobileObjects
import MobileStore
import SampleCRM
import TestSupport
import Testing

/// A package's description of itself at run time.
@Suite struct MetadataTests {
    private let package = CRM.metadata
    private let helpdesk: PackageMetadata

    init() throws { helpdesk = try PackageMetadata(Helpdesk.model) }

    @Test("MET-02: the database class lists its classes, objects, operations and structures alike, and its entities")
    func lists() throws {
        #expect(package.entityList.map(\.name) == ["Customer", "SalesOrder", "SalesOrderLine", "Product", "Visit"])
        #expect(package.classList.map(\.name) == package.entityList.map(\.name) + ["CustomerRaiseCreditLimitOperation"])
        #expect(helpdesk.classList.map(\.name) == ["Ticket", "Contact", "Notice", "TicketCloseAllOperation", "AuthenticationInfo"])
        #expect(helpdesk.classList.map { $0.entity?.table } == ["Ticket", "Contact", "Notice", "TicketCloseAllOperation", nil])
        #expect(helpdesk.entityList.map(\.name) == ["Ticket", "Contact", "Notice"])
        #expect(helpdesk.name == "Helpdesk" && helpdesk.version == "1.0")
    }

    @Test("MET-03: a class tells its name, attributes and operations; a structure has no operations")
    func classes() throws {
        let ticket = try helpdesk.metadata(ofClass: "Ticket")
        #expect(ticket.name == "Ticket" && ticket.attributes.map(\.name) == ["id", "company", "city", "effort"])
        #expect(ticket.operations.map(\.name) == ["submit", "move", "reopen", "update", "delete", "discard", "closeAll"])
        #expect(try ticket.operation(named: "move").kind == .update && ticket.attribute(named: "city").isNullable)
        let structure = try helpdesk.metadata(ofClass: "AuthenticationInfo")
        #expect(structure.attributes.map(\.name) == ["userName", "password", "locale"] && structure.operations.isEmpty && structure.entity == nil)
        #expect(ObjectError.of { _ = try structure.attribute(named: "user") }?.code == .noSuchAttribute)
        #expect(ObjectError.of { _ = try structure.operation(named: "save") }?.code == .noSuchOperation)
        #expect(ObjectError.of { _ = try helpdesk.metadata(ofClass: "Customer") }?.code == .noSuchClass)
    }

    @Test("MET-04 MET-09: a class's entity metadata tell name, table, attributes and operations, and find an attribute by its name")
    func entities() throws {
        let customer = Customer.metadata
        #expect(customer === package.entities[0] && customer.name == "Customer" && customer.table == "Customer")
        #expect(customer.attributes.map(\.name).prefix(3) == ["id", "name", "contact"])
        #expect(customer.operations.map(\.name) == ["create", "update", "delete", "raiseCreditLimit"])
        #expect(try customer.attribute(named: "creditLimit").index == 8)
        #expect(try package.entity(named: "Visit") === Visit.metadata && Visit.metadata.isLocal)
        #expect(CustomerRaiseCreditLimitOperation.metadata.table == "CustomerRaiseCreditLimitOperation")
        let error = ObjectError.of { _ = try customer.attribute(named: "credit") }
        #expect(error?.code == .noSuchAttribute && error?.message == #"object "Customer" has no attribute "credit""#)
    }

    @Test("MET-05: an attribute tells name, column, type and longest length; the column is there, and missing of a structure's attribute")
    func attributes() throws {
        let name = try Customer.metadata.attribute(named: "name")
        #expect(name.name == "name" && name.column == "name" && name.type == .string && name.type.name == "string" && name.length == 80)
        let id = try Customer.metadata.attribute(named: "id")
        #expect(id.type.name == "long" && id.length == nil && id.isKey && id.isGenerated && !id.isNullable)
        #expect(try Customer.metadata.attribute(named: "notes").isLarge)
        #expect(try helpdesk.metadata(ofClass: "AuthenticationInfo").attributes.map(\.column) == [nil, nil, nil])
        let desk = try HelpdeskDatabase()
        for entity in desk.database.metadata.entityList + desk.database.metadata.operationClasses {
            let columns = try desk.database.read { try $0.rows("SELECT name FROM pragma_table_info(?1)", [.text(entity.table)]) }.map { $0[0].text }
            #expect(entity.attributes.allSatisfy { columns.contains($0.column) }, "\(entity.name)")
        }
    }

    @Test("MET-06 MET-07: an operation tells its name and parameters, a parameter its name and the name of its type")
    func operations() throws {
        let submit = try helpdesk.entity(named: "Ticket").operation(named: "submit")
        #expect(submit.name == "submit" && submit.kind == .create && !submit.isDefault)
        #expect(
            submit.parameters.map { "\($0.name): \($0.dataType.name)\($0.isNullable ? "?" : "")" }
                == ["auth: AuthenticationInfo?", "groups: string?[]?", "firm: string", "action: string", "day: date?"])
        #expect(submit.parameters.map(\.attribute) == [nil, nil, "company", nil, nil])
        let move = try helpdesk.entity(named: "Ticket").operation(named: "move")
        #expect(try move.parameter(named: "reason").defaultValue == "none" && move.parameter(named: "stops").defaultValue == nil)
        #expect(try move.parameter(named: "stops").dataType == .list(.int))
        let error = ObjectError.of { _ = try move.parameter(named: "where") }
        #expect(error?.code == .noSuchParameter && error?.message == #"operation "move" has no parameter "where""#)
        #expect(try Customer.metadata.operation(named: "create").isDefault && Customer.metadata.operation(named: "create").parameters.isEmpty)
    }

    @Test("MET-08: every entity has metadata, also one without dynamic queries; the database keeps them, and they are read without the model")
    func stored() throws {
        let directory = try TemporaryDirectory()
        let hidden = try PackageMetadata(QuerySamples.model).entity(named: "Hidden")
        #expect(!hidden.model.allowsDynamicQueries && hidden.attributes.map(\.name) == ["id"])
        let profile = ConnectionProfile(path: directory.file("crm.db"))
        try CRM.open(profile).close()
        let stored = try PackageMetadata(storedIn: profile)
        #expect(stored.model == CRM.metadata.model && stored.classList.map(\.name) == CRM.metadata.classList.map(\.name))
        let database = PackageDatabase(metadata: stored, profile: profile)
        #expect(try database.entity("Customer").findAll().isEmpty)
        try database.close()
        let missing = ConnectionProfile(path: directory.file("other.db"))
        #expect(ObjectError.of { _ = try PackageMetadata(storedIn: missing) }?.code == .noDatabase)
        let foreign = try Database(missing)
        try foreign.write { _ = try $0.execute("CREATE TABLE t (a)") }
        try foreign.close()
        #expect(ObjectError.of { _ = try PackageMetadata(storedIn: missing) }?.code == .version)
    }

    @Test("MET-02 MET-04 MET-05 MET-06 MET-07: the documented sample lists all of it")
    func documentedSample() {
        var lines: [String] = []
        for entity in helpdesk.entityList where entity.name == "Contact" || entity.name == "Ticket" {
            lines.append("Entity name = \(entity.name), database table name = \(entity.table)")
            for attribute in entity.attributes {
                lines.append("Attribute: name = \(attribute.name)" + (attribute.column.map { ", database column = \($0)" } ?? ""))
            }
            for operation in entity.operations where operation.kind != .delete {
                lines.append("Operation: name = \(operation.name)")
                for parameter in operation.parameters { lines.append("Parameter: name = \(parameter.name), type = \(parameter.dataType.name)") }
            }
        }
        #expect(lines.count == 2 + 6 + 5 + 2 + 13)
        #expect(
            lines[0] == "Entity name = Ticket, database table name = Ticket" && lines[2] == "Attribute: name = company, database column = company")
        #expect(lines[5] == "Operation: name = submit" && lines[7] == "Parameter: name = groups, type = string?[]")
        #expect(lines.last == "Operation: name = update")
    }
}
