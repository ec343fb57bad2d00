internal import MobileExecution

/// The services of an application or of this framework, by the protocol that they implement. Each environment has its own registry. There is
/// no registry of the whole process, so that two applications in it can use two languages. SMP 2.3: `SUPServiceRegistry`.
///
///     services.register(MyTexts(), for: (any ErrorMessageService).self)
public final class ServiceRegistry: Sendable {
    private let services = SystemLock<[ObjectIdentifier: any Sendable]>([:])

    /// Creates an empty registry.
    public init() {}

    /// Returns a new registry with the default service for the texts of errors.
    public static func standard() -> ServiceRegistry {
        let registry = ServiceRegistry()
        registry.register(MessageBundles(), for: (any ErrorMessageService).self)
        return registry
    }

    /// Registers an implementation for the protocol and replaces the previous one, if any. SMP 2.3:
    /// `registerService:withImplementation:`.
    /// - Returns: the previous implementation.
    @discardableResult
    public func register<Service: Sendable>(_ implementation: Service, for service: Service.Type) -> Service? {
        services.withLock { $0.updateValue(implementation, forKey: ObjectIdentifier(service)) } as? Service
    }

    /// Removes the implementation of a protocol. SMP 2.3: `unregisterService:`.
    /// - Returns: the removed implementation; nil where none was registered.
    @discardableResult
    public func unregister<Service: Sendable>(_ service: Service.Type) -> Service? {
        services.withLock { $0.removeValue(forKey: ObjectIdentifier(service)) } as? Service
    }

    /// Returns the implementation of a protocol; nil where none is registered. SMP 2.3: `getService:`.
    public func service<Service: Sendable>(_ service: Service.Type) -> Service? {
        services.withLock { $0[ObjectIdentifier(service)] } as? Service
    }
}
