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
    /// Rows that are held back for another reason than one of their values, by their keys; see ``RowsToHold``.
    var held: [KeyText: UnfitRow] = [:]

    /// The values of the parameters by name.
    var namedParameters: [String: Value] {
        Dictionary(zip(object.model.synchronizationParameters.map(\.name), parameters)) { $1 }
    }

    /// Visits the rows.
    /// - Parameters:
    ///   - keys: the rows to visit; nil (default) for all.
    ///   - unfit: visits the rows that their attributes cannot hold, and those of ``held``.
    func forEachRow(_ keys: [RowKey]? = nil, unfit: (UnfitRow) throws -> Void, _ visit: (LoadedRow) throws -> Void) throws {
        var told = Set<KeyText>()
        try source.load(object.model, parameters: namedParameters, keys: keys) { row in
            switch row.held(by: object) {
            case .fit(let row):
                guard !held.isEmpty, let reason = held[row.key] else { return try visit(row) }
                if told.insert(row.key).inserted { try unfit(reason) }
            case .unfit(let row): try unfit(row)
            }
        }
    }
}

/// A snapshot that passes all rows of a partition in one buffer.
protocol PackedBackEndSnapshot: BackEndSnapshot {
    /// Whether a load of all rows makes their mark, which ``changes(of:parameters:since:)`` would read all rows for.
    func marksLoads(of object: ObjectModel) throws -> Bool

    /// Packs all rows of a partition.
    /// - Parameters:
    ///   - unfit: visits the rows that their attributes cannot hold.
    ///   - added: is called after each row, and may take the rows.
    /// - Returns: the mark of the rows, if ``marksLoads(of:)``; nil for few rows.
    func pack(
        _ object: ObjectModel, parameters: [String: Value], into rows: inout PackedRows, unfit: (UnfitRow) throws -> Void,
        _ added: (inout PackedRows) throws -> Void
    ) throws -> String?
}

extension BackEndLoad {
    /// Packs all rows.
    /// - Parameters:
    ///   - unfit: visits the rows that their attributes cannot hold.
    ///   - added: is called after each row, and may take the rows.
    /// - Returns: as ``PackedBackEndSnapshot/pack(_:parameters:into:unfit:_:)``.
    func pack(into rows: inout PackedRows, unfit: (UnfitRow) throws -> Void, _ added: (inout PackedRows) throws -> Void) throws -> String? {
        if let source = source as? any PackedBackEndSnapshot {
            return try source.pack(object.model, parameters: namedParameters, into: &rows, unfit: unfit, added)
        }
        try forEachRow(unfit: unfit) { row in
            rows.add(row)
            try added(&rows)
        }
        return nil
    }
}

/// A row as the model sees it.
enum HeldRow {
    case fit(LoadedRow)
    case unfit(UnfitRow)
}

extension BackEndRow {
    /// Checks the values of a row, and brings equal ones to equal texts.
    func held(by object: ObjectPlan) -> HeldRow {
        let values: JSONObject
        switch content {
        case .loaded(let row): return .fit(row)
        case .unfit(let row): return .unfit(row)
        case .values(let found): values = found
        }
        let rowKey = RowKey(wire: values, of: object), key = rowKey.map { KeyText($0.value) }
        let shownKey = rowKey?.value ?? .text(JSONValue.array(object.keyAttributes.map { values[$0.name] ?? .null }).description)
        var texts: [String] = []
        for attribute in object.rowAttributes {
            let json = values[attribute.name] ?? .null
            guard let text = try? WireConversion.held(json, by: attribute, in: object.model).description else {
                let shown: Value = json.isNull ? .null : .text(json.string ?? json.description)
                let isOfKey = object.model.primaryKey.contains(attribute.name)
                return .unfit(UnfitRow(object, key: isOfKey ? nil : key, shownKey: shownKey, attributes: [attribute], form: nil, value: shown))
            }
            texts.append(text)
        }
        guard let key else {
            return .unfit(UnfitRow(object, key: nil, shownKey: shownKey, attributes: object.keyAttributes, form: nil, value: .null))
        }
        let references = object.references.map { reference in
            let parent = JSONObject(uniqueKeys: reference.pairs.map { ($0.key.name, values[$0.source.name] ?? .null) })
            return RowKey(wire: parent, reference.pairs.map(\.key)).map { KeyText($0.value) }
        }
        return .fit(LoadedRow(key: key, references: references, attributes: texts.joined(separator: ",")))
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
