import MobileModel
import TestSupport
import Testing

/// Every rule of the model, tested by a model that breaks it: the place, the whole message, and no other report.
@Suite struct BadModelTests {
    @Test func `the model that the others are made of is valid`() throws {
        var warnings: [ModelProblem] = []
        _ = try PackageModel(json: ShopModelText.json, warnings: &warnings)
        #expect(warnings == [])
    }

    @Test("FND-11: a query may name the surrogate key, which every object has, group and aggregate")
    func surrogateKeys() throws {
        let sql = "x.surrogateKey > 5 AND x.city = :city GROUP BY x.city HAVING count(x.surrogatekey) > 1"
        let model = try PackageModel(json: ShopModelText.json(replacing: "x.city = :city", with: sql))
        #expect(model.objects.flatMap(\.queries).contains { $0.sql.hasSuffix(sql) })
    }

    @Test("one mistake gives one error that names place and cause", arguments: form + package + structures + objects + attributes)
    func mistake(_ bad: BadModel) throws {
        let problems = try bad.problems()
        #expect(problems.map { "\($0.path): \($0.message)" } == ["\(bad.path): \(bad.message)"])
    }

    @Test("one mistake in what belongs to an object gives one error", arguments: keys + relationships + queries + operations + bindings)
    func mistakeOfAnObject(_ bad: BadModel) throws {
        let problems = try bad.problems()
        #expect(problems.map { "\($0.path): \($0.message)" } == ["\(bad.path): \(bad.message)"])
    }

    @Test("GEN-14: a word of the language is no name of a member or an argument", arguments: keywords)
    func keyword(_ bad: BadModel) throws {
        let problems = try bad.problems()
        #expect(problems.map { "\($0.path): \($0.message)" } == ["\(bad.path): \(bad.message)"])
    }

    // MARK: Form

    static let form = [
        BadModel("\"format\": 1,", "\"format\": 3,", "format", "format 3 is not known; this release reads the formats 1 to 2; use a newer release"),
        BadModel("\"format\": 1,", "", "", "the key \"format\" is missing"),
        BadModel("\"name\": \"Shop\",", "", "", "the key \"name\" is missing"),
        BadModel("\"version\": \"2.1\"", "\"version\": 2.1", "version", "expected a string, found a number"),
        BadModel("\"version\": \"2.1\"", "\"verison\": \"2.1\"", "verison", "the format has no key \"verison\" here; did you mean \"version\"?"),
        BadModel(
            "\"nullable\": true, \"length\": 40", "\"nullable\": \"yes\", \"length\": 40", "objects[0].attributes[2].nullable",
            "expected true or false, found a string"),
        BadModel("\"interval\": 5", "\"interval\": 5.5", "synchronizationGroups[0].interval", "expected a whole number, found a number"),
        BadModel("\"primaryKey\": [\"number\"]", "\"primaryKey\": \"number\"", "objects[1].primaryKey", "expected an array, found a string"),
        BadModel(
            "\"kind\": \"sqlite\"", "\"kind\": \"sqllite\"", "backEnds[0].kind",
            "\"sqllite\" is not one of sqlite, postgresql; did you mean \"sqlite\"?"),
        BadModel("\"primaryKey\": [\"number\"]", "\"primaryKey\": [7]", "objects[1].primaryKey[0]", "expected a string, found a number"),
        BadModel(
            "\"columns\": {\"name\": \"full name\"}", "\"columns\": [\"name\"]", "objects[0].binding.columns", "expected an object, found an array"),
        BadModel(
            "\"composite\": true, \"inverse\"", "\"composit\": true, \"inverse\"", "objects[0].relationships[0].composit",
            "the format has no key \"composit\" here; did you mean \"composite\"?"),
        BadModel(
            "\"city\", \"type\": \"string\"}], \"sql\"", "\"city\", \"type\": \"string\"}], \"sql\": \"\", \"sql\"", "objects[0].queries[0].sql",
            "the key \"sql\" is there twice; remove one"),
    ]

