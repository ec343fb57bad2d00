/// The model of a world in a few lines, for people.
extension World: CustomStringConvertible {
    package var description: String {
        var lines = objects.enumerated().map { index, object in
            var parts = ["key \(object.key.rawValue)"]
            switch object.partition {
            case .all: break
            case .region: parts.append("rows by region")
            case .bound: parts.append("rows by the user's regions")
            case .parent(let reference): parts.append("rows by the region of ref\(reference)")
            }
            for (place, attribute) in object.attributes.enumerated() {
                let fate = attribute.inVersionTwo == .same ? "" : " (\(attribute.inVersionTwo.rawValue) in version 2)"
                parts.append("a\(place) \(attribute.type.rawValue)\(attribute.isNullable ? "?" : "")\(fate)")
            }
            for (place, reference) in object.references.enumerated() {
                let words = [
                    reference.isComposite ? "part of" : reference.isSingle ? "refers alone to" : "refers to", reference.hasInverse ? "with list" : "",
                    reference.onDelete == .noAction ? "" : reference.onDelete.rawValue,
                ]
                parts.append(
                    "ref\(place)\(reference.isNullable ? "?" : "") \(words[0]) \(Self.name(reference.target))"
                        + words.dropFirst().filter { !$0.isEmpty }.map { " " + $0 }.joined())
            }
            if object.group != .standard { parts.append("group \(object.group.rawValue)") }
            if object.refusesConflicts { parts.append("refuses conflicts") }
            if !object.triggers.isEmpty { parts.append("triggers \(object.triggers.sorted().map(\.rawValue).joined(separator: ", "))") }
            return "\(Self.name(index)): \(parts.joined(separator: "; "))"
        }
        for (index, device) in devices.enumerated() {
            let rights = users[device.user].sorted().map(\.rawValue), regions = device.regions.sorted().map(\.rawValue)
            lines.append(
                "device \(index): user \(device.user) with \(rights), subscribes to \(regions)\(device.hasOtherPackage ? ", other package" : "")")
        }
        return lines.joined(separator: "\n")
    }
}
