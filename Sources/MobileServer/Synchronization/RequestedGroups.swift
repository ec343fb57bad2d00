internal import MobileModel
internal import MobileProtocol

/// The groups that one client requests, derived from its header: for each group the partitions of its objects, and the token of the client's data.
struct RequestedGroups {
    struct Group {
        let name: String
        let objects: [ObjectPlan]
        let partitions: [PartitionParameters]
        let token: Token?
    }

    let groups: [Group]
    /// Whether the log records are requested.
    let hasSystemGroup: Bool

    /// - Throws: ``RequestFailure`` for an unknown group, object or parameter, and for too many subscriptions.
    init(_ header: SynchronizeHeader, access: UserAccess, package: DeployedPackage) throws(RequestFailure) {
        try header.subscriptions.checkCount()
        for object in header.subscriptions.keys where package.object(named: object) == nil {
            throw RequestFailure(.notFound, "package \"\(package.identifier)\" has no synchronized object \"\(object.prefix(80))\"")
        }
        let personalization = header.personalization.with(user: access.user)
        var groups: [Group] = []
        for name in header.groups where name != SystemGroup.name && !groups.contains(where: { $0.name == name }) {
            guard package.groups.contains(name) else {
                throw RequestFailure(.notFound, "package \"\(package.identifier)\" has no synchronization group \"\(name.prefix(80))\"")
            }
            let objects = package.objects.filter { $0.model.synchronizationGroup == name }
            var partitions: [PartitionParameters] = []
            for object in objects {
                partitions += try PartitionParameters.sets(
                    of: object, subscriptions: header.subscriptions[object.name], personalization: personalization, access: access)
            }
            groups.append(Group(name: name, objects: objects, partitions: partitions, token: header.tokens[name]))
        }
        self.groups = groups
        hasSystemGroup = header.groups.contains(SystemGroup.name)
    }
}
