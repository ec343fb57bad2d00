internal import MobileExecution
import MobileStore

/// The one set of synchronization parameters that an object has in the older form of the interface: changed by property, sent by saving it.
/// The properties are those of the object's generated set of parameters.
///
///     var parameters = try Customer.synchronizationParameters(in: crm)
///     parameters.region = "EAST"
///     try parameters.save()
///
/// SMP 1.5.3: `getSynchronizationParameters`; later releases have several sets, see `addSubscription` of ``SubscribableEntity``.
@dynamicMemberLookup public struct SynchronizationParameters<Parameters: SubscriptionParameters>: Sendable, Hashable {
    /// The values by property.
    public var values: Parameters
    /// A number that the application may keep with the set; 0 until it is set. The documents name it and give it no effect. SMP 1.5.3: `size`.
    public var size: Int
    /// The user of the set; empty until it is set. SMP 1.5.3: `user`.
    public var user: String
    private let entity: EntityMetadata
    private let package: PackageDatabase

    /// A parameter.
    public subscript<Value>(dynamicMember parameter: WritableKeyPath<Parameters, Value>) -> Value {
        get { values[keyPath: parameter] }
        set { values[keyPath: parameter] = newValue }
    }

    fileprivate init(of entity: EntityMetadata, in package: PackageDatabase) throws {
        (self.entity, self.package) = (entity, package)
        values = Parameters(parameters: try package.subscriptions(of: entity).first?.parameters ?? [:])
        let name = Self.setting(of: entity)
        let kept = try package.read { try PackageSettings($0).value(named: name)?.text }
        let set = try kept.map { try JSONValue(parsing: $0) }
        size = set?["size"]?.integer.map { Int($0) } ?? 0
        user = set?["user"]?.string ?? ""
    }

    /// Makes this the object's only set, in one transaction; the next synchronization sends it and brings its rows. No submit is needed.
    /// SMP 1.5.3: `save`.
    /// - Throws: ``ObjectError/Code/store``.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func save() throws {
        let others = try package.subscriptions(of: entity).filter { Parameters(parameters: $0.parameters) != values }
        try package.transaction {
            for subscription in others { try package.removeSubscription(subscription) }
            try package.addSubscription(values.parameters, to: entity)
            let text = JSONValue.object(["size": .integer(Int64(size)), "user": .string(user)]).description, name = Self.setting(of: entity)
            try package.write("save synchronization parameters") { try PackageSettings($0.connection).set(named: name, .text(text)) }
        }
    }

    /// The same without blocking a cooperative thread.
    public func save() async throws { try await BlockingWork.run { try self.save() } }

    private static func setting(of entity: EntityMetadata) -> String { "parameters/" + entity.name }

    public static func == (left: Self, right: Self) -> Bool {
        left.values == right.values && left.size == right.size && left.user == right.user && left.package === right.package
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(values)
        hasher.combine(size)
        hasher.combine(user)
    }
}

extension SubscribableEntity {
    /// Returns the object's set of synchronization parameters: the one that was saved or added first, otherwise the model's defaults. SMP 1.5.3:
    /// `getSynchronizationParameters`.
    /// - Throws: ``ObjectError/Code/store``.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public static func synchronizationParameters(in package: Package) throws -> SynchronizationParameters<Parameters> {
        try SynchronizationParameters(of: metadata, in: package)
    }

    /// The same without blocking a cooperative thread.
    public static func synchronizationParameters(in package: Package) async throws -> SynchronizationParameters<Parameters> {
        try await BlockingWork.run { try SynchronizationParameters(of: metadata, in: package) }
    }
}
