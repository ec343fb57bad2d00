import MobileModel
import TestSupport
import Testing

/// The parts of an object: keys, relationships, queries, operations, bindings.
extension BadModelTests {
    static let keys = [
        BadModel(
            "\"primaryKey\": [\"number\"]", "\"primaryKey\": []", "objects[1].primaryKey",
            "the object \"Order\" has no primary key; name the attributes that identify a row"),
        BadModel(
            "\"primaryKey\": [\"number\"]", "\"primaryKey\": [\"numbr\"]", "objects[1].primaryKey[0]",
            "the object \"Order\" has no attribute \"numbr\"; did you mean \"number\"?"),
        BadModel(
            "\"primaryKey\": [\"number\"]", "\"primaryKey\": [\"number\", \"number\"]", "objects[1].primaryKey[1]",
            "there is already a part of the key, \"number\""),
        BadModel(
            "{\"name\": \"number\", \"type\": \"int\"}", "{\"name\": \"number\", \"type\": \"int\", \"nullable\": true}", "objects[1].primaryKey[0]",
            "\"number\" is nullable; a key is not"),
        BadModel(
            "{\"name\": \"number\", \"type\": \"int\"}", "{\"name\": \"number\", \"type\": \"string\", \"large\": true}", "objects[1].primaryKey[0]",
            "\"number\" is a bigString; a key has a simple type and fits into the row"),
        BadModel(
            "{\"name\": \"number\", \"type\": \"int\"}", "{\"name\": \"number\", \"type\": \"Address\"}", "objects[1].primaryKey[0]",
            "\"number\" is an Address; a key has a simple type"),
    ]

    static let relationships = [
        BadModel(
            "\"target\": \"Customer\"", "\"target\": \"Custmer\"", "objects[1].relationships[0].target",
            "there is no object \"Custmer\"; did you mean \"Customer\"?"),
        BadModel(
            "\"inverse\": \"orders\"}", "\"inverse\": \"order\"}", "objects[1].relationships[0].inverse",
            "the object \"Customer\" has no relationship \"order\"; did you mean \"orders\"?"),
        BadModel(
            "\"manyToOne\", \"inverse\": \"orders\"", "\"manyToOne\", \"composite\": true, \"inverse\": \"orders\"",
            "objects[1].relationships[0].composite", "a child does not own its parent; write \"composite\" at the parent's side"),
        BadModel(
            "\"mapping\": {\"id\": \"customerId\"}", "\"mapping\": {\"id\": \"customer\"}", "objects[0].relationships[0].mapping.id",
            "the object \"Order\" has no attribute \"customer\"; did you mean \"customerId\"?"),
        BadModel(
            "\"mapping\": {\"id\": \"customerId\"}", "\"mapping\": {\"id\": \"state\"}", "objects[0].relationships[0].mapping.id",
            "\"id\" is a long, \"Order.state\" a string; use one type for both"),
        BadModel(
            "\"mapping\": {\"id\": \"customerId\"}", "\"mapping\": {\"name\": \"state\"}", "objects[0].relationships[0].mapping",
            "the mapping does not lead to a primary key: id of \"Customer\""),
        BadModel(
            "\"cardinality\": \"manyToOne\"", "\"cardinality\": \"manyToMany\"", "objects[1].relationships[0].cardinality",
            "\"manyToMany\" is not one of oneToOne, oneToMany, manyToOne; did you mean \"oneToMany\"?"),
    ]

