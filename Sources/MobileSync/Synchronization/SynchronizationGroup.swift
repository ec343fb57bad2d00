public import MobileObjects
internal import MobileProtocol

/// A group of objects that are synchronized together. Objects without a group in the model are in the group `default`.
/// SMP 2.3: `SUPSynchronizationGroup`.
public struct SynchronizationGroup: Sendable, Hashable {
    /// The name in the model.
    public let name: String
    /// The names of its objects, in the order of the model.
    public let objects: [String]
}

extension PackageDatabase {
    /// The groups of the package, in the order of their first objects.
    public final var synchronizationGroups: [SynchronizationGroup] {
        metadata.synchronizationGroups.map { name in
            SynchronizationGroup(name: name, objects: metadata.entities(inGroup: name).map(\.name))
        }
    }

    /// Returns the group of a name. Every package has the group `system` without naming it: its log records, which every other group includes as
    /// well.
    /// SMP 2.3: `getSynchronizationGroup:` of the database class.
    /// - Throws: ``SyncError`` with code ``SyncError/Code/notFound`` if the package has no group of this name.
    public final func synchronizationGroup(named name: String) throws(SyncError) -> SynchronizationGroup {
        if name == SystemGroup.name { return SynchronizationGroup(name: name, objects: []) }
        guard let group = synchronizationGroups.first(where: { $0.name == name }) else { throw noGroup(name) }
        return group
    }

    /// Returns the group that an object belongs to; nil for a local object. SMP 2.3: `getSynchronizationGroup` of the MBO class.
    public final func synchronizationGroup(of entity: EntityMetadata) -> SynchronizationGroup? {
        synchronizationGroups.first { $0.name == entity.synchronizationGroup && !entity.isLocal }
    }

    /// Whether a group has been synchronized since the package was subscribed. SMP 2.3: `isSynchronized:`.
    /// - Throws: ``SyncError`` with code ``SyncError/Code/notFound`` for an unknown group, ``SyncError/Code/localDatabase``.
    public final func isSynchronized(_ group: String) throws(SyncError) -> Bool {
        let group = try synchronizationGroup(named: group)
        return try SyncError.local("read the state of group \"\(group.name)\"") { try lastSynchronization(ofGroup: group.name) } != nil
    }

    /// Returns the names of groups in the order of the model; nil means all.
    /// - Throws: ``SyncError/Code/notFound`` for an unknown name.
    final func groupNames(_ names: [String]?) throws(SyncError) -> [String] {
        guard let names else { return metadata.synchronizationGroups }
        let all = allGroupNames
        if let other = names.first(where: { !all.contains($0) }) { throw noGroup(other) }
        return all.filter(names.contains)
    }

    /// The groups of the model, after the one that all packages have.
    final var allGroupNames: [String] { [SystemGroup.name] + metadata.synchronizationGroups }

    private final func noGroup(_ name: String) -> SyncError {
        SyncError(
            .synchronize, .notFound,
            "package \(metadata.name) has no synchronization group \"\(name.prefix(80))\"; there are \(metadata.synchronizationGroups.joined(separator: ", "))"
        )
    }
}