    // MARK: Package

    static let package = [
        BadModel("\"name\": \"Shop\"", "\"name\": \"9Shop\"", "name", "\"9Shop\" begins with a digit"),
        BadModel(
            "\"name\": \"Shop\"", "\"name\": \"Shöp\"", "name",
            "\"Shöp\" cannot become a Swift name; use the letters A to Z, digits, underscores, points and spaces; the back end's own name goes into the binding"
        ),
        BadModel(
            "\"name\": \"Shop\"", "\"name\": \"Customer\"", "objects[0].name",
            "the generated class \"Customer\" of the object \"Customer\" already exists: the package"),
        BadModel(
            "\"version\": \"2.1\"", "\"version\": \"2:1\"", "version", "\"2:1\" is not valid; use letters, digits, points and dashes, such as 1.0"),
        BadModel("\"pageSize\": 4096", "\"pageSize\": 3000", "pageSize", "page size 3000: use a power of two from 1024 to 65536"),
        BadModel("\"pageSize\": 4096", "\"pageSize\": 131072", "pageSize", "page size 131072: use a power of two from 1024 to 65536"),
        BadModel("\"version\": \"2.1\"", "\"namePrefix\": \"1A\"", "namePrefix", "\"1A\" cannot begin a Swift name"),
        BadModel(
            "\"version\": \"2.1\"", "\"synchronization\": \"push\"", "synchronization", "\"push\" is not one of replication, messaging"),
        BadModel(
            "{\"name\": \"region\", \"type\": \"string\"}]",
            "{\"name\": \"region\", \"type\": \"string\"}, {\"name\": \"password\", \"type\": \"string\"}]",
            "personalizationKeys[1].name", "every package has the session key \"password\"; remove it; it can be used without"),
        BadModel(
            "[{\"name\": \"region\", \"type\": \"string\"}]", "[{\"name\": \"region\", \"type\": \"string\", \"storage\": \"disk\"}]",
            "personalizationKeys[0].storage", "\"disk\" is not one of client, server, session"),
        BadModel("\"interval\": 5", "\"interval\": -5", "synchronizationGroups[0].interval", "-5 minutes: use 0 for none, or a positive number"),
        BadModel(
            "[{\"name\": \"orders\", \"interval\": 5}]", "[{\"name\": \"orders\"}, {\"name\": \"system\"}]", "synchronizationGroups[1].name",
            "the group \"system\" belongs to the framework"),
        BadModel(
            "[{\"name\": \"orders\", \"interval\": 5}]", "[{\"name\": \"orders\"}, {\"name\": \"Orders\"}]", "synchronizationGroups[1].name",
            "there is already a synchronization group \"orders\"; upper and lower case do not distinguish names"),
        BadModel(
            "\"kind\": \"sqlite\"", "\"path\": \"\"", "backEnds[0].path", "the path is empty; omit it if the deployment sets it"),
    ]

    // MARK: Structures

    static let structures = [
        BadModel(
            "\"name\": \"tags\", \"type\": \"string[]\"", "\"name\": \"street\", \"type\": \"string\"", "structures[0].attributes[1].name",
            "there is already an attribute \"street\""),
        BadModel(
            "\"type\": \"string[]\"", "\"type\": \"string[][]\"", "structures[0].attributes[1].type",
            "a list of lists is not supported; use a structure that has a list"),
        BadModel(
            "\"type\": \"string[]\"", "\"type\": \"bigString\"", "structures[0].attributes[1].type",
            "a bigString is not allowed here; only attributes of objects are large"),
        BadModel(
            "\"type\": \"string[]\"", "\"type\": \"Address\"", "structures[0]", "the structure contains itself: Address > Address; use a list of it"),
        BadModel("\"type\": \"string[]\"", "\"type\": \"bigBinary[]\"", "structures[0].attributes[1].type", "a list cannot hold a bigBinary"),
    ]

