import Foundation
import MobileModel
import MobileObjects

/// The offline changes, as far as model and data allow them.
struct ModelEdits {
    var created: GenericEntity?
    var children = 0
    var updated: GenericEntity?
    var deleted: (entity: EntityMetadata, key: Int64)?
    /// Changed against a constraint found before.
    var refused: (object: GenericEntity, refusal: BackEndTrials.Refusal, before: AttributeValue)?

    /// The objects that have to stay as they are for the refusal.
    var refusing: [GenericEntity] { [refused?.object, refused?.refusal.other].compactMap { $0 } }
}

/// Finds objects to change.
struct ModelEditor {
    let package: PackageDatabase
    let trials: BackEndTrials

    private var entities: [EntityMetadata] { package.metadata.entities.filter { !$0.isLocal } }

    private func entities(with kind: OperationModel.Kind) -> [EntityMetadata] {
        entities.filter { entity in entity.model.operations.contains { $0.kind == kind } }
    }

    /// An object with a text that may be changed, and the changed text.
    func acceptedUpdate(except others: [GenericEntity]) throws -> (GenericEntity, AttributeMetadata, AttributeValue)? {
        for entity in entities(with: .update) {
            for object in try package.entity(entity.name).page(size: 20) where !object.isPending && !object.isOne(of: others) {
                for attribute in entity.attributes where attribute.type == .string && !attribute.isKey {
                    let value = AttributeValue.string("changed on the device".prefixString(attribute.length))
                    if object.value(ofAttribute: attribute.index) != value, attribute.refusal(of: value) == nil,
                        try trials.accepts(object, attribute, value)
                    {
                        return (object, attribute, value)
                    }
                }
            }
        }
        return nil
    }

    /// An object with a change that the back end refuses, and the device does not.
    func refusedUpdate() throws -> (GenericEntity, BackEndTrials.Refusal)? {
        for entity in entities(with: .update) {
            let objects = try package.entity(entity.name).page(size: 20).filter { !$0.isPending }
            guard let object = objects.first else { continue }
            if let refusal = try trials.refusedUpdate(of: object, another: objects.last) { return (object, refusal) }
        }
        return nil
    }

    /// An object with a change that breaks a rule of the model, so that the device refuses it.
    func brokenRule() throws -> (GenericEntity, AttributeMetadata, AttributeValue)? {
        for entity in entities(with: .update) {
            for attribute in entity.attributes where !attribute.isKey && entity.model.attributes[attribute.index].hasValueRule {
                let suspects = BackEndTrials.suspects(for: attribute)
                guard let value = suspects.first(where: { attribute.refusal(of: $0) != nil }),
                    let object = try package.entity(entity.name).page(size: 20).first(where: { !$0.isPending })
                else { continue }
                return (object, attribute, value)
            }
        }
        return nil
    }

    /// An object to which no other one refers.
    func deletable(except others: [GenericEntity]) throws -> GenericEntity? {
        for entity in entities(with: .delete) {
            for object in try package.entity(entity.name).page(size: 50)
            where !object.isPending && !object.isOne(of: others) {
                if try trials.acceptsDelete(of: object) { return object }
            }
        }
        return nil
    }

    /// A new object like an existing one, under a new key; with up to two children if the model makes it their composite parent.
    /// - Parameter withChildren: whether an object with children is preferred.
    func newObject(withChildren: Bool) throws -> (object: GenericEntity, children: [GenericEntity], relationship: Int?)? {
        let candidates = entities(with: .create)
        for entity in candidates where withChildren {
            guard let object = try copy(of: entity, at: 0) else { continue }
            for relationship in entity.relationships where relationship.isMany && relationship.isComposite {
                let target = package.metadata.entities[relationship.targetIndex]
                guard candidates.contains(where: { $0.name == target.name }) else { continue }
                return (object, try (0..<2).compactMap { try copy(of: target, at: $0, isChild: true) }, relationship.index)
            }
        }
        for entity in candidates {
            if let object = try copy(of: entity, at: 0) { return (object, [], nil) }
        }
        return nil
    }