    static let queries = [
        BadModel(
            "WHERE x.city = :city", "WHERE x.cty = :city", "objects[0].queries[0].sql",
            "the object \"Customer\" has no attribute \"cty\"; did you mean \"city\"?"),
        BadModel(
            "WHERE x.city = :city", "WHERE y.city = :city", "objects[0].queries[0].sql",
            "\"y\" is not an object or alias of the query; did you mean \"x\"?"),
        BadModel(
            "WHERE x.city = :city", "WHERE city = :city AND towm = 1", "objects[0].queries[0].sql", "no object of the query has an attribute \"towm\""
        ),
        BadModel(
            "SELECT x.* FROM Customer x WHERE", "UPDATE Customer x WHERE", "objects[0].queries[0].sql",
            "a query begins with SELECT; begin with SELECT x.* FROM Customer x"),
        BadModel(
            "SELECT x.* FROM Customer x WHERE", "SELECT x.name FROM Customer x WHERE", "objects[0].queries[0].sql",
            "a query selects whole objects; begin with SELECT x.* FROM Customer x"),
        BadModel(
            "SELECT x.* FROM Customer x WHERE", "SELECT x.* FROM \\\"Order\\\" x WHERE", "objects[0].queries[0].sql",
            "a query of \"Customer\" selects from \"Customer\"; begin with SELECT x.* FROM Customer x"),
        BadModel(
            "SELECT x.* FROM Customer x WHERE", "SELECT y.* FROM Customer x WHERE", "objects[0].queries[0].sql",
            "the query selects \"y.*\" but names its object \"x\"; begin with SELECT x.* FROM Customer x"),
        BadModel(
            "JOIN \\\"Order\\\" o ON", "JOIN \\\"Ordr\\\" o ON", "objects[0].queries[1].sql", "there is no object \"Ordr\"; did you mean \"Order\"?"),
        BadModel(
            "WHERE x.city = :city", "WHERE x.city = :city AND x.photo IS NULL", "objects[0].queries[0].sql",
            "\"photo\" is a bigBinary and cannot occur in a query; read it from the objects that the query finds"),
        BadModel("WHERE x.city = :city", "WHERE x.city = :city;", "objects[0].queries[0].sql", "a query is one statement; leave out the ';'"),
        BadModel("WHERE x.city = :city", "WHERE x.city = :city AND 'open", "objects[0].queries[0].sql", "a string does not end"),
        BadModel("WHERE x.city = :city", "WHERE x.city = ?", "objects[0].queries[0].sql", "a parameter is written as \":name\", not as \"?\""),
        BadModel(
            "{\"name\": \"city\", \"type\": \"string\"}]", "{\"name\": \"city\", \"type\": \"string\"}, {\"name\": \"zip\", \"type\": \"string\"}]",
            "objects[0].queries[0].parameters[1].name", "the query does not use the parameter \"zip\"; write \":zip\" in its SQL, or remove it"),
        BadModel(
            "{\"name\": \"city\", \"type\": \"string\"}]", "{\"name\": \"city\", \"type\": \"Address\"}]", "objects[0].queries[0].parameters[0].type",
            "an Address cannot be compared in SQL; use a simple type"),
        BadModel(
            "\"name\": \"findByCity\"", "\"name\": \"findAll\"", "objects[0].queries[0].name",
            "\"findAll\" is generated for every object; remove the query, or choose another name"),
        BadModel(
            "\"name\": \"findByCity\"", "\"name\": \"orders\"", "objects[0].queries[0].name",
            "the query \"orders\" and the relationship \"orders\" have the same Swift name \"orders\""),
    ]

