public import MobileObjects
internal import MobileProtocol

/// A group of objects that are synchronized together. Objects without a group in the model are in the group `default`.
/// SMP 2.3: `SUPSynchronizationGroup`.
public struct SynchronizationGroup: Sendable, Hashable {
    /// The name in the model.
    public let name: String
    /// The names of its objects, in the order of the model.
    public let objects: [String]
    /// Whether the server's announcements of changes of this group start a synchronization; default false. See
    /// `PackageDatabase.startBackgroundSynchronization()`. SMP 2.3: `enableSIS`.
    public var enableSIS = false
    /// The shortest time between two such synchronizations of this group; default 0, which means no announcements. SMP 2.3: `interval`.
    public var interval = Duration.zero
    private let package: PackageDatabase

    fileprivate init(name: String, objects: [String], package: PackageDatabase, setting: (isEnabled: Bool, interval: Duration)) {
        (self.name, self.objects, self.package) = (name, objects, package)
        (enableSIS, interval) = setting
    }

    /// Stores ``enableSIS`` and ``interval`` in the local database. They take effect at once. SMP 2.3: `save`.
    ///
    ///     var group = try crm.synchronizationGroup(named: "default")
    ///     group.enableSIS = true
    ///     group.interval = .seconds(2)
    ///     try group.save()
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/notFound`` for the group `system`, ``SyncError/Code/invalidState`` for an interval below 0,
    ///   ``SyncError/Code/localDatabase``.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func save() throws(SyncError) {
        guard name != SystemGroup.name else { throw SyncError(.synchronize, .notFound, "the group \"\(name)\" has no announcements of its own") }
        try package.setChangeDetection(of: name, isEnabled: enableSIS, interval: interval)
    }

    /// Does the same without blocking a cooperative thread.
    public func save() async throws(SyncError) {
        try await SyncError.elsewhere { () throws(SyncError) in try self.save() }
    }

    /// Compares name, objects, settings and package.
    public static func == (a: SynchronizationGroup, b: SynchronizationGroup) -> Bool {
        a.name == b.name && a.objects == b.objects && a.enableSIS == b.enableSIS && a.interval == b.interval && a.package === b.package
    }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

extension PackageDatabase {
    /// The groups of the package, in the order of their first objects.
    public final var synchronizationGroups: [SynchronizationGroup] {
        metadata.synchronizationGroups.map { name in
            group(name, (try? changeDetection(of: name)) ?? (isEnabled: false, interval: .zero))
        }
    }

    private final func group(_ name: String, _ setting: (isEnabled: Bool, interval: Duration)) -> SynchronizationGroup {
        SynchronizationGroup(name: name, objects: metadata.entities(inGroup: name).map(\.name), package: self, setting: setting)
    }

    /// Returns the group of a name. Every package has the group `system` without naming it: its log records, which every other group includes as
    /// well.
    /// SMP 2.3: `getSynchronizationGroup:` of the database class.
    /// - Throws: ``SyncError`` with code ``SyncError/Code/notFound`` if the package has no group of this name.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func synchronizationGroup(named name: String) throws(SyncError) -> SynchronizationGroup {
        if name == SystemGroup.name { return SynchronizationGroup(name: name, objects: [], package: self, setting: (false, .zero)) }
        guard metadata.synchronizationGroups.contains(name) else { throw noGroup(name) }
        return group(name, try SyncError.local("read group \"\(name)\"") { try changeDetection(of: name) })
    }

    /// Does the same without blocking a cooperative thread.
    public final func synchronizationGroup(named name: String) async throws(SyncError) -> SynchronizationGroup {
        try await SyncError.elsewhere { () throws(SyncError) in try self.synchronizationGroup(named: name) }
    }

    /// Returns the group that an object belongs to; nil for a local object. SMP 2.3: `getSynchronizationGroup` of the MBO class.
    public final func synchronizationGroup(of entity: EntityMetadata) -> SynchronizationGroup? {
        synchronizationGroups.first { $0.name == entity.synchronizationGroup && !entity.isLocal }
    }

    /// Whether a group has been synchronized since the package was subscribed. SMP 2.3: `isSynchronized:`.
    /// - Throws: ``SyncError`` with code ``SyncError/Code/notFound`` for an unknown group, ``SyncError/Code/localDatabase``.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func isSynchronized(_ group: String) throws(SyncError) -> Bool {
        let group = try synchronizationGroup(named: group)
        return try SyncError.local("read the state of group \"\(group.name)\"") { try lastSynchronization(ofGroup: group.name) } != nil
    }

    /// Does the same without blocking a cooperative thread.
    public final func isSynchronized(_ group: String) async throws(SyncError) -> Bool {
        try await SyncError.elsewhere { () throws(SyncError) in try self.isSynchronized(group) }
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
