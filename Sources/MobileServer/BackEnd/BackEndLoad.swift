internal import MobileModel
internal import MobileStore

/// A row of a load, in the forms in which the cache keeps it.
struct LoadedRow: Sendable {
    let key: KeyText
    /// The keys of the rows that it refers to, in the order of ``ObjectPlan/references``; nil for a reference that is empty.
    let references: [KeyText?]
    /// The attributes as they travel: JSON values with commas between them.
    let attributes: String
}

/// The load of one partition from its back end.
struct BackEndLoad {
    let object: ObjectPlan
    /// The values of the partition's parameters.
    let parameters: [Value]
    /// A read of the back end.
    let source: any BackEndSnapshot

    /// The values of the parameters by name.
    var namedParameters: [String: Value] {
        Dictionary(zip(object.model.synchronizationParameters.map(\.name), parameters)) { $1 }
    }

    /// Visits the rows.
    /// - Parameter keys: the rows to visit; nil (default) for all.
    /// - Throws: ``ServerError/Code/load`` for a row without key, or with a value that does not fit its attribute.
    func forEachRow(_ keys: [RowKey]? = nil, _ visit: (LoadedRow) throws -> Void) throws {
        try source.load(object.model, parameters: namedParameters, keys: keys) { row in
            switch row.content {
            case .loaded(let row): try visit(row)
            case .values(let values): try visit(LoadedRow(values, of: object))
            }
        }
    }
}

/// A snapshot that passes all rows of a partition in one buffer.
protocol PackedBackEndSnapshot: BackEndSnapshot {
    /// Whether a load of all rows makes their mark, which ``changes(of:parameters:since:)`` would read all rows for.
    func marksLoads(of object: ObjectModel) throws -> Bool

    /// Packs all rows of a partition.
    /// - Parameter added: is called after each row, and may take the rows.
    /// - Returns: the mark of the rows, if ``marksLoads(of:)``; nil for few rows.
    func pack(
        _ object: ObjectModel, parameters: [String: Value], into rows: inout PackedRows, _ added: (inout PackedRows) throws -> Void
    ) throws -> String?
}

extension BackEndLoad {
    /// Packs all rows.
    /// - Parameter added: is called after each row, and may take the rows.
    /// - Returns: as ``PackedBackEndSnapshot/pack(_:parameters:into:_:)``.
    func pack(into rows: inout PackedRows, _ added: (inout PackedRows) throws -> Void) throws -> String? {
        if let source = source as? any PackedBackEndSnapshot {
            return try source.pack(object.model, parameters: namedParameters, into: &rows, added)
        }
        try forEachRow { row in
            rows.add(row)
            try added(&rows)
        }
        return nil
    }
}

extension LoadedRow {
    /// Checks the values of a row, and brings equal ones to equal texts.
    init(_ values: JSONObject, of object: ObjectPlan) throws {
        guard let key = RowKey(wire: values, of: object) else { throw object.loadError("a row without key") }
        self.key = KeyText(key.value)
        references = object.references.map { reference in
            let parent = JSONObject(uniqueKeys: reference.pairs.map { ($0.key.name, values[$0.source.name] ?? .null) })
            return RowKey(wire: parent, reference.pairs.map(\.key)).map { KeyText($0.value) }
        }
        attributes = try object.rowAttributes.map { try Self.text(of: values[$0.name] ?? .null, $0, object) }.joined(separator: ",")
    }

    private static func text(of json: JSONValue, _ attribute: AttributeModel, _ object: ObjectPlan) throws(ServerError) -> String {
        do {
            return try WireConversion.normalized(json, of: attribute).description
        } catch {
            throw object.loadError("a value of \"\(attribute.name)\" that does not fit: \(error.message)")
        }
    }
}

extension ObjectPlan {
    func loadError(_ found: String, cause: (any Error)? = nil) -> ServerError {
        ServerError(
            .load, "load of \"\(name)\" from back end \"\(binding.backEnd)\": expected each row's key once, found \(found)", cause: cause)
    }

    /// The storage class of a key as one value.
    var keyType: JSONColumnType { keyAttributes.count == 1 ? keyAttributes[0].cachedType : .text }
}