    // MARK: Words of the language

    static let keywords = [
        BadModel(
            "{\"name\": \"text\", \"type\"", "{\"name\": \"class\", \"type\"", "objects[2].attributes[0].name",
            "\"class\" is a word of the language Swift; choose another name, such as \"classValue\"; the column's name stays in the binding"),
        BadModel(
            "{\"name\": \"text\", \"type\"", "{\"name\": \"rep eat\", \"type\"", "objects[2].attributes[0].name",
            "\"rep eat\" is a word of the language Swift; choose another name, such as \"repeatValue\"; the column's name stays in the binding"),
        BadModel(
            "\"name\": \"tags\"", "\"name\": \"self\"", "structures[0].attributes[1].name",
            "\"self\" is a word of the language Swift; choose another name, such as \"selfValue\""),
        BadModel(
            "[{\"name\": \"region\", \"type\": \"string\"}]",
            "[{\"name\": \"region\", \"type\": \"string\"}, {\"name\": \"default\", \"type\": \"string\"}]",
            "personalizationKeys[1].name", "\"default\" is a word of the language Swift; choose another name, such as \"defaultValue\""),
        BadModel(
            "\"relationships\": [{\"name\": \"customer\", \"target\": \"Customer\", \"cardinality\": \"manyToOne\", \"inverse\": \"orders\"}]",
            "\"relationships\": [{\"name\": \"customer\", \"target\": \"Customer\", \"cardinality\": \"manyToOne\", \"inverse\": \"orders\"}, "
                + "{\"name\": \"in\", \"target\": \"Customer\", \"cardinality\": \"manyToOne\", \"mapping\": {\"customerId\": \"id\"}}]",
            "objects[1].relationships[1].name", "\"in\" is a word of the language Swift; choose another name, such as \"inValue\""),
        BadModel(
            "\"name\": \"findBusy\"", "\"name\": \"where\"", "objects[0].queries[1].name",
            "\"where\" is a word of the language Swift; choose another name, such as \"whereValue\""),
        BadModel(
            "\"name\": \"merge\"", "\"name\": \"init\"", "objects[0].operations[2].name",
            "\"init\" is a word of the language Swift; choose another name, such as \"initValue\""),
        BadModel(
            "\"parameters\": [{\"name\": \"city\", \"type\": \"string\"}], \"sql\": \"SELECT x.* FROM Customer x WHERE x.city = :city\"",
            "\"parameters\": [{\"name\": \"in\", \"type\": \"string\"}], \"sql\": \"SELECT x.* FROM Customer x WHERE x.city = :in\"",
            "objects[0].queries[0].parameters[0].name", "\"in\" is a word of the language Swift; choose another name, such as \"inValue\""),
        BadModel(
            "\"parameters\": [{\"name\": \"into\", \"type\": \"long\"}], \"statements\": [\"UPDATE customer SET merged = :into\"]",
            "\"parameters\": [{\"name\": \"for\", \"type\": \"long\"}], \"statements\": [\"UPDATE customer SET merged = :for\"]",
            "objects[0].operations[2].parameters[0].name", "\"for\" is a word of the language Swift; choose another name, such as \"forValue\""),
    ]

    // MARK: Objects and attributes

