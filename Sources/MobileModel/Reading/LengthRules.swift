/// The rules that decide which strings and binaries are kept outside of the row.
///
/// 1. An attribute's own key `large` takes precedence.
/// 2. A string longer than 8191 characters and a binary longer than 32767 bytes become large.
/// 3. While the lengths of an object's attributes sum up to more than the model's page size, the largest string or binary becomes
///    large; of equal ones the first. Keys, attributes of mappings, attributes that a query names and attributes with a default
///    value stay, because a large value cannot be compared and has no default.
///
/// Lengths are the modelled ones, a character counts as 1. A value without a length does not count, and stays as it is modelled.
package enum LengthRules {
    package static let longestString = 8191
    package static let longestBinary = 32767

    /// Applies the rules to every object. `marks` holds the values of the key `large`, by the attribute's place.
    /// - Returns: a warning for each attribute that rules 2 and 3 changed, an error for each mark that cannot be followed.
    static func apply(to model: inout PackageModel, marks: [ModelPath: Bool]) -> [ModelProblem] {
        var problems: [ModelProblem] = []
        let words = queryWords(of: model)
        for index in model.objects.indices {
            let path = ModelPath.root["objects"][index]
            for attribute in model.objects[index].attributes.indices {
                let place = path["attributes"][attribute]
                problems += applyToAttribute(&model.objects[index].attributes[attribute], mark: marks[place], place)
            }
            problems += fitIntoPage(objectAt: index, of: &model, marks: marks, queryWords: words, path)
        }
        return problems
    }

    /// Rules 1 and 2.
    private static func applyToAttribute(_ attribute: inout AttributeModel, mark: Bool?, _ path: ModelPath) -> [ModelProblem] {
        guard let large = attribute.type.large else {
            return mark == nil
                ? [] : [ModelProblem(.length, path["large"], "\(English.withArticle(attribute.type)) is never large; only strings and binaries are")]
        }
        if let mark {
            if !mark, attribute.isLarge {
                let type: AttributeType = attribute.type == .bigString ? .string : .binary
                return [
                    ModelProblem(
                        .length, path["large"], "\(English.withArticle(attribute.type)) is always large", suggestion: "use the type \"\(type)\"")
                ]
            }
            if mark { attribute.type = large }
            return []
        }
        let longest = attribute.type == .string ? longestString : longestBinary
        guard !attribute.isLarge, let length = attribute.length, length > longest else { return [] }
        let type = attribute.type
        attribute.type = large
        return [
            ModelProblem(
                .length, path,
                "\"\(attribute.name)\" becomes \(English.withArticle(large)): its length \(length) is over \(longest), the longest \(type) in a row",
                suggestion: "say so with \"large\": true, or keep it in the row with false", severity: .warning)
        ]
    }

    /// Rule 3.
    private static func fitIntoPage(
        objectAt index: Int, of model: inout PackageModel, marks: [ModelPath: Bool], queryWords: [Set<String>], _ path: ModelPath
    ) -> [ModelProblem] {
        let object = model.objects[index]
        var sum = object.attributes.reduce(0) { $0 + $1.rowLength }
        guard sum > model.pageSize else { return [] }
        var problems: [ModelProblem] = []
        let total = sum
        let compared = comparedAttributes(of: object, in: model, queryWords)
        let candidates = object.attributes.indices.filter {
            let attribute = object.attributes[$0]
            return !attribute.isLarge && attribute.type.large != nil && attribute.length != nil && attribute.defaultValue == nil
                && marks[path["attributes"][$0]] == nil && !compared.contains(attribute.name.lowercased())
        }.sorted { (-object.attributes[$0].rowLength, $0) < (-object.attributes[$1].rowLength, $1) }
        for candidate in candidates where sum > model.pageSize {
            let attribute = object.attributes[candidate]
            guard let large = attribute.type.large else { continue }
            model.objects[index].attributes[candidate].type = large
            sum -= attribute.rowLength
            problems.append(
                ModelProblem(
                    .length, path["attributes"][candidate],
                    "\"\(attribute.name)\" becomes \(English.withArticle(large)): the attributes of \"\(object.name)\" sum up to \(total), the page size is \(model.pageSize)",
                    suggestion: "say so with \"large\": true, keep it in the row with false, or choose a larger page size",
                    severity: .warning))
        }
        if sum > model.pageSize {
            let fitting = [1024, 2048, 4096, 8192, 16_384, 32_768, 65_536].first { $0 >= sum }
            problems.append(
                ModelProblem(
                    .length, path, "the attributes of \"\(object.name)\" sum up to \(sum), more than the page size of \(model.pageSize)",
                    suggestion: fitting.map { "a page size of \($0) holds them" }, severity: .warning))
        }
        return problems
    }

    /// Names, in lower case, of the attributes whose values the database compares or searches: they cannot be large.
    private static func comparedAttributes(of object: ObjectModel, in model: PackageModel, _ queryWords: [Set<String>]) -> Set<String> {
        var names = object.primaryKey + object.attributes.filter(\.isSearchable).map(\.name)
        for relationship in object.relationships { names += relationship.mapping.map(\.source) }
        for other in model.objects {
            for relationship in other.relationships where relationship.target == object.name { names += relationship.mapping.map(\.target) }
        }
        let inQueries = queryWords.filter { $0.contains(object.name.lowercased()) }.joined()
        return Set(names.map { $0.lowercased() }).union(inQueries)
    }

    /// The names in each query of the model, in lower case.
    private static func queryWords(of model: PackageModel) -> [Set<String>] {
        model.objects.flatMap(\.queries).map { Set(SQLTokens($0.sql).tokens.compactMap { $0.name?.lowercased() }) }
    }
}

extension AttributeType {
    /// The large type for this string or binary; nil for other types.
    var large: AttributeType? {
        switch self {
        case .string, .bigString: .bigString
        case .binary, .bigBinary: .bigBinary
        default: nil
        }
    }
}

extension AttributeModel {
    /// The attribute's share of its object's sum: bytes in the row, a character counted as one.
    var rowLength: Int {
        switch type {
        // Cut, so that a sum of them has no overflow: a back end may declare any number.
        case .string, .binary: min(max(length ?? 0, 0), 1_000_000_000)
        case .structure, .list, .nullableList, .bigString, .bigBinary: 0
        case .boolean, .byte, .char: 1
        case .short: 2
        case .int, .float: 4
        case .long, .integer, .double: 8
        case .decimal: (precision ?? Self.defaultPrecision) <= 18 ? 8 : min(precision ?? 0, Self.longestDecimal) + 2
        case .date: 10
        case .time: 8
        case .dateTime: 24
        }
    }
}

extension PackageModel {
    /// Makes strings and binaries large as reading a file without the key `large` would.
    /// - Returns: the decisions, as warnings.
    package mutating func applyLengthRules() -> [ModelProblem] { LengthRules.apply(to: &self, marks: [:]) }
}
