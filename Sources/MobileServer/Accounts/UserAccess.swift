internal import MobileModel
internal import MobileProtocol
internal import MobileStore

/// The rights of a user in one package, according to the server alone: whether the user has one of its roles, and the values of the parameters that the
/// model binds to attributes of the user.
struct UserAccess: Sendable, Equatable {
    let user: String
    /// The values of the user's attributes, by name. An attribute may have several: each brings its rows.
    let attributes: [String: [String]]

    /// Reads what the package needs to know: nothing for a model without roles and bound parameters.
    /// - Throws: ``RequestFailure`` for a user without any of the package's roles (checklist ERR-04).
    init(of user: String, package: DeployedPackage, in stateStore: any StateStore) throws {
        guard package.dependsOnUser else {
            (self.user, attributes) = (user, [:])
            return
        }
        self = try stateStore.read { try UserAccess(of: user, package: package, in: $0) }
    }

    /// As above, in a read with other checks.
    init(of user: String, package: DeployedPackage, in connection: any StateConnection) throws {
        self.user = user
        guard package.dependsOnUser else {
            attributes = [:]
            return
        }
        let roles = package.model.roles
        let own = try UserDirectory.roles(of: user, in: connection), attributes = try UserDirectory.attributes(of: user, in: connection)
        guard roles.isEmpty || !own.isDisjoint(with: roles) else {
            throw RequestFailure(.forbidden, "the user has no role that may use \"\(package.identifier)\"")
        }
        self.attributes = attributes
    }

    /// Returns the values of a bound parameter; none if the user has no such attribute.
    /// - Throws: ``RequestFailure`` for a value of the user that does not fit the parameter.
    func values(of parameter: ParameterModel) throws(RequestFailure) -> [JSONValue] {
        var values: [JSONValue] = []
        for text in attributes[parameter.userAttribute ?? ""] ?? [] {
            // Numbers and truth values are written as in JSON, all other values as their text.
            let forms = [JSONValue.string(text), try? JSONValue(parsing: text)].compactMap { $0 }
            guard let value = forms.first(where: { (try? WireConversion.value($0, of: AttributeModel(parameter), affinity: .blob)) != nil }) else {
                throw RequestFailure(
                    .forbidden, "the user's attribute \"\(parameter.userAttribute ?? "")\" has a value that does not fit the type \(parameter.type)")
            }
            values.append(value)
        }
        return values
    }
}

extension DeployedPackage {
    /// Whether the user decides what the package shows: by roles or attributes.
    fileprivate var dependsOnUser: Bool { !model.roles.isEmpty || objects.contains { $0.hasBoundParameters } }
}

extension ObjectPlan {
    /// Whether attributes of the user decide which rows of the object are the user's.
    var hasBoundParameters: Bool { model.synchronizationParameters.contains { $0.userAttribute != nil } }
}