    static let objects = [
        BadModel(
            "\"name\": \"Note\"", "\"name\": \"customer\"", "objects[2].name",
            "there is already an object \"Customer\"; upper and lower case do not distinguish names"),
        BadModel(
            "\"name\": \"Note\"", "\"name\": \"_note\"", "objects[2].name", "\"_note\" begins with an underscore; such names belong to the framework"),
        BadModel(
            "\"name\": \"Note\"", "\"name\": \"Customer_os\"", "objects[2].name",
            "\"Customer_os\" is the table of original states of \"Customer\"; choose another name"),
        BadModel(
            "\"name\": \"Note\"", "\"name\": \"sqlite_note\"", "objects[2].name",
            "\"sqlite_note\" begins with \"sqlite_\"; such tables belong to SQLite"),
        BadModel(
            "\"name\": \"Note\"", "\"name\": \"String\"", "objects[2].name",
            "a class \"String\" would hide the type of that name; choose another name, or a namePrefix; the table's name stays in the binding"),
        BadModel(
            "\"name\": \"Note\"", "\"name\": \"class\"", "objects[2].name",
            "a class \"class\" would hide the type of that name; choose another name, or a namePrefix; the table's name stays in the binding"),
        BadModel(
            "\"name\": \"Note\"", "\"name\": \"Address\"", "structures[0].name",
            "the generated class \"Address\" of the structure \"Address\" already exists: the object \"Address\""),
        BadModel("\"name\": \"Note\"", "\"name\": \"Note \"", "objects[2].name", "\"Note \" begins or ends with white space"),
        BadModel("[{\"name\": \"text\", \"type\": \"string\"}]", "[]", "objects[2]", "the object \"Note\" has no attributes"),
        BadModel(
            "\"synchronizationGroup\": \"orders\"", "\"synchronizationGroup\": \"order\"", "objects[1].synchronizationGroup",
            "there is no synchronization group \"order\"; did you mean \"orders\"?"),
    ]

