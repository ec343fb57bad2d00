internal import MobileModel
internal import MobileStore

/// A row of a load, in the forms in which the cache keeps it.
struct LoadedRow {
    let key: KeyText
    /// The keys of the rows that it refers to, in the order of ``ObjectPlan/references``; nil for a reference that is empty.
    let references: [KeyText?]
    /// The attributes as they travel: JSON values with commas between them.
    let attributes: String
}

/// The load of one partition from its back end.
///
/// The exporter writes rows as JSON text in the form of the wire. This reader only finds where a row and its first values end, and inspects no
/// attribute.
struct BackEndLoad {
    let object: ObjectPlan
    let package: DeployedPackage
    /// The values of the partition's parameters.
    let parameters: [Value]
    /// A read of the back end.
    let source: Connection

    /// Visits all rows.
    /// - Throws: ``ServerError/Code/load`` for a row without key.
    func forEachRow(_ visit: (LoadedRow) throws -> Void) throws {
        let keyTypes = [object.keyType] + object.references.map { package.object(named: $0.target)?.keyType ?? .any }
        let types = keyTypes + object.rowAttributes.map(\.wireType)
        let rows = try source.exporter(object.loadStatement, object.loadParameters(parameters), types: types)
        var splitter = RowSplitter(leadingValues: keyTypes.count)
        while let piece = try rows.nextChunk() {
            try splitter.read(piece) { values, rest in
                var keys: [KeyText?] = []
                keys.reserveCapacity(values.count)
                for (value, type) in zip(values, keyTypes) { keys.append(try KeyText(exported: value, isNumber: type == .integer)) }
                guard let key = keys[0] else { throw object.loadError("a row without key") }
                try visit(LoadedRow(key: key, references: Array(keys.dropFirst()), attributes: String(decoding: rest, as: UTF8.self)))
            }
        }
    }
}

extension ObjectPlan {
    func loadError(_ found: String, cause: (any Error)? = nil) -> ServerError {
        ServerError(
            .load, "load of \"\(name)\" from back end \"\(binding.backEnd)\": expected each row's key once, found \(found)", cause: cause)
    }

    /// Returns the values of a partition in the order in which the load names them.
    func loadParameters(_ values: [Value]) -> [Value] {
        guard let load else { return [] }
        return load.names.map { name in
            model.synchronizationParameters.firstIndex { $0.name == name }.map { values[$0] } ?? .null
        }
    }

    /// The storage class of a key as one value.
    var keyType: JSONColumnType { keyAttributes.count == 1 ? keyAttributes[0].cachedType : .text }
}

/// Finds rows and their first values in a stream of JSON text: an array of arrays without further nesting.
struct RowSplitter {
    /// The number of values at the beginning of a row that are wanted one by one.
    let leadingValues: Int
    /// The text from the beginning of the row in progress on.
    private var text: [UInt8] = []
    /// The place in ``text`` up to which it was read.
    private var position = 0
    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    /// The ends of the leading values of the row in progress.
    private var ends: [Int] = []

    init(leadingValues: Int) { self.leadingValues = leadingValues }

    /// Reads the next piece of the stream.
    /// - Parameter visit: receives each complete row: its first values, and the text of the others.
    mutating func read(_ piece: [UInt8], _ visit: (_ values: [ArraySlice<UInt8>], _ rest: ArraySlice<UInt8>) throws -> Void) throws {
        text += piece
        var start = 0, index = position
        while index < text.count {
            let byte = text[index]
            index += 1
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isInString = true
            case UInt8(ascii: ","):
                if depth == 2, ends.count < leadingValues { ends.append(index - 1) }
                if depth == 1 { start = index }
            case UInt8(ascii: "["):
                depth += 1
                if depth == 2 { start = index }
            case UInt8(ascii: "]"):
                depth -= 1
                guard depth == 1 else { continue }
                try finishRow(start, end: index - 1, visit)
                start = index
            default: break
            }
        }
        text.removeFirst(start)
        ends = ends.map { $0 - start }
        position = text.count
    }

    private mutating func finishRow(
        _ start: Int, end: Int, _ visit: (_ values: [ArraySlice<UInt8>], _ rest: ArraySlice<UInt8>) throws -> Void
    ) throws {
        if ends.count < leadingValues { ends.append(end) }
        var values: [ArraySlice<UInt8>] = [], first = start
        for end in ends {
            values.append(text[first..<end])
            first = end + 1
        }
        ends.removeAll(keepingCapacity: true)
        try visit(values, text[min(first, end)..<end])
    }
}
