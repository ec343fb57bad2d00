internal import MobileModel
internal import MobileProtocol
internal import MobileStore

/// The values of a row as the back end keeps them.
///
/// **An accepted operation leaves values that can be loaded again.** The statement returns them, and a value that its column has changed to another one
/// refuses the operation in its own transaction; so does one that the back end has given to a new row, if its attribute cannot hold it. Why: SQLite makes a
/// double of 9999999999999999.99 in a NUMERIC column, and the default of a column may be any bytes. If you break it: the device gets another value than its
/// user has entered, or none, because the row is held back.
struct KeptValues {
    private let object: SQLObject
    private let written: [(attribute: AttributeModel, json: JSONValue)]
    /// The attributes of a new row that the back end gives a value to, if it has one.
    private let made: [AttributeModel]

    /// The number of returned columns before those of the values.
    private static let leadingColumns = 2

    /// - Parameters:
    ///   - wire: the values as the device has sent them, by attribute.
    ///   - attributes: the attributes that the statement writes.
    ///   - isNew: whether the statement makes a row.
    init(of wire: [String: JSONValue], written attributes: [String], in object: SQLObject, isNew: Bool = false) {
        self.object = object
        written = attributes.compactMap { name in
            guard let json = wire[name], !json.isNull, let attribute = object.model.attribute(named: name), !attribute.isLarge,
                object.expressions.kept(of: attribute, object.column(name)) != nil
            else { return nil }
            return (attribute, json)
        }
        // A load may make another value of the column.
        guard isNew, object.load == nil else {
            made = []
            return
        }
        let all = Set(attributes)
        made = object.model.attributes.filter { attribute in
            guard !all.contains(attribute.name), !attribute.isLarge, object.tableColumn(attribute.name) != nil else { return false }
            return object.expressions.made(of: attribute, object.column(attribute.name)) != nil
        }
    }

    /// The columns that the statement returns after its others: a comma and an expression for each value.
    var columns: String {
        let kept = written.compactMap { object.expressions.kept(of: $0.attribute, object.column($0.attribute.name)) }
        return (kept + made.compactMap { object.expressions.made(of: $0, object.column($0.name)) }).map { ", " + $0 }.joined()
    }

    /// Compares a returned row with the values.
    /// - Throws: ``Rejection``.
    func check(_ returned: [Value]) throws(Rejection) {
        for (index, value) in written.enumerated() {
            let found = returned[Self.leadingColumns + index]
            guard !object.expressions.isKept(found, value.attribute, value.json) else { continue }
            throw Rejection(
                ResultCode.constraint,
                "\"\(object.plan.name)\", \"\(value.attribute.name)\": the back end would keep \(Self.text(found, value.attribute)) in place of \(Self.text(value.json))"
            )
        }
        for (attribute, found) in zip(made, returned.dropFirst(Self.leadingColumns + written.count)) {
            guard let unfit = object.expressions.unfit(found, attribute, in: object.model) else { continue }
            throw Rejection(
                ResultCode.constraint,
                """
                "\(object.plan.name)", "\(attribute.name)": the back end would give the new row \(Self.text(unfit, attribute)), and the attribute expects \
                \(attribute.formWords)
                """
            )
        }
    }

    /// Asks the back end which values the types of its columns make of others. PostgreSQL rounds and cuts without a word, and a returned value may be that of a
    /// trigger.
    /// - Throws: ``Rejection``, as ``check(_:)``.
    static func checkNarrowTypes(
        _ written: [(attribute: String, value: Value)], _ wire: [String: JSONValue], in object: SQLObject, _ connection: any BackEndConnection
    ) throws {
        var values: [(attribute: AttributeModel, json: JSONValue, value: Value)] = [], forms: [String] = []
        for (name, value) in written where value != .null {
            guard let attribute = object.model.attribute(named: name), !attribute.isLarge, let json = wire[name],
                let type = object.tableColumn(name)?.narrowType, isNarrow(type, attribute)
            else { continue }
            values.append((attribute, json, value))
            let column = SQLColumn(sql: "CAST(?\(values.count) AS \(type))", affinity: object.column(name).affinity)
            forms.append(object.expressions.value(of: attribute, column))
        }
        guard !values.isEmpty, let found = try connection.first("SELECT " + forms.joined(separator: ", "), values.map(\.value)) else { return }
        for (value, found) in zip(values, found) {
            guard let written = try? WireConversion.normalized(value.json, of: value.attribute) else { continue }
            let kept = WireConversion.json(cached: found, of: value.attribute).description
            if kept.utf8.elementsEqual(written.description.utf8) { continue }
            throw Rejection(
                ResultCode.constraint,
                "\"\(object.plan.name)\", \"\(value.attribute.name)\": the back end would keep \(text(found, value.attribute)) in place of \(text(value.json))"
            )
        }
    }

    /// Whether a type may change a value that the attribute can hold.
    private static func isNarrow(_ type: String, _ attribute: AttributeModel) -> Bool {
        // Numbers of 32 bits are those of the attribute.
        if type == "real" { return attribute.type != .float }
        guard let scale = type.wholeMatch(of: /numeric\(\d+,(-?\d+)\)/).flatMap({ Int($0.1) }) else { return true }
        return switch attribute.type {
        case .decimal: scale < attribute.scale ?? 2
        case .byte, .short, .int, .long, .integer, .boolean: scale < 0
        default: true
        }
    }

    /// A value that the attribute cannot hold is shown as it is.
    private static func text(_ found: Value, _ attribute: AttributeModel) -> String {
        guard attribute.type == .decimal, case .integer = found else { return UnfitRow.text(found) }
        return WireConversion.json(cached: found, of: attribute).description
    }

    private static func text(_ json: JSONValue) -> String { json.string.map { UnfitRow.text(.text($0)) } ?? String(json.description.prefix(60)) }
}
