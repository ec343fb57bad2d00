/// A set of synchronization parameters with typed properties; generated for each object that has some.
public protocol SubscriptionParameters: Sendable, Hashable {
    /// Creates a set from values by the parameters' names; a value that is missing or does not fit becomes the model's default.
    init(parameters: [String: AttributeValue])
    /// The values by the parameters' names.
    var parameters: [String: AttributeValue] { get }
}

/// A generated class whose rows depend on synchronization parameters. Several sets may be active, and each brings its rows; changes take
/// effect with the next synchronization.
public protocol SubscribableEntity: ModelledEntity {
    /// The generated set of parameters. SMP 2.3: `<MBO>Subscription`.
    associatedtype Parameters: SubscriptionParameters
}

extension SubscribableEntity {
    /// Returns the active sets. SMP 2.3: `getSubscriptions`.
    /// - Throws: ``ObjectError/Code/store``.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public static func subscriptions(in package: Package) throws -> [Parameters] {
        try package.subscriptions(of: metadata).map { Parameters(parameters: $0.parameters) }
    }

    /// The same without blocking a cooperative thread.
    public static func subscriptions(in package: Package) async throws -> [Parameters] {
        try await package.subscriptions(of: metadata).map { Parameters(parameters: $0.parameters) }
    }

    /// Adds and saves a set; a set that already exists is not added again. SMP 2.3: `addSubscription:`.
    /// - Throws: ``ObjectError/Code/store``.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public static func addSubscription(_ parameters: Parameters, in package: Package) throws {
        try package.addSubscription(parameters.parameters, to: metadata)
    }

    /// The same without blocking a cooperative thread.
    public static func addSubscription(_ parameters: Parameters, in package: Package) async throws {
        try await package.addSubscription(parameters.parameters, to: metadata)
    }

    /// Removes a set; its rows leave the device with the next synchronization. It has no effect where there is no such set. SMP 2.3:
    /// `removeSubscription:`.
    /// - Throws: ``ObjectError/Code/store``.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public static func removeSubscription(_ parameters: Parameters, in package: Package) throws {
        for subscription in try package.subscriptions(of: metadata) where Parameters(parameters: subscription.parameters) == parameters {
            try package.removeSubscription(subscription)
        }
    }

    /// The same without blocking a cooperative thread.
    public static func removeSubscription(_ parameters: Parameters, in package: Package) async throws {
        for subscription in try await package.subscriptions(of: metadata) where Parameters(parameters: subscription.parameters) == parameters {
            try await package.removeSubscription(subscription)
        }
    }
}
