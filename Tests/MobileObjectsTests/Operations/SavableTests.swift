import MobileModel
import MobileObjects
import Testing

/// The methods of an object among `create`, `update`, `delete` and `save`.
@Suite struct SavableTests {
    private static func object(_ operations: OperationModel...) -> ObjectModel {
        ObjectModel(name: "Ticket", attributes: [AttributeModel(name: "id", type: .long)], primaryKey: ["id"], operations: operations)
    }

    private static let own = [ParameterModel(name: "p", type: .string)]
    private static let filled = [ParameterModel(name: "p", type: .long, attribute: "id")]

    @Test(
        "OPS-10: save needs a create and an update whose parameters are all mapped to attributes; further ones take nothing away",
        arguments: [
            (object(.init(name: "create", kind: .create), .init(name: "update", kind: .update)), true),
            (object(.init(name: "make", kind: .create, parameters: filled), .init(name: "change", kind: .update, parameters: filled)), true),
            (object(.init(name: "create", kind: .create)), false),
            (object(.init(name: "update", kind: .update)), false),
            (object(), false),
            (object(.init(name: "create", kind: .create, parameters: own), .init(name: "update", kind: .update)), false),
            (object(.init(name: "create", kind: .create), .init(name: "change", kind: .update, parameters: own)), false),
            (object(.init(name: "create", kind: .create), .init(name: "make", kind: .create), .init(name: "update", kind: .update)), true),
            (object(.init(name: "create", kind: .create), .init(name: "update", kind: .update), .init(name: "move", kind: .update)), true),
            (object(.init(name: "create", kind: .create), .init(name: "change", kind: .update), .init(name: "move", kind: .update)), false),
            (
                object(
                    .init(name: "make", kind: .create), .init(name: "import", kind: .create, parameters: own), .init(name: "update", kind: .update)),
                true
            ),
            (
                object(.init(name: "create", kind: .create), .init(name: "update", kind: .update), .init(name: "x", kind: .other, parameters: own)),
                true
            ),
        ])
    func savable(object: ObjectModel, isSavable: Bool) throws {
        #expect(object.isSavable == isSavable)
        let desk = try HelpdeskDatabase(PackageModel(name: "Test", objects: [object]))
        let ticket = try GenericEntity("Ticket", in: desk.database)
        let error = ObjectError.of { try ticket.save() }
        #expect(error?.code == (isSavable ? nil : .noSuchOperation))
        #expect(ticket.isNew == !isSavable)
        #expect(try desk.shop.count("Ticket") == (isSavable ? 1 : 0))
    }

    @Test("OPS-20: a create, update or delete that the model has not is refused, and the message names those that it has")
    func missing() throws {
        let desk = try HelpdeskDatabase()
        let error = ObjectError.of { try desk.newTicket().create() }
        #expect(error?.code == .noSuchOperation)
        #expect(error?.message == "create of Ticket: the model has no create that the attributes fill completely; call submit")
        try desk.shop.importRows("Notice", ["id", "text"], "[[1,1,\"a\"]]")
        let notice = try desk.shop.objects("Notice").load(1)
        try notice.set("text", "b")
        #expect(ObjectError.of { try notice.update() }?.code == .noSuchOperation)
        #expect(ObjectError.of { try notice.delete() }?.message == "delete of Notice: the model has no delete that the attributes fill completely")
        #expect(try desk.shop.count("Notice") == 1 && desk.shop.count("Notice_os") == 0 && !notice.isDeleted)
    }

    @Test("OPS-12: of several operations that the attributes fill, the plain call is the one that is named after its kind")
    func severalDefaults() throws {
        let plain = OperationModel(name: "create", kind: .create), other = OperationModel(name: "make", kind: .create)
        #expect(Self.object(other, plain).defaultOperation(.create) == plain)
        #expect(Self.object(other).defaultOperation(.create) == other)
        #expect(Self.object(other, OperationModel(name: "build", kind: .create)).defaultOperation(.create) == nil)
        let desk = try HelpdeskDatabase(PackageModel(name: "Test", objects: [Self.object(other, plain)]))
        for name in ["create", "make"] {
            let ticket = try desk.shop.new("Ticket", ["id": .integer(Int64(name.count))])
            try ticket.call(name)
            #expect(try ticket.lastOperation == name)
            try ticket.submitPending()
        }
        #expect(try desk.database.outbox.map(\.operation) == ["create", "make"])
    }
}