    static let operations = [
        BadModel(
            "\"operations\": [\"create\",", "\"operations\": [\"craete\",", "objects[0].operations[0]",
            "\"craete\" is not one of create, update, delete; did you mean \"create\"?"),
        BadModel("\"create\", \"update\",", "\"create\", \"create\",", "objects[0].operations[1].name", "there is already an operation \"create\""),
        BadModel(
            ":old.number", ":old.numbr", "objects[1].operations[0].statements[0]",
            "the object \"Order\" has no attribute \"numbr\"; did you mean \"number\"?"),
        BadModel(
            "SET state = :state", "SET state = :stat", "objects[1].operations[0].statements[0]",
            "\":stat\" is not an attribute or parameter; did you mean \"state\"?"),
        BadModel(
            "SET merged = :into", "SET merged = :into, x = :old.name", "objects[0].operations[2].statements[0]",
            "\":old.name\": there is no old value in an operation of the kind \"other\""),
        BadModel(
            "SET merged = :into", "SET merged = 1", "objects[0].operations[2].parameters[0].name",
            "no statement uses the parameter \"into\"; write \":into\" in one, or remove it"),
        BadModel(
            "\"statements\": [\"UPDATE customer SET merged = :into\"]", "\"statements\": []", "objects[0].operations[2].statements",
            "the operation \"merge\" has no statements; only create, update and delete are made from the binding"),
        BadModel(
            "SET merged = :into", "SET merged = :into; DELETE FROM customer", "objects[0].operations[2].statements[0]",
            "there is a ';' in the statement; write one statement each"),
        BadModel(
            "\"name\": \"merge\"", "\"name\": \"refresh\"", "objects[0].operations[2].name",
            "\"refresh\" is a method of every object; choose another name"),
        BadModel(
            "\"name\": \"merge\"", "\"name\": \"city\"", "objects[0].operations[2].name",
            "the operation \"city\" and the attribute \"city\" have the same Swift name \"city\""),
        BadModel(
            "{\"name\": \"into\", \"type\": \"long\"}", "{\"name\": \"into\", \"type\": \"dezimal\", \"precision\": 4, \"default\": 1}",
            "objects[0].operations[2].parameters[0].type", "there is no type or structure \"dezimal\"; did you mean \"decimal\"?"),
        BadModel(
            "{\"name\": \"into\", \"type\": \"long\"}", "{\"name\": \"into\", \"type\": \"Note\"}",
            "objects[0].operations[2].parameters[0].nullable",
            "a value that is an object, here a Note, may be missing; make it nullable"),
        own("\"type\": \"Order\", \"nullable\": true", "type", "a value that is an Order would lose the relationship \"customer\"; \(wholeness)"),
        own(
            "\"type\": \"Customer[]\"", "type",
            "a value that is a Customer would lose the large attribute \"photo\" and the relationship \"orders\"; \(wholeness)"),
        own("\"type\": \"string\", \"length\": 0", "length", "length 0: a length is at least 1"),
        own("\"type\": \"long\", \"length\": 4", "length", "a long has no length"),
        own("\"type\": \"long\", \"scale\": 4", "scale", "a long has no scale"),
        own("\"type\": \"decimal\", \"precision\": 39", "precision", "precision 39: a decimal has 1 to 38 digits"),
        own("\"type\": \"decimal\", \"precision\": 4, \"scale\": 5", "scale", "scale 5: use 0 to 4, the decimal's precision"),
        own(
            "\"type\": \"decimal\", \"precision\": 4, \"default\": 100", "default",
            "100 does not fit into a decimal of 4 digits with 2 after the point"),
        own(
            "\"type\": \"string\", \"length\": 2, \"default\": \"abc\"", "default", "the default has 3 characters, the length is 2"),
        BadModel(
            "{\"name\": \"into\", \"type\": \"long\"}", "{\"name\": \"into\", \"type\": \"Ordre[]\"}", "objects[0].operations[2].parameters[0].type",
            "there is no type or structure \"Ordre\"; did you mean \"Order\"?"),
        BadModel(
            "{\"name\": \"into\", \"type\": \"long\"}", "{\"name\": \"into\", \"type\": \"long\", \"attribute\": \"id\"}",
            "objects[0].operations[2].parameters[0].attribute",
            "the operation \"merge\" belongs to no row, so no attribute fills its parameters; remove \"attribute\"; callers give the value"),
        BadModel(
            "\"name\": \"into\", \"type\": \"long\"}], \"statements\": [\"UPDATE customer SET merged = :into\"]",
            "\"name\": \"pending\", \"type\": \"long\"}], \"statements\": [\"UPDATE customer SET merged = :pending\"]",
            "objects[0].operations[2].parameters[0].name", "every object has an attribute \"pending\" of its own; choose another name"),
        filled(
            "{\"name\": \"p\", \"type\": \"string\", \"attribute\": \"sate\"}",
            "the object \"Order\" has no attribute \"sate\"; did you mean \"state\"?"),
        filled("{\"name\": \"p\", \"type\": \"long\", \"attribute\": \"state\"}", "\"state\" is a string, the parameter \"p\" a long"),
        filled(
            "{\"name\": \"p\", \"type\": \"string\", \"attribute\": \"state\", \"default\": \"x\"}",
            "\"p\" is filled from \"state\"; it needs no default",
            key: "default"),
        filled(
            "{\"name\": \"p\", \"type\": \"string\", \"attribute\": \"state\", \"length\": 10}",
            "\"p\" is filled from \"state\"; it needs no length",
            key: "length"),
        filled(
            "{\"name\": \"customerId\", \"type\": \"string\", \"attribute\": \"state\"}",
            "\"customerId\" is an attribute; it is filled from the object; remove the parameter, or rename it", key: "name", parameter: "customerId"),
        filled(
            "{\"name\": \"perform\", \"type\": \"string\"}", "\"perform\" cannot be an argument of a method; choose another name", key: "name",
            parameter: "perform"),
        BadModel(
            "\"local\": true,", "\"local\": true, \"operations\": [\"create\"],", "objects[2].operations",
            "the object \"Note\" is local; its changes are never replayed; remove the operations"),
    ]

    private static let wholeness = "use a structure, or an object without them"

    /// Makes an invalid parameter of the customer's merge.
    private static func own(_ declaration: String, _ key: String, _ message: String) -> BadModel {
        BadModel(
            "{\"name\": \"into\", \"type\": \"long\"}", "{\"name\": \"into\", \(declaration)}", "objects[0].operations[2].parameters[0].\(key)",
            message)
    }

