internal import MobileModel
internal import MobileProtocol
internal import MobileStore

/// The contents of a package that a session may fetch on their own.
extension ServedPackage {
    /// Whether the reasons for a grant still hold: the client is subscribed, the user has a role of the package and the attributes that the partition
    /// demands, and the partition has the content.
    ///
    /// **A grant outlives the rights of its user**, so each request checks them again, as a synchronization does: a user who has lost a region must not
    /// receive its rows for another day.
    /// - Parameter name: the digest of the content.
    func isAllowed(_ permission: ContentPermission, _ name: String, to user: String, in connection: any StateConnection) throws -> Bool {
        do {
            let state = try clients.state(of: permission.client, user: user, in: connection)
            guard state == .subscribed || state == .suspended else { return false }
            let access = try UserAccess(of: user, package: deployed, in: connection)
            guard let (object, parameters) = try partition(of: permission, name, connection), let plan = deployed.object(named: object) else {
                return false
            }
            return try access.covers(parameters, of: plan)
        } catch is RequestFailure { return false }
    }

    /// Returns the name of the object and the parameters of a partition that has a content now; nil if it has not.
    private func partition(
        of permission: ContentPermission, _ name: String, _ connection: any StateConnection
    ) throws -> (object: String, parameters: String)? {
        let content: (sql: String, value: Value) =
            if let value = permission.value {
                ("SELECT 1 FROM _row AS c WHERE c.partition = p.id AND c.sk = ?3 AND c.deleted = 0", .integer(value.surrogateKey))
            } else {
                ("SELECT 1 FROM _segment AS c WHERE c.partition = p.id AND c.name = ?3", .text(name))
            }
        let row = try connection.first(
            """
            SELECT o.name, p.parameters FROM _partition AS p JOIN _object AS o ON o.id = p.object
            WHERE p.id = ?1 AND o.package = ?2 AND EXISTS (\(content.sql))
            """, [.integer(permission.partition), .integer(cache.id), content.value])
        guard let object = row?[0].text, let parameters = row?[1].text else { return nil }
        return (object, parameters)
    }

    /// Reads the present content of a large value from its back end, piece by piece.
    /// - Returns: whether there is one.
    /// - Throws: ``RequestFailure`` 503 if the back end is out of reach.
    func write(_ value: ContentPermission.LargeValue, _ take: ([UInt8]) throws -> Void) throws -> Bool {
        guard let object = deployed.object(named: value.object),
            let attribute = object.largeAttributes.first(where: { $0.name == value.attribute }),
            let found = try key(of: value.surrogateKey, in: object), let key = RowKey(found, of: object)
        else { return false }
        let backEnd = deployed.backEnd(of: object).system
        do {
            guard case .content = try backEnd.value(of: attribute, in: key, of: object.model, take) else { return false }
            return true
        } catch  where Rejection(error, of: nil, on: backEnd).isTransient { throw RequestFailure.busy }
    }
}

extension UserAccess {
    /// Whether the values of the bound parameters in a set of synchronization parameters are the user's.
    /// - Parameter parameters: the set as JSON, in the order of the object's parameters.
    fileprivate func covers(_ parameters: String, of object: ObjectPlan) throws -> Bool {
        let values = try JSONValue(parsing: Array(parameters.utf8)).array ?? []
        for (index, parameter) in object.model.synchronizationParameters.enumerated() where parameter.userAttribute != nil {
            guard values.indices.contains(index) else { return false }
            let value = values[index].description
            guard try self.values(of: parameter).contains(where: { $0.description == value }) else { return false }
        }
        return true
    }
}