    /// A new object with the attributes of the row at a position. Nil if there is no row, or the back end would refuse the object.
    private func copy(of entity: EntityMetadata, at position: Int, isChild: Bool = false) throws -> GenericEntity? {
        let objects = try package.entity(entity.name)
        let templates = try objects.findAll(skip: 0, take: 100).filter { try isChild || !hasPendingOwner($0) }
        guard position < templates.count else { return nil }
        let template = templates[position], object = objects.newObject()
        for attribute in entity.attributes where !attribute.isLarge && !attribute.isGenerated {
            var value = template.value(ofAttribute: attribute.index)
            if attribute.isKey, !isChild {
                guard let key = try newKey(attribute, of: entity, at: position, besides: templates.map { $0.value(ofAttribute: attribute.index) })
                else {
                    return nil
                }
                value = key
            }
            if attribute.refusal(of: value) != nil { return nil }
            try object.setValue(value, attribute.name)
        }
        return try isChild || trials.acceptsCreate(of: object) ? object : nil
    }

    /// A value that no row has in a part of its key; nil if there is none.
    /// - Parameter used: the values of some rows. The back end refuses one of another row.
    private func newKey(_ attribute: AttributeMetadata, of entity: EntityMetadata, at position: Int, besides used: [AttributeValue]) throws
        -> AttributeValue?
    {
        func greatest<Part: Comparable>(_ part: (AttributeValue) -> Part?) -> Part? { used.compactMap(part).max() }
        switch used.first {
        case .integer: return try trials.nextNumber(attribute, of: entity).map(AttributeValue.integer)
        case .string: return .string("ZZ\(position)\(UInt32.random(in: 100...999))".prefixString(attribute.length))
        case .decimal: return greatest { if case .decimal(let number) = $0 { number } else { nil } }.map { .decimal($0 + 1) }
        case .real: return greatest { if case .real(let number) = $0 { number } else { nil } }.map { .real($0 + 1) }
        case .date:
            return greatest { if case .date(let day) = $0 { day.daysSince1970 } else { nil } }.map { .date(LocalDate(daysSince1970: $0 + 1)) }
        case .dateTime: return greatest { if case .dateTime(let moment) = $0 { moment } else { nil } }.map { .dateTime($0.addingTimeInterval(60)) }
        case .time:
            let minutes = greatest { if case .time(let time) = $0 { time.hour * 60 + time.minute } else { nil } }.map { $0 + 1 }
            return minutes.flatMap { LocalTime(hour: $0 / 60, minute: $0 % 60) }.map(AttributeValue.time)
        case .boolean: return [true, false].map(AttributeValue.boolean).first { !used.contains($0) }
        case .binary: return .binary((0..<min(16, attribute.length ?? 16)).map { _ in UInt8.random(in: 0...255) })
        default: return nil
        }
    }

    /// Whether a new object like this one would be sent with a change of its composite parent, and be rejected with that.
    private func hasPendingOwner(_ object: GenericEntity) throws -> Bool {
        try object.metadata.relationships.contains { relationship in
            let target = package.metadata.entities[relationship.targetIndex]
            guard !relationship.isMany, let inverse = relationship.inverseIndex, target.relationships[inverse].isComposite else { return false }
            let owner: GenericEntity? = try object.parent(relationship.name)
            return owner?.isPending == true
        }
    }
}

extension GenericEntity {
    fileprivate func isOne(of others: [GenericEntity]) -> Bool {
        others.contains { $0.metadata.name == metadata.name && $0.surrogateKey == surrogateKey }
    }

    /// The object for people: its class and the values of its modelled key.
    var title: String {
        let values = metadata.primaryKey.map { value(ofAttribute: $0) }
        if values.contains(where: \.isNull) { return "the new \(metadata.name)" }
        return "\(metadata.name) \(values.map(\.description).joined(separator: ", "))"
    }
}

extension String {
    fileprivate func prefixString(_ length: Int?) -> String { length.map { String(prefix($0)) } ?? self }
}