    /// Makes an invalid parameter of the order's update.
    private static func filled(_ declaration: String, _ message: String, key: String = "attribute", parameter: String = "p") -> BadModel {
        BadModel(
            "\"kind\": \"update\", \"statements\": [\"UPDATE orders SET state = :state",
            "\"kind\": \"update\", \"parameters\": [\(declaration)], \"statements\": [\"UPDATE orders SET state = :\(parameter)",
            "objects[1].operations[0].parameters[0].\(key)", message)
    }

    @Test(
        "GEN-16: an operation named like an attribute, also where the runtime has that name, is an error of the model",
        arguments: ["create", "update", "delete", "other"], ["city", "description", "id"])
    func operationNames(kind: String, name: String) throws {
        let part = "{\"name\": \"city\", \"type\": \"string\", \"nullable\": true, \"length\": 40}"
        let json = try ShopModelText.json(replacing: part, with: part + ", {\"name\": \"description\", \"type\": \"string\"}")
            .replacing("\"merge\", \"kind\": \"other\"", with: "\"\(name)\", \"kind\": \"\(kind)\"")
        let error = #expect(throws: ModelError.self) { _ = try PackageModel(json: json, file: "shop.mbo.json") }
        let problem = try #require(error?.problems.first { $0.path.description == "objects[0].operations[2].name" })
        #expect(
            problem.cause
                == (name == "city"
                    ? "the operation \"city\" and the attribute \"city\" have the same Swift name \"city\""
                    : "\"\(name)\" is a method of every object"))
    }

    static let bindings = [
        BadModel(
            "\"backEnd\": \"erp\", \"table\": \"orders\"", "\"backEnd\": \"epr\", \"table\": \"orders\"", "objects[1].binding.backEnd",
            "there is no back end \"epr\"; did you mean \"erp\"?"),
        BadModel("\"table\": \"orders\"", "\"table\": \"\"", "objects[1].binding.table", "a table has an empty name"),
        BadModel(
            "{\"versionColumn\": \"v\"}", "\"trigger\"", "objects[1].binding.changeDetection",
            "\"trigger\" is not a way to detect changes; write \"digest\", \"triggerLog\" or {\"versionColumn\": \"name\"}"),
        BadModel(
            "{\"versionColumn\": \"v\"}", "{}", "objects[1].binding.changeDetection",
            "it names no way to detect changes; write \"digest\", \"triggerLog\" or {\"versionColumn\": \"name\"}, or leave it out"),
        BadModel(
            "{\"versionColumn\": \"v\"}", "{\"versionColumn\": \"\"}", "objects[1].binding.changeDetection.versionColumn",
            "a column has an empty name"),
        BadModel(
            "\"columns\": {\"name\": \"full name\"}", "\"columns\": {\"nme\": \"full name\"}", "objects[0].binding.columns.nme",
            "the object \"Customer\" has no attribute \"nme\"; did you mean \"name\"?"),
        BadModel(
            "\"columns\": {\"name\": \"full name\"}", "\"columns\": {\"name\": \"CITY\"}", "objects[0].binding.columns.name",
            "\"name\" and \"city\" have the same column \"city\""),
        BadModel(
            "customer WHERE region = :region", "customer", "objects[0].synchronizationParameters[0].name",
            "the load statement does not use the parameter \"region\"; write \":region\" in it, or remove the parameter"),
        BadModel(
            "customer WHERE region = :region", "customer WHERE region = :region AND a = :area", "objects[0].binding.load",
            "\":area\" is not a synchronization parameter of \"Customer\"; add it to \"synchronizationParameters\""),
        BadModel("\"load\": \"SELECT *", "\"load\": \"DELETE", "objects[0].binding.load", "a load statement begins with SELECT or WITH"),
        BadModel(
            "\"personalizationKey\": \"region\"", "\"personalizationKey\": \"regoin\"", "objects[0].synchronizationParameters[0].personalizationKey",
            "there is no personalization key \"regoin\"; did you mean \"region\"?"),
        BadModel(
            "\"type\": \"string\", \"personalizationKey\"", "\"type\": \"int\", \"personalizationKey\"",
            "objects[0].synchronizationParameters[0].personalizationKey", "the key \"region\" is a string, the parameter \"region\" an int"),
        BadModel(
            "\"local\": true,", "\"local\": true, \"binding\": {\"backEnd\": \"erp\", \"table\": \"t\"},", "objects[2].binding",
            "the object \"Note\" is local and has a binding; remove one of the two"),
        BadModel(
            "\"local\": true,", "\"primaryKey\": [\"text\"],", "objects[2].binding",
            "the object \"Note\" has no binding; say which back end and table it comes from, or make it local"),
    ]
}
