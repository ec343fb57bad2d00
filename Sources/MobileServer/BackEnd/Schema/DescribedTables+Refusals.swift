internal import MobileModel

extension DescribedTables {
    /// Leaves out the parts whose model cannot be read, each with the reader's reason: one column that no model can have must not cost the others.
    /// - Parameter model: the model of these tables.
    /// - Returns: whether anything was left out; false for problems of the model as a whole, such as its name.
    mutating func leaveOut(_ problems: [ModelProblem], of model: PackageModel) -> Bool {
        var isChanged = false
        for problem in problems where leaveOut(problem, of: model) { isChanged = true }
        return isChanged
    }

    private mutating func leaveOut(_ problem: ModelProblem, of model: PackageModel) -> Bool {
        let steps = problem.path.steps
        guard steps.count > 1, steps[0] == .key("objects"), case .index(let place) = steps[1], model.objects.indices.contains(place),
            let binding = model.objects[place].binding, let table = tables.firstIndex(where: { $0.name == binding.table })
        else { return false }
        let object = model.objects[place], part = steps.count > 3 ? (steps[2], steps[3]) : nil
        switch part {
        case (.key("attributes"), .index(let index))? where object.attributes.indices.contains(index):
            return leaveOut(column: binding.column(of: object.attributes[index].name), of: table, problem.cause)
        case (.key("binding"), .key("columns"))?:
            guard steps.count > 4, case .key(let attribute) = steps[4] else { break }
            return leaveOut(column: binding.column(of: attribute), of: table, problem.cause)
        case (.key("relationships"), .index(let index))? where object.relationships.indices.contains(index):
            return leaveOut(object.relationships[index], of: object, in: model, problem.cause)
        default: break
        }
        omissions.append("table \"\(tables[table].name)\": \(problem.cause)")
        tables.remove(at: table)
        return true
    }

    private mutating func leaveOut(column: String, of table: Int, _ reason: String) -> Bool {
        guard let place = tables[table].columns.firstIndex(where: { $0.name == column }) else { return false }
        tables[table].columns.remove(at: place)
        omissions.append("table \"\(tables[table].name)\", column \"\(column)\": \(reason)")
        return true
    }

    /// Leaves out the foreign key whose one end is a relationship.
    private mutating func leaveOut(_ relationship: RelationshipModel, of object: ObjectModel, in model: PackageModel, _ reason: String) -> Bool {
        guard let target = model.object(named: relationship.target) else { return false }
        let isHere = relationship.cardinality == .manyToOne
        let child = isHere ? object : target, parent = isHere ? target : object
        let columns = relationship.mapping.compactMap { child.binding?.column(of: isHere ? $0.source : $0.target) }
        guard let table = tables.firstIndex(where: { $0.name == child.binding?.table }),
            let place = tables[table].references.firstIndex(where: { $0.columns == columns && $0.table == parent.binding?.table })
        else { return false }
        tables[table].references.remove(at: place)
        omissions.append("table \"\(tables[table].name)\": the reference by \(columns.joined(separator: ", ")): \(reason)")
        return true
    }
}