    static let attributes = [
        BadModel(
            "{\"name\": \"text\", \"type\": \"string\"}", "{\"name\": \"text\", \"type\": \"string\"}, {\"name\": \"Text\", \"type\": \"string\"}",
            "objects[2].attributes[1].name", "there is already an attribute \"text\"; upper and lower case do not distinguish names"),
        BadModel(
            "{\"name\": \"text\", \"type\"", "{\"name\": \"isPending\", \"type\"", "objects[2].attributes[0].name",
            "every object has an attribute \"isPending\" of its own; choose another name"),
        BadModel(
            "{\"name\": \"text\", \"type\": \"string\"}", "{\"name\": \"a b\", \"type\": \"int\"}, {\"name\": \"ab\", \"type\": \"int\"}",
            "objects[2].attributes[1].name", "the attribute \"ab\" and the attribute \"a b\" have the same Swift name \"ab\""),
        BadModel(
            "{\"name\": \"text\", \"type\": \"string\"}", "{\"name\": \"id\", \"type\": \"int\"}, {\"name\": \"id_\", \"type\": \"int\"}",
            "objects[2].attributes[1].name", "the attribute \"id_\" and the attribute \"id\" have the same Swift name \"id_\""),
        BadModel("{\"name\": \"text\", \"type\": \"string\"}", "{\"name\": \"text\"}", "objects[2].attributes[0]", "the key \"type\" is missing"),
        BadModel(
            "{\"name\": \"text\", \"type\": \"string\"}", "{\"name\": \"text\", \"type\": \"strnig\"}", "objects[2].attributes[0].type",
            "there is no type or structure \"strnig\"; did you mean \"string\"?"),
        BadModel(
            "{\"name\": \"text\", \"type\": \"string\"}",
            "{\"name\": \"text\", \"type\": \"dezimal[]\", \"precision\": 10, \"scale\": 2, \"default\": 1, \"generated\": true}",
            "objects[2].attributes[0].type", "there is no type or structure \"dezimal\"; did you mean \"decimal\"?"),
        BadModel(
            "{\"name\": \"text\", \"type\": \"string\"}", "{\"name\": \"text\", \"type\": \"varchar\"}", "objects[2].attributes[0].type",
            "there is no type or structure \"varchar\"; use \"string\""),
        BadModel(
            "{\"name\": \"text\", \"type\": \"string\"}", "{\"name\": \"text\", \"type\": \"string\", \"length\": 0}",
            "objects[2].attributes[0].length", "length 0: a length is at least 1"),
        BadModel(
            "{\"name\": \"text\", \"type\": \"string\"}", "{\"name\": \"text\", \"type\": \"int\", \"length\": 4}", "objects[2].attributes[0].length",
            "an int has no length"),
        BadModel(
            "{\"name\": \"text\", \"type\": \"string\"}", "{\"name\": \"text\", \"type\": \"double\", \"scale\": 2}",
            "objects[2].attributes[0].scale", "a double has no scale"),
        BadModel(
            "\"precision\": 10, \"scale\": 2", "\"precision\": 39, \"scale\": 2", "objects[0].attributes[3].precision",
            "precision 39: a decimal has 1 to 38 digits"),
        BadModel(
            "\"precision\": 10, \"scale\": 2", "\"precision\": 10, \"scale\": 11", "objects[0].attributes[3].scale",
            "scale 11: use 0 to 10, the decimal's precision"),
        BadModel(
            "{\"name\": \"text\", \"type\": \"string\"}", "{\"name\": \"text\", \"type\": \"Order?[]\"}", "objects[2].attributes[0].type",
            "a value that is an Order would lose the relationship \"customer\"; use a structure, or an object without them"),
        BadModel(
            "{\"name\": \"text\", \"type\": \"string\"}", "{\"name\": \"text\", \"type\": \"int\", \"large\": true}",
            "objects[2].attributes[0].large", "an int is never large; only strings and binaries are"),
        BadModel(
            "{\"name\": \"text\", \"type\": \"string\"}", "{\"name\": \"text\", \"type\": \"boolean\", \"large\": false}",
            "objects[2].attributes[0].large", "a boolean is never large; only strings and binaries are"),
        BadModel(
            "\"type\": \"bigBinary\", \"nullable\": true", "\"type\": \"bigBinary\", \"large\": false", "objects[0].attributes[6].large",
            "a bigBinary is always large; use the type \"binary\""),
        BadModel(
            "\"type\": \"bigBinary\", \"nullable\": true", "\"type\": \"bigBinary\", \"default\": \"AA==\"", "objects[0].attributes[6].default",
            "a large attribute has no default value"),
        BadModel(
            "\"type\": \"bigBinary\", \"nullable\": true", "\"type\": \"bigBinary\", \"generated\": true", "objects[0].attributes[6].generated",
            "the back end cannot assign a bigBinary"),
        BadModel(
            "\"default\": \"2025-12-31\"", "\"default\": \"2025-02-29\"", "objects[0].attributes[4].default",
            "the default of a date is a string such as \"2025-12-31\", found \"2025-02-29\""),
        BadModel(
            "\"scale\": 2, \"default\": 0", "\"scale\": 2, \"default\": 0.125", "objects[0].attributes[3].default",
            "0.125 does not fit into a decimal of 10 digits with 2 after the point"),
        BadModel(
            "\"scale\": 2, \"default\": 0", "\"scale\": 2, \"default\": null", "objects[0].attributes[3].default",
            "the default is null, the type is not nullable"),
        BadModel(
            "\"length\": 80, \"default\": \"NEW\"", "\"length\": 2, \"default\": \"NEW\"", "objects[0].attributes[1].default",
            "the default has 3 characters, the length is 2"),
        BadModel(
            "{\"name\": \"text\", \"type\": \"string\"}", "{\"name\": \"text\", \"type\": \"byte\", \"default\": 128}",
            "objects[2].attributes[0].default", "the default of a byte is a whole number from -128 to 127, found 128"),
        BadModel(
            "{\"name\": \"text\", \"type\": \"string\"}", "{\"name\": \"text\", \"type\": \"int[]\", \"default\": [1, true]}",
            "objects[2].attributes[0].default", "the default of an int[] is a whole number from -2147483648 to 2147483647, found [1,true]"),
        BadModel(
            "\"length\": 80, \"default\"", "\"length\": 80, \"was\": \"city\", \"default\"", "objects[0].attributes[1].was",
            "\"city\" is still there; \"was\" holds the name before this one"),
    ]
}
